"""Test whether suppression depends on an outcome: do rows with a value in a quasi-identifier differ from all rows?

For each outcome and quasi-identifier, the proportions of the outcome's values among the raw rows (in each group of a
quasi-identifier with few values) are compared with those among the published rows that have a value there, and among
those that have a value in every quasi-identifier. Suppression by chance moves them by a hypergeometric variance; the
level of the test is that of all comparisons together. Only differences that would change an answer count: more than two
standard errors, and more than a quarter.
"""

from collections.abc import Iterator, Mapping, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.microdata.attacks.label_semantics import numbers_in
from sfumato.microdata.counts.frequency_table import FrequencyTable, ValueCounts
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.questions.rows import ColumnValues
from sfumato.microdata.questions.verdict import ERRORS, PROPORTION, SMALLEST_GROUP
from sfumato.microdata.recoding.expected_counts import expected_counts
from sfumato.microdata.recoding.mapping import Recoding, SuppressionHandling, tells_something
from sfumato.values import Value

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
# Level of all comparisons of a release together.
LEVEL = 0.01
# Most values of an outcome and groups of a quasi-identifier that are compared; others are one value, or not grouped.
MOST_VALUES, MOST_GROUPS = 8, 30
# Fewer rows with a value are not compared.
FEWEST_LEFT = 10


class StarBias(Value):
    """An outcome on which suppression depends.

    Attributes:
        outcome: The column.
        column: The quasi-identifier with suppressed values; None if rows without any suppressed value differ.
        difference: The largest difference of a proportion, published minus raw.
    """

    outcome: str
    column: str | None
    difference: float


class _Comparison(Value):
    """Proportions of an outcome's values in groups: raw rows, and rows with a value."""

    column: str | None
    raw: Floats
    published: Floats

    def deviations(self) -> tuple[Floats, Floats]:
        """Return the differences that would change an answer, others as 0, and how improbable each is by chance."""
        rows, left = self.raw.sum(1, keepdims=True), self.published.sum(1, keepdims=True)
        with np.errstate(all="ignore"):
            before, after = self.raw / rows, self.published / left
            error, kept = np.sqrt(before * (1 - before) / rows), left / rows
            difference = after - before
            z = np.abs(difference) / (error * np.sqrt((1 - kept) / kept))
        enough = (rows >= SMALLEST_GROUP) & (left >= FEWEST_LEFT) & (kept < 1) & (error > 0)
        matters = enough & (np.abs(difference) > np.maximum(ERRORS * error, PROPORTION * before))
        return np.where(matters, difference, 0.0), np.where(matters, np.nan_to_num(z), 0.0)


def star_bias(
    counts: Mapping[str, tuple[ValueCounts, ValueCounts]], ladders: Mapping[str, Hierarchy]
) -> tuple[StarBias, ...]:
    """Return the outcomes on which suppression depends, each with its most significant difference.

    Args:
        counts: For each outcome the raw and the published rows, by the quasi-identifiers and the outcome.
        ladders: The hierarchies of the quasi-identifiers.
    """
    compared = {name: [*_comparisons(*pair, name, ladders)] for name, pair in counts.items()}
    number = sum(one.raw.size for several in compared.values() for one in several)
    critical = NormalDist().inv_cdf(1 - LEVEL / 2 / max(number, 1))
    found = []
    for name, several in compared.items():
        worst = max((_worst(name, one) for one in several), key=lambda entry: entry[0], default=(0.0, None))
        if worst[1] is not None and worst[0] > critical:
            found.append(worst[1])
    return tuple(found)


def complete_rows(published: ValueCounts, columns: Sequence[str]) -> tuple[int, int]:
    """Return the number of published rows with a value in every quasi-identifier that has some, and of all rows."""
    kept = _complete(published, columns)
    return int(published.counts[kept].sum()), int(published.counts.sum())


def outcomes_of(plan: Plan, table: FrequencyTable) -> list[str]:
    """Return the outcomes that suppression is compared with: of the questions, or else the sensitive columns."""
    asked = [name for one in plan.purpose.questions for name, parts in one.columns().items() if "outcome" in parts]
    unchanged = (name for name in table.sensitive if name in plan.columns and plan.columns[name].publish is None)
    shown = [name for name in unchanged if name not in plan.removed_columns]
    return [name for name in shown if name in asked] or [name for name in shown if name in plan.shown_sensitive]


def predicted_bias(plan: Plan, table: FrequencyTable, recoding: Recoding) -> tuple[StarBias, ...]:
    """Return the outcomes on which the suppression of a recoding would depend, before it is applied.

    A table that counts persons instead of rows does not show it.
    """
    outcomes = outcomes_of(plan, table)
    if not outcomes or table.sensitive.keys() != table.sensitive_values.keys():
        return ()
    expected = expected_counts(table, recoding, SuppressionHandling(plan.output.suppressed), plan)
    tallies = dict(zip(expected.sensitive, expected.tallies[1:], strict=True))
    pairs = {}
    for name in outcomes:
        if name not in expected.pooled:
            tally = tallies[name]
            columns = (*table.columns, name)
            published = ValueCounts(
                columns, tuple(map(tuple, tally.texts)), tally.codes.astype(np.int32), tally.rows, tally.total
            )
            pairs[name] = raw_counts(table, name), published
    return star_bias(pairs, dict(zip(table.columns, table.ladders, strict=True)))


