"""Parse a published crosstab: counts, suppressed cells, rates; and find suppressed counts that can be recomputed."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from sfumato.errors import DataError
from sfumato.tables.attack.audit import audit_publication
from sfumato.tables.attack.findings import AttackerView
from sfumato.tables.cells.system import (
    BoolArray,
    Bounds,
    LinearConstraints,
    Numbers,
    Places,
    make_constraints,
    no_bounds,
)
from sfumato.tables.crosstabs.crosstabs import Grid
from sfumato.tables.crosstabs.published_cells import (
    SHARES,
    ParsedCell,
    Text,
    cell_of,
    column_cells,
    is_margin,
    is_number,
)
from sfumato.tables.crosstabs.subtotals import APPROXIMATE_PROOF, MOST_LINES, bits_of, shown_sums
from sfumato.tables.published_tables.column_relations import is_linear
from sfumato.values import Value

Lines = npt.NDArray[np.float64]
# Names of numeric columns that label rows, and of numbers that are not counts.
_DIMENSIONS = frozenset(("year", "jahr", "age", "alter", "month", "monat", "quarter", "quartal", "week", "code", "icd"))
_COUNTIES = frozenset(("county", "counties", "fips", "kreis", "landkreis", "kreise"))
_STATISTICS = ("mean", "average", "median", "mittel", "durchschnitt", "estimate", "std", "stdev")
_MASKS = frozenset(("suppressed", "masked", "hidden", "unterdrückt", "gesperrt", "geheim", "c", "s", "x", "n/a"))


class PublishedCrosstab(Value):
    """The counts and rates of a published table.

    Attributes:
        rows: The labels of its rows.
        columns: The labels of the columns with counts.
        labels: The names of the columns that label rows.
        counts: The counts shown; NaN if suppressed.
        rates: The shares and rates shown, by column.
        owners: For each column of rates, the positions of its counts.
        ranges: Minimum and maximum count of each range that is shown instead of a count.
        marked_rates: Which rates have a mark, or a note in their row.
        label_cells: The contents of the label columns, row by row.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: Grid
    rates: Grid
    owners: tuple[tuple[int, ...], ...]
    ranges: tuple[tuple[float, float], ...]
    marked_rates: BoolArray
    labels: tuple[str, ...] = ()
    label_cells: tuple[tuple[str, ...], ...] = ()

    @property
    def masked(self) -> BoolArray:
        """Which counts are suppressed."""
        return np.isnan(self.counts)


# Suffixes of the columns with interval ends in a release, after the name of the value.
_ENDS = ("_lower", "_upper")


def read_crosstab(header: Sequence[str], cells: Sequence[Sequence[Text]]) -> PublishedCrosstab:
    """Read a published table: columns without any number label its rows, the others hold counts or rates.

    Interval ends that a release shows next to its counts are derived and not counts.

    Raises:
        DataError: No column holds a number.
    """
    bounds = {
        f"{name.removesuffix('_published')}{end}" for name in header for end in _ENDS if name.endswith("_published")
    }
    kept = [place for place, name in enumerate(header) if name not in bounds]
    header, cells = [header[place] for place in kept], [[row[place] for place in kept] for row in cells]
    columns = [[row[place] for row in cells] for place in range(len(header))]
    numbers = _number_columns(header, columns)
    if not numbers:
        raise DataError("counts.no_counts")
    read = {place: column_cells(columns[place]) for place in numbers}
    shares = [place for place in numbers if _is_share(header[place], read[place])]
    counts = [place for place in numbers if place not in shares]
    labels = [place for place in range(len(header)) if place not in numbers]
    label_cells = tuple(tuple(str(row[place] or "").strip() for place in labels) for row in cells)
    ranges = tuple((cell.low, cell.high) for place in counts for cell in read[place] if cell.is_range)
    shown, rates = (_grid([read[place] for place in places], len(cells)) for places in (counts, shares))
    owners = tuple(_owners(header, place, counts, shown, rates[:, at]) for at, place in enumerate(shares))
    return PublishedCrosstab(
        tuple(map(" ".join, label_cells)),
        tuple(header[place] for place in counts),
        shown,
        rates,
        owners,
        ranges,
        _marks(columns, numbers, shares),
        tuple(header[place] for place in labels),
        label_cells,
    )


