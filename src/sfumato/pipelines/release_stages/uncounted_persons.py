"""Detect removed identifiers that seem to name a person in several rows, although the plan counts rows."""

from collections.abc import Iterator, Sequence
from typing import Any

from sfumato.engines.engine import Engine
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.roles import may_name_persons, suggest
from sfumato.hierarchies.role_detection.suggestion import Suggestion
from sfumato.localization.messages import Message
from sfumato.microdata.models.model import requested_class_size
from sfumato.microdata.plan.model import REMOVED_ROLES, Plan
from sfumato.pipelines.plan_suggestion.person_columns import constant_within, may_denote, repeated_names

# Above this number of rows, columns are not compared with each other.
_MOST_ROWS = 1_000_000
# A column is also reported if it has at most this proportion of the persons of the plan's person column.
_COARSER = 0.95


def person_findings(plan: Plan, source: Engine, rows: int) -> tuple[dict[str, Any], tuple[Message, ...]]:
    """Return the columns of persons that no model counts, by report key, and a warning if names of persons repeat."""
    looks = ColumnProfiles(plan, source)
    if uncounted := uncounted_persons(looks, rows):
        return {"persons_uncounted": [*uncounted]}, repeated_persons(looks)
    shared = shared_identifiers(looks)
    return {"shared_identifiers": [*shared]} if shared else {}, repeated_persons(looks)


class ColumnProfiles:
    """Profiles and suggestions of a source's columns, from the first rows."""

    def __init__(self, plan: Plan, source: Engine) -> None:
        self.plan, self.source = plan, source
        self._profiles: dict[str, Profile] = {}
        self._suggestions: dict[str, Suggestion] = {}
        self.repeated_names: tuple[Message, ...] | None = None

    def readable(self, names: Sequence[str]) -> list[str]:
        """Return the columns whose values have texts."""
        textless = self.source.textless(names)
        return [name for name in names if name not in textless]

    def profile(self, name: str) -> Profile:
        """Return the profile of a column."""
        if name not in self._profiles:
            texts = self.source.first_texts(name)
            present = {text: rows for text, rows in texts.items() if text not in self.plan.data.missing}
            self._profiles[name] = Profile(name, present, sum(present.values()))
        return self._profiles[name]

    def suggestion(self, name: str) -> Suggestion:
        """Return the suggestion for a column."""
        if name not in self._suggestions:
            self._suggestions[name] = suggest(self.profile(name))
        return self._suggestions[name]


def uncounted_persons(looks: ColumnProfiles, rows: int) -> tuple[dict[str, Any], ...]:
    """Return the identifiers within whose values personal attributes are constant, the coarsest first."""
    plan = looks.plan
    names = looks.readable([name for name in plan.named(*REMOVED_ROLES) if name in looks.source.columns])
    if not names or rows > _MOST_ROWS:
        return ()
    profiles = {name: looks.profile(name) for name in names}
    limit = _COARSER * looks.profile(plan.person).distinct_keys if plan.person else rows
    few = {name: one for name, one in profiles.items() if one.counts and one.distinct_keys < limit}
    found = {name: few[name].present / few[name].distinct_keys for name in _naming_persons(looks, few)}
    order = sorted(found, key=lambda name: -found[name])
    return tuple({"column": name, "rows_each": round(found[name], 2)} for name in order)


def shared_identifiers(looks: ColumnProfiles) -> tuple[dict[str, Any], ...]:
    """Return the removed columns that seem to name a person in several rows, although the plan counts rows.

    Returns:
        For each column, the number of `rows` that share their value and the number of rows `looked_at`.
    """
    names = looks.readable(looks.plan.named(*REMOVED_ROLES)) if looks.plan.person is None else ()
    found = []
    for name in names:
        profile, by_name = looks.profile(name), looks.suggestion(name).concept == "name"
        # Names may repeat by chance, unless they do so more often.
        denotes = (not by_name or repeated_persons(looks)) and _may_denote(looks, name)
        if denotes or may_name_persons(profile):
            shared = sum(rows for rows in profile.counts.values() if rows > 1)
            found.append({"column": name, "rows": shared, "looked_at": profile.rows})
    return tuple(sorted(found, key=lambda entry: -entry["rows"]))


def _may_denote(looks: ColumnProfiles, name: str) -> bool:
    """Return whether the values of a removed column repeat as those of persons can, whatever the column is called."""

    return may_denote(looks.profile(name), Suggestion("identifier", "", concept=looks.suggestion(name).concept))


def repeated_persons(looks: ColumnProfiles) -> tuple[Message, ...]:
    """Return a warning if names of persons repeat and there is no person column; computed once."""
    if looks.repeated_names is None:
        looks.repeated_names = _repeated_names(looks)
    return looks.repeated_names


def _repeated_names(looks: ColumnProfiles) -> tuple[Message, ...]:
    names = () if looks.plan.person is not None else looks.readable(looks.plan.named(*REMOVED_ROLES))
    profiles = {name: looks.profile(name) for name in names}
    suggestions = {name: looks.suggestion(name) for name in profiles}
    if not any(suggestion.concept == "name" for suggestion in suggestions.values()):
        return ()
    known = {name: looks.profile(name) for name in looks.plan.quasi_identifiers}
    suggestions |= {name: looks.suggestion(name) for name in known}
    k = requested_class_size(looks.plan.privacy, 2)
    note = repeated_names(looks.source, suggestions, {**profiles, **known}, k)
    return (note,) if note else ()


def _naming_persons(looks: ColumnProfiles, candidates: dict[str, Profile]) -> Iterator[str]:

    repeating = [name for name in candidates if _may_denote(looks, name)]
    if not repeating:
        return
    # All are treated as identifiers, because the plan removes them.
    own = {name: Suggestion("identifier", "", concept=looks.suggestion(name).concept) for name in candidates}
    further = looks.readable([name for name in looks.plan.columns if name not in candidates])
    profiles = {**candidates, **{name: looks.profile(name) for name in further}}
    suggestions = {**{name: looks.suggestion(name) for name in further}, **own}
    yield from (name for name in repeating if constant_within(looks.source, name, suggestions, profiles))
