"""The internal report on a table, to be signed: the parts common to suppressed and perturbed tables."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, fields
from datetime import date
from html import escape
from pathlib import Path
from typing import Any

from sfumato.dataclass import dataclass
from sfumato.localization.messages import Messages
from sfumato.report.page import approval
from sfumato.report.page.html_page import listing, page, paragraph, section, table, tiles
from sfumato.report.tables.page import not_promised
from sfumato.schema.files import written
from sfumato.tables.plan.rules import PriorPosterior, SensitivityRule
from sfumato.tables.plan.table_plan import TablePlan, table_plan_dict

# Prior knowledge within this many percent counts as none: the rule is then called p percent.
ALL_KNOWN = 100.0


@dataclass(frozen=True, slots=True)
class DocumentContext:
    """Information of a folder for a report.

    Attributes:
        day: Date of the release, if known.
        home: Base of the paths in plan.yaml, shown in the report.
        checksums: Checksums (SHA-256) of the other files, by name.
    """

    day: date | None
    home: Path
    checksums: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReportContent:
    """The content of a report that depends on the method.

    Attributes:
        limits: What is not guaranteed.
        figures: Highlighted metrics with labels; lost: information loss; residual: residual disclosure.
        attackers: Assumed and excluded attackers; decisions: choices with reasons.
    """

    title: str
    limits: Sequence[str]
    figures: Sequence[tuple[str, str]]
    lost: Sequence[str]
    residual: Sequence[str]
    attackers: Sequence[str]
    decisions: Sequence[approval.Decision]


@dataclass(frozen=True, slots=True)
class ReportWriter:
    """The input of a report on a table: the messages of its language, the plan, and the metrics of report.json."""

    words: Messages
    plan: TablePlan
    report: Mapping[str, Any]


def house_page(
    teller: ReportWriter, story: ReportContent, verdict: str, papers: DocumentContext, more: Sequence[str] = ()
) -> str:
    """Return the internal report as one page, to be signed.

    Args:
        teller: The input; story: the content.
        verdict: The guarantee and whether it is satisfied, as HTML; more: further sections.
        papers: Information of the folder.
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
    entries = {entry.name: (getattr(rule, entry.name), entry.default) for entry in fields(rule)}  # type: ignore[arg-type]
    told = [
        f"{words.get(f'rule.{_kind(rule)}.{key}', key).partition(';')[0]}: "
        f"{words.get(f'level.{value}', said_of(words, value))}"
        for key, (value, default) in entries.items()
        if value is not None and value != default
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
