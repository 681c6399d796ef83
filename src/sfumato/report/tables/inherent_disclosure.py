"""Report of inherent disclosure: what the rules require but cannot be guaranteed under any suppression; internal."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sfumato.localization.messages import Messages
from sfumato.report.page.html_page import long_table, paragraph, section
from sfumato.tables.attack.reduced_levels import EVERYONE, KNOWN, ReducedLevel

MOST_ROWS = 500


def known_figures(ends: Iterable[ReducedLevel], group: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return the inherent disclosures: cells with the disclosed end, and who knows it."""
    return [
        {
            "cell": ", ".join([*group, end.name]),
            "end": end.end,
            "requested": tidy(end.requested),
            "guaranteed": tidy(end.promised),
            "attacker": end.attacker or EVERYONE,
        }
        for end in ends
    ]


def known_cells(report: Mapping[str, Any]) -> int:
    """Return for how many cells the protection level was lowered."""
    return len({one["cell"] for one in report.get("inherent_disclosure", ())})


def known_note(report: Mapping[str, Any]) -> list[str]:
    """Return the note that protection levels were lowered, if they were."""
    count = known_cells(report)
    cells = "cell" if count == 1 else "cells"
    return [f"Of {count:,} unsafe {cells} {KNOWN}; report.json lists them."] if count else []


def tidy(value: float) -> float | int:
    """Return a number without redundant decimals."""
    return int(value) if value == int(value) else round(value, 6)


def less_promised(words: Messages, report: Mapping[str, Any]) -> list[str]:
    """Return the note that protection levels were lowered, and for how many cells."""
    count = known_cells(report)
    return [words["tabled.less_promised"].format(count=words.count(count))] if count else []


def known_section(words: Messages, report: Mapping[str, Any]) -> list[str]:
    """Return the ends of intervals that are not guaranteed, with who knows them; of very many the first."""
    known = report["inherent_disclosure"]
    rows = [
        (
            one["cell"],
            words[f"tabled.column.{one['end']}"],
            words.amount(one["requested"]),
            words.amount(one["guaranteed"]),
            words["tabled.everyone"] if one["attacker"] == EVERYONE else words.text(one["attacker"]),
        )
        for one in known[:MOST_ROWS]
    ]
    head = [words[f"tabled.{key}"] for key in ("cell", "known_end", "asked", "promised", "known_to")]
    left = len(known) - len(rows)
    more = [paragraph(words["tabled.more_known"].format(count=words.count(left)), soft=True)] if left > 0 else []
    return [section(words["tabled.known_anyway"], long_table(head, rows, words), *more)] if rows else []