def _marks(columns: Sequence[Sequence[Text]], numbers: Sequence[int], shares: Sequence[int]) -> BoolArray:
    """Return for each row and column of rates whether the rate has a mark, or the row has a note."""
    noted = [any(_is_note(columns[place][row]) for place in numbers) for row in range(len(columns[0]))]
    marks = [[noted[row] or not is_number(columns[place][row]) for place in shares] for row in range(len(noted))]
    return np.array(marks, bool).reshape(len(noted), len(shares))


def _is_note(text: Text) -> bool:
    return text is not None and any(map(str.isalpha, text)) and not is_number(text)


def _number_columns(header: Sequence[str], columns: Sequence[Sequence[Text]]) -> list[int]:
    """Return the positions of columns with counts or rates: after the first, and after those that label rows."""
    plain = [place for place, texts in enumerate(columns) if place and any(map(is_number, texts))]
    label = 0
    while len(plain) > 1 and _DIMENSIONS & {*header[plain[0]].lower().split()}:
        label, plain = plain[0], plain[1:]
    if not plain:
        return [place for place, texts in enumerate(columns) if place and any(map(_says_a_number, texts))]
    masked = (place for place in range(label + 1, plain[0]) if all(map(_is_mask, columns[place])))
    return [*range(next(masked, plain[0]), len(columns))]


def _is_mask(text: Text) -> bool:
    """Return whether a text replaces a number: signs without letters, a range, or a suppression word."""
    if text is None or not text.strip():
        return False
    return cell_of(text).is_range or not any(map(str.isalnum, text)) or text.strip().casefold() in _MASKS


def _says_a_number(text: Text) -> bool:
    return not math.isnan(cell_of(text).number)


def _is_share(name: str, cells: Sequence[ParsedCell]) -> bool:
    return any(cell.is_percent for cell in cells) or any(word in name.lower() for word in (*SHARES, *_STATISTICS))


def _grid(columns: Sequence[Sequence[ParsedCell]], rows: int) -> Grid:
    return np.array([[cell.number for cell in column] for column in columns], float).reshape(len(columns), rows).T


def _owners(header: Sequence[str], place: int, counts: Sequence[int], shown: Grid, rates: Numbers) -> tuple[int, ...]:
    """Return the positions of the counts that a column of rates belongs to.

    These are the counts whose proportions the rates are. Otherwise it is the last column of counts that the label of
    the rates names, and otherwise all columns of counts.
    """
    told = [at for at in range(len(counts)) if any(is_linear(one, rates) for one in _shares(shown, at))]
    named = [at for at, column in enumerate(counts) if header[column].lower() in header[place].lower()]
    return tuple(told or named[-1:] or range(len(counts)))


def _shares(counts: Grid, place: int) -> Iterator[Numbers]:
    """Yield a column, for proportions of its total, and its proportions of each other column."""
    own = counts[:, place]
    for at, whole in enumerate(counts.T):
        if at == place:
            yield own
        else:
            yield np.divide(own, whole, out=np.full(len(own), np.nan), where=whole > 0)


def _few(few: BoolArray, owners: Sequence[int]) -> BoolArray:
    """Return the rows in which one of these counts is small or suppressed."""
    return np.asarray(few[:, list(owners)].any(axis=1))


def smallest_count(table: PublishedCrosstab, low: int, high: int) -> float:
    """Return the smallest count that is shown, except zeros; infinite if there is none.

    A negative number is not a suppression mark. A range counts as suppressed only if it includes every small count.

    Args:
        table: The published table.
        low: The smallest of the small counts.
        high: The largest of the small counts.

    >>> table = read_crosstab(["ward", "n"], [["a", "12"], ["b", "*"], ["c", "<11"]])
    >>> smallest_count(table, 1, 10), smallest_count(read_crosstab(["ward", "n"], [["a", "12"], ["b", "1-3"]]), 1, 10)
    (12.0, 1.0)
    """
    shown = table.counts[(table.counts != 0) & ~np.isnan(table.counts)]
    told = [max(least, 1.0) for least, most in table.ranges if not (least <= max(low, 1) and most >= high)]
    return float(min(shown.min(initial=np.inf), *told)) if told else float(shown.min(initial=np.inf))


def shown_zeros(table: PublishedCrosstab) -> int:
    """Return the number of zeros shown."""
    return int((table.counts == 0).sum())


