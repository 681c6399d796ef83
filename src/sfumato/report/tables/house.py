"""The internal report on a table, to be signed: the parts common to suppressed and perturbed tables."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, fields
from datetime import date
from html import escape
from pathlib import Path
from typing import Any

from sfumato.dataclass import dataclass
from sfumato.report.page import signing
from sfumato.report.page.html_parts import listing, page, paragraph, section, table, tiles
from sfumato.report.tables.page import not_promised
from sfumato.shapes.files import written
from sfumato.tables.plan.plain import table_plan_dict
from sfumato.tables.plan.plan import TablePlan
from sfumato.tables.plan.rules import PriorPosterior, Rule
from sfumato.texts.words import Words

# What is known within so many percent is not known at all: the rule is called p percent then.
ALL_KNOWN = 100.0


@dataclass(frozen=True, slots=True)
class Papers:
    """What a folder adds to a report.

    Attributes:
        day: When it was released, where that is known.
        home: Where the paths of plan.yaml start, which the report prints.
        seals: SHA-256 of the other files, by their names.
    """

    day: date | None
    home: Path
    seals: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Story:
    """What is told of a table by what was done to it.

    Attributes:
        limits: What is not promised.
        figures: What stands out, with its words; lost: what readers lose; residual: what they still may learn.
        attackers: Who was assumed to attack, and who was not; decisions: what was chosen, and why.
    """

    title: str
    limits: Sequence[str]
    figures: Sequence[tuple[str, str]]
    lost: Sequence[str]
    residual: Sequence[str]
    attackers: Sequence[str]
    decisions: Sequence[signing.Decision]


@dataclass(frozen=True, slots=True)
class Teller:
    """What a report on a table is told by: the words of its language, the plan, and the figures of report.json."""

    words: Words
    plan: TablePlan
    report: Mapping[str, Any]


def house_page(teller: Teller, story: Story, verdict: str, papers: Papers, more: Sequence[str] = ()) -> str:
    """The report for the house as one page, to be signed.

    Args:
        teller: What it is told by; story: what is told.
        verdict: What is promised and whether it holds, as HTML; more: further sections.
        papers: What the folder adds.
    """
    words, plan, report = teller.words, teller.plan, teller.report
    who = f"<h3>{escape(words['sign.attackers'])}</h3>"
    body = [
        f"<h1>{escape(story.title)}</h1>",
        paragraph(words["tabled.house_about"].format(version=report["version"]), soft=True),
        verdict,
        not_promised(words, story.limits),
        signing.document(words, document_rows(teller, papers)),
        tiles(story.figures),
        section(words["report.utility"], listing(story.lost)),
        section(words["sign.residual"], listing(story.residual), who, listing(story.attackers)),
        *more,
        signing.decisions(words, story.decisions),
        signing.signatures(words),
        _origin(words, plan, report, papers),
        signing.glossary(words, signing.TABLES_GLOSSARY),
    ]
    return page(f"Sfumato: {story.title}", body, words.language)


def document_rows(teller: Teller, papers: Papers) -> list[tuple[str, str]]:
    """The data of the document, each with its words."""
    source, about = ", ".join(sources_of(teller.plan)), teller.plan.release.stated()
    return signing.document_rows(teller.words, papers.day, teller.report["version"], source, about)


def all_decisions(words: Words, plan: TablePlan, own: Iterable[signing.Decision]) -> list[signing.Decision]:
    """What was decided: the rules, what was done to the table, and what holds whatever was done to it."""
    return [*rule_decisions(words, plan), *own, *_further(words, plan)]


def sources_of(plan: TablePlan) -> list[str]:
    """The names of the files that a plan's cells or records come from."""
    named = [plan.table.source, plan.table.microdata, plan.table.cells, *(own.source for own in plan.tables)]
    return list(dict.fromkeys(Path(name).name for name in named if name))


def rule_decisions(words: Words, plan: TablePlan) -> list[signing.Decision]:
    """The rules that call cells unsafe, each with its limits and what it means."""
    return [
        (
            words["tabled.decide.rule"],
            rule_words(words, rule) + _limits(words, rule),
            words.get(f"rule.{_kind(rule)}.says", ""),
        )
        for rule in plan.primary
    ]


def rule_words(words: Words, rule: Rule) -> str:
    """What a rule is called."""
    return words.get(f"rule.{_kind(rule)}", rule.name)


def _kind(rule: Rule) -> str:
    """The name of a rule among the texts: who knew others closely before has one of its own."""
    before = isinstance(rule, PriorPosterior) and rule.q != ALL_KNOWN
    return "pq" if before else rule.name


def _limits(words: Words, rule: Rule) -> str:
    """What a plan says of a rule, in parentheses; not what holds by itself."""
    entries = {entry.name: (getattr(rule, entry.name), entry.default) for entry in fields(rule)}  # type: ignore[arg-type]
    told = [
        f"{words.get(f'rule.{_kind(rule)}.{key}', key).partition(';')[0]}: "
        f"{words.get(f'level.{value}', said_of(words, value))}"
        for key, (value, default) in entries.items()
        if value is not None and value != default
    ]
    return f" ({', '.join(told)})" if told else ""


def said_of(words: Words, value: object) -> str:
    """A choice of a plan as people write it."""
    if isinstance(value, bool):
        return words["report.yes" if value else "report.no"]
    if isinstance(value, int | float):
        return words.figure(f"{value:,g}" if isinstance(value, float) else f"{value:,}")
    return ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)


def _further(words: Words, plan: TablePlan) -> list[signing.Decision]:
    """What else was decided of a table, whatever was done to it."""
    before = ", ".join(Path(name).name for name in plan.previous)
    earlier = [(words["tabled.decide.previous"], before, words["tabled.decide.previous.why"])] if before else []
    return [*earlier, (words["sign.order"], words["tabled.decide.order"], words["tabled.decide.order.why"])]


def _origin(words: Words, plan: TablePlan, report: Mapping[str, Any], papers: Papers) -> str:
    """How it was made: figures, fingerprints, and the plan in full."""
    seconds = sum(report["seconds"].values())
    rows = [
        (words["noised.method"], report["method"]),
        (words["report.seconds"], words.figure(f"{seconds:.2f}")),
        *(((words["tabled.sha_columns"], report["input_sha256"]),) if "input_sha256" in report else ()),
        *((f"SHA-256: {name}", seal) for name, seal in papers.seals.items()),
        ("Sfumato", report["version"]),
    ]
    listed = signing.plan_listing(words, written(table_plan_dict(plan, papers.home), width=80))
    return section(words["report.made"], paragraph(words["tabled.house"]), table(["", ""], rows, words), listed)
