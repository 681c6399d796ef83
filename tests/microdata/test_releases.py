"""Sequential releases, linked files, row orders and pseudonyms."""

import random
import re
from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import DataError, PlanError
from sfumato.hierarchies.hierarchy import make_hierarchy
from sfumato.microdata import keyed_random as order
from sfumato.microdata.linked_files import FileRows, LinkedFiles, groups_of
from sfumato.microdata.pseudonyms import (
    FF1,
    KEY_BYTES,
    FormatPseudonyms,
    KeyedPseudonyms,
    PseudonymKey,
    is_token,
    pseudonyms_of,
)
from sfumato.microdata.sequential_releases import judge_histories, match_persons

# Placing random persons with random histories: every group that is published, and every one that is gone, is large.


@pytest.mark.parametrize("seed", range(20))
def test_groups_stay_large_over_time(seed) -> None:
    draw, k = random.Random(seed), draw_k(seed)
    people = {f"p{number}": draw.randrange(4) for number in range(60)}
    histories: dict[str, tuple] = {}
    for month in range(8):
        placement = match_persons(histories, people, lambda person: person, lambda group, *_: len(group) >= k)
        everybody = {**histories, **dict.fromkeys(placement.matched)}
        histories = {
            person: (*histories.get(person, (None,) * month), people[person] if person in placement.matched else None)
            for person in everybody
        }
        assert min(Counter(histories.values()).values(), default=k) >= k
        for person in [person for person in people if draw.random() < 0.05]:
            del people[person]
        people |= {f"q{month}-{number}": draw.randrange(4) for number in range(draw.randrange(6))}
        people |= {person: draw.randrange(4) for person in people if draw.random() < 0.05}


@pytest.mark.parametrize("seed", range(10))
def test_strands_of_persons_with_several_rows_stay_large_over_time(seed) -> None:
    draw, k = random.Random(seed), draw_k(seed)
    people = {f"p{number}": rows(draw) for number in range(120)}
    releases: list[dict[str, tuple]] = []
    for month in range(6):
        histories = {
            person: tuple(release.get(person) for release in releases) for release in releases for person in release
        }
        placement = match_persons(histories, people, lambda person: person, lambda group, *_: len(group) >= k)
        releases.append({person: people[person] for person in placement.matched})
        assert len(releases[0]) > 60 and judge_histories(releases, [{}] * len(releases), k).hold
        for person in [person for person in people if draw.random() < 0.05]:
            del people[person]
        people |= {f"q{month}-{number}": rows(draw) for number in range(draw.randrange(6))}
        people |= {person: rows(draw) for person in people if draw.random() < 0.03}


def rows(draw: random.Random) -> tuple:
    """One row, or now and then several, of classes of their own."""
    return tuple(sorted(f"c{draw.randrange(3)}" for _ in range(draw.choice([1, 1, 1, 2, 3]))))


def test_who_changes_alone_is_withheld_with_company_and_never_alone() -> None:
    histories = {f"p{number}": (("a",),) for number in range(9)} | {"twice": (("a", "a"),), "both": (("a", "b"),)}
    histories |= {f"q{number}": (("b",),) for number in range(5)}
    classes = {person: history[0] for person, history in histories.items()}
    keeps = lambda group, *_: len(group) >= 3  # noqa: E731
    assert not match_persons(histories, classes, str, keeps).suppressed_persons, (
        "who stays as published tells nothing new"
    )
    moved = match_persons(histories, classes | {"twice": ("a",)}, str, keeps)
    assert "twice" in moved.suppressed_persons and len(moved.suppressed_persons) == 3 and "both" in moved.matched
    spread = match_persons(histories, classes | {"both": ("b", "b")}, str, keeps)
    assert len(spread.suppressed_persons) == 5, "two of each class go with who stood in both"


def draw_k(seed: int) -> int:
    return 2 + seed % 4


# Persons have one fingerprint where all that is published of them is the same, and only there.

VALUES = ("x", "y", "z")


def file(name: str, parent: str | None, rows: list[tuple[int, tuple[int, ...]]], columns: int) -> FileRows:
    ladder = make_hierarchy(VALUES, [])
    codes = np.array([row for _, row in rows], np.int32).reshape(len(rows), columns)
    above = np.array([owner for owner, _ in rows], np.int64)
    return FileRows(name, parent, tuple(f"{name}{at}" for at in range(columns)), (ladder,) * columns, codes, above)


def test_no_two_families_of_rows_have_one_fingerprint() -> None:
    """Every person with up to two rows in each of two files: no label stands for a row, or for one of another file."""
    for columns in ((1, 0, 0), (1, 1, 1), (2, 1, 0), (0, 1, 1)):
        own = list(product(range(3), repeat=columns[0]))
        families = [
            [(), *((row,) for row in product(range(3), repeat=number)), (next(product(range(3), repeat=number)),) * 2]
            for number in columns[1:]
        ]
        persons = list(product(own, *families))
        files = [file("p", None, [(place, one[0]) for place, one in enumerate(persons)], columns[0])]
        for at, name in enumerate("ab", 1):
            rows = [(place, row) for place, one in enumerate(persons) for row in one[at]]
            files.append(file(name, "p", rows, columns[at]))
        groups, number = groups_of(LinkedFiles(tuple(files), {}), [0] * sum(columns))
        assert number == len(persons) == len(set(groups.tolist()))


