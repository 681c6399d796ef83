"""What an attacker reads from labels: ranges of numbers and of dates stand for what lies between their ends."""

import pytest

from sfumato.microdata.attacks.label_semantics import meaning_of


@pytest.mark.parametrize(
    ("label", "inside", "outside"),
    [
        ("[10–20]", "20", "21"),
        ("[-10–4.5]", "-3", "4.6"),
        ("[1950-01-01–1959-12-31]", "1959-12-31", "1960-01-01"),
        ("[01.01.1950–31.12.1959]", "31.12.1959", "01.01.1960"),
        ("[1950-01-01–1959-12-31]", "05.06.1950", "05.06.1960"),
    ],
)
def test_ranges_of_classes_are_understood(label, inside, outside):
    assert meaning_of([label], [inside, outside]).covers.tolist() == [[True, False]]
