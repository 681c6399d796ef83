"""Evidence shown in a report next to its metrics, taken from the frequency table and the recoding."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.dataclass import dataclass
from sfumato.localization.messages import Messages, words_in
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.models.equivalence_classes import BoolArray, Counts, Floats
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.missing_values import published_words
from sfumato.microdata.recoding.recoding import LevelRecoding, Recoding, tells_something
from sfumato.report.page.plots import Pair
from sfumato.report.release.labels import LabelMeaning, meanings
from sfumato.report.release.sections.distributions import distributions

# Lower ends of the bins in which class sizes are shown.
BINS = (1, 2, 3, 5, 10, 20, 50, 100, 1000)
MOST_EXAMPLES, MOST_LABELS = 3, 8


@dataclass(frozen=True, slots=True)
class ColumnEvidence:
    """What happened to one quasi-identifier.

    Attributes:
        level, top: Its level and the highest one, if the method chooses levels.
        before, after: Distinct values before, and informative labels after; a missing value is neither.
        examples: Original values and their published labels, the most frequent first.
        shares: Shares of the published labels before and after; empty if labels are not comparable.
    """

    name: str
    level: int | None
    top: int
    before: int
    after: int
    examples: tuple[tuple[str, str], ...]
    shares: tuple[Pair, ...]


@dataclass(frozen=True, slots=True)
class ReleaseEvidence:
    """Content of a report besides its metrics.

    Attributes:
        sizes: Rows by the size of their class, before and after, as shares.
        columns: By quasi-identifier; sensitive: shares of the values of columns with a model, as the model
            uses them: coded.
        meanings: The meaning of published labels, by quasi-identifier.
        distributions: Shares of values before and after as a data user would estimate them, by quasi-identifier.
        missing: The texts for "missing" in the published file, by columns with a model.
    """

    sizes: tuple[Pair, ...]
    columns: Mapping[str, ColumnEvidence]
    sensitive: Mapping[str, tuple[Pair, ...]]
    meanings: Mapping[str, tuple[LabelMeaning, ...]]
    distributions: Mapping[str, tuple[Pair, ...]] = field(default_factory=dict)
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as in report.json."""
        return {
            "class_sizes": [{"rows": pair.name, "before": pair.before, "after": pair.after} for pair in self.sizes],
            "columns": {
                name: {
                    "level": column.level,
                    "top": column.top,
                    "distinct_before": column.before,
                    "distinct_after": column.after,
                    "shares": _listed(column.shares),
                    "distribution": _listed(self.distributions.get(name, ())),
                }
                for name, column in self.columns.items()
            },
        }


def gather(plan: Plan, table: FrequencyTable, recoding: Recoding) -> ReleaseEvidence:
    """Collect the evidence for a release."""
    words, kept = words_in(plan.language), ~recoding.suppressed
    return ReleaseEvidence(
        class_sizes(table.counts, recoding.sizes[kept]),
        {name: _column(words, plan, table, recoding, place, kept) for place, name in enumerate(table.columns)},
        {
            name: _sensitive(words, table, recoding, name, kept)
            for name in plan.named("sensitive")
            if name in table.sensitive
        },
        meanings(words, plan, recoding),
        distributions(words, plan, table, recoding),
        published_words(plan, table),
    )


def _listed(pairs: Sequence[Pair]) -> list[list[Any]]:
    return [[pair.name, pair.before, pair.after] for pair in pairs]


def class_sizes(before: Counts, after: Counts) -> tuple[Pair, ...]:
    """Return the share of rows in classes of each size, without empty bins at the end."""
    shares = [_binned(sizes) for sizes in (before, after)]
    last = max((place for place in range(len(BINS)) if shares[0][place] or shares[1][place]), default=0)
    return tuple(Pair(_bin_name(place), float(shares[0][place]), float(shares[1][place])) for place in range(last + 1))


