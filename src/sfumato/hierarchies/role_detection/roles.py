"""Suggest role, type and hierarchy of columns from the evidence in their names and values, with reasons.

What others may know of a person is a quasi-identifier; what identifies one person is removed; what is private or an
outcome is sensitive. With little evidence, the meaning of a column is unknown, and it is no role's.
"""

from collections.abc import Mapping

from sfumato.hierarchies.role_detection.evidence import Column, evidence_of
from sfumato.hierarchies.role_detection.key_columns import LETTERS_AND_DIGITS, REPEATED, UNIQUE_SHARE
from sfumato.hierarchies.role_detection.profile import FEW_VALUES, Profile
from sfumato.hierarchies.role_detection.resolver import evidence_for, resolve
from sfumato.hierarchies.role_detection.suggestion import Suggestion
from sfumato.hierarchies.role_detection.survey_codes import CodeBook, labeled
from sfumato.values import replace


def suggest_all(profiles: Mapping[str, Profile], book: CodeBook | None = None) -> dict[str, Suggestion]:
    """Suggest role, type and hierarchy of each column of a file.

    >>> jobs = Profile("q17", {"1": 40, "2": 25, "3": 35}, rows=100)
    >>> labels = {"1": "employed", "2": "unemployed", "3": "retired"}
    >>> suggest_all({"q17": jobs}, CodeBook({"q17": "Employment status"}, {"q17": labels}))["q17"].plan()
    {'role': 'quasi-identifier', 'hierarchy': {'type': 'any'}}
    """
    labels = {name: labeled(profile, book or CodeBook()) for name, profile in profiles.items()}
    columns = {name: Column(one.profile, one.label, one.book) for name, one in labels.items()}
    evidence = evidence_for(columns)
    suggestions = {name: resolve(column, evidence[name]) for name, column in columns.items()}
    return {name: _of_codes(one) if labels[name].coded else one for name, one in suggestions.items()}


def _of_codes(suggestion: Suggestion) -> Suggestion:
    """Return a suggestion for labels as one for their codes, which are unordered."""
    if suggestion.role == "quasi-identifier":
        return replace(suggestion, type="text", hierarchy={"type": "any"}, rejected=())
    return replace(suggestion, type="text", rejected=()) if suggestion.role == "sensitive" else suggestion


def suggest(profile: Profile) -> Suggestion:
    """Suggest role, type and hierarchy of a column by itself."""
    return suggest_all({profile.name: profile})[profile.name]


def may_name_persons(profile: Profile) -> bool:
    """Return whether the values of a removed column repeat as person keys do; names repeat by chance.

    >>> may_name_persons(Profile("who", {f"p{place}": 3 for place in range(9)}, rows=27))
    True
    >>> may_name_persons(Profile("name", {"Anna Becker": 2, "Max Becker": 1, "Ida Kern": 1}, rows=4))
    False
    """
    if not profile.counts or profile.present < REPEATED * profile.distinct_keys:
        return False
    coded = profile.share_of(LETTERS_AND_DIGITS) >= UNIQUE_SHARE
    return suggest(profile).role == "person" or (
        coded and not profile.few and evidence_of(profile).content.kind != "dates"
    )


def points_to_persons(profile: Profile) -> bool:
    """Return whether the values of a column, used as categories, may be names or keys of single persons.

    >>> points_to_persons(Profile("who", {"Anna Becker": 2, "Max Becker": 1, "Ida Kern": 1}, rows=4))
    True
    >>> points_to_persons(Profile("sex", {"f": 2, "m": 1}, rows=3))
    False
    """
    unique = len(profile.counts) > FEW_VALUES and profile.distinct_share >= UNIQUE_SHARE
    return bool(profile.counts) and (unique or suggest(profile).role in ("identifier", "person"))
