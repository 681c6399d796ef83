"""Sections of every report to be signed, for rows and tables: document, decisions, signatures, glossary, plan."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from html import escape
from pathlib import Path

from sfumato.localization.messages import Messages
from sfumato.report.page.html_page import definitions, paragraph, section, table

ABOUT = ("by", "purpose", "recipient", "basis")
SIGNERS = ("prepared", "officer", "responsible")
# The message keys of the terms: of rows, and of tables.
ROWS_GLOSSARY, TABLES_GLOSSARY = "glossary.", "glossary_tables."
Decision = tuple[str, str, str]


def document_rows(
    words: Messages, day: date | None, version: str, source: str | None, about: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Return the data of the document, each with its label; missing entries of the plan are stated as such."""
    rows = [*_issued(words, day, version), *([(words["report.source"], Path(source).name)] if source else [])]
    return [*rows, *((words[f"report.{key}"], about.get(key, words["report.not_stated"])) for key in ABOUT)]


def rows_outside(words: Messages, day: date | None, version: str, about: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the same for a report for publication, without the name of the original file."""
    return [*_issued(words, day, version), *((words[f"report.{key}"], about[key]) for key in ABOUT if key in about)]


def _issued(words: Messages, day: date | None, version: str) -> list[tuple[str, str]]:
    dated = [(words["report.date"], words.day(day))] if day else []
    return [*dated, (words["report.software"], f"Sfumato {version}")]


def document(words: Messages, rows: Iterable[tuple[str, str]]) -> str:
    """Return date, software, data, and who released for what purpose."""
    return section(words["report.document"], table(["", ""], rows, words))


def decisions(words: Messages, rows: Sequence[Decision]) -> str:
    """Return the decisions of a plan, each with its reason."""
    head = [words[f"sign.{key}"] for key in ("decision", "choice", "reason")]
    shown = f'<div class="decisions">{table(head, rows, words)}</div>'
    return section(words["sign.decisions"], shown) if rows else ""


def signatures(words: Messages) -> str:
    """Return a line for each person who signs."""
    blanks = "".join(
        f'<div class="blank">{escape(words[f"sign.{key}"])}</div>' for key in ("name", "place_date", "signature")
    )
    lines = "".join(f'<h3>{escape(words[f"sign.{who}"])}</h3><div class="sign">{blanks}</div>' for who in SIGNERS)
    parts = (paragraph(words["sign.signatures_hint"]), lines)
    return section(words["sign.signatures"], '<div class="whole">' + "".join(parts) + "</div>")


def glossary(words: Messages, kind: str = ROWS_GLOSSARY) -> str:
    """Return the terms of a report, each with its definition."""
    return section(words["sign.glossary"], definitions(glossary_entries(words, kind)))


def glossary_entries(words: Messages, kind: str = ROWS_GLOSSARY) -> list[tuple[str, str]]:
    """Return the terms of the field, each with its one meaning."""
    keys = [key for key in words if key.startswith(kind) and not key.endswith(".says")]
    return [(words[key], words[f"{key}.says"]) for key in keys]


def all_entries(words: Messages) -> list[tuple[str, str]]:
    """Return the terms of rows and of tables, each once."""
    return list(dict([*glossary_entries(words), *glossary_entries(words, TABLES_GLOSSARY)]).items())


def plan_listing(words: Messages, text: str) -> str:
    """Return the plan as in plan.yaml, whose checksum is shown, to be printed with the report."""
    title = escape(words["report.plan"])
    reached = f'tabindex="0" role="region" aria-label="{title}"'
    return f"<h3>{title}</h3><pre {reached}>{escape(text)}</pre>"
