"""Columns of surveys: answers that make rows unique together, and sampling weights next to household keys."""

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from sfumato.engines.engine import MissingRules
from sfumato.hierarchies.role_detection import role_reasons
from sfumato.hierarchies.role_detection.key_columns import are_weights
from sfumato.hierarchies.role_detection.lexicon.name_terms import meanings_of, spoken_word
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.questionnaire_columns import steps_of
from sfumato.hierarchies.role_detection.suggestion import Suggestion
from sfumato.localization.messages import Message
from sfumato.microdata.counts.frequency_table import ValueCounts
from sfumato.pipelines.plan_suggestion.counted_rows import RowCounter
from sfumato.values import replace

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
# Opinions from which a note says what a person who knows several of them finds.
_FEW_ANSWERS = 8
# Answers correlate with several others: minimum number of those, minimum correlation, and standard deviations beyond
# chance.
_PARTNERS, _CORRELATED, _CHANCE = 4, 0.2, 4.0


def survey_answers_note(suggestions: Mapping[str, Suggestion]) -> str | None:
    """Return a note on published opinions if they are many."""
    count = sum(one.role == "sensitive" and one.concept == "opinion" for one in suggestions.values())
    return Message("reason.many_answers", count=count) if count > _FEW_ANSWERS else None


# Answers on one scale that correlate are questions about what a person thinks or feels, which others do not know. They
# are published like opinions, and a note says what an attacker who knows some of them finds. Facts that a form encodes
# (schooling, income, age group) correlate, too, but they are few.
def with_opinions(
    source: RowCounter, suggestions: Mapping[str, Suggestion], profiles: Mapping[str, Profile]
) -> dict[str, Suggestion]:
    """Return the suggestions with answers that correlate with several others on the same scale as opinions."""
    return dict(suggestions) | dict(_opinions(source, suggestions, profiles))


def _opinions(
    source: RowCounter, suggestions: Mapping[str, Suggestion], profiles: Mapping[str, Profile]
) -> Iterator[tuple[str, Suggestion]]:
    """Yield answers that correlate with several others on the same scale, as opinions."""
    scales: dict[tuple[str, ...], list[str]] = {}
    for name, one in suggestions.items():
        steps = steps_of(profiles[name]) if one.role == "sensitive" and one.asked else ()
        scales.setdefault(steps, []).append(name)
    for steps, names in scales.items():
        if not steps or len(names) <= _PARTNERS:
            continue
        partners = _partners(_positions(source.count(names, MissingRules()), steps))
        for name, count in zip(names, partners.tolist(), strict=True):
            if count >= _PARTNERS:
                one = suggestions[name]
                reason = Message("reason.goes_together", reason=one.reason, count=count)
                yield name, replace(one, asked=False, concept=one.concept or "opinion", reason=reason)


def _positions(counted: ValueCounts, steps: Sequence[str]) -> Floats:
    """Return the position of each row's answer on the scale, by column; missing answers get the mean of the column."""
    rows = np.repeat(np.arange(len(counted.counts)), counted.counts)
    positions = np.empty((len(rows), len(counted.columns)))
    for place, texts in enumerate(counted.values):
        known = np.array([steps.index(text.strip()) if text and text.strip() in steps else np.nan for text in texts])
        column = known[counted.codes[:, place]][rows]
        positions[:, place] = np.where(np.isnan(column), np.nanmean(column), column)
    return positions


def _partners(positions: Floats) -> Ints:
    """Return with how many other columns each column is correlated, positively or negatively."""
    spread = positions - positions.mean(axis=0)
    lengths = np.sqrt((spread**2).sum(axis=0))
    correlations = np.abs(spread.T @ spread) / np.maximum(np.outer(lengths, lengths), 1e-9)
    least = max(_CORRELATED, _CHANCE / len(positions) ** 0.5)
    return np.asarray((correlations >= least).sum(axis=0) - 1, np.int64)


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
    """Return the suggestions with one weight and one household column."""
    households = [name for name, one in suggestions.items() if one.role == "household"]
    kept = {*households[:1], *_main_weight(suggestions)}
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