def unrounded(table: PublishedCrosstab, low: int, high: int, small: str | int, base: int) -> int:
    """Return the number of counts that are not multiples of the base, except published replacements of small ones."""
    shown = table.counts[~table.masked]
    replaced = shown == small if isinstance(small, int) else np.zeros(len(shown), bool)
    tiny = (shown >= low) & (shown <= high) & ~replaced
    return int(((shown % base != 0) & ~replaced | tiny).sum())


def rates_of_masked_counts(table: PublishedCrosstab) -> int:
    """Return the number of rates shown whose count is suppressed."""
    return sum(
        int((~np.isnan(table.rates[:, place]) & _few(table.masked, owners)).sum())
        for place, owners in enumerate(table.owners)
    )


def unmarked_rates(table: PublishedCrosstab, events: int) -> int:
    """Return the number of unmarked rates based on at least one but fewer than `events` events.

    >>> rows = [["a", "15", "3.1"], ["b", "15", "3.1 (Unreliable)"], ["c", "25", "3.4"]]
    >>> unmarked_rates(read_crosstab(["county", "deaths", "rate"], rows), 20)
    1
    """
    few = (table.counts > 0) & (table.counts < events)
    plain = ~np.isnan(table.rates) & ~table.marked_rates
    return sum(int((plain[:, place] & _few(few, owners)).sum()) for place, owners in enumerate(table.owners))


def county_rates(table: PublishedCrosstab, events: int) -> int:
    """Return the number of rates of counties based on fewer than `events` events, if a column names counties.

    >>> rows = [["a", "15", "3.1*"], ["b", "25", "3.4"]]
    >>> [county_rates(read_crosstab([place, "deaths", "rate"], rows), 21) for place in ("county", "state")]
    [1, 0]
    """
    words = {word for label in table.labels for word in re.split(r"[^a-zäöüß]+", label.lower())}
    if not words & _COUNTIES:
        return 0
    few = table.masked | (table.counts < events)
    shown = ~np.isnan(table.rates)
    return sum(int((shown[:, place] & _few(few, owners)).sum()) for place, owners in enumerate(table.owners))


def derivable(table: PublishedCrosstab, low: int, high: int) -> tuple[str, ...]:
    """Return the names of suppressed counts from `low` to `high` that totals disclose."""
    relations = _relations(table)
    if not table.masked.any() or not len(relations):
        return ()
    exact = table.counts.ravel()
    names = tuple(f"{row}, {column}" for row in table.rows for column in table.columns)
    bounds = Bounds(np.full(exact.size, float(min(low, 1))), np.full(exact.size, np.inf))
    bounds = Bounds(np.where(np.isnan(exact), bounds.low, 0.0), bounds.high)
    audit = audit_publication(
        AttackerView(exact, no_bounds(exact.size), bounds, relations, names), no_bounds(exact.size)
    )
    return tuple(
        finding.name
        for finding in audit.findings
        if _is_told(finding.lower, finding.upper) and low <= round(finding.lower) <= high
    )


def _is_told(lower: float, upper: float) -> bool:
    """Return whether an interval contains exactly one integer."""
    return math.isfinite(upper - lower) and math.ceil(lower - 1e-6) == math.floor(upper + 1e-6)


def _relations(table: PublishedCrosstab) -> LinearConstraints:
    """Return the constraints: lines called totals are the sums of all others, otherwise the sums that the
    numbers show.
    """
    places: Places = np.arange(table.counts.size).reshape(table.counts.shape)
    across = table.counts.T
    rows = [*_row_sums(table)] or [*shown_sums(table.counts)] or [*nested_sums(table.counts)]
    columns = [*_sums(across, table.columns, range(len(across)))] or [*shown_sums(across)] or [*nested_sums(across)]
    sums = [(places[order], at) for order in rows for at in range(len(table.columns))]
    sums += [(places.T[order], at) for order in columns for at in range(len(places))]
    return make_constraints(
        [([int(cell) for cell in cells[:, at]], [-1.0] + [1.0] * (len(cells) - 1)) for cells, at in sums]
    )


