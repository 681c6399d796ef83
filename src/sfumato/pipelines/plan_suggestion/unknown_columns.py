"""Keep columns of unknown meaning as long as hardly anyone is unique by two of them and the quasi-identifiers."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from sfumato.engines.engine import MissingRules
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.suggestion import Suggestion
from sfumato.hierarchies.types import numerals
from sfumato.localization.messages import Message
from sfumato.microdata.publish_plan import PublishPlan, read_numbers
from sfumato.microdata.rounding_suggestion import bands
from sfumato.pipelines.plan_suggestion.counted_rows import RowCounter
from sfumato.pipelines.plan_suggestion.estimated_classes import (
    Ints,
    KnownRows,
    estimated_classes,
    known_rows,
    similar_rows,
)
from sfumato.pipelines.plan_suggestion.person_columns import FEW_ROWS
from sfumato.values import Value, field

# Maximum proportion of persons that are unique by the quasi-identifiers and any two columns of unknown meaning.
UNIQUE = 0.05
# Class sizes to choose from: of larger classes fewer persons are unique, so that more columns can be kept.
SIZES = (5, 10, 20, 40, 80, 160)
# Minimum number of classes, if all had their minimum size.
_LEAST_CLASSES = 12
# Categories of a column of unknown meaning: minimum proportion of rows whose category is published.
_PUBLISHED = 0.95
# The weight of other columns than those that questions need.
_LITTLE = 0.1


class PublishedForm(Value):
    """One way to publish a column: the coding of its numbers, or the rare values that are published as missing."""

    plan: PublishPlan | None = None
    rare: tuple[str, ...] = ()

    def codes(self, texts: Sequence[str | None]) -> Ints:
        """Return the code of the published value of each text."""
        if self.plan is None:
            rare = {*self.rare, None}
            return _numbered(["" if text in rare else f" {text}" for text in texts])
        numbers = numerals([form or "" for form in read_numbers([text or "" for text in texts])])
        return _numbered(self.plan.rough_steps(numbers))


def _numbered(values: npt.ArrayLike) -> Ints:
    return np.unique(values, return_inverse=True, equal_nan=True)[1].reshape(-1).astype(np.int64)


class KeptColumns(Value):
    """The columns of unknown meaning that are kept, each with its published form, and the class size they need.

    Attributes:
        needed_unique: The proportion of persons unique by the quasi-identifiers and two columns that questions need.
    """

    forms: dict[str, PublishedForm] = field(default_factory=dict)
    k: int = SIZES[0]
    needed_unique: float = 0.0


def forms_of(profile: Profile, k: int) -> list[PublishedForm]:
    """Return the ways to publish a column from fine to coarse, each published value with at least k rows.

    >>> [form.rare for form in forms_of(Profile("x", {"a": 90, "b": 60, "c": 3, "d": 2}, rows=155), 5)]
    [('c', 'd')]
    """
    numbers = [PublishedForm(plan) for plan in bands(profile.counts, k)]
    if numbers:
        return numbers
    rare = [value for value, rows in profile.counts.items() if rows < k]
    if rare and sum(profile.counts[value] for value in rare) + profile.missing < k:
        others = [value for value in profile.counts if value not in rare]
        rare += sorted(others, key=lambda value: profile.counts[value])[:1]
    left = sum(profile.counts.values()) - sum(profile.counts[value] for value in rare)
    several = len(profile.counts) - len(rare) + bool(rare) > 1
    return [PublishedForm(rare=tuple(rare))] if several and left >= _PUBLISHED * profile.present else []


def kept_columns(
    source: RowCounter, suggestions: Mapping[str, Suggestion], profiles: Mapping[str, Profile], rows: int
) -> KeptColumns:
    """Return the columns of unknown meaning to keep, and the class size with which most detail is left in all columns.

    Bands are widened first, then columns are left out.
    """
    unknown = {
        name: forms for name, one in suggestions.items() if one.kept and (forms := forms_of(profiles[name], SIZES[0]))
    }
    if not unknown or rows > FEW_ROWS:
        return KeptColumns()
    person = next((name for name, one in suggestions.items() if one.role == "person"), None)
    weights = {name: one.weight for name, one in suggestions.items() if one.role == "quasi-identifier"}
    names = [*weights, *unknown, *([] if person is None else [person])]
    counted = source.count(names, MissingRules())
    known = known_rows(counted, weights, person)
    some = similar_rows(known, SIZES[0])
    known = known.of(some)
    columns = {name: (counted.values[place], counted.codes[some, place]) for place, name in enumerate(names)}
    published = {name: [*_published(forms, *columns[name], known)] for name, forms in unknown.items()}
    people = len(np.unique(counted.codes[:, -1])) if person is not None else rows
    needed = {name for name in unknown if suggestions[name].needed}
    trials = [
        _kept(known, published, needed, size) for size in SIZES if size == SIZES[0] or _LEAST_CLASSES * size <= people
    ]
    return max(trials, key=lambda trial: trial[0])[1]


def _published(
    forms: Iterable[PublishedForm], texts: Sequence[str | None], codes: Ints, rows: KnownRows
) -> Iterator[tuple[PublishedForm, Ints, float]]:
    """Yield the forms with the published code of each combination, and with the detail that is left, from 0 to 1."""
    raw = _detail(codes.astype(np.int64), rows)
    for form in forms:
        published = form.codes(texts)[codes]
        yield form, published, _detail(published, rows) / raw if raw else 1.0


def _detail(codes: Ints, rows: KnownRows) -> float:
    """Return the entropy of a column in bits."""
    sizes = np.bincount(codes, weights=rows.counts)
    shares = sizes[sizes > 0] / max(sizes.sum(), 1)
    return float(-(shares * np.log2(shares)).sum() + 0.0)


def _kept(
    rows: KnownRows,
    published: Mapping[str, list[tuple[PublishedForm, Ints, float]]],
    needed: Collection[str],
    size: int,
) -> tuple[float, KeptColumns]:
    """Return the detail left in all columns with classes of a size, and the columns kept; those of few values first.

    Columns that questions need are kept in their finest form; if there are some, the others hardly count.
    """
    owners, left = estimated_classes(rows, size)
    kept: dict[str, Ints] = {}
    forms = {name: published[name][0][0] for name in published if name in needed}
    for name in sorted(published.keys() - needed, key=lambda name: (int(published[name][0][1].max(initial=0)), name)):
        for form, codes, detail in published[name]:
            alone = np.unique(_joined(owners, codes), return_inverse=True)[1].reshape(-1)
            if unique_share(alone, rows) <= UNIQUE and all(
                unique_share(_joined(alone, other), rows) <= UNIQUE for other in reversed(kept.values())
            ):
                kept[name], forms[name] = codes, form
                left += _LITTLE * detail if needed else detail
                break
    pairs = combinations([published[name][0][1] for name in forms if name in needed], 2)
    unique = max((unique_share(_compact(owners, *pair), rows) for pair in pairs), default=0.0)
    return left, KeptColumns({name: forms[name] for name in published if name in forms}, size, unique)


def _compact(owners: Ints, one: Ints, other: Ints) -> Ints:
    return np.unique(_joined(_joined(owners, one), other), return_inverse=True)[1].reshape(-1)


def _joined(owners: Ints, codes: Ints) -> Ints:
    """Return a key of each pair of codes."""
    joined: Ints = owners * (int(codes.max(initial=0)) + 1) + codes
    return joined


def unique_share(keys: Ints, rows: KnownRows) -> float:
    """Return the proportion of persons, or rows, that are alone with a key; keys are small integers."""
    if rows.persons is None:
        sizes = np.bincount(keys, weights=rows.counts)
        return float((sizes == 1).sum() / max(rows.counts.sum(), 1))
    first, last = np.full((2, int(keys.max(initial=-1)) + 1), -1)
    last[keys] = rows.persons
    first[keys[::-1]] = rows.persons[::-1]
    return len(np.unique(first[(first >= 0) & (first == last)])) / max(rows.people, 1)


def with_kept(suggestions: Mapping[str, Suggestion], kept: KeptColumns) -> dict[str, Suggestion]:
    """Return the suggestions with the columns of unknown meaning that cannot be kept removed until a decision."""
    return {
        name: one.withheld(Message("reason.unique_by_two", reason=one.reason, share=UNIQUE))
        if one.kept and not one.needed and name not in kept.forms
        else one
        for name, one in suggestions.items()
    }


def notes_of(suggestions: Mapping[str, Suggestion]) -> tuple[str, ...]:
    """Return the notes on columns of unknown meaning that are kept, and on columns that await a decision."""
    kept = sum(one.kept and not one.needed and one.role == "sensitive" for one in suggestions.values())
    undecided = sum(one.undecided for one in suggestions.values())
    return (
        *((Message("note.unknown_kept", count=kept),) if kept else ()),
        *((Message("note.undecided", count=undecided, columns=len(suggestions)),) if undecided else ()),
    )
