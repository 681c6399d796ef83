"""The report for publication on a protected table, as a page in the language of its plan."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from sfumato.localization.messages import Messages, words_in
from sfumato.report.page.approval import rows_outside
from sfumato.report.page.html_page import listing, page, paragraph, section, table
from sfumato.report.tables.limitations import attackers_considered, limits
from sfumato.report.tables.not_audited import not_audited
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.plan.table_plan import TablePlan
from sfumato.tables.suppressed_table import SuppressedTable

MOST_ROWS = 500
# The table published with the page; and the date and checksum of a saved release.
HANDED_OUT, DAY, SEAL = "table-external.csv", "date", "external_sha256"


def html(protected: SuppressedTable, report: Mapping[str, Any]) -> str:
    """Return the full report as one page; it shows what is published, and nothing that depends on a suppressed value.

    The method and cost of the suppression pattern, its proof of optimality, and singletons would narrow the
    suppressed values and are internal.
    """
    words = words_in(protected.plan.output.language)
    title = words["tabled.title"]
    body = [
        f"<h1>{escape(title)}</h1>",
        paragraph(f"Sfumato {report['version']}", soft=True),
        document(words, protected.plan, report),
        verdict(words, protected, report),
        not_promised(words, limits(words, protected.plan, report["ranges"])),
        section(
            words["tabled.figures"],
            table([words["measure.figure"], words["measure.value"]], _figure_rows(words, protected), words),
        ),
        *leaks(words, protected),
        *published(words, protected.external, protected.names(3)),
        *sealed(words, report),
    ]
    return page(title, body, words.language)


def document(words: Messages, plan: TablePlan, report: Mapping[str, Any]) -> str:
    """Return the date of a saved release, and who released it for what purpose, if stated."""
    rows = rows_outside(words, report.get(DAY), report["version"], plan.release.stated())
    return table(["", ""], rows, words) if DAY in report or plan.release.stated() else ""


def verdict(words: Messages, protected: SuppressedTable, report: Mapping[str, Any]) -> str:
    """Return the guarantee, whether it is satisfied, and against whom; or that nothing is suppressed."""
    mark, key = _state(protected)
    head = f"<strong>{escape(words[key])}</strong>"
    said = list(_said(words, protected, report))
    return f'<div class="{mark}">{head}{"".join(map(paragraph, said))}</div>'


def _state(protected: SuppressedTable) -> tuple[str, str]:
    """Return the style of the verdict, and its message key."""
    if not protected.passed:
        return "verdict bad", "tabled.leaks"
    if not masked_cells(protected):
        return "verdict not", "tabled.nothing"
    return ("verdict", "tabled.holds") if protected.attacked else ("verdict not", "tabled.unattacked")


def _said(words: Messages, protected: SuppressedTable, report: Mapping[str, Any]) -> Iterator[str]:
    """Yield the text below the verdict.

    Parameters of rules are not published: with them an attacker may find out which suppressed cells are sensitive,
    which the audit covers only if the plan says so (attacker.rule).
    """
    names = dict.fromkeys(rule.name for rule in protected.plan.primary)
    rules = words["tabled.rules"].format(names="; ".join(words.get(f"rule.{name}", name) for name in names))
    if not protected.passed:
        yield audit_words(words, report["audit"])
    elif not masked_cells(protected):
        yield from [rules] if names else []
        yield from map(words.text, not_audited(part.part for part in protected.parts))
        return
    yield attackers_considered(words, protected.plan)
    if protected.passed:
        yield from map(words.text, report["warnings"])
        promise = [words["tabled.promise"]] if protected.attacked else []
        yield from [rules, *promise] if names else []


def not_promised(words: Messages, lines: Iterable[str]) -> str:
    """Return what is not guaranteed, in a separate box."""
    title = f"<strong>{escape(words['report.not_promised'])}</strong>"
    return f'<div class="verdict not">{title}{listing(list(lines))}</div>'


def masked_cells(protected: SuppressedTable) -> int:
    """Return how many cells of a table are suppressed; only of this one, if there are several."""
    return sum(int(part.suppressed.sum()) for part in protected.parts)


def audit_words(words: Messages, counts: Mapping[str, int]) -> str:
    """Return the result of the audit, in a sentence or two."""
    told = {key: words.count(counts[key]) for key in ("checked", "exact", "too_narrow")}
    false = counts.get("inconsistent", 0)
    more = words["tabled.contradictory"].format(count=words.count(false)) if false else ""
    return words["tabled.audit"].format(**told) + more


def _figure_rows(words: Messages, protected: SuppressedTable) -> list[tuple[str, object]]:
    """Return metrics that anyone can count in the published table."""
    groups = [(words["tabled.groups"], len(protected.parts))] if protected.plan.table.group_by else []
    cells, masked = len(protected.source), masked_cells(protected)
    return [(words["tabled.cells"], cells), *groups, (words["tabled.masked"], masked)]


def leaks(words: Messages, protected: SuppressedTable) -> list[str]:
    """Return the suppressed cells whose feasibility interval is too narrow, if there are any."""
    rows = [(leak.name, str(leak.verdict), ", ".join(leak.certificate)) for leak in protected.leaks[:MOST_ROWS]]
    head = [words[f"tabled.{key}"] for key in ("cell", "verdict", "given_away")]
    return [section(words["tabled.leaking"], table(head, rows, words))] if rows else []


def sealed(words: Messages, report: Mapping[str, Any]) -> list[str]:
    """Return the checksum that ties the page to the published file, if there is one."""
    if SEAL not in report:
        return []
    head, rows = [words["annex.file"], "SHA-256"], [(HANDED_OUT, report[SEAL])]
    return [section(words["external.hashes"], paragraph(words["external.hashes_text"]), table(head, rows, words))]


def published(words: Messages, public: TextColumns, new: Sequence[str]) -> list[str]:
    """Return the first rows of the published table.

    Args:
        new: The last columns, which hold numbers: published values, and the ends of intervals if they are
            published; the others are codes of the file.
    """
    names = dict(zip(new, (words[f"tabled.column.{key}"] for key in ("published", "lower", "upper")), strict=False))
    first = len(public.texts) - len(new)
    rows = [(*row[:first], *map(words.value, row[first:])) for row in zip(*public.texts.values(), strict=True)]
    more = words["tabled.more"].format(count=words.count(len(rows) - MOST_ROWS))
    shown = section(
        words["tabled.published"], table([names.get(name, name) for name in public.texts], rows[:MOST_ROWS], words)
    )
    return [shown, *([paragraph(more, soft=True)] if len(rows) > MOST_ROWS else [])]
