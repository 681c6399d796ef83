"""Internal reports on suppressed and perturbed tables, to be signed: what was changed and why, what attackers know."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from html import escape
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.localization.messages import Messages, words_in
from sfumato.report import html_page as approval
from sfumato.report.html_page import Decision, listing, long_table, page, paragraph, section, table, tiles
from sfumato.report.tables.limitations import INSIDERS, MOST_ROWS, known_section, less_promised, limits, named
from sfumato.report.tables.page import audit_words, leaks, not_promised, verdict
from sfumato.report.tables.perturbed import (
    has_warning,
    loss_sentences,
    method_words,
    perturbed_limits,
    reader_sentences,
    verdict_words,
)
from sfumato.schema.files import written
from sfumato.tables.build import lines_of
from sfumato.tables.cell_labels import lower_end, upper_end
from sfumato.tables.noise.perturbed import PerturbedResult
from sfumato.tables.plan.rules import PriorPosterior, SensitivityRule
from sfumato.tables.plan.table_plan import TablePlan, table_plan_dict
from sfumato.tables.protection_levels.resolve_plan import facts_of
from sfumato.tables.suppress_table import SuppressedCells
from sfumato.tables.table_result import SuppressedTable
from sfumato.values import Value, asdict, defaults, field, fields

# Prior knowledge within this many percent counts as none: the rule is then called p percent.
ALL_KNOWN = 100.0


class DocumentContext(Value):
    """Information of a folder for a report.

    Attributes:
        day: Date of the release, if known.
        home: Base of the paths in plan.yaml, shown in the report.
        checksums: Checksums (SHA-256) of the other files, by name.
    """

    day: date | None
    home: Path
    checksums: Mapping[str, str] = field(default_factory=dict)


class ReportContent(Value):
    """The content of a report that depends on the method.

    Attributes:
        limits: What is not guaranteed.
        figures: Highlighted metrics with labels.
        lost: Information loss.
        residual: Residual disclosure.
        attackers: Assumed and excluded attackers.
        decisions: Choices with reasons.
    """

    title: str
    limits: Sequence[str]
    figures: Sequence[tuple[str, str]]
    lost: Sequence[str]
    residual: Sequence[str]
    attackers: Sequence[str]
    decisions: Sequence[approval.Decision]


class ReportWriter(Value):
    """The input of a report on a table: the messages of its language, the plan, and the metrics of report.json."""

    words: Messages
    plan: TablePlan
    report: Mapping[str, Any]


def house_page(
    teller: ReportWriter, story: ReportContent, verdict: str, papers: DocumentContext, more: Sequence[str] = ()
) -> str:
    """Return the internal report as one page, to be signed.

    Args:
        teller: The input of the report.
        story: The content that depends on the method.
        verdict: The guarantee and whether it is satisfied, as HTML.
        papers: Information about the release folder.
        more: Further sections, as HTML.
    """
    words, plan, report = teller.words, teller.plan, teller.report
    who = f"<h3>{escape(words['sign.attackers'])}</h3>"
    body = [
        f"<h1>{escape(story.title)}</h1>",
        paragraph(words["tabled.house_about"].format(version=report["version"]), soft=True),
        verdict,
        not_promised(words, story.limits),
        approval.document(words, document_rows(teller, papers)),
        tiles(story.figures),
        section(words["report.utility"], listing(story.lost)),
        section(words["sign.residual"], listing(story.residual), who, listing(story.attackers)),
        *more,
        approval.decisions(words, story.decisions),
        approval.signatures(words),
        _origin(words, plan, report, papers),
        approval.glossary(words, approval.TABLES_GLOSSARY),
    ]
    return page(f"Sfumato: {story.title}", body, words.language)


def document_rows(teller: ReportWriter, papers: DocumentContext) -> list[tuple[str, str]]:
    """Return the data of the document, each with its label."""
    source, about = ", ".join(sources_of(teller.plan)), teller.plan.release.stated()
    return approval.document_rows(teller.words, papers.day, teller.report["version"], source, about)


def all_decisions(words: Messages, plan: TablePlan, own: Iterable[approval.Decision]) -> list[approval.Decision]:
    """Return the decisions: the rules, the method, and what holds for every method."""
    return [*rule_decisions(words, plan), *own, *_further(words, plan)]


def sources_of(plan: TablePlan) -> list[str]:
    """Return the names of the files with a plan's cells or records."""
    named = [plan.table.source, plan.table.microdata, plan.table.cells, *(own.source for own in plan.tables)]
    return list(dict.fromkeys(Path(name).name for name in named if name))


