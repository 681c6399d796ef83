"""The report on a protected table to hand out, as a page in the language of its plan."""

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from sfumato.report.page.html_parts import page, paragraph, section, table
from sfumato.report.page.signing import rows_outside
from sfumato.tables.cells.columns import Columns
from sfumato.tables.plan.plan import TablePlan
from sfumato.tables.protected import MaskedTable
from sfumato.texts.words import Words, words_in

MOST_ROWS = 500
# The table that goes out with the page; and what a page says of a release that is saved: its day, and that file's hash.
HANDED_OUT, DAY, SEAL = "table-external.csv", "date", "external_sha256"


def html(protected: MaskedTable, report: Mapping[str, Any]) -> str:
    """The whole report as one page; it shows what is published, never a hidden value."""
    words = words_in(protected.plan.output.language)
    title = words["tabled.title"]
    about = words["tabled.about"].format(method=report["method"], version=report["version"])
    body = [
        f"<h1>{escape(title)}</h1>",
        paragraph(about, soft=True),
        document(words, protected.plan, report),
        verdict(words, protected.holds, report),
        *([promise(words, protected)] if protected.holds and protected.plan.primary else []),
        section(
            words["tabled.figures"],
            table([words["measure.figure"], words["measure.value"]], _figure_rows(words, report), words),
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


def verdict(words: Words, holds: bool, report: Mapping[str, Any], more: str = "") -> str:
    """Whether the promise holds, what the audit found, and who attacked."""
    mark, key = ("verdict", "tabled.holds") if holds else ("verdict bad", "tabled.leaks")
    unattacked = [words.sentence(warning) for warning in report["warnings"]] if holds else []
    said = (_audit(words, report["audit"]), _attackers(words, report["attackers"]), *unattacked)
    head = f"<strong>{escape(words[key])}</strong>"
    return f'<div class="{mark}">{head}{"".join(map(paragraph, said))}{more}</div>'


def promise(words: Words, protected: MaskedTable) -> str:
    """Which rules were kept, and what that promises.

    Limits of rules are not told: who knows them may tell of masked cells which are unsafe, and the audit attacks with
    that only where the plan says so (attacker.rule).
    """
    names = dict.fromkeys(rule.name for rule in protected.plan.primary)
    told = "; ".join(words.get(f"rule.{name}", name) for name in names)
    return paragraph(words["tabled.rules"].format(names=told)) + paragraph(words["tabled.promise"])


def _audit(words: Words, counts: Mapping[str, int]) -> str:
    told = {key: words.count(counts[key]) for key in ("checked", "exact", "too_narrow")}
    false = counts.get("contradictory", 0)
    more = words["tabled.contradictory"].format(count=words.count(false)) if false else ""
    return words["tabled.audit"].format(**told) + more


def _attackers(words: Words, who: Mapping[str, Any]) -> str:
    """Who attacked, and who did not; how many there are would tell how many cells have a single respondent."""
    parts = [words["tabled.attackers"].format(names=named(words, who["attacked"]))]
    if who["did_not_attack"]:
        parts.append(words["tabled.switched_off"].format(names=named(words, who["did_not_attack"])))
    if "rounding" in who:
        parts.append(words["tabled.rounding"].format(amount=words.figure(f"{who['rounding']:g}")))
    return " ".join(parts)


def named(words: Words, names: Mapping[str, Any] | Sequence[str]) -> str:
    """Attackers by their names."""
    return ", ".join(words.get(f"tabled.attacker.{name}", str(name)) for name in names)


def _figure_rows(words: Words, report: Mapping[str, Any]) -> list[tuple[str, object]]:
    # The page is handed out. How many cells are unsafe by themselves narrows which they are, and the cost is often a
    # sum of hidden values, which the digits of the gap would tell as well: these figures stay in report.json.
    names = ("cells", "groups", "masked", "proved_optimal")
    rows: list[tuple[str, object]] = [(words[f"tabled.{name}"], report[name]) for name in names]
    return rows if report["gap"] is None else [*rows, (words["tabled.gap"], _rough(report["gap"]))]


def _rough(gap: float) -> str:
    """A gap in whole percents, rounded up."""
    return f"{math.ceil(100 * gap - 1e-9)} %"


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
