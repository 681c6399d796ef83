"""Remarks on a release: columns that tie households together though these are withheld."""

import polars as pl
import pytest

from sfumato.pipelines.release import anonymize

HOUSEHOLDS = 30


def release_of(weights: list[float], publish: str | dict | None = None):
    frame = pl.DataFrame(
        {
            "sex": ["f", "m"] * HOUSEHOLDS,
            "hh": [str(row // 2) for row in range(2 * HOUSEHOLDS)],
            "w": [weight for weight in weights for _ in range(2)],
        }
    )
    columns = {
        "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        "hh": {"role": "household"},
        "w": {"role": "weight"} | ({} if publish is None else {"publish": publish}),
    }
    return anonymize(frame, {"version": 1, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 5}]})


@pytest.mark.parametrize(
    ("weights", "publish", "warned"),
    [
        ([100 + number / 7 for number in range(HOUSEHOLDS)], None, True),
        ([100 + number / 7 for number in range(HOUSEHOLDS)], "removed", False),
        ([float(100 + number % 3) for number in range(HOUSEHOLDS)], None, False),
    ],
)
def test_exact_weights_tie_households(weights, publish, warned) -> None:
    report = release_of(weights, publish).report
    assert any("members of 100% of them are tied" in text and '"w"' in text for text in report.notes) == warned
    assert ("w" in report.disclosure.unique_in_classes) == (publish is None)
