"""The order of rows: by the keyed hash of their numbers, however it is worked out."""

from sfumato.engines import order


def test_rows_are_shuffled_by_the_texts_of_their_hashes():
    rows = [*range(1, 400), 10**12, 7]
    texts = [order.row_hash(row, "key:") for row in rows]
    assert order.shuffled(rows, "key:").tolist() == sorted(range(len(rows)), key=texts.__getitem__)


def test_no_rows_have_an_order():
    assert order.shuffled([], "key:").tolist() == []


def test_many_rows_are_hashed_by_a_database_alike(monkeypatch):
    rows = [*range(1, 400), 10**12, 7]
    few = order.shuffled(rows, "it's a key:").tolist()
    monkeypatch.setattr(order, "MANY", 1)
    assert order.shuffled(rows, "it's a key:").tolist() == few
