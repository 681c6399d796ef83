"""The selection of quasi-identifiers: a few, ranked by what is known of them and by how much they tell rows apart.

Each further quasi-identifier costs detail in all others; beyond a handful, a release says nothing any more (Aggarwal
2005, "On k-anonymity and the curse of dimensionality", VLDB).
"""

from collections.abc import Mapping

from sfumato.hierarchies.suggest import reasons
from sfumato.hierarchies.suggest.profile import Profile
from sfumato.hierarchies.suggest.roles import Suggestion

MAX_QUASI_IDENTIFIERS = 8


def select(suggestions: Mapping[str, Suggestion], profiles: Mapping[str, Profile]) -> dict[str, Suggestion]:
    """The suggestions with the best few quasi-identifiers; the others are withheld until somebody decides.

    A plan needs a quasi-identifier: where there is none, the column that is the least identifying is taken for one.
    """
    candidates = [name for name, suggestion in suggestions.items() if suggestion.role == "quasi-identifier"]
    ranked = sorted(candidates, key=lambda name: (suggestions[name].rank, -profiles[name].separation))
    chosen = dict(suggestions)
    for name in ranked[MAX_QUASI_IDENTIFIERS:]:
        less = reasons.LESS.format(known=suggestions[name].reason, count=MAX_QUASI_IDENTIFIERS)
        chosen[name] = suggestions[name].withheld(less)
    return chosen if candidates else chosen | _substitute(suggestions, profiles)


def _substitute(suggestions: Mapping[str, Suggestion], profiles: Mapping[str, Profile]) -> dict[str, Suggestion]:
    """Some column as the quasi-identifier that a plan needs."""
    roles = ("insensitive", "sensitive", "identifier")
    name = min(
        suggestions, key=lambda name: (roles.index(suggestions[name].role), profiles[name].separation), default=None
    )
    if name is None:
        return {}
    return {name: Suggestion("quasi-identifier", reasons.ONLY, hierarchy={"type": "any"})}
