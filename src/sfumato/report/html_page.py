"""HTML building blocks of every report: one file, no script, no network, light and dark, prints well."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from functools import cache
from html import escape, unescape
from pathlib import Path
from typing import TypeVar

from sfumato.localization.lists import FIRST_NAMES, MOST_NAMES, ListMessage
from sfumato.localization.messages import Messages, words_in
from sfumato.localization.number_format import amount
from sfumato.patterns import regex

_TAG = regex(r"<[^>]*>")
# Style selectors of the full page, replaced in a fragment.
_WHOLE_PAGE = regex(r":root|\b(?:body|main)(?=\s*\{)")
_PRINTED_PAGE = regex(r"@page\s*\{(?:[^{}]|\{[^{}]*\})*\}")
PART = "sfumato-part"
_SOFT = ' class="soft"'
# Maximum number of visible cards or table lines; the rest is folded.
MOST_SHOWN = 12
Part = TypeVar("Part")


@cache
def style(*names: str) -> str:
    """Return the styles of pages and reports, by file name: colors and fonts are the same in both."""
    return "\n".join((Path(__file__).parent / f"{name}.css").read_text(encoding="utf-8") for name in names)


def page(title: str, body: Iterable[str], language: str = "en") -> str:
    """Return a complete HTML document.

    >>> page("Release", ["<p>fine</p>"]).startswith("<!doctype html>")
    True
    """
    parts, css = "\n".join(body), style("colors", "report")
    return (
        f'<!doctype html>\n<html lang="{language}">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<style>{css}</style>\n</head>\n'
        f"<body><main>\n{parts}\n</main></body>\n</html>\n"
    )


def fragment(document: str) -> str:
    """Return a page as a part of another, such as a notebook, with its styles scoped to a class.

    >>> part = fragment(page("Release", ["<p>fine</p>"]))
    >>> part.startswith('<div class="sfumato-part" lang="en"><style>.sfumato-part {'), "<p>fine</p>" in part
    (True, True)
    """
    css = _PRINTED_PAGE.sub("", style("colors", "report"))
    css = _WHOLE_PAGE.sub("&", css)
    body = document.partition("<main>")[2].rpartition("</main>")[0]
    language = document.partition('<html lang="')[2].partition('"')[0]
    return f'<div class="{PART}" lang="{language}"><style>.{PART} {{\n{css}\n}}</style>{body}</div>'


def section(title: str, *parts: str) -> str:
    """Return a heading with its content."""
    return f"<section><h2>{escape(title)}</h2>\n" + "\n".join(parts) + "</section>"


def paragraph(text: str, soft: bool = False) -> str:
    """Return a paragraph of plain text."""
    return f"<p{_SOFT if soft else ''}>{escape(text)}</p>"


def listing(sentences: Iterable[str]) -> str:
    """Return sentences as a list."""
    return "<ul>" + "".join(f"<li>{sentence_html(sentence)}</li>" for sentence in sentences) + "</ul>"


def sentence_html(sentence: str) -> str:
    """Return a sentence; of a long list of names in it the first are visible, the rest unfolds and is printed."""
    if not isinstance(sentence, ListMessage) or not sentence.rest:
        return escape(sentence)
    return _unfolding(escape(sentence.first), escape(sentence.more), escape(sentence.rest)) + escape(sentence.tail)


def labels_html(labels: Sequence[str], words: Messages) -> str:
    """Return values of a file verbatim; of many the first are visible, the rest can be unfolded and is printed."""
    codes = [f"<code>{escape(label)}</code>" for label in labels]
    if len(codes) <= MOST_NAMES:
        return ", ".join(codes)
    more = words["names.more"].format(count=words.count(len(codes) - FIRST_NAMES))
    return _unfolding(", ".join(codes[:FIRST_NAMES]), escape(more), ", ".join(codes[FIRST_NAMES:]))


def _unfolding(first: str, more: str, rest: str) -> str:
    folded = f"<details><summary> {more}</summary><span>, {rest}</span></details>"
    return f'<span class="names">{first}{folded}</span>'


def folded(
    words: Messages, parts: Sequence[Part], shown: Callable[[Sequence[Part]], str], most: int = MOST_SHOWN
) -> str:
    """Return parts; of many the first are visible, the rest can be unfolded and is printed.

    Args:
        shown: Renders some of them together.
    """
    if len(parts) <= most + 1:
        return shown(parts)
    more = escape(words["report.unfold"].format(count=words.count(len(parts) - most)))
    return f'{shown(parts[:most])}<details class="fold"><summary>{more}</summary>{shown(parts[most:])}</details>'


def folding(box: str, points: str) -> str:
    """Return a box of a report that can be folded to its heading; on a phone it starts folded.

    Args:
        points: Amount of content, shown when it is folded.

    >>> folding('<div class="not"><strong>Lost</strong><ul></ul></div>', "3 points")
    '<details class="not" open><summary><strong>Lost</strong> <span>3 points</span></summary><ul></ul></details>'
    """
    head, end, body = box.removeprefix("<div ").removesuffix("</div>").partition("</strong>")
    mark, _, title = head.partition(">")
    return f"<details {mark} open><summary>{title}{end} <span>{escape(points)}</span></summary>{body}</details>"


def tiles(figures: Iterable[tuple[str, str]]) -> str:
    """Return highlighted metrics, each with its label."""
    shown = "".join(
        f'<div class="tile"><b>{_kept(value)}</b><span>{_kept(words)}</span></div>' for value, words in figures
    )
    return f'<div class="tiles">{shown}</div>'


def _kept(text: str) -> str:
    """Return a text in which a percent sign stays with its number."""
    return escape(text).replace(" %", "&nbsp;%")


def definitions(entries: Iterable[tuple[str, str]]) -> str:
    """Return terms with their definitions."""
    lines = "".join(f"<div><dt>{escape(word)}</dt><dd>{escape(meaning)}</dd></div>" for word, meaning in entries)
    return f"<dl>{lines}</dl>"


def table(head: Sequence[str], rows: Iterable[Sequence[object]], words: Messages | None = None) -> str:
    """Return a table; numbers are right-aligned."""
    lines = [tuple(row) for row in rows]
    numeric = [_are_numbers([row[place] for row in lines]) for place in range(len(head))]
    return raw_table(head, (tuple(_cell(value, words or words_in()) for value in row) for row in lines), numeric)


def long_table(head: Sequence[str], rows: Iterable[Sequence[object]], words: Messages) -> str:
    """Return a table that may have many lines: the first are visible, the rest can be unfolded."""
    return folded(words, list(rows), lambda part: table(head, part, words))


def raw_table(head: Sequence[str], rows: Iterable[Sequence[str]], numeric: Sequence[bool] = ()) -> str:
    """Return a table with HTML cells, `<td>` included; `numeric` marks right-aligned headings."""
    marks = [' class="number"' if number else "" for number in numeric] or [""] * len(head)
    first = "".join(f'<th scope="col"{mark}>{escape(name)}</th>' for name, mark in zip(head, marks, strict=True))
    top = f"<thead><tr>{first}</tr></thead>" if any(head) else ""
    cells = [tuple(row) for row in rows]
    lines = "".join(f"<tr>{''.join(row)}</tr>\n" for row in cells)
    name = ", ".join(filter(None, head)) or (unescape(_TAG.sub(" ", cells[0][0])).strip() if cells else "")
    reached = f'tabindex="0" role="region" aria-label="{escape(name)}"'
    return f'<div class="wide" {reached}><table>{top}\n<tbody>{lines}</tbody></table></div>'


def _are_numbers(values: Sequence[object]) -> bool:
    """Return whether a column holds only numbers and gaps."""
    there = [value for value in values if value is not None]
    return bool(there) and all(_is_figure(value) for value in there)


def _is_figure(value: object) -> bool:
    """Return whether a value is a number, or a percentage."""
    return str(value).endswith(" %") or (isinstance(value, int | float) and not isinstance(value, bool))


def _cell(value: object, words: Messages) -> str:
    if value is None:
        return "<td></td>"
    if isinstance(value, bool):
        return f"<td>{words['report.yes' if value else 'report.no']}</td>"
    if isinstance(value, int | float):
        shown = f"{value:,}" if isinstance(value, int) else amount(value)
        return f'<td class="number">{words.figure(shown)}</td>'
    mark = ' class="number"' if _is_figure(value) else ""
    return f"<td{mark}>{sentence_html(value if isinstance(value, str) else str(value))}</td>"


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