def rule_decisions(words: Messages, plan: TablePlan) -> list[approval.Decision]:
    """Return the sensitivity rules, each with its parameters and its meaning."""
    return [
        (
            words["tabled.decide.rule"],
            rule_words(words, rule) + _limits(words, rule),
            words.get(f"rule.{_kind(rule)}.says", ""),
        )
        for rule in plan.primary
    ]


def rule_words(words: Messages, rule: SensitivityRule) -> str:
    """Return the name of a rule."""
    return words.get(f"rule.{_kind(rule)}", rule.name)


def _kind(rule: SensitivityRule) -> str:
    """Return the message key of a rule's name; a rule with prior knowledge has a separate one."""
    before = isinstance(rule, PriorPosterior) and rule.q != ALL_KNOWN
    return "pq" if before else rule.name


def _limits(words: Messages, rule: SensitivityRule) -> str:
    """Return the parameters of a rule, in parentheses, without defaults."""
    usual = defaults(rule)
    told = [
        f"{words.get(f'rule.{_kind(rule)}.{key}', key).partition(';')[0]}: "
        f"{words.get(f'level.{value}', said_of(words, value))}"
        for key in fields(rule)
        if (value := getattr(rule, key)) is not None and value != usual.get(key)
    ]
    return f" ({', '.join(told)})" if told else ""


def said_of(words: Messages, value: object) -> str:
    """Return a choice of a plan in words."""
    if isinstance(value, bool):
        return words["report.yes" if value else "report.no"]
    if isinstance(value, int | float):
        return words.figure(f"{value:,g}" if isinstance(value, float) else f"{value:,}")
    return ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)


def _further(words: Messages, plan: TablePlan) -> list[approval.Decision]:
    """Return further decisions about a table, independent of the method."""
    before = ", ".join(Path(name).name for name in plan.previous)
    earlier = [(words["tabled.decide.previous"], before, words["tabled.decide.previous.why"])] if before else []
    return [*earlier, (words["sign.order"], words["tabled.decide.order"], words["tabled.decide.order.why"])]


def _origin(words: Messages, plan: TablePlan, report: Mapping[str, Any], papers: DocumentContext) -> str:
    """Return how it was made: metrics, checksums, and the full plan."""
    seconds = sum(report["seconds"].values())
    rows = [
        (words["noised.method"], report["method"]),
        (words["report.seconds"], words.figure(f"{seconds:.2f}")),
        *(((words["tabled.sha_columns"], report["input_sha256"]),) if "input_sha256" in report else ()),
        *((f"SHA-256: {name}", seal) for name, seal in papers.checksums.items()),
        ("Sfumato", report["version"]),
    ]
    listed = approval.plan_listing(words, written(table_plan_dict(plan, papers.home), width=80))
    return section(words["report.made"], paragraph(words["tabled.house"]), table(["", ""], rows, words), listed)


def masked_house(protected: SuppressedTable, report: Mapping[str, Any], papers: DocumentContext) -> str:
    """Return the full report as one page; it shows which cells are sensitive, and the rules with their parameters."""
    words = words_in(protected.plan.output.language)
    teller = ReportWriter(words, protected.plan, report)
    more = [*leaks(words, protected), *known_section(words, report), *_masked_cells(words, protected)]
    return house_page(teller, masked_story(teller), verdict(words, protected, report), papers, more)


