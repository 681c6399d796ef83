"""A published crosstab as its reader sees it: counts that are shown, masks, rates; and what can be computed back."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.errors import DataError
from sfumato.tables.attack.audit import audit_publication
from sfumato.tables.attack.publication import Publication
from sfumato.tables.cells.cells import Bounds, Mask, Places, Relations, make_relations, no_bounds
from sfumato.tables.crosstabs.crosstabs import SHARES, Grid, is_margin

Text = str | None


@dataclass(frozen=True, slots=True)
class PublishedCrosstab:
    """Counts and rates of a published table.

    Attributes:
        rows, columns: The labels of its rows and of the columns that hold counts.
        counts: The counts shown; not a number where masked.
        rates: The shares and rates shown, by column; owners: for each of these columns, the place of its counts.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: Grid
    rates: Grid
    owners: tuple[int, ...]

    @property
    def masked(self) -> Mask:
        """Which counts are masked."""
        return np.isnan(self.counts)


def read_crosstab(header: Sequence[str], cells: Sequence[Sequence[Text]]) -> PublishedCrosstab:
    """A published table: columns without any number are labels of its rows, the others hold counts or rates.

    Raises:
        DataError: No column holds a number.
    """
    grid = np.array([[_number(cell) for cell in row] for row in cells], float).reshape(len(cells), len(header))
    labels = [place for place in range(len(header)) if place == 0 or np.isnan(grid[:, :place]).all()]
    labels = [place for place in labels if np.isnan(grid[:, place]).all() or place == 0]
    numbers = [place for place in range(len(header)) if place not in labels]
    if not numbers:
        raise DataError("the table holds no counts.", "Give labels in the first column and counts in others.", "counts")
    shares = [place for place in numbers if any(word in header[place].lower() for word in SHARES)]
    counts = [place for place in numbers if place not in shares]
    rows = tuple(" ".join(str(row[place] or "") for place in labels) for row in cells)
    owners = tuple(_owner(header, place, counts) for place in shares)
    return PublishedCrosstab(rows, tuple(header[place] for place in counts), grid[:, counts], grid[:, shares], owners)


def _number(cell: Text) -> float:
    try:
        return float(cell) if cell is not None and cell.strip().lower() not in ("nan", "inf", "-inf") else math.nan
    except ValueError:
        return math.nan


def _owner(header: Sequence[str], place: int, counts: Sequence[int]) -> int:
    """The counts that a column of rates belongs to: those in its name, or else the next to the left."""
    named = [at for at, column in enumerate(counts) if header[column].lower() in header[place].lower()]
    left = [at for at, column in enumerate(counts) if column < place]
    return (named or left or [0])[-1]


def smallest_count(table: PublishedCrosstab) -> float:
    """The least count above zero that is shown; infinite where there is none.

    >>> smallest_count(read_crosstab(["ward", "n"], [["a", "12"], ["b", "*"]]))
    12.0
    """
    shown = table.counts[table.counts > 0]
    return float(shown.min(initial=np.inf))


def shown_zeros(table: PublishedCrosstab) -> int:
    """How many zeros are shown."""
    return int((table.counts == 0).sum())


def unrounded(table: PublishedCrosstab, low: int, high: int, small: str | int, base: int) -> int:
    """How many counts are shown that are no multiple of the base, but for what small ones are published as."""
    shown = table.counts[~table.masked]
    replaced = shown == small if isinstance(small, int) else np.zeros(len(shown), bool)
    tiny = (shown >= low) & (shown <= high) & ~replaced
    return int(((shown % base != 0) & ~replaced | tiny).sum())


def rates_of_masked_counts(table: PublishedCrosstab) -> int:
    """How many rates are shown whose count is masked."""
    return sum(
        int((~np.isnan(table.rates[:, place]) & table.masked[:, owner]).sum())
        for place, owner in enumerate(table.owners)
    )


def derivable(table: PublishedCrosstab, low: int, high: int) -> tuple[str, ...]:
    """The masked counts from `low` to `high` that totals give away: names of cells."""
    relations = _relations(table)
    if not table.masked.any() or not len(relations):
        return ()
    exact = table.counts.ravel()
    names = tuple(f"{row}, {column}" for row in table.rows for column in table.columns)
    bounds = Bounds(np.full(exact.size, float(min(low, 1))), np.full(exact.size, np.inf))
    bounds = Bounds(np.where(np.isnan(exact), bounds.low, 0.0), bounds.high)
    audit = audit_publication(
        Publication(exact, no_bounds(exact.size), bounds, relations, names), no_bounds(exact.size)
    )
    return tuple(
        finding.name
        for finding in audit.findings
        if math.ceil(finding.lower - 1e-6) == math.floor(finding.upper + 1e-6) and low <= round(finding.lower) <= high
    )


def _relations(table: PublishedCrosstab) -> Relations:
    """What adds up by the labels: rows and columns that are called totals are the sums of all others."""
    places: Places = np.arange(table.counts.size).reshape(table.counts.shape)
    relations = []
    for cells, labels in ((places, table.rows), (places.T, table.columns)):
        totals = [place for place, label in enumerate(labels) if is_margin(label)]
        parts = [place for place in range(len(labels)) if place not in totals]
        if len(totals) == 1 and parts:
            coefs = [-1.0] + [1.0] * len(parts)
            order = [totals[0], *parts]
            relations += [([int(cell) for cell in cells[order, at]], coefs) for at in range(cells[0].size)]
    return make_relations(relations)
