"""The order of rows: by the keyed hash of their numbers, however it is worked out."""

from sfumato.microdata import row_order as order


def test_rows_are_shuffled_by_the_texts_of_their_hashes():
    rows = [*range(1, 400), 10**12, 7]
    texts = [order.place_hash(row, "key:") for row in rows]
    assert order.shuffled(rows, "key:").tolist() == sorted(range(len(rows)), key=texts.__getitem__)


def test_no_rows_have_an_order():
    assert order.shuffled([], "key:").tolist() == []


def test_neighbors_share_a_hash_and_no_part_of_it():
    rows = range(1, 2001)
    parts = [order.place_hash(row, "it's a key:") for row in rows]
    assert "".join(parts) == "".join(order.row_hash(number, "it's a key:") for number in range(500))
    assert len({*parts}) == len(rows)


def test_rows_without_some_of_them_stay_in_the_same_order():
    whole = [row + 1 for row in order.shuffled(range(1, 1001), "key:").tolist()]
    few = [row for row in range(1, 1001) if row % 3]
    assert [few[place] for place in order.shuffled(few, "key:").tolist()] == [row for row in whole if row % 3]
