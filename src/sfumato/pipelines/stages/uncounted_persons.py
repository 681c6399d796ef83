"""Withheld columns that name persons though the plan does not say so: then promises count rows, several of a person."""

from collections.abc import Iterator
from typing import Any

from sfumato.hierarchies.suggest.profile import Profile
from sfumato.pipelines.stages.column_looks import ColumnLooks

# Of more rows, columns are not looked at together.
_MOST_ROWS = 1_000_000
# A column that groups rows into so many fewer persons than the plan's does is told beside that.
_COARSER = 0.95


def uncounted_persons(looks: ColumnLooks, rows: int) -> tuple[dict[str, Any], ...]:
    """The identifiers within whose values what is known of a person stays the same, the coarsest first."""
    plan = looks.plan
    names = looks.readable([name for name in plan.named("identifier") if name in looks.source.columns])
    if not names or rows > _MOST_ROWS:
        return ()
    profiles = {name: looks.profile(name) for name in names}
    limit = _COARSER * looks.profile(plan.person).distinct_keys if plan.person else rows
    few = {name: one for name, one in profiles.items() if one.counts and one.distinct_keys < limit}
    found = {name: few[name].present / few[name].distinct_keys for name in _naming_persons(looks, few)}
    order = sorted(found, key=lambda name: -found[name])
    return tuple({"column": name, "rows_each": round(found[name], 2)} for name in order)


def _naming_persons(looks: ColumnLooks, candidates: dict[str, Profile]) -> Iterator[str]:
    from sfumato.hierarchies.suggest.suggestion import Suggestion
    from sfumato.pipelines.suggesting.constant_attributes import constant_within, may_denote

    # Whatever it would be proposed as: the plan withholds it as what points to somebody.
    own = {name: Suggestion("identifier", "", concept=looks.suggestion(name).concept) for name in candidates}
    repeating = [name for name in own if may_denote(candidates[name], own[name])]
    if not repeating:
        return
    further = looks.readable([name for name in looks.plan.columns if name not in candidates])
    profiles = {**candidates, **{name: looks.profile(name) for name in further}}
    suggestions = {**{name: looks.suggestion(name) for name in further}, **own}
    yield from (name for name in repeating if constant_within(looks.source, name, suggestions, profiles))