def raw_counts(table: FrequencyTable, outcome: str) -> ValueCounts:
    """Return the rows of a frequency table by quasi-identifiers and a sensitive column."""
    content = table.sensitive[outcome]
    codes = np.column_stack([table.codes[content.owners], content.values])
    values = (*(tuple(ladder.values) for ladder in table.ladders), table.sensitive_values[outcome])
    return ValueCounts((*table.columns, outcome), values, codes.astype(np.int32), content.counts, table.rows)


def _worst(name: str, one: _Comparison) -> tuple[float, StarBias | None]:
    difference, z = one.deviations()
    if not z.size:
        return 0.0, None
    place = np.unravel_index(np.argmax(z), z.shape)
    return float(z[place]), StarBias(name, one.column, float(difference[place]))


def _comparisons(
    raw: ValueCounts, published: ValueCounts, outcome: str, ladders: Mapping[str, Hierarchy]
) -> Iterator[_Comparison]:
    """Yield the comparisons of one outcome: by each quasi-identifier, and by all together."""
    before, after, size = _outcome_codes(raw, published, outcome)
    complete = _complete(published, [*ladders])
    for name, ladder in ladders.items():
        told = _told(published, name)
        if not told.any() or told.all():
            continue
        old, new, groups = _group_codes(raw, published, name, ladder)
        yield _Comparison(name, _crossed(old, before, raw, groups, size), _crossed(new, after, published, groups, size))
    everything = np.zeros(len(raw.counts), np.int64), np.where(complete, 0, -1)
    yield _Comparison(
        None, _crossed(everything[0], before, raw, 1, size), _crossed(everything[1], after, published, 1, size)
    )


def _crossed(groups: Codes, values: Codes, counted: ValueCounts, many: int, size: int) -> Floats:
    """Return the rows of each group with each value."""
    kept = (groups >= 0) & (values >= 0)
    codes = groups[kept] * size + values[kept]
    return np.bincount(codes, counted.counts[kept], many * size).reshape(many, size).astype(float)


def _column(counted: ValueCounts, name: str) -> tuple[Sequence[str | None], Codes]:
    place = counted.columns.index(name)
    return counted.values[place], counted.codes[:, place].astype(np.int64)


def _told(counted: ValueCounts, name: str) -> npt.NDArray[np.bool_]:
    texts, codes = _column(counted, name)
    return np.array([tells_something(text) for text in texts] or [False], bool)[codes]


def _complete(published: ValueCounts, columns: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Return the combinations with a value in every quasi-identifier that has some."""
    told = [_told(published, name) for name in columns]
    kept: npt.NDArray[np.bool_] = np.logical_and.reduce(
        [np.ones(len(published.counts), bool), *(one for one in told if one.any())]
    )
    return kept


def _outcome_codes(raw: ValueCounts, published: ValueCounts, name: str) -> tuple[Codes, Codes, int]:
    """Return codes for the frequent values of an outcome, or for quarters of a numeric one; -1 for missing values."""
    texts, codes = _column(raw, name)
    present = [text for text in texts if tells_something(text)]
    numbers = numbers_in(present) if len(present) > MOST_VALUES else None
    rows = dict(zip(texts, np.bincount(codes, raw.counts, len(texts)).tolist(), strict=True))
    if numbers is not None:
        known = dict(zip(present, numbers.tolist(), strict=True))
        order = sorted(known, key=known.__getitem__)
        below = np.cumsum([rows[text] for text in order])
        place = {text: min(int(4 * (sums - 1) / below[-1]), 3) for text, sums in zip(order, below, strict=True)}
    else:
        frequent = sorted(present, key=lambda text: (-rows[text], text))
        place = {text: min(code, MOST_VALUES) for code, text in enumerate(frequent)}
    others, other_codes = _column(published, name)
    size = max(place.values(), default=0) + 1
    return _places(texts, place)[codes], _places(others, place)[other_codes], size


def _group_codes(raw: ValueCounts, published: ValueCounts, name: str, ladder: Hierarchy) -> tuple[Codes, Codes, int]:
    """Return codes for the groups of a quasi-identifier as published, one group if it has many values."""
    (texts, codes), (labels, label_codes) = _column(raw, name), _column(published, name)
    rows = np.bincount(label_codes, published.counts, len(labels)).astype(int)
    own = tuple(text for text in texts if tells_something(text))
    if len(own) > MOST_GROUPS:
        alone = dict.fromkeys(own, 0), {text: 0 for text in labels if tells_something(text)}
        return _places(texts, alone[0])[codes], _places(labels, alone[1])[label_codes], 1
    shown = {text: int(count) for text, count in zip(labels, rows, strict=True) if text and tells_something(text)}
    column = ColumnValues(tuple(text for text in own if text), shown, ladder)
    names = {text: code for code, text in enumerate(dict.fromkeys(column.published.values()))}
    old = {text: names[to] for text, to in column.merged.items() if to is not None}
    new = {text: names[to] for text, to in column.published.items()}
    return _places(texts, old)[codes], _places(labels, new)[label_codes], len(names)


def _places(texts: Sequence[str | None], place: Mapping[Any, int]) -> Codes:
    return np.array([place.get(text, -1) for text in texts] or [-1], np.int64)
