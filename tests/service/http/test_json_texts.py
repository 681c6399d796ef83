"""The quick reader and writer of JSON say what the standard library says, or leave the text to it."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.service.problems import RefusedError, to_json
from sfumato.service.request_bodies import parse_json
from sfumato.service.settings import Limits

TEXTS = [
    "[18446744073709551615, 18446744073709551616, 123456789012345678901234567890]",
    "[-9223372036854775808, -9223372036854775809]",
    "[0.1, 1E2, 5e-324, 12345678901234567890.5, 0.1234567890123456789]",
    '["12345678901234567890", "\\ud800", "\\u0000", "ä😀"]',
    '{"a": 1, "a": 2, "": null}',
    "[1e999, -1e999]",
]
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@pytest.mark.parametrize("text", TEXTS)
def test_read_as_the_standard_library_reads(text):
    assert repr(parse_json(text.encode(), Limits())) == repr(json.loads(text))


@pytest.mark.parametrize("text", [b"NaN", b"[Infinity]", b"[1,]", b'"\xff"', b"\xef\xbb\xbf1", b"", b"[" * 100_000])
def test_what_is_no_json_is_refused(text):
    with pytest.raises(RefusedError):
        parse_json(text, Limits())


@given(plain)
def test_written_and_read_again(value):
    assert repr(json.loads(to_json(value))) == repr(value)


@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan])
def test_no_number_becomes_null(number):
    for content in ([number], {"a": [1.5, number]}, [None, number]):
        with pytest.raises(ValueError, match="not JSON compliant"):
            to_json(content)


def test_half_a_surrogate_pair_is_written_as_its_escape():
    assert to_json(["\ud800"]) == b'["\\ud800"]'
