"""Evidence shown in a report next to its metrics, taken from the frequency table and the recoding."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.localization.messages import Messages, words_in, words_on_persons
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.measures.columns import BINS, bin_name, bin_places
from sfumato.microdata.measures.recoded_view import ColumnView, view_of
from sfumato.microdata.methods.full_domain.search import TradeOffPoint
from sfumato.microdata.models.equivalence_classes import BoolArray, Counts, Floats
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.mapping import LevelRecoding, Recoding, published_words, tells_something
from sfumato.microdata.release_report import Report
from sfumato.report.html_page import folded, paragraph
from sfumato.report.plots import Pair, histogram, legend, meters, short_names
from sfumato.report.release.columns import LabelMeaning, meanings
from sfumato.values import Value, field, replace

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
    return {
        column.name: _distribution(words, table.ladders[place], column) for place, column in enumerate(view.columns)
    }


def _distribution(words: Messages, ladder: Hierarchy, column: ColumnView) -> tuple[Pair, ...]:
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


# Lower ends of the bins in which class sizes are shown.
SIZE_BINS = (1, 2, 3, 5, 10, 20, 50, 100, 1000)
MOST_EXAMPLES, MOST_LABELS = 3, 8


class ColumnEvidence(Value):
    """What happened to one quasi-identifier.

    Attributes:
        level: Its level; None if the method chooses no levels.
        top: Its highest level.
        before: Number of distinct original values, without missing ones.
        after: Number of informative published labels.
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


class ReleaseEvidence(Value):
    """Content of a report in addition to its metrics.

    Attributes:
        sizes: Rows by the size of their class, before and after, as shares.
        columns: What happened to each quasi-identifier.
        sensitive: Shares of the coded values that models use, by column with a model.
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
    shares = [_size_shares(sizes) for sizes in (before, after)]
    last = max((place for place in range(len(SIZE_BINS)) if shares[0][place] or shares[1][place]), default=0)
    return tuple(Pair(_bin_name(place), float(shares[0][place]), float(shares[1][place])) for place in range(last + 1))


def _size_shares(sizes: Counts) -> Floats:
    places = np.searchsorted(np.array(SIZE_BINS), sizes, side="right") - 1
    rows = np.bincount(places, weights=sizes, minlength=len(SIZE_BINS))
    return rows / max(float(rows.sum()), 1.0)


def _bin_name(place: int) -> str:
    low = SIZE_BINS[place]
    if place == len(SIZE_BINS) - 1:
        return f"{low}+"
    high = SIZE_BINS[place + 1] - 1
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


class ReportData(Value):
    """The input of the reports of a release; reports omit missing parts.

    Attributes:
        plan: The plan, if known.
        evidence: Findings about the rows.
        others: Releases that were not chosen.
        checksums: Checksums (SHA-256) of the other files of the folder, by report key.
        house: The other internal files of its folder.
        day: Date of the release.
        language: Language of the report; None for that of the plan.
        home: Base of the paths in plan.yaml, shown in the report; by default where the plan was read.
    """

    report: Report
    plan: Plan | None = None
    evidence: ReleaseEvidence | None = None
    others: tuple[TradeOffPoint, ...] = ()
    checksums: Mapping[str, str] = field(default_factory=dict)
    day: date | None = None
    language: str | None = None
    home: Path | None = None
    house: tuple[str, ...] = ("plan.yaml", "recoding.json", "report.json")

    @property
    def words(self) -> Messages:
        """The messages in the requested language, or else the plan's; for persons if these are counted."""
        language = self.language or (self.plan.language if self.plan else "en")
        return words_on_persons(language) if self.report.counts_persons else words_in(language)

    @property
    def star_rows(self) -> bool:
        """Whether there are suppressed rows with `*` in every quasi-identifier."""
        return self.report.star_rows and self.report.suppressed_rows > 0

    def under_promise(self, column: str) -> bool:
        """Return whether a model refers to a column."""
        return any(promise.column == column for promise in self.report.models)

    def about(self) -> dict[str, str]:
        """Return who released for what purpose, as the plan states it, by plan key."""
        return {} if self.plan is None else self.plan.release.stated()


# Distributions of more values are drawn as histograms.
MOST_METERS = 4
# A card: the name of a column, and its distribution.
Card = tuple[str, Sequence[Pair]]


def distribution_cards(dossier: ReportData) -> Iterator[str]:
    """Yield a card for each quasi-identifier, sensitive and coded column; of many, the rest can be unfolded."""
    words = dossier.words
    cards = [card for card in _cards(dossier) if len(card[1]) > 1]
    if cards:
        about = paragraph(words["report.distributions_text"], True)
        yield f"<h3>{escape(words['report.distributions'])}</h3>{about}{legend(words)}"
        yield folded(
            words, cards, lambda part: f'<div class="columns">{"".join(_card(words, *one) for one in part)}</div>'
        )


def _cards(dossier: ReportData) -> Iterator[Card]:
    evidence, details = dossier.evidence, dossier.report.details
    if evidence is None:
        return
    for name, column in evidence.columns.items():
        pairs = evidence.distributions.get(name, column.shares)
        yield name, _named(dossier, name, pairs if column.after else before_alone(pairs))
    coded = {one["column"]: one["shares"] for one in details.get("coded_columns") or () if one.get("shares")}
    counted = details.get("sensitive_shares") or {}
    for name, shares in coded.items():
        yield name, _pairs(dossier, name, shares)
    for name, told in counted.items():
        yield name, [*_pairs(dossier, name, told["shares"]), *_others(dossier.words, told)]
    for name, pairs in evidence.sensitive.items():
        if name not in coded and name not in counted:
            yield name, _named(dossier, name, pairs)


def before_alone(pairs: Sequence[Pair]) -> tuple[Pair, ...]:
    """Return a distribution without estimate if nothing of it is left: the estimate would not come from the release."""
    return tuple(replace(pair, after=None) for pair in pairs)


def _pairs(dossier: ReportData, name: str, shares: Sequence[Sequence[object]]) -> list[Pair]:
    words = dossier.words
    pairs = [Pair(shown_as(words, label), before, after) for label, before, after in shares]  # type: ignore[arg-type]
    return _named(dossier, name, pairs)


def _named(dossier: ReportData, name: str, pairs: Sequence[Pair]) -> list[Pair]:
    """Return values as the language writes them."""
    if dossier.plan is None:
        return list(pairs)
    return [Pair(raw_as(dossier.words, dossier.plan, name, one.name), one.before, one.after) for one in pairs]


def _others(words: Messages, told: dict[str, object]) -> Iterator[Pair]:
    """Yield the values that are not listed one by one."""
    if told["others"]:
        shares: list[list[float]] = told["shares"]  # type: ignore[assignment]
        before, after = (max(1.0 - sum(share[side] for share in shares), 0.0) for side in (1, 2))
        yield Pair(words["report.others"].format(count=words.count(int(str(told["others"])))), before, after)


def _card(words: Messages, name: str, pairs: Sequence[Pair]) -> str:
    return f'<div class="card"><h3>{escape(name)}</h3>{_drawn(words, name, pairs)}</div>'


def _drawn(words: Messages, name: str, pairs: Sequence[Pair]) -> str:
    """Return the chart of a distribution: many bins vertical, few values horizontal; or that nothing is left."""
    left = "" if any(pair.after is not None for pair in pairs) else paragraph(words["report.nothing_left"])
    if len(pairs) <= MOST_METERS:
        return meters(words, pairs) + left
    return histogram(words, short_names(pairs), "", f"{name}: {words['report.distributions']}") + left
