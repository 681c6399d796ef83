"""Columns that follow from a sensitive one: a code next to its text, a group next to its members.

If each value of a sensitive column has one value of another column of unknown meaning, that column contains the same or
less information. Published together it reveals nothing more, and it is equally sensitive.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from sfumato.engines.engine import MissingRules
from sfumato.hierarchies.role_detection.column_context import is_unknown
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.suggestion import Suggestion
from sfumato.localization.messages import Message
from sfumato.pipelines.plan_suggestion.counted_rows import RowCounter
from sfumato.pipelines.plan_suggestion.near_duplicates import Codes, agreement
from sfumato.pipelines.plan_suggestion.person_columns import FEW_ROWS

# Minimum proportion of rows, beyond chance, with the most frequent value for their sensitive value; the others are
# typing errors.
_TOLD = 0.9
# A sensitive column with many values determines everything by chance, so each value needs this many rows on average.
_ROWS_EACH, _LEAST_ROWS = 20, 100
_ROUNDS = 2


def mark_dependent_columns(
    source: RowCounter, suggestions: Mapping[str, Suggestion], profiles: Mapping[str, Profile]
) -> dict[str, Suggestion]:
    """Return the suggestions with unknown columns marked as sensitive if they depend on a sensitive column."""
    rows = next(iter(profiles.values())).rows
    private = [name for name, one in suggestions.items() if _may_tell(one, profiles[name])]
    unknown = [name for name, one in suggestions.items() if is_unknown(one) and len(profiles[name].counts) > 1]
    if not private or not unknown or not _LEAST_ROWS <= rows <= FEW_ROWS:
        return dict(suggestions)
    counted = source.count((*private, *unknown), MissingRules())
    codes = dict(zip(counted.columns, counted.codes.T, strict=True))
    told: dict[str, str] = {}
    # A dependent column may determine others: a code determines its group.
    for _ in range(_ROUNDS):
        for name in unknown:
            tellers = [one for one in (*private, *told) if one != name]
            teller = told.get(name) or _teller(codes[name], tellers, codes, counted.counts)
            told |= {name: teller} if teller else {}
    return dict(suggestions) | _as_private(told, suggestions)


def _may_tell(suggestion: Suggestion, profile: Profile) -> bool:
    """Return whether a column is known to be sensitive and has few values."""
    known = suggestion.role == "sensitive" and not suggestion.guessed and not suggestion.asked
    return known and 1 < len(profile.counts) <= profile.rows / _ROWS_EACH


def _teller(
    codes: Codes, private: Sequence[str], columns: Mapping[str, Codes], counts: npt.NDArray[np.int64]
) -> str | None:
    """Return the first sensitive column that determines a column, or None."""
    return next((name for name in private if _tells(columns[name], codes, counts)), None)


def _tells(private: Codes, codes: Codes, counts: npt.NDArray[np.int64]) -> bool:
    width = int(codes.max(initial=0)) + 1
    keys, owners = np.unique(private.astype(np.int64) * width + codes, return_inverse=True)
    sizes = np.bincount(owners.reshape(-1), weights=counts)
    return agreement(keys // width, keys % width, sizes) >= _TOLD


def _as_private(told: Mapping[str, str], suggestions: Mapping[str, Suggestion]) -> dict[str, Suggestion]:
    """Return the dependent columns as sensitive ones, in the order in which they were found."""
    chosen: dict[str, Suggestion] = {}
    for name, teller in told.items():
        like = chosen.get(teller, suggestions[teller])
        type_ = "text" if suggestions[name].rejected else suggestions[name].type
        reason = Message("reason.says_less", column=teller)
        chosen[name] = Suggestion("sensitive", reason, type_, protected=like.protected, concept=like.concept)
    return chosen
