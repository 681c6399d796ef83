"""Withheld columns that name persons though the plan does not say so: then promises count rows, several of a person."""

from collections.abc import Iterator, Sequence
from typing import Any

from sfumato.engines.engine import Engine
from sfumato.hierarchies.suggest.profile import Profile
from sfumato.microdata.plan.model import Plan

# Of more rows, columns are not looked at together.
_MOST_ROWS = 1_000_000
# A column that groups rows into so many fewer persons than the plan's does is told beside that.
_COARSER = 0.95


def uncounted_persons(plan: Plan, source: Engine, rows: int) -> tuple[dict[str, Any], ...]:
    """The identifiers within whose values what is known of a person stays the same, the coarsest first."""
    named = [name for name in plan.named("identifier") if name in source.columns]
    names = readable_names(source, named)
    if not names or rows > _MOST_ROWS:
        return ()
    profiles = {name: first_profile(plan, source, name) for name in names}
    limit = _COARSER * first_profile(plan, source, plan.person).distinct_keys if plan.person else rows
    few = {name: one for name, one in profiles.items() if one.counts and one.distinct_keys < limit}
    found = {name: few[name].present / few[name].distinct_keys for name in _naming_persons(plan, source, few)}
    order = sorted(found, key=lambda name: -found[name])
    return tuple({"column": name, "rows_each": round(found[name], 2)} for name in order)


def _naming_persons(plan: Plan, source: Engine, candidates: dict[str, Profile]) -> Iterator[str]:
    from sfumato.hierarchies.suggest.roles import suggest
    from sfumato.hierarchies.suggest.suggestion import Suggestion
    from sfumato.pipelines.suggesting.constant_attributes import constant_within, may_denote

    told = {name: suggest(profile) for name, profile in candidates.items()}
    # Whatever it would be proposed as: the plan withholds it as what points to somebody.
    own = {name: Suggestion("identifier", "", concept=one.concept) for name, one in told.items()}
    repeating = [name for name in own if may_denote(candidates[name], own[name])]
    if not repeating:
        return
    further = readable_names(source, [name for name in plan.columns if name not in candidates])
    others = {name: first_profile(plan, source, name) for name in further}
    profiles = {**candidates, **others}
    suggestions = {**{name: suggest(profile) for name, profile in others.items()}, **own}
    yield from (name for name in repeating if constant_within(source, name, suggestions, profiles))


def readable_names(source: Engine, names: Sequence[str]) -> list[str]:
    """The columns whose values have texts."""
    textless = source.textless(names)
    return [name for name in names if name not in textless]


def first_profile(plan: Plan, source: Engine, name: str) -> Profile:
    """The profile of a column in the first rows."""
    texts = source.first_texts(name)
    present = {text: rows for text, rows in texts.items() if text not in plan.data.missing}
    return Profile(name, present, sum(present.values()))
