"""The distribution of a column before and after, as a data user would estimate it, for every method."""

from collections.abc import Iterator

import numpy as np

from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.localization.messages import Messages
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.measures.recoded_view import ColumnView, view_of
from sfumato.microdata.measures.value_shares import BINS, bin_name, bin_places
from sfumato.microdata.models.equivalence_classes import BoolArray, Floats
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.recoding import Recoding
from sfumato.report.page.plots import Pair

# Values of categories that are shown.
MOST_VALUES = 10
# Larger tables are not processed again.
MOST_COMBINATIONS = 2_000_000


def distributions(
    words: Messages, plan: Plan, table: FrequencyTable, recoding: Recoding
) -> dict[str, tuple[Pair, ...]]:
    """Return the shares of values before and after, by quasi-identifier; empty if there are too many combinations."""
    if len(table.counts) > MOST_COMBINATIONS:
        return {}
    view = view_of(plan, table, recoding)
    return {column.name: _shares(words, table.ladders[place], column) for place, column in enumerate(view.columns)}


def _shares(words: Messages, ladder: Hierarchy, column: ColumnView) -> tuple[Pair, ...]:
    before, after = _share(column.before.astype(np.float64)), _share(column.after)
    texts = [words["report.missing"] if (text := ladder.values[code]) is None else text for code in column.values]
    if column.numbers is not None and len(texts) > BINS:
        missing = np.array([ladder.values[code] is None for code in column.values], bool)
        return (*_binned(texts, column.numbers, before, after, missing), *_missing(words, before, after, missing))
    order = np.arange(len(texts)) if column.numbers is not None else np.argsort(-before, kind="stable")
    shown = [Pair(texts[place], float(before[place]), float(after[place])) for place in order[:MOST_VALUES].tolist()]
    rest = order[MOST_VALUES:]
    if len(rest):
        others = words["report.others"].format(count=words.count(len(rest)))
        shown.append(Pair(others, float(before[rest].sum()), float(after[rest].sum())))
    return tuple(shown)


def _share(rows: Floats) -> Floats:
    return rows / max(float(rows.sum()), 1.0)


def _missing(words: Messages, before: Floats, after: Floats, missing: BoolArray) -> Iterator[Pair]:
    """Yield the share of missing values, which are in no bin of numbers."""
    if missing.any():
        yield Pair(words["report.missing"], float(before[missing].sum()), float(after[missing].sum()))


def _binned(texts: list[str], numbers: Floats, before: Floats, after: Floats, missing: BoolArray) -> tuple[Pair, ...]:
    """Return bins of equal width, named by the first and the last value in each."""
    known = np.flatnonzero(~missing)
    places = bin_places(numbers[known])
    pairs = []
    for place in range(BINS):
        inside = known[places == place]
        if len(inside):
            name = bin_name(texts[int(inside[0])], texts[int(inside[-1])])
            pairs.append(Pair(name, float(before[inside].sum()), float(after[inside].sum())))
    return tuple(pairs)