def _binned(sizes: Counts) -> Floats:
    places = np.searchsorted(np.array(BINS), sizes, side="right") - 1
    rows = np.bincount(places, weights=sizes, minlength=len(BINS))
    return rows / max(float(rows.sum()), 1.0)


def _bin_name(place: int) -> str:
    low = BINS[place]
    if place == len(BINS) - 1:
        return f"{low}+"
    high = BINS[place + 1] - 1
    return str(low) if low == high else f"{low}–{high}"


def _column(
    words: Messages, plan: Plan, table: FrequencyTable, recoding: Recoding, place: int, kept: BoolArray
) -> ColumnEvidence:
    marginal = table.marginal(place)
    labels = recoding.labels[place]
    rows = _rows(recoding.classes[kept, place], recoding.sizes[kept], len(labels))
    level = recoding.node[place] if isinstance(recoding, LevelRecoding) else None
    return ColumnEvidence(
        table.columns[place],
        level,
        table.ladders[place].height - 1,
        table.value_count(place),
        sum(tells_something(labels[code]) for code in np.flatnonzero(rows)),
        tuple(
            (raw_as(words, plan, table.columns[place], value), label)
            for value, label in _examples(words, table, recoding, place, kept)
        ),
        _shares(words, labels, _rows(recoding.label_codes(place), marginal, len(labels)), rows)
        if isinstance(recoding, LevelRecoding)
        else (),
    )


def _rows(codes: npt.NDArray[np.int32], counts: Counts, size: int) -> Floats:
    return np.bincount(codes, weights=counts, minlength=size).astype(np.float64)


def _shares(words: Messages, labels: tuple[str | None, ...], before: Floats, after: Floats) -> tuple[Pair, ...]:
    """Return the most frequent labels with their shares, and the others as one."""
    shares = [rows / max(float(rows.sum()), 1.0) for rows in (before, after)]
    order = [int(code) for code in np.argsort(-shares[0], kind="stable") if shares[0][code] or shares[1][code]]
    shown = order if len(order) <= MOST_LABELS + 1 else order[:MOST_LABELS]
    pairs = [Pair(shown_as(words, labels[code]), float(shares[0][code]), float(shares[1][code])) for code in shown]
    if len(shown) < len(order):
        rest = order[len(shown) :]
        pairs.append(
            Pair(
                words["report.others"].format(count=words.count(len(rest))),
                float(shares[0][rest].sum()),
                float(shares[1][rest].sum()),
            )
        )
    return tuple(pairs)


def _examples(
    words: Messages, table: FrequencyTable, recoding: Recoding, place: int, kept: BoolArray
) -> Iterator[tuple[str, str]]:
    """Yield frequent original values with their published labels, each value once."""
    visible = np.flatnonzero(kept[recoding.owners])
    order = visible[np.argsort(-table.counts[visible], kind="stable")][:2000]
    seen: set[int] = set()
    for combination in order.tolist():
        code = int(table.codes[combination, place])
        if code in seen:
            continue
        seen.add(code)
        label = recoding.labels[place][recoding.classes[recoding.owners[combination], place]]
        yield shown_as(words, table.ladders[place].values[code]), shown_as(words, label)
        if len(seen) == MOST_EXAMPLES:
            return


def _sensitive(
    words: Messages, table: FrequencyTable, recoding: Recoding, name: str, kept: BoolArray
) -> tuple[Pair, ...]:
    values = table.sensitive[name]
    published = kept[recoding.owners][values.owners]
    after = _rows(values.values[published], values.counts[published], values.size)
    return _shares(words, table.sensitive_values[name], values.totals().astype(np.float64), after)


def raw_as(words: Messages, plan: Plan, name: str, value: str) -> str:
    """Return an original value of a column, with the decimal mark of the language if it is a number."""
    column = plan.columns.get(name)
    numbers = plan.data.decimal == "," or (column is not None and column.holds_numbers)
    return words.value(value) if numbers else value


def shown_as(words: Messages, label: str | None) -> str:
    """Return a value as shown in a report."""
    return words["report.missing"] if label is None else label
