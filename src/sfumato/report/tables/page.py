"""The report for publication on a protected table, as a page in the language of its plan."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from sfumato.report.page.html_parts import listing, page, paragraph, section, table
from sfumato.report.page.signing import rows_outside
from sfumato.report.tables.limits import attackers_considered, limits
from sfumato.report.tables.unattacked import unattacked
from sfumato.tables.cells.columns import Columns
from sfumato.tables.plan.plan import TablePlan
from sfumato.tables.protected import MaskedTable
from sfumato.texts.words import Words, words_in

MOST_ROWS = 500
# The table that goes out with the page; and what a page says of a release that is saved: its day, and that file's hash.
HANDED_OUT, DAY, SEAL = "table-external.csv", "date", "external_sha256"


def html(protected: MaskedTable, report: Mapping[str, Any]) -> str:
    """The whole report as one page; it shows what is published, and nothing that depends on a hidden value.

    Which masks were chosen by which method, whether these are proved to be the fewest and what they cost, who is alone
    in a cell: all this narrows what is hidden, and stays in the house.
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


def document(words: Words, plan: TablePlan, report: Mapping[str, Any]) -> str:
    """The day of a release that is saved, and who released it for what, as far as the plan says it."""
    rows = rows_outside(words, report.get(DAY), report["version"], plan.release.stated())
    return table(["", ""], rows, words) if DAY in report or plan.release.stated() else ""


def verdict(words: Words, protected: MaskedTable, report: Mapping[str, Any]) -> str:
    """Whether the promise holds, against whom, and what it is; that there is none where nothing is masked."""
    mark, key = _state(protected)
    head = f"<strong>{escape(words[key])}</strong>"
    said = list(_said(words, protected, report))
    return f'<div class="{mark}">{head}{"".join(map(paragraph, said))}</div>'


def _state(protected: MaskedTable) -> tuple[str, str]:
    """How the verdict looks, and the key of its words."""
    if not protected.holds:
        return "verdict bad", "tabled.leaks"
    if not masked_cells(protected):
        return "verdict not", "tabled.nothing"
    return ("verdict", "tabled.holds") if protected.attacked else ("verdict not", "tabled.unattacked")


def _said(words: Words, protected: MaskedTable, report: Mapping[str, Any]) -> Iterator[str]:
    """What stands below the verdict.

    Limits of rules are not told: who knows them may tell of masked cells which are unsafe, and the audit attacks with
    that only where the plan says so (attacker.rule).
    """
    names = dict.fromkeys(rule.name for rule in protected.plan.primary)
    rules = words["tabled.rules"].format(names="; ".join(words.get(f"rule.{name}", name) for name in names))
    if not protected.holds:
        yield audit_words(words, report["audit"])
    elif not masked_cells(protected):
        yield from [rules] if names else []
        yield from map(words.sentence, unattacked(part.part for part in protected.parts))
        return
    yield attackers_considered(words, protected.plan)
    if protected.holds:
        yield from map(words.sentence, report["warnings"])
        promise = [words["tabled.promise"]] if protected.attacked else []
        yield from [rules, *promise] if names else []


def not_promised(words: Words, lines: Iterable[str]) -> str:
    """What is not promised, in a box of its own."""
    title = f"<strong>{escape(words['report.not_promised'])}</strong>"
    return f'<div class="verdict not">{title}{listing(list(lines))}</div>'


def masked_cells(protected: MaskedTable) -> int:
    """How many cells of a table are masked: of this one, where it is one of several."""
    return sum(int(part.mask.sum()) for part in protected.parts)


def audit_words(words: Words, counts: Mapping[str, int]) -> str:
    """What the attacks found, in a sentence or two."""
    told = {key: words.count(counts[key]) for key in ("checked", "exact", "too_narrow")}
    false = counts.get("contradictory", 0)
    more = words["tabled.contradictory"].format(count=words.count(false)) if false else ""
    return words["tabled.audit"].format(**told) + more


def _figure_rows(words: Words, protected: MaskedTable) -> list[tuple[str, object]]:
    """What anyone counts in the table that is handed out."""
    groups = [(words["tabled.groups"], len(protected.parts))] if protected.plan.table.group_by else []
    cells, masked = len(protected.source), masked_cells(protected)
    return [(words["tabled.cells"], cells), *groups, (words["tabled.masked"], masked)]


def leaks(words: Words, protected: MaskedTable) -> list[str]:
    """The masked cells that an attacker narrows too far, where there are any."""
    rows = [(leak.name, str(leak.verdict), ", ".join(leak.certificate)) for leak in protected.leaks[:MOST_ROWS]]
    head = [words[f"tabled.{key}"] for key in ("cell", "verdict", "given_away")]
    return [section(words["tabled.leaking"], table(head, rows, words))] if rows else []


def sealed(words: Words, report: Mapping[str, Any]) -> list[str]:
    """By what a reader knows that the page is about the file at hand, where one is handed out."""
    if SEAL not in report:
        return []
    head, rows = [words["annex.file"], "SHA-256"], [(HANDED_OUT, report[SEAL])]
    return [section(words["external.hashes"], paragraph(words["external.hashes_text"]), table(head, rows, words))]


def published(words: Words, public: Columns, new: Sequence[str]) -> list[str]:
    """What is published, the first rows of it.

    Args:
        new: The last columns, which hold figures: what is published, and where they are there the ends of what it may
            be; the others are codes of the file.
    """
    names = dict(zip(new, (words[f"tabled.column.{key}"] for key in ("published", "lower", "upper")), strict=False))
    first = len(public.texts) - len(new)
    rows = [(*row[:first], *map(words.value, row[first:])) for row in zip(*public.texts.values(), strict=True)]
    more = words["tabled.more"].format(count=words.count(len(rows) - MOST_ROWS))
    shown = section(
        words["tabled.published"], table([names.get(name, name) for name in public.texts], rows[:MOST_ROWS], words)
    )
    return [shown, *([paragraph(more, soft=True)] if len(rows) > MOST_ROWS else [])]
