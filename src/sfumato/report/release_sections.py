"""The sections of a release report: each a heading with what stands below it, or nothing where nothing is known."""

from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

from sfumato.microdata.methods.full_domain.alternatives import Alternative
from sfumato.microdata.outcome import Report
from sfumato.microdata.plan.methods import FullDomain
from sfumato.microdata.plan.model import Plan
from sfumato.report import measure_sections, optimality, sentences
from sfumato.report.before_after import ColumnEvidence, Evidence
from sfumato.report.html_parts import folded, listing, paragraph, raw_table, section, table, tiles
from sfumato.report.plots import LEGEND, Pair, histogram, meters
from sfumato.report.trade_off import trade_off_sentences
from sfumato.texts.numbers import amount, percent
from sfumato.texts.words import Words

# Losses whose columns lose between nothing and everything: these can be shown as a share.
SHARES = ("loss-metric", "precision", "non-uniform-entropy")


def subtitle(report: Report, plan: Plan | None) -> str:
    """What was released, in a line."""
    source = f" of {Path(plan.data.source).name}" if plan and plan.data.source else ""
    return f"{report.published_rows:,} rows{source}, released with Sfumato {report.version}."


def verdict(words: Words, report: Report, plan: Plan | None) -> str:
    """What is promised, whether it holds, and how that was checked."""
    tone = "verdict" if report.holds else "verdict bad"
    word = "The promises hold." if report.holds else "A promise does not hold. Do not publish these rows."
    star_rows = report.star_rows and report.suppressed_rows > 0
    lines = [sentences.promised(words, promise, plan, star_rows) for promise in report.models]
    checks = "".join(paragraph(words[key]) for key in ["report.star_rows"] * star_rows + ["report.checked"])
    told = sentences.disclosure(words, report)
    besides = paragraph(words["disclosure.head"]) + listing(told) if told else ""
    return f'<div class="{tone}"><strong>{escape(word)}</strong>{listing(lines)}{checks}{besides}</div>'


def figures(report: Report) -> list[tuple[str, str]]:
    """The figures that stand out, each with its words."""
    before, after = report.risk["before"], report.risk["after"]
    lost = percent(report.suppressed_rows / max(report.rows, 1))
    found = [
        (f"{report.published_rows:,}", "rows published"),
        (
            f"{report.suppressed_rows:,}",
            f"{'of them published as *' if report.star_rows else 'rows suppressed'} ({lost})",
        ),
        (f"{percent(before['highest'])} → {percent(after['highest'])}", "highest risk of a row, before and after"),
        (f"{before['uniques']:,} → {after['uniques']:,}", "rows that are unique, before and after"),
    ]
    proved = ", proved least" if report.proved_optimal else ""
    return [*found, (amount(report.loss.value), f"loss ({report.loss.name}{proved})")]


def key_figures(report: Report) -> str:
    """The figures that stand out, as tiles."""
    return tiles(figures(report))


def columns(words: Words, report: Report, plan: Plan | None, evidence: Evidence | None) -> str:
    """What was done to each column."""
    if plan is None:
        levels = [(name, level, report.loss.per_column.get(name)) for name, level in report.levels.items()]
        return section("What was done to each column", table(["column", "level", "loss"], levels)) if levels else ""
    before_after = evidence.columns if evidence else {}
    rows = [_column(words, name, report, plan, before_after.get(name)) for name in plan.columns]
    examples = ["before → after, for example"] if before_after else []
    return section("What was done to each column", raw_table(["column", "what", *examples], rows))


def _column(words: Words, name: str, report: Report, plan: Plan, before_after: ColumnEvidence | None) -> list[str]:
    column = plan.columns[name]
    labels = optimality.published(report).get(name, ())
    under_promise = any(promise.column == name for promise in report.models)
    what = sentences.untouched(words, plan, name, under_promise) or _fate(words, name, report, plan, before_after)
    head = f'<td><b>{escape(name)}</b><br><span class="chip">{escape(column.role)}</span></td>'
    cells = [head, f"<td>{escape(what)}{optimality.chips(labels)}</td>"]
    if before_after is not None:
        return [*cells, f"<td>{''.join(_pair(*example) for example in before_after.examples)}</td>"]
    return [*cells, "<td></td>"]


def _pair(before: str, after: str) -> str:
    arrow = '<span class="arrow">→</span>'
    return f'<span class="pair">{escape(_cut(before))}{arrow}<b>{escape(_cut(after))}</b></span>'


def _cut(value: str, length: int = 40) -> str:
    return value if len(value) <= length else value[: length - 1] + "…"


def _fate(words: Words, name: str, report: Report, plan: Plan, before_after: ColumnEvidence | None) -> str:
    hierarchy = plan.columns[name].hierarchy
    changed = before_after is not None and before_after.before != before_after.after
    count = (
        f" {before_after.before:,} different values became {before_after.after:,}." if before_after and changed else ""
    )
    if name in report.levels and before_after is not None:
        return sentences.fate(words, hierarchy, report.levels[name], before_after.top) + count
    if name in report.levels:
        return f"Published at level {report.levels[name]}."
    if name in optimality.published(report):
        return optimality.fate(optimality.published(report)[name], before_after.before if before_after else None)
    return "Generalized class by class, only as far as each class needs." + count