def masked_story(teller: ReportWriter) -> ReportContent:
    """Return the content for a suppressed table from its plan and its report.json."""
    words, plan, report = teller.words, teller.plan, teller.report
    return ReportContent(
        words["tabled.house_title"],
        [*less_promised(words, report), *limits(words, plan, report["ranges"])],
        [
            (words.count(report["cells"]), words["tabled.cells"]),
            (words.count(report["masked"]), words["tabled.masked"]),
            (words.count(report["primary"]), words["tabled.unsafe"]),
            (words.count(report["secondary"]), words["tabled.secondary"]),
            (words.amount(report["cost"]), words["tabled.cost"]),
        ],
        _lost(words, report),
        list(_residual(words, report)),
        list(_attackers(words, report["attackers"])),
        all_decisions(words, plan, _suppression_decisions(words, plan, report)),
    )


def _lost(words: Messages, report: Mapping[str, Any]) -> list[str]:
    counts = {key: words.count(report[key]) for key in ("masked", "cells", "primary", "secondary")}
    share = words.percent(report["masked"] / max(report["cells"], 1))
    if not report["masked"]:
        return [words["masked"].format(**counts)]
    return [
        words["masked"].format(**counts),
        words["tabled.lost_share"].format(share=share, cost=words.amount(report["cost"])),
        _proved(words, report),
    ]


def _proved(words: Messages, report: Mapping[str, Any]) -> str:
    key = "table_proved" if report["proved_optimal"] else "table_unproved" if report["gap"] is None else "table_gap"
    return words[key].format(gap=words.figure(f"{100 * (report['gap'] or 0):.1f}"))


def _residual(words: Messages, report: Mapping[str, Any]) -> Iterator[str]:
    """Yield what was at risk, and how closely sensitive cells can be estimated now."""
    counts = {key: words.count(report[key]) for key in ("primary", "cells")}
    yield words["tabled.residual_before"].format(**counts)
    if report["masked"]:
        yield audit_words(words, report["audit"])
    if widths := report.get("sensitive_intervals"):
        yield words["tabled.residual_ranges"].format(**{key: words.amount(width) for key, width in widths.items()})


def _attackers(words: Messages, who: Mapping[str, Any]) -> Iterator[str]:
    """Yield the attackers and what each knows; and the excluded ones, with reasons."""
    for name, count in who["attacked"].items():
        yield words[f"tabled.who.{name}"].format(count=words.count(count))
    if "rounding" in who:
        yield words["tabled.rounding"].format(amount=words.figure(f"{who['rounding']:g}"))
    absent = [name for name in INSIDERS if name not in who["attacked"] and name not in who["did_not_attack"]]
    for key, names in (("off", who["did_not_attack"]), ("absent", absent)):
        if names:
            yield words[f"tabled.who.{key}"].format(name=named(words, names))


def _suppression_decisions(words: Messages, plan: TablePlan, report: Mapping[str, Any]) -> Iterator[Decision]:
    method = plan.method
    yield words["noised.method"], method.name, words[f"masking.{method.name}.says"]
    yield (
        words["masking.cost"],
        words.get(f"tabled.decide.cost.{method.cost}", method.cost),
        words["tabled.decide.cost.why"],
    )
    protection = plan.protection
    if protection is not None:
        ends = {key: getattr(protection, key) for key in ("lower", "upper", "percent")}
        told = [f"{words[f'protection.{key}']} {said_of(words, end)}" for key, end in ends.items() if end is not None]
        yield words["tabled.decide.protection"], ", ".join(told), words["tabled.decide.protection.why"]
    known = {key: getattr(plan.attacker, key) for key in ("lower", "upper", "integer", "rule")}
    told = [f"{words[f'attacker.{key}']}: {said_of(words, value)}" for key, value in known.items() if value]
    if told:
        yield words["attacker"], ", ".join(told), words["tabled.decide.attacker.why"]
    off = report["attackers"]["did_not_attack"]
    if off:
        yield words["tabled.decide.off"], named(words, off), words["tabled.decide.off.why"]


