"""Detect columns that name persons by evidence: what is known of a person is the same in all rows of a value.

A person with several rows has one sex, one birth date and mostly one place in all of them, whatever the name of the
column. The rows of one doctor, school or household do not.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from sfumato.engines.engine import MissingRules
from sfumato.hierarchies.role_detection import role_reasons
from sfumato.hierarchies.role_detection.content_detection import content_of
from sfumato.hierarchies.role_detection.key_columns import MOST_OF_ONE, rows_each
from sfumato.hierarchies.role_detection.lexicon.concepts import WORDS
from sfumato.hierarchies.role_detection.lexicon.name_terms import meanings_of
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.suggestion import UNKNOWN_RANK, Suggestion
from sfumato.hierarchies.spellings import plain_key
from sfumato.hierarchies.types import numerals
from sfumato.patterns import regex
from sfumato.pipelines.plan_suggestion.counted_rows import RowCounter
from sfumato.values import Value

Codes = npt.NDArray[np.int64]
Suggestions = Mapping[str, Suggestion]
Profiles = Mapping[str, Profile]
# Attributes of a person that hardly ever change; _ATTRIBUTES adds those that seldom change.
LASTING = frozenset(("age", "sex"))
_ATTRIBUTES = LASTING | {"name", "place", "nationality", "family", "work", "schooling", "body"}
# Minimum agreement of the rows of one value beyond chance, with ages compared by variance; the tolerance covers typing
# errors.
_CONSTANT = 0.9
# Average rows per value from which values count as repeated, and the probability below which agreement is not chance.
_REPEATED, _CHANCE = 1.1, 0.001
_DECIMAL = regex(r"[+-]?\d*[.,]\d+")
# Concepts of removed columns that contain neither keys nor names.
_NO_KEYS = frozenset(("free_text", "processing", "weight", "household", "signature"))


class _Pairs(Value):
    """The rows by the values of a column and an attribute, without rows in which one of them is missing."""

    keys: Codes
    values: Codes
    counts: Codes
    texts: tuple[str, ...]

    @property
    def agreement(self) -> tuple[float, float]:
        """The proportion of row pairs with equal attribute: within one value, and in all rows."""
        alike, pairs = _pairs_in(self.counts), _pairs_in(np.bincount(self.keys, weights=self.counts))
        chance = _pairs_in(np.bincount(self.values, weights=self.counts)) / max(_pairs_in(self.counts.sum()), 1.0)
        return alike / max(pairs, 1.0), chance

    @property
    def is_constant(self) -> bool:
        """Whether rows of one value agree far beyond chance."""
        agreeing, chance = self.agreement
        return chance < 1 and agreeing - chance >= _CONSTANT * (1 - chance)

    @property
    def is_close(self) -> bool:
        """Whether the numbers of one value vary little compared with all numbers, as ages at several visits do."""
        numbers = numerals(list(self.texts))[self.values]
        if not len(numbers) or np.isnan(numbers).any():
            return False
        sizes = np.bincount(self.keys, weights=self.counts)
        means = np.bincount(self.keys, weights=self.counts * numbers) / np.maximum(sizes, 1)
        within = float((self.counts * (numbers - means[self.keys]) ** 2).sum())
        mean = np.average(numbers, weights=self.counts)
        whole = float((self.counts * (numbers - mean) ** 2).sum())
        rows, free = self.counts.sum(), self.counts.sum() - np.count_nonzero(sizes)
        return bool(whole > 0 and free > 0 and within / free <= (1 - _CONSTANT) / 2 * whole / rows)


def _pairs_in(sizes: npt.ArrayLike) -> float:
    rows = np.asarray(sizes, np.float64)
    return float((rows * (rows - 1)).sum())


def with_constant_persons(source: RowCounter, suggestions: Suggestions, profiles: Profiles) -> dict[str, Suggestion]:
    """Return the suggestions with person columns, within whose values personal attributes are constant."""
    chosen = dict(suggestions)
    for name, suggestion in suggestions.items():
        if suggestion.role == "person" or not may_denote(profiles[name], suggestion):
            continue
        if constant := constant_within(source, name, suggestions, profiles):
            chosen[name] = _as_person(suggestion, profiles[name], constant)
    return chosen


def _as_person(suggestion: Suggestion, profile: Profile, constant: tuple[str, ...]) -> Suggestion:
    why = suggestion.reason.partition(role_reasons.REPEAT)[0].removesuffix(role_reasons.ADVICE)
    why = why if suggestion.role == "identifier" and not suggestion.undecided else role_reasons.NO_WORD
    concept = suggestion.concept or "key"
    if profile.missing:
        return Suggestion("identifier", role_reasons.NAMELESS.format(why=why), concept=concept)
    names = ", ".join(f'"{name}"' for name in constant)
    reason = role_reasons.CONSTANT.format(why=why, count=rows_each(profile), names=names)
    return Suggestion("person", reason, rank=1 if concept == "name" else 0, concept=concept)


def may_denote(profile: Profile, suggestion: Suggestion) -> bool:
    """Return whether a removed or unknown column may identify persons, because its values repeat like theirs."""
    unknown = suggestion.role == "quasi-identifier" and suggestion.concept is None and suggestion.rank == UNKNOWN_RANK
    if not (suggestion.role == "identifier" or unknown) or suggestion.concept in _NO_KEYS or not profile.counts:
        return False
    repeats = profile.present >= _REPEATED * profile.distinct_keys and profile.top_share <= MOST_OF_ONE
    return repeats and content_of(profile).kind not in ("dates", "times", "scale", "ages", "years")


def constant_within(source: RowCounter, name: str, suggestions: Suggestions, profiles: Profiles) -> tuple[str, ...]:
    """Return the personal attributes that are constant in all rows of a value; empty if it identifies no persons.

    At least half of the attributes that hardly ever change must be constant, and at least two attributes if several
    vary. The sex does not count for a column of names, because names imply it.
    """
    own = suggestions[name]
    told = {"sex", "name"} if own.concept == "name" else {"name"} if _is_measured(profiles[name]) else set()
    known = {other: one.concept for other, one in suggestions.items() if other != name and one.concept}
    known = {
        other: concept
        for other, concept in known.items()
        if concept in _ATTRIBUTES - told and not (concept == "name" and {*meanings_of(other)} & WORDS["staff"])
    }
    pairs = {other: _pairs(source, name, other, profiles) for other in known}
    varied = {other: one for other, one in pairs.items() if one.agreement[1] < 1}
    exact = own.role != "identifier"  # codes of age groups also have similar ages
    constant = [
        other
        for other, one in varied.items()
        if one.is_constant or (known[other] == "age" and not exact and one.is_close)
    ]
    # One name in all rows is the name of the person; differing names may belong to other people.
    lasting = [other for other in varied if known[other] in LASTING or (known[other] == "name" and other in constant)]
    enough = 2 * sum(other in constant for other in lasting) >= max(len(lasting), 1)
    if not enough or len(constant) < min(2, len(varied)) or not _no_chance([varied[other] for other in constant]):
        return ()
    return tuple(constant)


def _is_measured(profile: Profile) -> bool:
    """Return whether most numbers have decimals, unlike keys; comparing them with names would be costly and useless."""
    return 2 * profile.share_of(_DECIMAL) > 1


def _no_chance(constant: list[_Pairs]) -> bool:
    """Return whether enough values repeat to exclude agreement by chance."""
    repeating = min(int((np.bincount(one.keys, weights=one.counts) > 1).sum()) for one in constant)
    return bool(np.prod([one.agreement[1] for one in constant]) ** repeating <= _CHANCE)


def _pairs(source: RowCounter, name: str, attribute: str, profiles: Profiles) -> _Pairs:
    """Count the rows by a column and an attribute; keys are normalized as keys of persons are."""
    text_counts = source.count((name, attribute), MissingRules())
    owners, texts = text_counts.values
    present = np.array([text in profiles[name].counts for text in owners] or [False], bool)
    told = np.array([text in profiles[attribute].counts for text in texts] or [False], bool)
    plain = np.unique([plain_key(text or "") for text in owners] or [""], return_inverse=True)[1].reshape(-1)
    keys, values = text_counts.codes.T.astype(np.int64)
    kept = present[keys] & told[values]
    width = len(texts)
    merged, places = np.unique(plain[keys[kept]].astype(np.int64) * width + values[kept], return_inverse=True)
    counts = np.bincount(places.reshape(-1), weights=text_counts.counts[kept]).astype(np.int64)
    return _Pairs(merged // width, merged % width, counts, tuple(text or "" for text in texts))
