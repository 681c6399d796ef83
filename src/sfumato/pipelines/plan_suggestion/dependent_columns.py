"""Columns that follow from a sensitive one: a code next to its text, a group next to its members.

If each value of a sensitive column has one value of another column of unknown meaning, that column contains the same or
less information: published together it reveals nothing more, and it is equally sensitive.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from sfumato.engines.engine import Reading
from sfumato.hierarchies.role_detection.column_context import is_unknown
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.role_reasons import SAYS_LESS
from sfumato.hierarchies.role_detection.suggestion import Suggestion
from sfumato.pipelines.plan_suggestion.counted_rows import CountsRows
from sfumato.pipelines.plan_suggestion.near_duplicates import Codes, agreement
from sfumato.pipelines.plan_suggestion.person_columns import FEW_ROWS

# So many rows must have the value that most of their private value have, beyond what chance would give; the others are
# typing errors.
_TOLD = 0.9
# A private column of many values tells everything by chance: so many rows stand for each on average.
_ROWS_EACH, _LEAST_ROWS = 20, 100
_ROUNDS = 2


def with_told_columns(
    source: CountsRows, suggestions: Mapping[str, Suggestion], profiles: Mapping[str, Profile]
) -> dict[str, Suggestion]:
    """The suggestions, unknown columns private that a private one tells."""
    rows = next(iter(profiles.values())).rows
    private = [name for name, one in suggestions.items() if _may_tell(one, profiles[name])]
    unknown = [name for name, one in suggestions.items() if is_unknown(one) and len(profiles[name].counts) > 1]
    if not private or not unknown or not _LEAST_ROWS <= rows <= FEW_ROWS:
        return dict(suggestions)
    counted = source.count((*private, *unknown), Reading())
    codes = dict(zip(counted.columns, counted.codes.T, strict=True))
    told: dict[str, str] = {}
    # What a private column tells may tell others: a code the group in which it is.
    for _ in range(_ROUNDS):
        for name in unknown:
            tellers = [one for one in (*private, *told) if one != name]
            teller = told.get(name) or _teller(codes[name], tellers, codes, counted.counts)
            told |= {name: teller} if teller else {}
    return dict(suggestions) | _as_private(told, suggestions)


def _may_tell(suggestion: Suggestion, profile: Profile) -> bool:
    """Whether a column is known to be private, and has few values."""
    known = suggestion.role == "sensitive" and not suggestion.guessed and not suggestion.asked
    return known and 1 < len(profile.counts) <= profile.rows / _ROWS_EACH


def _teller(
    codes: Codes, private: Sequence[str], columns: Mapping[str, Codes], counts: npt.NDArray[np.int64]
) -> str | None:
    """The first private column that tells a column."""
    return next((name for name in private if _tells(columns[name], codes, counts)), None)


def _tells(private: Codes, codes: Codes, counts: npt.NDArray[np.int64]) -> bool:
    width = int(codes.max(initial=0)) + 1
    keys, owners = np.unique(private.astype(np.int64) * width + codes, return_inverse=True)
    sizes = np.bincount(owners.reshape(-1), weights=counts)
    return agreement(keys // width, keys % width, sizes) >= _TOLD


def _as_private(told: Mapping[str, str], suggestions: Mapping[str, Suggestion]) -> dict[str, Suggestion]:
    """The columns that are told as private ones, in the order in which they were found."""
    chosen: dict[str, Suggestion] = {}
    for name, teller in told.items():
        like = chosen.get(teller, suggestions[teller])
        type_ = "text" if suggestions[name].rejected else suggestions[name].type
        reason = SAYS_LESS.format(column=teller)
        chosen[name] = Suggestion("sensitive", reason, type_, protected=like.protected, concept=like.concept)
    return chosen
