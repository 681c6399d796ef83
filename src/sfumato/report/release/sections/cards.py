"""Cards of a report: the distribution of each column before and after."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from html import escape

from sfumato.localization.messages import Messages
from sfumato.report.page.html_page import folded, paragraph
from sfumato.report.page.plots import Pair, histogram, legend, meters, short_names
from sfumato.report.release.report_data import ReportData
from sfumato.report.release.sections.column_evidence import raw_as, shown_as

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
