"""What a release does to each column: its outcome, the values that remain distinct, and their distribution.

- Values left: a loss is a mean and may hide a collapse. A column published as `2000-2199` in every row may lose only
  10 % of a domain that a typing error stretched, yet distinguishes no rows: 1 value left.
- Rare values: a class published as `[1010–1223]`, made from the rows instead of a hierarchy, reveals that one row has
  exactly 1010. Elements and ends of such labels are compared with the values of the rows.
- Distribution: coded numbers are estimated as a data user would, evenly between the smallest and the largest number
  with the same published label. A lost shape becomes visible.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from math import sqrt
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies.label_bounds import bounds_of, ends_of
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.measures.recoded_view import Pieces, RecodedView, label_pairs, pieces_of
from sfumato.microdata.models.equivalence_classes import Counts, Floats
from sfumato.microdata.models.persons import PERSONS
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.publish_plan import PublishPlan, read_numbers
from sfumato.microdata.recoding.mapping import Recoding, tells_something
from sfumato.microdata.recoding.range_grid import range_ends, set_members
from sfumato.values import Value, fields

# Number of bins, number of category values shown, and the maximum length of a two-ended bin name.
BINS, MOST_VALUES, LONGEST_END = 12, 8, 6
RowsByValue = Mapping[str | None, int]
# A value, or None for a missing one, with its share before and after.
Share = list[Any]


def coded_shares(publish: PublishPlan, rows: RowsByValue) -> list[Share]:
    """Return the shares of bins of a column's original numbers, before, and after as estimated from the coded ones.

    >>> shares = coded_shares(PublishPlan(top=40.0), {"0": 6, "50": 1, "60": 4, "110": 1})
    >>> [(name, round(before, 2), round(after, 2)) for name, before, after in shares][:4]
    [('0', 0.5, 0.5), ('50', 0.08, 0.04), ('60', 0.33, 0.08), ('', 0.0, 0.08)]
    """
    texts, numbers = _numbers(rows)
    if len(set(numbers)) < 2:
        return []
    order = np.argsort(numbers, kind="stable")
    texts, raw = [texts[place] for place in order.tolist()], np.array(numbers)[order]
    counts = np.array([rows[text] for text in texts], dtype=np.float64)
    places = bin_places(raw)
    before = _in_bins(places, counts)
    after = _guessed(raw, counts, publish.publish([text for text in texts if text is not None]))
    return _named(texts, places, before, after)


def counted_shares(before: RowsByValue, after: RowsByValue, numeric: bool = False) -> tuple[list[Share], int]:
    """Return the proportions of a column's values, most frequent first, and the number of further values.

    Args:
        numeric: Whether its values are numbers and not codes: many distinct ones are binned.

    >>> counted_shares({"flu": 3, "gout": 1}, {"flu": 3})
    ([['flu', 0.75, 1.0], ['gout', 0.25, 0.0]], 0)
    """
    texts, numbers = _numbers({**before, **after})
    if numeric and len(set(numbers)) > BINS:
        order = np.argsort(numbers, kind="stable").tolist()
        texts, places = [texts[place] for place in order], bin_places(np.array(numbers)[order])
        sides = [_in_bins(places, np.array([float(side.get(text, 0)) for text in texts])) for side in (before, after)]
        return _named(texts, places, *sides), 0
    totals = [max(sum(side.values()), 1) for side in (before, after)]
    values = sorted({**before, **after}, key=lambda text: -before.get(text, 0))
    shown = values if len(values) <= MOST_VALUES + 1 else values[:MOST_VALUES]
    shares = [[text, before.get(text, 0) / totals[0], after.get(text, 0) / totals[1]] for text in shown]
    return shares, len(values) - len(shown)


def bin_places(numbers: Floats) -> npt.NDArray[np.int64]:
    """Return the index of the equal-width bin of each number; the numbers are sorted."""
    low, high = float(numbers[0]), float(numbers[-1])
    return np.minimum(((numbers - low) / max(high - low, 1e-9) * BINS).astype(np.int64), BINS - 1)


def _in_bins(places: npt.NDArray[np.int64], rows: Floats) -> Floats:
    return np.bincount(places, weights=rows, minlength=BINS).astype(np.float64)


def bin_name(first: str, last: str) -> str:
    """Name a bin by its ends.

    >>> bin_name("20", "24"), bin_name("1950-01-02", "1955-12-30"), bin_name("7", "7")
    ('20–24', '1950-01-02', '7')
    """
    return first if first == last or len(first) > LONGEST_END else f"{first}–{last}"


def _numbers(rows: RowsByValue) -> tuple[list[str | None], list[float]]:
    """Return the texts that are numbers, and these numbers."""
    texts = [text for text in rows if text is not None]
    read = [(text, number) for text, number in zip(texts, read_numbers(texts), strict=True) if number is not None]
    return [text for text, _ in read], [float(number) for _, number in read]


def _guessed(raw: Floats, counts: Floats, published: Sequence[str | None]) -> Floats:
    """Return rows in each bin, with each published label distributed evenly from its smallest to its largest number."""
    _, groups = np.unique([text or "" for text in published], return_inverse=True)
    rows = np.bincount(groups, weights=counts)
    low, high = np.full(len(rows), np.inf), np.full(len(rows), -np.inf)
    np.minimum.at(low, groups, raw)
    np.maximum.at(high, groups, raw)
    single = low == high
    spread = _in_bins(bin_places(np.array([raw[0], *low[single], raw[-1]]))[1:-1], rows[single])
    edges = np.linspace(raw[0], raw[-1], BINS + 1)
    low, high, rows = low[~single, None], high[~single, None], rows[~single, None]
    overlap = np.clip(np.minimum(high, edges[1:]) - np.maximum(low, edges[:-1]), 0, None)
    spread += (rows * overlap / (high - low)).sum(axis=0)
    return spread


def _named(texts: Sequence[str | None], places: npt.NDArray[np.int64], before: Floats, after: Floats) -> list[Share]:
    """Return bins with their shares, named by their first and last value; bins without original values have no name."""
    totals = [max(float(side.sum()), 1.0) for side in (before, after)]
    shares: list[Share] = []
    for place in np.flatnonzero((before > 0) | (after > 0)).tolist():
        inside = np.flatnonzero(places == place)
        name = bin_name(texts[int(inside[0])] or "", texts[int(inside[-1])] or "") if len(inside) else ""
        shares.append([name, float(before[place]) / totals[0], float(after[place]) / totals[1]])
    return shares


# A value with fewer rows is rare, whatever k is requested.
FEWEST = 2


def rare_values_named(plan: Plan, table: FrequencyTable, recoding: Recoding) -> Iterator[dict[str, Any]]:
    """Yield the columns with published labels that reveal values of fewer than k rows, or persons, and their number."""
    k = max(FEWEST, plan.minimum_class_size)
    for place, name in enumerate(table.columns):
        values, ladder = _values_of(table, place), table.ladders[place]
        rare = {_key(text) for text, rows in zip(ladder.values, values.tolist(), strict=True) if text and 0 < rows < k}
        by_rule = {text for texts in ladder.labels[1:] for text in texts}
        shown = np.unique(recoding.classes[~recoding.suppressed, place]) if rare else ()
        labels = {recoding.labels[place][code] for code in shown} - by_rule
        named = ((label,) if label in ladder.places else values_named(label) for label in labels if label is not None)
        number = sum(not rare.isdisjoint(map(_key, values)) for values in named)
        if number and plan.columns[name].perturbation is None:
            yield {"column": name, "labels": number, "fewer_than": k}


def values_named(label: str) -> tuple[str, ...]:
    """Return the values that a label shows: elements of a set, ends of an interval, or itself.

    >>> values_named("{72021, 72023}"), values_named("[1010–1223]"), values_named("30-39"), values_named("red")
    (('72021', '72023'), ('1010', '1223'), ('30', '39'), ('red',))
    """
    ends = set_members(label) or range_ends(label) or tuple(end for end in ends_of(label) if end is not None)
    return ends or (label,)


def _key(text: str) -> str | float:
    """Return a key that is the same for all spellings of a number."""
    low, high = bounds_of(text)
    return text if low is None or low != high else low


def _values_of(table: FrequencyTable, place: int) -> Counts:
    """Number of rows with each value of a column; of persons, if the plan counts persons."""
    members = table.persons.get(PERSONS)
    if members is None:
        return table.marginal(place)
    size = table.ladders[place].size
    codes = table.codes[members.owners, place].astype(np.int64)
    added_up = members.values < 1
    persons = np.bincount(codes[added_up], weights=members.counts[added_up], minlength=size)
    alone = np.unique(np.column_stack([codes[~added_up], members.values[~added_up]]), axis=0)
    return (persons + np.bincount(alone[:, 0], minlength=size)).astype(np.int64)


# A verdict mentions columns whose operations leave at most this number of values.
_FEW = 2


def values_left(view: RecodedView, recoding: Recoding) -> dict[str, dict[str, float]]:
    """Return for each quasi-identifier its distinct values, the informative published labels, and their ratio.

    A missing value is neither a value nor a label. Labels that overlap may be more than the values.
    """
    figures = {}
    for place, column in enumerate(view.columns):
        labels = zip(recoding.labels[place], column.label_rows.tolist(), strict=True)
        after = sum(rows > 0 and tells_something(label) for label, rows in labels)
        before = view.table.value_count(place)
        figures[column.name] = {"before": before, "after": after, "share": min(after / before, 1.0) if before else 1.0}
    return figures


def few_values_left(plan: Plan, table: FrequencyTable) -> Iterator[dict[str, Any]]:
    """Yield the columns whose operations (`publish`) leave only one or two values, and the numbers before and after."""
    for name, column in plan.columns.items():
        if column.operations is None or name not in table.spellings:
            continue
        values = table.sensitive_values[name]
        left = sum(value is not None for value in values)
        texts = [text for text, code in table.spellings[name].items() if text is not None and values[code] is not None]
        before = len({*read_numbers(texts)})
        if left <= _FEW < before:
            yield {"column": name, "values": before, "left": left}


# Removed: the plan publishes nothing of it; fully generalized: every row has `*`; generalized: some or all rows
# are generalized; changed: coded or perturbed; kept: every published row has its original value.
Fate = Literal["removed", "fully_generalized", "generalized", "changed", "kept"]


def column_fates(
    plan: Plan, table: FrequencyTable, recoding: Recoding, unchanged: Collection[str] = ()
) -> dict[str, Fate]:
    """Return the outcome of each column of a plan.

    Args:
        unchanged: Perturbed columns in which no row changed.
    """
    pieces = pieces_of(table, recoding)
    published = pieces.kept(~recoding.suppressed[pieces.classes] & (pieces.rows > 0))
    fates: dict[str, Fate] = {}
    for name, column in plan.columns.items():
        if name in plan.removed_columns:
            fates[name] = "removed"
        elif column.publish is not None:
            fates[name] = "kept" if name in unchanged else "changed"
        else:
            fates[name] = (
                _of_labels(table, recoding, table.columns.index(name), published) if name in table.columns else "kept"
            )
    return fates


def _of_labels(table: FrequencyTable, recoding: Recoding, place: int, published: Pieces) -> Fate:
    """Return the outcome of a quasi-identifier from the labels in published rows."""
    labels, values = recoding.labels[place], table.ladders[place].values
    places = {value: code for code, value in enumerate(values)}
    as_values = np.array([places.get(label, -1) for label in labels], np.int64)
    codes, shown, _ = label_pairs(table, recoding, published, place)
    if np.array_equal(as_values[shown], codes):
        return "kept"
    return (
        "generalized"
        if any(tells_something(labels[code]) for code in np.unique(shown).tolist())
        else "fully_generalized"
    )


class TransformedColumn(Value):
    """The effect of operations on a column.

    Attributes:
        values: Number of distinct original numbers.
        left: Number of distinct published values.
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
        return {name: getattr(self, name) for name in fields(self)}


def coded_column(name: str, publish: PublishPlan, rows: Mapping[str, int]) -> TransformedColumn | None:
    """Return the effect of operations on a column; None if it has no numbers.

    Args:
        rows: The number of rows with each text.

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
