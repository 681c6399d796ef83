"""Reports for publication on tables, as pages in the language of their plan: suppressed, perturbed, of a batch file."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from sfumato.localization.messages import Messages, words_in
from sfumato.report.html_page import listing, page, paragraph, rows_outside, section, table
from sfumato.report.tables.limitations import MOST_ROWS, attackers_considered, limits, not_audited
from sfumato.report.tables.perturbed import additivity_line, method_words, perturbed_limits, verdict_words
from sfumato.tables.argus.office_table import ArgusStatus
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.formats.argus_outputs import Protected
from sfumato.tables.noise.perturbed import PerturbedResult
from sfumato.tables.plan.table_plan import TablePlan
from sfumato.tables.table_result import SuppressedTable

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
        *checksum_lines(words, report),
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


def checksum_lines(words: Messages, report: Mapping[str, Any]) -> list[str]:
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


def perturbed_html(changed: PerturbedResult, report: Mapping[str, Any]) -> str:
    """Return the full report as one page: what is published and can be computed from it, independent of true values.

    Whether a rule classifies some cell as sensitive, and whether any number was changed, is internal.
    """
    words = words_in(changed.plan.output.language)
    title = words["noised.title"]
    promised = bool(changed.plan.primary or changed.plan.table.cells)
    verdict = verdict_words(words, changed, promised)
    body = [
        f"<h1>{escape(title)}</h1>",
        paragraph(f"Sfumato {report['version']}", soft=True),
        document(words, changed.plan, report),
        f'<div class="verdict{"" if changed.attacked else " not"}">{"".join(map(paragraph, verdict))}</div>',
        not_promised(words, perturbed_limits(words, promised)),
        section(
            words["tabled.figures"],
            table([words["measure.figure"], words["measure.value"]], _perturbed_figures(words, report), words),
        ),
        *published(words, changed.external, changed.names(1)),
        *checksum_lines(words, report),
    ]
    return page(title, body, words.language)


def _perturbed_figures(words: Messages, report: Mapping[str, Any]) -> list[tuple[str, object]]:
    # The size of changes and the number of sensitive cells would reveal suppressed values: they are only in
    # report.json.
    return [
        (words["tabled.cells"], report["cells"]),
        (words["noised.method"], method_words({**report, "further_steps": None}, words)),
        (words["noised.totals"], additivity_line(report["additivity"], words)),
    ]


WORDS = {status: status.name.replace("_", " ").lower() for status in ArgusStatus}


def table_page(done: Protected) -> str:
    """Return the internal page: it states how many cells are sensitive, and their total."""
    office = done.table
    names = " × ".join(tree.name for tree in office.trees)
    rows = [
        (int(status), WORDS[status], int(own.sum()), float(office.values[own].sum()), _costs(done, own))
        for status in ArgusStatus
        if (own := office.statuses == status).any()
    ]
    said = [f"{office.value} by {names or 'relations'}: {len(office):,} cells.", *done.notes]
    if done.published is not None:
        change = np.abs(done.published - office.values)
        said.append(
            f"Numbers were changed by {done.method}: by {change.mean():,.4g} on average, {change.max():,.6g} at most."
        )
    head = ["status", "meaning", "cells", "value", "cost"]
    return page(
        "Table",
        [
            "<h1>Table</h1>",
            *(paragraph(text) for text in said),
            section("Cells by status", table(head, rows)),
            paragraph("For the house: do not hand this page out.", soft=True),
        ],
    )


def _costs(done: Protected, own: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> float:
    costs = np.abs(done.table.values) if done.table.costs is None else done.table.costs
    return float(costs[own].sum())
