"""Survey weights in suggestions: a weight next to household keys is a sampling weight, not body weight."""

import re
from collections.abc import Mapping

import numpy as np

from sfumato.engines.engine import MissingRules
from sfumato.hierarchies.role_detection import role_reasons
from sfumato.hierarchies.role_detection.key_columns import are_weights
from sfumato.hierarchies.role_detection.lexicon.name_terms import meanings_of, spoken_word
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.suggestion import Suggestion
from sfumato.pipelines.plan_suggestion.counted_rows import RowCounter

_WEIGHTS = ("weight", "gewicht")
_HEIGHTS = frozenset(("height", "grosse", "korpergrosse", "größe", "körpergröße", "groesse", "koerpergroesse"))
_REPLICATE = re.compile(r".*?[A-Za-z_. -]\d+")
# The proportion of multi-row households with one weight from which it is a sampling weight.
_MOSTLY = 0.9


def with_survey_weights(
    source: RowCounter, suggestions: Mapping[str, Suggestion], profiles: Mapping[str, Profile]
) -> dict[str, Suggestion]:
    """Return the suggestions with the only column called a weight as the sampling weight, if rows belong to households.

    If there is also a height, the weight is a body weight, unless the members of a household share it.
    """
    roles, told = {one.role for one in suggestions.values()}, dict(suggestions)
    household = next((name for name, one in suggestions.items() if one.role == "household"), None)
    if household is None or roles & {"weight", "person"}:
        return told
    weights = [(name, word) for name in suggestions for word in _WEIGHTS if word in meanings_of(name)]
    fitting = [(name, word) for name, word in weights if are_weights(profiles[name])]
    tall = any(_HEIGHTS & {*meanings_of(name)} for name in suggestions)
    if len(fitting) == 1 and not (tall and _shared(source, household, fitting[0][0]) < _MOSTLY):
        [(name, word)] = fitting
        why = role_reasons.by_name(spoken_word(name, word), "weight")
        told[name] = Suggestion("weight", why, concept="weight")
    return told


def one_of_each(suggestions: Mapping[str, Suggestion]) -> dict[str, Suggestion]:
    """Return the suggestions with one weight and one household column; with a person column, weights are removed."""
    households = [name for name, one in suggestions.items() if one.role == "household"]
    persons = any(one.role == "person" for one in suggestions.values())
    kept = {*households[:1], *([] if persons else _main_weight(suggestions))}
    return {
        name: Suggestion("identifier", one.reason, concept=one.concept)
        if one.role in ("weight", "household") and name not in kept
        else one
        for name, one in suggestions.items()
    }


def _main_weight(suggestions: Mapping[str, Suggestion]) -> list[str]:
    """Return the only weight column, ignoring numbered replicate weights; empty if several remain."""
    weights = [name for name, one in suggestions.items() if one.role == "weight"]
    main = [name for name in weights if not _REPLICATE.fullmatch(name)] or weights
    return main if len(main) == 1 else []


def _shared(source: RowCounter, household: str, weight: str) -> float:
    """Return the proportion of multi-row households whose rows all have the same weight."""
    text_counts = source.count((household, weight), MissingRules())
    owners = text_counts.codes[:, 0]
    several = np.bincount(owners, weights=text_counts.counts) > 1
    return float((np.bincount(owners)[several] == 1).mean()) if several.any() else 0.0
