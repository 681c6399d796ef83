"""Limitations of a suppressed table: the attackers it is protected against, and what no guarantee covers.

They are derived from the plan alone. Which respondents are singletons depends on suppressed values, and published text
must not depend on these, so it names the attackers that the plan considers for a table of its kind.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sfumato.localization.messages import Messages
from sfumato.tables.plan.sections import COUNT
from sfumato.tables.plan.table_plan import TablePlan
from sfumato.tables.protection_levels.insiders import kinds_considered

INSIDERS = ("respondents", "holdings", "persons")


def attackers_considered(words: Messages, plan: TablePlan) -> str:
    """Return which attackers the plan considers, and which not; and their assumed rounding of totals."""
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
