"""Pseudonyms: the standard's own answers, round trips, wrong keys refused, formats kept."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import DataError, PlanError
from sfumato.microdata.pseudonyms import (
    FF1,
    KEY_BYTES,
    FormatPseudonyms,
    KeyedPseudonyms,
    PseudonymKey,
    is_token,
    pseudonyms_of,
)

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
