"""Effect of rounding, top/bottom coding and binning (`publish`) on the numbers of a column."""

from collections.abc import Mapping
from math import sqrt

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.microdata.column_transforms.number_parsing import read_numbers
from sfumato.microdata.column_transforms.transform_plan import PublishPlan


@dataclass(frozen=True, slots=True)
class TransformedColumn:
    """The effect of operations on a column.

    Attributes:
        values: Distinct original numbers; left: distinct published values.
        mean_change: Mean absolute change of numbers published as numbers; None if there are none.
        deviation: The standard deviation of the original numbers, for comparison with the change.
        labeled: The share of rows with a label instead of a number: beyond a limit, or an interval.
    """

    column: str
    values: int
    left: int
    mean_change: float | None
    deviation: float
    labeled: float

    def to_dict(self) -> dict[str, str | int | float | None]:
        """Return plain values for a report."""
        return {name: getattr(self, name) for name in self.__slots__}


def coded_column(name: str, publish: PublishPlan, rows: Mapping[str, int]) -> TransformedColumn | None:
    """Return the effect of operations on a column; None if it has no numbers.

    Args:
        rows: How many rows have each text.

    >>> coded = coded_column("income", PublishPlan(round=100.0, top=900.0), {"210": 1, "390": 2, "1000": 1})
    >>> coded.values, coded.left, coded.mean_change, coded.labeled
    (3, 3, 10.0, 0.25)
    """
    texts = list(rows)
    read = read_numbers(texts)
    kept = [(text, number) for text, number in zip(texts, read, strict=True) if number is not None]
    if not kept:
        return None
    counts = np.array([rows[text] for text, _ in kept], dtype=np.float64)
    raw = np.array([float(number) for _, number in kept])
    published = publish.publish([number for _, number in kept])
    changes, told = _changes(raw, published, counts)
    mean = float(np.average(raw, weights=counts))
    return TransformedColumn(
        name,
        len({number for _, number in kept}),
        len({*published}),
        changes,
        sqrt(float(np.average((raw - mean) ** 2, weights=counts))),
        1.0 - told,
    )


def _changes(raw: np.ndarray, published: list[str | None], counts: np.ndarray) -> tuple[float | None, float]:
    """Return the mean change of numbers, and the share of rows that still have a number."""
    read = read_numbers([text or "" for text in published])
    told = np.array([number is not None for number in read])
    if not told.any():
        return None, 0.0
    after = np.array([float(number) if number is not None else np.nan for number in read])
    mean = float(np.average(np.abs(after[told] - raw[told]), weights=counts[told]))
    return mean, float(counts[told].sum() / counts.sum())