def risk(words: Words, report: Report, evidence: Evidence | None) -> str:
    """Risk before and after, and the rows by the size of their class."""
    before, after = report.risk["before"], report.risk["after"]
    rows = max(int(before.get("rows", report.rows)), 1), max(int(after.get("rows", report.rows)), 1)
    pairs = [
        Pair("highest risk of a row", before["highest"], after["highest"]),
        Pair("average risk of a row", before["average"], after["average"]),
        Pair("rows that are unique", before["uniques"] / rows[0], after["uniques"] / rows[1]),
    ]
    why = (
        "The risk of a row is one over the size of its class: the chance of who knows the quasi-identifiers to find it."
    )
    return section(
        "Risk",
        paragraph(why),
        LEGEND,
        meters(pairs),
        *_sizes(evidence),
        *_more(words, report.risk),
        *measure_sections.origins(report.risk, report.levels),
    )


def _sizes(evidence: Evidence | None) -> Iterator[str]:
    if evidence is None:
        return
    small = sum(pair.before or 0.0 for pair in evidence.sizes[:2])
    about = f"Rows by the size of their class. Before, {percent(small)} of the rows were in classes of one or two."
    drawn = histogram(evidence.sizes, "rows that look alike (size of the class)", about)
    yield f"<figure>{drawn}{LEGEND}<figcaption>{escape(about)}</figcaption></figure>"


def _more(words: Words, figures: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """All single figures of risk, as a table; measures that one side lacks stay empty."""
    before, after = figures["before"], figures["after"]
    flat = [
        (words.get(f"risk.{name}", name.replace("_", " ")), before[name], after.get(name))
        for name in before
        if isinstance(before[name], int | float) and not isinstance(before[name], bool)
    ]
    yield table(["figure", "before", "after"], flat)


def utility(report: Report, evidence: Evidence | None) -> str:
    """What the rows lost: per column, their distributions, and whatever else was measured."""
    parts = [*_losses(report), *_distributions(evidence), *measure_sections.utility(report.utility)]
    return section("Utility", *parts) if parts else ""


def _losses(report: Report) -> Iterator[str]:
    losses = report.loss.per_column
    if not losses:
        return
    left = report.utility.get("values_left", {})
    if left:
        rows = [(name, entry["before"], entry["after"], percent(entry["share"])) for name, entry in left.items()]
        yield paragraph("Distinct values of each column: a small loss can hide that hardly any are left.")
        yield table(["column", "values before", "values left", "share"], rows)
    if report.loss.name in SHARES and all(0 <= loss <= 1 for loss in losses.values()):
        yield paragraph(f"Loss of each column ({report.loss.name}): 0 % is as it was, 100 % tells nothing.")
        yield meters([Pair(name, None, loss) for name, loss in losses.items()])
    else:
        yield table(["column", f"loss ({report.loss.name})"], losses.items())


def _distributions(evidence: Evidence | None) -> Iterator[str]:
    if evidence is None:
        return
    shown = {name: column.shares for name, column in evidence.columns.items()} | dict(evidence.sensitive)
    cards = [
        f'<div class="card"><h3>{escape(name)}</h3>{meters(pairs)}</div>'
        for name, pairs in shown.items()
        if len(pairs) > 1
    ]
    if cards:
        yield "<h3>Distributions, before and after</h3>" + LEGEND
        yield f'<div class="columns">{"".join(cards)}</div>'


def trade_off(report: Report, plan: Plan | None, others: tuple[Alternative, ...]) -> str:
    """What other budgets and neighboring levels would have cost."""
    if not others or plan is None or not isinstance(plan.method, FullDomain):
        return ""
    limit = plan.method.suppression.limit(report.rows)
    lines = trade_off_sentences(others, report.loss.value, report.rows, limit)
    return section("Trade-off", paragraph("What the release would have cost with other choices:"), listing(lines))


def limits(words: Words, report: Report) -> str:
    """What the promises do not protect against."""
    return section("Limits", listing(sentences.limits(words, tuple(promise.model for promise in report.models))))


def notes(report: Report) -> str:
    """What a reader should know besides."""
    return section("Notes", listing(report.remarks)) if report.remarks else ""


def origin(words: Words, report: Report, plan: Plan | None) -> str:
    """How the release was made, so that it can be made again."""
    rows: list[tuple[str, object]] = [
        ("method", report.method + (", proved optimal" if report.proved_optimal else "")),
        ("combinations of levels checked", f"{report.nodes['checked']:,} of {report.nodes['total']:,}"),
        ("classes", f"{report.classes.count:,}, of {report.classes.smallest:,} to {report.classes.largest:,} rows"),
        ("rows dropped (missing or invalid values)", f"{report.dropped_rows:,}"),
        ("engine", report.engine),
        ("seed", "secret" if report.seed is None else str(report.seed)),
        ("seconds", f"{report.seconds.total:.2f}, of them search {report.seconds.search:.2f}"),
        ("SHA-256 of the data", report.input_sha256),
        ("Sfumato", report.version),
    ]
    shuffled = plan is not None and plan.output.order == "shuffle"
    lines = [words["report.house"], *([words["report.shuffled"]] if shuffled else [])]
    plan_parts = [folded("The plan", _plan(plan))] if plan else []
    return section("How it was made", *map(paragraph, lines), table(["", ""], rows), *plan_parts)


def _plan(plan: Plan) -> str:
    from sfumato.microdata.plan.write import plan_text

    return plan_text(plan)
