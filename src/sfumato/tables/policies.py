"""Small-number policies for crosstabs: what authorities ask of every table that leaves the house.

Each policy carries its source. Policies that only round leave totals rounded too; policies that suppress also mask
further cells, so that no masked one can be computed from the margins.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.errors import DataError, PlanError, did_you_mean
from sfumato.tables.cells import Mask, Numbers, Relations, Status, make_relations, make_table
from sfumato.tables.problem import make_problem
from sfumato.tables.suppression import optimal
from sfumato.tables.words import MASK

MARGINS = ("All", "all", "Total", "total", "TOTAL", "Sum", "Gesamt", "Insgesamt")
SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Policy:
    """One policy: counts from `low` to `high` are small.

    Attributes:
        low: The least small count.
        high: The greatest small count.
        small: What a small count is published as.
        base: The base to which other counts are rounded; 1 leaves them.
        complementary: Whether further cells are masked so that no small one can be computed.
        source: Where the policy is written.
    """

    low: int
    high: int
    small: str | int
    base: int
    complementary: bool
    source: str


POLICIES: dict[str, Policy] = {
    "nhs": Policy(
        1,
        7,
        MASK,
        5,
        False,
        "NHS Digital, Hospital Episode Statistics (HES) Analysis Guide: small numbers, 1-7 and rounding to 5",
    ),
    "cms-11": Policy(
        1,
        10,
        MASK,
        1,
        True,
        "Centers for Medicare & Medicaid Services, Cell Size Suppression Policy: no cell of 1-10, nor derivable",
    ),
    "research-10": Policy(
        1, 9, MASK, 1, True, "Handbook on Statistical Disclosure Control for Outputs (SDAP): minimum cell count 10"
    ),
    "eurostat": Policy(
        1,
        7,
        5,
        10,
        False,
        "Eurostat, Integrated Farm Statistics Manual 9.1.2, from 2023: 1-7 as 5, others to the nearest 10",
    ),
}


@dataclass(frozen=True, slots=True)
class Crosstab:
    """Labels and numbers of a crosstab."""

    rows: tuple[Any, ...]
    columns: tuple[Any, ...]
    values: npt.NDArray[np.float64]


def suppress(
    crosstab: Any,
    policy: str = "nhs",
    *,
    margins: str | None = None,
    derived: Mapping[Any, tuple[Any, Any]] | None = None,
) -> Any:
    """A crosstab made fit for publication under a policy.

    Args:
        crosstab: A pandas crosstab (labels in the index) or a Polars one (labels in the first column), with margins.
        policy: The policy's name.
        margins: The label of the margins; the usual words are found by themselves.
        derived: Columns that are percentages: their name, and the columns divided. Others are found by themselves.

    Returns:
        The same kind of frame; small cells are masked, percentages follow what is published.

    Raises:
        PlanError: There is no such policy.
        DataError: A cell is no count, or margins do not add up.

    >>> import pandas
    >>> table = pandas.DataFrame({"a": [3, 12], "b": [20, 30]}, index=["x", "y"])
    >>> suppress(table, "nhs").loc["x"].tolist()
    ['*', 20]
    """
    from sfumato.engines.tabulation import crosstab_like, crosstab_of

    if policy not in POLICIES:
        raise PlanError(f'"{policy}" is not a policy.', did_you_mean(policy, POLICIES), "no-policy")
    return crosstab_like(crosstab, apply(crosstab_of(crosstab), POLICIES[policy], margins, derived or {}))


def apply(
    crosstab: Crosstab, policy: Policy, margins: str | None = None, derived: Mapping[Any, tuple[Any, Any]] | None = None
) -> list[list[Any]]:
    """The cells to be published, row by row."""
    ratios = _ratios(crosstab, derived or {})
    counts = [place for place in range(len(crosstab.columns)) if place not in ratios]
    grid = crosstab.values[:, counts]
    _check_counts(grid)
    row_total = _margin(crosstab.rows, margins)
    column_total = _margin([crosstab.columns[place] for place in counts], margins)
    masked = _masked(grid, row_total, column_total, policy)
    shown = _shown(grid, masked, policy)
    return _with_ratios(crosstab, shown, counts, ratios)


def _check_counts(grid: npt.NDArray[np.float64]) -> None:
    if np.isnan(grid).any() or (grid < 0).any() or (grid != np.round(grid)).any():
        raise DataError("a cell of the crosstab is not a count.", "Name percentages in derived=.", "not-a-count")


def _margin(labels: Sequence[Any], margins: str | None) -> int | None:
    """The place of the margin: the last label that says so."""
    words = MARGINS if margins is None else (margins,)
    named = [place for place, label in enumerate(labels) if (label[0] if isinstance(label, tuple) else label) in words]
    return named[-1] if named else None


def _masked(
    grid: npt.NDArray[np.float64], row: int | None, column: int | None, policy: Policy
) -> npt.NDArray[np.bool_]:
    small = (grid >= policy.low) & (grid <= policy.high)
    if not policy.complementary or not small.any():
        return small
    relations = _relations(grid, row, column)
    values = grid.ravel()
    unsafe: Mask = small.ravel()
    status = np.where(unsafe, Status.UNSAFE, np.where(values == 0, Status.PUBLISH, Status.SAFE)).astype(np.int8)
    need: Numbers = np.where(unsafe, 1.0, 0.0)
    table = make_table(values, relations, status=status, need_down=need, need_up=need, costs=values + 1.0)
    problem = make_problem(table)
    masked = unsafe.copy()
    if len(relations):
        masked[problem.places] |= optimal(problem, SECONDS).masked
    return masked.reshape(grid.shape)


def _relations(grid: npt.NDArray[np.float64], row: int | None, column: int | None) -> Relations:
    """The relations of the margins that are there.

    Raises:
        DataError: A margin is not the sum of its cells.
    """
    places = np.arange(grid.size).reshape(grid.shape)
    lines = [(column, line) for line in places] if column is not None else []
    lines += [(row, line) for line in places.T] if row is not None else []
    rows = [
        ([int(cell) for cell in line], [-1.0 if place == total else 1.0 for place in range(len(line))])
        for total, line in lines
    ]
    relations = make_relations(rows)
    if len(relations) and np.abs(relations.residuals(grid.ravel())).max() > 1e-9:
        raise DataError("a margin of the crosstab is not the sum of its cells.", "Correct it.", "totals")
    return relations


def _shown(grid: npt.NDArray[np.float64], masked: npt.NDArray[np.bool_], policy: Policy) -> list[list[Any]]:
    rounded = np.floor(grid / policy.base + 0.5) * policy.base
    return [
        [policy.small if hit else int(value) for value, hit in zip(values, hits, strict=True)]
        for values, hits in zip(rounded, masked, strict=True)
    ]


_Ratio = tuple[int, int, float, int]


def _ratios(crosstab: Crosstab, derived: Mapping[Any, tuple[Any, Any]]) -> dict[int, _Ratio]:
    """The columns that are 100 or 1 times one column over another: their parts, factor and decimals."""
    places = {label: place for place, label in enumerate(crosstab.columns)}
    found: dict[int, _Ratio] = {}
    for place, label in enumerate(crosstab.columns):
        column = crosstab.values[:, place]
        if label in derived:
            pairs = [(places[derived[label][0]], places[derived[label][1]])]
        elif np.isnan(column).any() or (column != np.round(column)).any():
            pairs = [
                (one, two) for one in range(len(places)) for two in range(len(places)) if len({one, two, place}) == 3
            ]
        else:
            continue
        fits = [fit for one, two in pairs if (fit := _fit(crosstab.values, place, one, two)) is not None]
        if not fits:
            raise DataError(
                "a column of the crosstab is neither counts nor a ratio of two others.", "Leave it out.", "not-a-count"
            )
        found[place] = fits[0]
    return found


def _fit(values: npt.NDArray[np.float64], place: int, one: int, two: int) -> _Ratio | None:
    column, top, bottom = values[:, place], values[:, one], values[:, two]
    if any((part != np.round(part)).any() for part in (top, bottom)):
        return None
    used = (bottom > 0) & ~np.isnan(column)
    for factor in (100.0, 1.0):
        exact = factor * top[used] / bottom[used]
        for decimals in (0, 1, 2, 3, 4, 12):
            if used.any() and np.allclose(
                np.round(exact, decimals), column[used], rtol=0, atol=0.6 * 10.0**-decimals * 1e-3 + 1e-9
            ):
                return one, two, factor, decimals
    return None


def _with_ratios(
    crosstab: Crosstab, shown: Sequence[Sequence[Any]], counts: Sequence[int], ratios: Mapping[int, _Ratio]
) -> list[list[Any]]:
    """All columns again: a ratio of what is published, a mask where either part is masked."""
    at = {column: place for place, column in enumerate(counts)}
    return [
        [
            row[at[column]] if column in at else _ratio(row, at, ratios[column])
            for column in range(len(crosstab.columns))
        ]
        for row in shown
    ]


def _ratio(row: Sequence[Any], at: Mapping[int, int], ratio: _Ratio) -> Any:
    one, two, factor, decimals = ratio
    top, bottom = row[at[one]], row[at[two]]
    if MASK in (top, bottom):
        return MASK
    return round(factor * top / bottom, decimals) if bottom else float("nan")