def _masked_cells(words: Messages, protected: SuppressedTable) -> list[str]:
    """Return every suppressed cell with its interval, status and reason; of very many the first."""
    rows = list(islice((row for part in protected.parts for row in _rows(words, protected, part)), MOST_ROWS))
    head = [words[f"tabled.{key}"] for key in ("cell", "column.lower", "column.upper", "case", "reason")]
    left = protected.audit.checked - len(rows)
    more = [paragraph(words["tabled.more_masked"].format(count=words.count(left)), soft=True)] if left > 0 else []
    return [section(words["tabled.masked_cells"], long_table(head, rows, words), *more)] if rows else []


def _rows(words: Messages, protected: SuppressedTable, part: SuppressedCells) -> Iterator[tuple[str, ...]]:
    struck = _struck(words, protected, part)
    for cell in np.flatnonzero(part.suppressed):
        low, high = float(part.ends.low[cell]), float(part.ends.high[cell])
        ends = ("", "") if np.isnan(low) or np.isnan(high) else (lower_end(low), upper_end(high))
        case = words.get(f"case.{part.case[cell]}", str(part.case[cell]))
        name = ", ".join([*part.part.group, part.part.table.names[cell]])
        yield name, *map(words.value, ends), case, "; ".join(struck[cell]) or part.reason[cell]


def _struck(words: Messages, protected: SuppressedTable, part: SuppressedCells) -> list[list[str]]:
    """Return the rules that classify each cell as sensitive; empty for linked tables, or cells with constraints."""
    own, rules = part.part, protected.plan.primary
    names: list[list[str]] = [[] for _ in part.suppressed]
    if not own.trees or len(own.trees) != len(protected.plan.dimensions):
        return names
    lines = dict(zip(protected.plan.dimensions, lines_of(own.trees, own.keys), strict=True))
    columns = protected.source.rows(own.rows)
    facts = facts_of(protected.plan.table, columns, own.table.values, own.table.constraints, lines)
    for rule in rules:
        for cell in np.flatnonzero(rule.apply(facts).unsafe & own.table.sensitive):
            names[cell].append(rule_words(words, rule))
    return names


def changed_house(changed: PerturbedResult, report: Mapping[str, Any], papers: DocumentContext) -> str:
    """Return the full report as one page; it states the size of the changes, never the secret behind them."""
    words = words_in(changed.plan.output.language)
    teller = ReportWriter(words, changed.plan, report)
    said, *why = verdict_words(words, changed, changed.promised)
    mark = "verdict" if changed.attacked else "verdict not"
    checked = [
        *why,
        words["noised.checked"],
        *([words["noised.nothing_changed"]] if has_warning(report, "noised.nothing_changed") else []),
    ]
    box = f'<div class="{mark}"><strong>{escape(said)}</strong>{"".join(map(paragraph, checked))}</div>'
    return house_page(teller, changed_story(teller), box, papers)


def changed_story(teller: ReportWriter) -> ReportContent:
    """Return the content for a perturbed table from its plan and its report.json."""
    words, plan, report = teller.words, teller.plan, teller.report
    noise = report["noise"]
    return ReportContent(
        words["noised.house_title"],
        list(perturbed_limits(words, not has_warning(report, "noised.no_guarantee"))),
        [
            (words.count(report["cells"]), words["tabled.cells"]),
            (words.count(noise["changed"]), words["case.changed"]),
            (words.amount(noise["mean_absolute"]), words["noised.mean_absolute"]),
            (words.amount(noise["largest"]), words["noised.largest"]),
            (words.count(report["reader"]["unsafe"]), words["tabled.unsafe"]),
        ],
        loss_sentences(report, words),
        reader_sentences(report, words),
        [words["noised.who.reader"], words["noised.who.not"]],
        all_decisions(words, plan, _perturbation_decisions(words, plan, report)),
    )


def _perturbation_decisions(words: Messages, plan: TablePlan, report: Mapping[str, Any]) -> Iterator[Decision]:
    method = plan.perturbation
    assert method is not None
    yield words["noised.method"], method_words(report, words), words[f"masking.{method.name}.says"]
    for key, value in asdict(method).items():
        told = {"deviation": "D", "variance": "V"}.get(key, key)
        title = words.get(f"masking.{method.name}.{told}")
        if title and value is not None and key != "secret":
            yield title, said_of(words, value), ""
