"""Find the column that identifies persons: the coarser of nested keys, or values with constant properties."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from sfumato.engines.engine import MissingRules
from sfumato.hierarchies.role_detection import role_reasons
from sfumato.hierarchies.role_detection.content_detection import content_of
from sfumato.hierarchies.role_detection.key_columns import (
    MOST_OF_ONE,
    may_group_persons,
    numbers_members,
    rows_each,
    speaks_of_persons,
)
from sfumato.hierarchies.role_detection.lexicon.concepts import WORDS
from sfumato.hierarchies.role_detection.lexicon.name_terms import meanings_of
from sfumato.hierarchies.role_detection.lexicon.value_terms import share_of_full_names
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.suggestion import UNKNOWN_RANK, Suggestion
from sfumato.hierarchies.spellings import plain_key
from sfumato.hierarchies.types import numerals
from sfumato.localization.messages import Message, quoted
from sfumato.patterns import regex
from sfumato.pipelines.plan_suggestion.counted_rows import RowCounter
from sfumato.values import Value, replace

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
_REPEATED_KEYS, _CHANCE = 1.1, 0.001
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


# A person with several rows has one sex, one birth date and mostly one place in all of them, whatever the name of the
# column. The rows of one doctor, school or household do not.
def with_constant_persons(source: RowCounter, suggestions: Suggestions, profiles: Profiles) -> dict[str, Suggestion]:
    """Return the suggestions with person columns, within whose values personal attributes are constant."""
    chosen = dict(suggestions)
    for name, suggestion in suggestions.items():
        if suggestion.role == "person" or not may_denote(profiles[name], suggestion):
            continue
        if constant := constant_within(source, name, suggestions, profiles):
            chosen[name] = _as_person_key(suggestion, profiles[name], constant)
    return chosen


def _as_person_key(suggestion: Suggestion, profile: Profile, constant: tuple[str, ...]) -> Suggestion:
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
    repeats = profile.present >= _REPEATED_KEYS * profile.distinct_keys and profile.top_share <= MOST_OF_ONE
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


# Above this number of rows, columns are not compared with each other.
FEW_ROWS = 1_000_000
# A key belongs to one value of a coarser column if this proportion of its rows do; the others are typing errors.
_BELONGS = 0.99
# A coarser key has at most this proportion of the values; otherwise both keys identify the same units.
_COARSER = 0.95
# Average rows per name from which repetition is not chance.
_REPEATED = 1.2


def one_person(source: RowCounter, suggestions: Suggestions, profiles: Profiles) -> dict[str, Suggestion]:
    """Return the suggestions with a single person column; further keys are removed.

    A patient has several episodes, a policy several cars. A person with one row by the finer key may have several by
    the coarser one. So the coarser key is used, unless only the finer one refers to persons.
    """
    suggestions = dict(suggestions) | _shared_keys(source, suggestions, profiles)
    keys = [name for name, suggestion in suggestions.items() if suggestion.role == "person"]
    if not keys:
        return suggestions
    person = min(keys, key=lambda name: (suggestions[name].rank, -profiles[name].distinct_keys))
    others = [name for name in suggestions if name in keys or may_group_persons(profiles[name], suggestions[name])]
    while coarser := next((name for name in others if _is_coarser(source, name, person, suggestions, profiles)), None):
        person = coarser
    few = profiles[person].rows <= FEW_ROWS
    chosen, finer = dict(suggestions), []
    for name in keys:
        if name == person:
            continue
        nested = few and _share_in_one(source, name, person) >= _BELONGS
        finer += [name] if nested else []
        why = suggestions[name].reason.partition(role_reasons.REPEAT)[0]
        reason = (role_reasons.NESTED_KEY if nested else role_reasons.SECOND_KEY).format(why=why, person=person)
        chosen[name] = replace(suggestions[name], role="identifier", reason=reason)
    chosen[person] = _as_person(suggestions[person], profiles[person], finer)
    return {name: _without_advice(suggestion) for name, suggestion in chosen.items()}


def _shared_keys(source: RowCounter, suggestions: Suggestions, profiles: Profiles) -> dict[str, Suggestion]:
    """Return the keys that several persons share: household keys, and accounts or contracts if each row is a person.

    Each row is a person if a key that refers to persons is unique, unless a key that repeats refers to persons, too.
    """
    keys = [name for name, one in suggestions.items() if one.role == "person"]
    members = {name: member for name in keys if (member := _numbered_in(source, name, suggestions, profiles))}
    households = {
        name: _shared_key(suggestions[name], profiles[name], role_reasons.MEMBERS, one) for name, one in members.items()
    }
    single = next((name for name in suggestions if _numbers_each_row(profiles[name], suggestions[name])), None)
    if single is None or not all(suggestions[name].rank for name in keys):
        return households
    return {
        name: _shared_key(suggestions[name], profiles[name], role_reasons.SHARED_KEY, single) for name in keys
    } | households


def _numbers_each_row(profile: Profile, suggestion: Suggestion) -> bool:
    """Return whether every row has its own key that refers to persons, not to their events or staff."""
    things = {*meanings_of(profile.name)} & (WORDS["events"] | WORDS["staff"])
    each = not profile.missing and profile.distinct_keys == profile.rows
    key = suggestion.concept == "key" and suggestion.role == "identifier"
    return key and each and not things and speaks_of_persons(profile.name)


def _gives_each_row_a_person(profile: Profile, suggestion: Suggestion) -> bool:
    """Return whether every row has its own number of a person: a person key or an official number."""
    each = not profile.missing and profile.distinct_keys == profile.rows
    return _numbers_each_row(profile, suggestion) or (suggestion.concept == "office_number" and each)


def _numbered_in(source: RowCounter, key: str, suggestions: Suggestions, profiles: Profiles) -> str | None:
    """Return the column that numbers the persons within each value of a household key, or None."""
    members = (
        name
        for name, one in suggestions.items()
        if one.role == "identifier" and speaks_of_persons(name) and numbers_members(profiles[name])
    )
    each = (
        name
        for name in members
        if len(source.count((key, name), MissingRules()).counts) >= _BELONGS * profiles[key].rows
    )
    return next(each, None) if profiles[key].rows <= FEW_ROWS else None


def _shared_key(suggestion: Suggestion, profile: Profile, reason: str, other: str) -> Suggestion:
    """Return the suggestion for a key that several persons share, as another column shows."""
    rows = rows_each(profile)
    why = suggestion.reason.partition(role_reasons.REPEAT)[0]
    if suggestion.reason == role_reasons.PERSON_KEYS.format(count=rows):
        why = role_reasons.CODES.removesuffix(role_reasons.ADVICE).format(count=rows)
    return replace(suggestion, role="identifier", reason=reason.format(why=why, person=other))


def _without_advice(suggestion: Suggestion) -> Suggestion:
    """Return a removed column without the advice to use it as the person column, because another one is used."""
    if suggestion.role != "identifier":
        return suggestion
    reason = suggestion.reason.removesuffix(role_reasons.ADVICE)
    nameless = reason.endswith(role_reasons.NAMELESS.removeprefix("{why}"))
    return replace(suggestion, reason=reason.partition(role_reasons.REPEAT)[0] if nameless else reason)


def _as_person(suggestion: Suggestion, profile: Profile, finer: Sequence[str]) -> Suggestion:
    """Return a column as the person column, with a reason that names finer keys."""
    reason = suggestion.reason
    if suggestion.role != "person":
        reason = role_reasons.PERSON.format(why=reason, count=rows_each(profile))
    if finer:
        reason = role_reasons.COARSER.format(why=reason, finer=", ".join(f'"{name}"' for name in finer))
    return replace(suggestion, role="person", reason=reason)


def _is_coarser(source: RowCounter, name: str, person: str, suggestions: Suggestions, profiles: Profiles) -> bool:
    """Return whether each value of the current person column belongs to one value of a key with fewer values."""
    spoken = suggestions[person].rank == 0 and not (suggestions[name].rank == 0 and suggestions[name].role == "person")
    fewer = profiles[name].distinct_keys < _COARSER * profiles[person].distinct_keys
    if name == person or spoken or not fewer:
        return False
    many = profiles[name].rows > FEW_ROWS
    return suggestions[name].role == "person" if many else _share_in_one(source, person, name) >= _BELONGS


def _share_in_one(source: RowCounter, finer: str, coarser: str) -> float:
    """Return the proportion of rows with the most frequent coarser key of their finer key."""
    text_counts = source.count((finer, coarser), MissingRules())
    plain = [[None if text is None else plain_key(text) for text in texts] for texts in text_counts.values]
    rows: dict[str | None, Counter[str | None]] = defaultdict(Counter)
    for (fine, coarse), number in zip(text_counts.codes.tolist(), text_counts.counts.tolist(), strict=True):
        rows[plain[0][fine]][plain[1][coarse]] += number
    return sum(max(owners.values()) for owners in rows.values()) / max(text_counts.rows, 1)


def with_named_persons(source: RowCounter, suggestions: Suggestions, profiles: Profiles) -> dict[str, Suggestion]:
    """Return the suggestions with full names as the person column, if they repeat and no key numbers the persons.

    Persons with the same name then count as one, which can only weaken the count of persons. Attributes such as age or
    sex would have shown that the rows of one name belong to one person; otherwise the names repeat by chance.
    """
    if any(one.concept in LASTING for one in suggestions.values()):
        return dict(suggestions)
    rows, columns = _rows_of_names(source, suggestions, profiles)
    full = [name for name in columns if share_of_full_names(profiles[name])]
    name = next((name for name in full if profiles[name].present >= _REPEATED * profiles[name].distinct_keys), None)
    if rows < _REPEATED or name is None:
        return dict(suggestions)
    known, profile = suggestions[name], profiles[name]
    text = role_reasons.NAMELESS if profile.missing else role_reasons.PERSON
    reason = text.format(why=known.reason.removesuffix(role_reasons.ADVICE), count=rows_each(profile))
    named = replace(known, role="identifier" if profile.missing else "person", reason=reason, rank=1)
    return dict(suggestions) | {name: named}


def repeated_names(source: RowCounter, suggestions: Suggestions, profiles: Profiles, k: int) -> Message | None:
    """Return a note if names of persons repeat and there is no person column, else None."""
    rows, columns = _rows_of_names(source, suggestions, profiles)
    return Message("note.names_repeat", names=quoted(columns), count=rows, k=k) if rows >= _REPEATED else None


def _rows_of_names(source: RowCounter, suggestions: Suggestions, profiles: Profiles) -> tuple[float, Sequence[str]]:
    """Return the average number of rows per name of a person and the columns used; 0 if persons are numbered.

    Many people share a name. Without dates of birth, a person number in each row is stronger evidence.
    """
    who = [name for name in suggestions if _names_who(name, suggestions[name])]
    births = [name for name in suggestions if _tells_birth(suggestions[name])]
    full = len(who) > 1 or any(share_of_full_names(profiles[name]) for name in who)
    person = any(suggestion.role == "person" for suggestion in suggestions.values())
    if person or not who or not (births or full) or next(iter(profiles.values())).rows > FEW_ROWS:
        return 0.0, ()
    if not births and any(_gives_each_row_a_person(profiles[name], one) for name, one in suggestions.items()):
        return 0.0, ()
    columns = (*who, *births[:1])
    return _rows_of_a_person(source, columns, len(who)), columns


def _names_who(name: str, suggestion: Suggestion) -> bool:
    """Return whether a column contains the names of the persons the rows describe, not of staff."""
    named = suggestion.role == "identifier" and suggestion.concept == "name"
    return named and not {*meanings_of(name)} & WORDS["staff"]


def _tells_birth(suggestion: Suggestion) -> bool:
    return suggestion.concept == "age" and (suggestion.hierarchy or {}).get("type") == "date"


def _rows_of_a_person(source: RowCounter, columns: Sequence[str], names: int) -> float:
    """Return the average number of rows with identical texts in all columns, among rows with names."""
    text_counts = source.count(tuple(columns), MissingRules())
    persons: Counter[tuple[str, ...]] = Counter()
    for codes, number in zip(text_counts.codes.tolist(), text_counts.counts.tolist(), strict=True):
        texts = [values[code] for values, code in zip(text_counts.values, codes, strict=True)]
        if all(texts[:names]):
            persons[tuple(plain_key(text or "") for text in texts)] += number
    return sum(persons.values()) / len(persons) if persons else 0.0