# The order of rows: by the keyed hash of their numbers, however it is worked out.


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


# Keys that leave room for the number in a block of 64 bytes, leave too little, fill it, and fill several.
@pytest.mark.parametrize("length", [0, 4, 39, 46, 47, 54, 55, 56, 63, 64, 65, 127, 200])
def test_hashes_of_numbers_are_those_of_their_texts(length):
    key = "kéy:"[:length].ljust(length, "x")
    numbers = np.array([0, 9, 10, 7, 99_999, 10**12, 2**62])
    texts = ["".join(f"{int(word):016x}" for word in words) for words in order.hash_words(numbers, key)]
    assert texts == [order.row_hash(number, key) for number in numbers.tolist()]


@pytest.mark.parametrize("bits", [0, 1, 8, 60])
def test_words_that_are_alike_in_their_first_bits_are_told_apart_by_the_others(bits):
    words = np.random.default_rng(bits).integers(0, 2**bits, 500, dtype=np.uint64) | np.uint64(5 << 60)
    assert order.order_of(words).tolist() == sorted(range(500), key=words.tolist().__getitem__)


# Pseudonyms: the standard's own answers, round trips, wrong keys refused, formats kept.

KEY = PseudonymKey("study", bytes(range(KEY_BYTES)))
OTHER = PseudonymKey("study", bytes(range(1, KEY_BYTES + 1)))
LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"
AES128 = "2B7E151628AED2A6ABF7158809CF4F3C"
AES256 = "2B7E151628AED2A6ABF7158809CF4F3CEF4359D8D580AA4F7F036D6F04FC6A94"
# The samples that NIST publishes for FF1.
SAMPLES = [
    (AES128, 10, "", "0123456789", "2433477484"),
    (AES128, 10, "39383736353433323130", "0123456789", "6124200773"),
    (AES128, 36, "3737373770717273373737", "0123456789abcdefghi", "a9tv40mll9kdu509eum"),
    (AES256, 10, "", "0123456789", "6657667009"),
    (AES256, 10, "39383736353433323130", "0123456789", "1001623463"),
    (AES256, 36, "3737373770717273373737", "0123456789abcdefghi", "xs8a0azh2avyalyzuwd"),
]


@pytest.mark.parametrize(("key", "radix", "tweak", "plain", "sealed"), SAMPLES)
def test_the_samples_of_the_standard(key: str, radix: int, tweak: str, plain: str, sealed: str) -> None:
    cipher = FF1(bytes.fromhex(key), radix, bytes.fromhex(tweak))
    numerals = [LETTERS.index(letter) for letter in plain]
    assert "".join(LETTERS[numeral] for numeral in cipher.encrypt(numerals)) == sealed
    assert cipher.decrypt(cipher.encrypt(numerals)) == numerals


@given(st.text(max_size=60))
@settings(max_examples=60, deadline=None)
def test_tokens_turn_back_with_their_key_alone(text: str) -> None:
    token = KeyedPseudonyms(KEY).hide(text)
    assert is_token(token)
    assert KeyedPseudonyms(KEY).hide(text) == token
    assert KeyedPseudonyms(KEY).reveal(token) == text
    with pytest.raises(DataError):
        KeyedPseudonyms(OTHER).reveal(token)


def test_domains_are_apart() -> None:
    elsewhere = PseudonymKey("clinic", KEY.secret)
    for kind in ("keyed", "format"):
        assert pseudonyms_of(KEY, kind).hide("12345678") != pseudonyms_of(elsewhere, kind).hide("12345678")


@pytest.mark.parametrize("wrong", ["", "mfrgg", "a" * 52, "no token at all", "ä" * 52])
def test_what_is_no_token_is_refused(wrong: str) -> None:
    with pytest.raises(DataError):
        KeyedPseudonyms(KEY).reveal(wrong)


@given(st.from_regex(r"[A-Z]{2}[0-9]{2} [0-9]{4}-[a-z]{3}/[0-9]", fullmatch=True))
@settings(max_examples=40, deadline=None)
def test_formats_are_kept_and_turn_back(text: str) -> None:
    cipher = FormatPseudonyms(KEY)
    hidden = cipher.hide(text)
    assert re.sub("[0-9]", "0", re.sub("[a-z]", "a", re.sub("[A-Z]", "A", hidden))) == "AA00 0000-aaa/0"
    assert cipher.reveal(hidden) == text


def test_formats_are_permuted() -> None:
    cipher = FormatPseudonyms(KEY)
    hidden = {cipher.hide(f"{number:06d}") for number in range(200)}
    assert len(hidden) == 200
    assert len({text[:3] for text in hidden}) > 100


@pytest.mark.parametrize("text", ["1234", "Müller-Lüdenscheidt", "١٢٣٤٥٦٧", "李小龍", ""])
def test_formats_that_would_show_something_are_refused(text: str) -> None:
    with pytest.raises(DataError, match=r"format|letters"):
        FormatPseudonyms(KEY).hide(text)


def test_keys_read_back_and_tell_nothing() -> None:
    assert PseudonymKey.of_dict(KEY.to_dict()) == KEY
    assert KEY.secret.hex() not in repr(KEY)
    for wrong in ({}, [], {"domain": "x", "key": "00"}, {"domain": "x", "key": "no hex"}):
        with pytest.raises(PlanError):
            PseudonymKey.of_dict(wrong)
