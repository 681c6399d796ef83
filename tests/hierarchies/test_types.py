"""Types: one text for a value, and its number."""

import numpy as np
import pytest

from sfumato.hierarchies.types import canonical, numbers_of, plain_numbers_of


@pytest.mark.parametrize(
    ("type_", "text", "expected"),
    [
        ("text", "007", "007"),
        ("integer", "007", "7"),
        ("integer", "+7", "7"),
        ("integer", "-0", "0"),
        ("integer", "39.0", "39"),
        ("integer", "39.5", None),
        ("integer", "1e3", "1000"),
        ("integer", "1e999", None),
        ("integer", "x", None),
        ("integer", "", None),
        ("integer", "1_000", None),
        ("integer", "123456789012345678901234567890", "123456789012345678901234567890"),
        ("decimal", "1.50", "1.5"),
        ("decimal", ".5", "0.5"),
        ("decimal", "1E+2", "100"),
        ("decimal", "-0.00", "0"),
        ("decimal", "nan", None),
        ("decimal", "1,5", None),
        ("amount", "73%", "73"),
        ("amount", "€ 412", "412"),
        ("amount", "EUR 1,234.50", "1234.5"),
        ("amount", "-1,180,000", "-1180000"),
        ("amount", "66.5 m²", "66.5"),
        ("amount", "5.4 mmol/l", "5.4"),
        ("amount", "1'000 CHF", "1000"),
        ("amount", "1e3", "1000"),
        ("amount", "12,5", None),
        ("amount", "E5", None),
        ("amount", ">100", None),
        ("amount", "12 or 13", None),
        ("amount", "  3201", "3201"),
        ("amount", " 1e3 ", "1000"),
        ("amount", " .5", "0.5"),
        ("amount", "1’000", "1000"),
        ("amount", "24.1 kg/m2", "24.1"),
        ("amount", "60/min", "60"),
        ("amount", "5 µg", "5"),
        ("amount", "20 ₹", "20"),
        *(("amount", text, None) for text in ("500-", "1_000", "12-14", "12:30", "2020-01-01", "1/2", "0x10", "1e5x")),
        *(("amount", text, None) for text in ("90+", "5²", "1½", "1e", "1 e3", "1d5", "5 -", "5;6", "12h30", "5?")),
        ("boolean", "TRUE", "true"),
        ("boolean", "0", "false"),
        ("boolean", "Yes", "true"),
        ("boolean", "maybe", None),
        ("date", "2017-01-10", "2017-01-10"),
        ("date", "2017-01-10 00:00:00", "2017-01-10"),
        ("date", "2017-01-10T00:00:00.000", "2017-01-10"),
        ("date", "2017-01-10 12:00:00", None),
        ("date", "2017-02-30", None),
        ("date", "20170110", None),
    ],
)
def test_canonical_texts(type_, text, expected):
    assert canonical([text], type_) == ([expected], [] if expected is not None else [0])


def test_canonical_texts_are_their_own():
    for type_, text in [("integer", "7"), ("decimal", "1.5"), ("boolean", "true"), ("date", "2017-01-10")]:
        assert canonical([text], type_)[0] == [text]


def test_numbers():
    assert numbers_of(["7", "-3"], "integer").tolist() == [7, -3]
    assert numbers_of(["1.5", "x"], "decimal")[0] == 1.5
    assert np.isnan(numbers_of(["x"], "decimal")[0])
    assert numbers_of(["0001-01-01"], "date").tolist() == [1]
    assert numbers_of(["a"], "text") is None
    assert numbers_of(["true"], "boolean") is None


FIXED = ["1.50", "-0.00", "20", "0.10", "-7.00", "100", "0", "12.34", "-0", "999999999999999999.000000000000000001"]


@pytest.mark.parametrize("odd", ["", "007", "+1.5", "1e3", " 2.50", ".5", "1.", "1.5\n2", "x", "1,5", "１.５"])
@pytest.mark.parametrize("type_", ["decimal", "amount"])
def test_texts_are_the_same_together_as_one_by_one(type_, odd):
    for texts in (FIXED, [*FIXED, odd], [odd, *FIXED]):
        assert canonical(texts, type_)[0] == [canonical([text, "x"], type_)[0][0] for text in texts]


def test_numbers_with_zeros_at_their_end_are_seen_together():
    assert plain_numbers_of(FIXED) == [canonical([text, "x"], "decimal")[0][0] for text in FIXED]
    assert plain_numbers_of(["1.5\n2", "3"]) is None
