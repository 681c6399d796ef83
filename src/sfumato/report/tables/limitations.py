"""What is not guaranteed on a table: attackers it is not protected against, unaudited parts, inherent disclosure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sfumato.localization.messages import Message, Messages
from sfumato.report.html_page import long_table, paragraph, section
from sfumato.tables.attack.findings import EVERYONE, ReducedLevel
from sfumato.tables.cells.table_part import TablePart
from sfumato.tables.plan.sections import COUNT
from sfumato.tables.plan.table_plan import TablePlan
from sfumato.tables.protection_levels.insiders import kinds_considered
from sfumato.tables.table_result import TableAnswer

INSIDERS = ("respondents", "holdings", "persons")


def attackers_considered(words: Messages, plan: TablePlan) -> str:
    """Return which attackers the plan considers, and which not; and their assumed rounding of totals.

    The sentences depend on the plan alone and name the attackers that it considers for a table of its kind. Which
    respondents are singletons depends on suppressed values, and published text must not depend on these.
    """
    parts = [words["tabled.attackers"].format(names=named(words, kinds_considered(plan)))]
    if off := switched_off(plan):
        parts.append(words["tabled.switched_off"].format(names=named(words, off)))
    if plan.table.tolerance:
        parts.append(words["tabled.rounding"].format(amount=words.figure(f"{plan.table.tolerance:g}")))
    return " ".join(parts)


def switched_off(plan: TablePlan) -> list[str]:
    """Return the attackers that the plan excludes."""
    return [name for name in INSIDERS if not getattr(plan.attackers, name)]


def named(words: Messages, names: Mapping[str, Any] | Sequence[str]) -> str:
    """Return attackers by name."""
    return ", ".join(words.get(f"tabled.attacker.{name}", str(name)) for name in names)


def limits(words: Messages, plan: TablePlan, ranges: bool) -> Iterator[str]:
    """Yield what is not guaranteed; first of all against whom.

    Args:
        ranges: Whether the intervals of all suppressed cells are published.
    """
    yield from (words[f"tabled.not.{name}"] for name in switched_off(plan))
    key = "tabled.not.coalition" if plan.attackers.coalition == 1 else "tabled.not.larger_coalition"
    yield words[key].format(count=words.count(plan.attackers.coalition))
    if not plan.attacker.rule:
        yield words["tabled.not.cases"]
    # Whether there is any depends on which cells are sensitive: it is stated in any case.
    yield words["tabled.not.known_anyway"]
    yield words["tabled.not.rerun"]
    yield words["tabled.not.safe"]
    if (plan.table.counts or plan.table.value == COUNT) and (plan.ungrouped or plan.table.cells is not None):
        dimensions = ", ".join(plan.ungrouped)
        yield words["tabled.not.in_common_by" if dimensions else "tabled.not.in_common"].format(names=dimensions)
    if plan.table.group_by:
        yield words["tabled.not.groups"]
    if not ranges:
        yield words["tabled.not.ranges"]
    yield words["tabled.not.more"]


def not_audited(parts: Iterable[TablePart]) -> list[Message]:
    """Return what was not audited in some parts, each once."""
    said = dict.fromkeys(what for part in parts for what in part.not_audited)
    return [Message("note.not_audited", what=what) for what in said]


def unattacked_words(words: Messages, answer: TableAnswer[Any]) -> list[str]:
    """Return that there is no guarantee for a table, and why, if the audit was incomplete."""
    said = not_audited(one.part for one in answer.parts)
    return [words["tabled.unattacked"], *map(words.text, said)] if said else []


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


def known_note(report: Mapping[str, Any]) -> list[Message]:
    """Return the note that protection levels were lowered, if they were."""
    count = known_cells(report)
    return [Message("note.known_cells_count", count=count)] if count else []


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