def _row_sums(table: PublishedCrosstab) -> Iterator[list[int]]:
    """Yield sums of rows: for each label column, rows equal in all other label columns; the total first.

    >>> rows = [["A", "f", "3"], ["A", "m", "4"], ["A", "Total", "7"], ["Total", "f", "3"]]
    >>> list(_row_sums(read_crosstab(["ward", "sex", "n"], rows)))
    [[3, 0], [2, 0, 1]]
    """
    for column in range(len(table.labels)):
        alike: dict[tuple[str, ...], list[int]] = {}
        for place, cells in enumerate(table.label_cells):
            alike.setdefault((*cells[:column], *cells[column + 1 :]), []).append(place)
        own = [cells[column] for cells in table.label_cells]
        # With several label columns, the label of a total may be empty.
        blank = len(table.labels) > 1 and any(own)
        names = ["Total" if blank and not label else label for label in own]
        for places in alike.values():
            yield from _sums(table.counts, names, places)


def _sums(lines: Grid, labels: Sequence[str], places: Iterable[int]) -> Iterator[list[int]]:
    """Yield the only line called a total, followed by all others; nothing if there is none, or several.

    If they do not add up, there are subtotals among them.
    """
    chosen = list(places)
    totals = [place for place in chosen if is_margin(labels[place])]
    parts = [place for place in chosen if place not in totals]
    if len(totals) != 1 or not parts:
        return
    nested = [] if adds_up(lines, totals[0], parts) else [*nested_sums(lines[chosen], chosen.index(totals[0]))]
    # If nothing adds up, the audit detects the contradiction.
    yield from ([chosen[place] for place in one] for one in nested) if nested else [[totals[0], *parts]]


def adds_up(lines: Lines, total: int, parts: Sequence[int]) -> bool:
    """Return whether a line may be the sum of others: equal where none is suppressed, otherwise not less than those
    shown.

    >>> [adds_up(np.array([[np.nan, 3.0], [9.0, 4.0], [most, 7.0]]), 2, [0, 1]) for most in (12.0, 8.0)]
    [True, False]
    """
    told, known = lines[list(parts)], ~np.isnan(lines[total])
    whole = known & ~np.isnan(told).any(axis=0)
    least = np.nansum(told, axis=0)
    return bool((least[known] <= lines[total, known]).all() and (least[whole] == lines[total, whole]).all())


def nested_sums(lines: Lines, grand: int | None = None) -> Iterator[list[int]]:
    """Yield lines that are the sum of neighbors, or of totals among these; the total first.

    Args:
        lines: The counts; NaN if suppressed.
        grand: The line that is called the total. All others are assumed to be its parts or parts of these, so less
            proof is needed; if the rest does not add up to it, nothing is yielded.

    >>> north, south = [[np.nan, 14.0], [11.0, 12.0], [14.0, 26.0]], [[30.0, 9.0], [10.0, 11.0], [40.0, 20.0]]
    >>> list(nested_sums(np.array([*north, *south, [54.0, 46.0]]), 6))
    [[2, 0, 1], [5, 3, 4], [6, 2, 5]]
    """
    if len(lines) > MOST_LINES:
        return
    needed = 0.0 if grand is not None else APPROXIMATE_PROOF + float(np.log2(len(lines)))
    left, found = [place for place in range(len(lines)) if place != grand], list[list[int]]()
    while block := _block(lines, left, needed):
        found.append(block)
        left = [place for place in left if place not in block[1:]]
    if grand is not None:
        if len(left) < 2 or not adds_up(lines, grand, left):
            return
        found.append([grand, *left])
    yield from found


def _block(lines: Lines, left: Sequence[int], needed: float) -> list[int] | None:
    """Return a line that is the sum of the fewest neighbors, at least two, on one side of it."""
    for at, total in enumerate(left):
        for beside in (left[:at][::-1], left[at + 1 :]):
            for many in _many(lines, total, beside, needed):
                return [total, *sorted(beside[:many])]
    return None


def _many(lines: Lines, total: int, beside: Sequence[int], needed: float) -> Iterator[int]:
    """Yield the numbers of neighbors that add up to a line."""
    told = lines[beside[0]].copy() if beside else np.zeros(0)
    least = np.nan_to_num(told)
    for many, place in enumerate(beside[1:], start=2):
        told, least = told + lines[place], least + np.nan_to_num(lines[place])
        if (least > lines[total]).any():
            return
        known = ~np.isnan(told) & ~np.isnan(lines[total])
        same = (told[known] == lines[total, known]).all()
        if same and lines[total, known].any() and bits_of(lines[total, known]).sum() > needed:
            yield many
