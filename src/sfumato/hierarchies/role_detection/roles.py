"""Suggest role, type and hierarchy of a column from the evidence in its name and values, with the reason.

What others may know of a person is a quasi-identifier; what identifies one person is removed; what is private or an
outcome is sensitive. Without any evidence, a column is a quasi-identifier of the lowest rank: this may cost detail, but
it discloses nothing.
"""

from collections.abc import Callable

from sfumato.hierarchies.role_detection import role_reasons
from sfumato.hierarchies.role_detection.identifiers import (
    judge_format,
    judge_given_numbers,
    judge_key_words,
    judge_own_values,
)
from sfumato.hierarchies.role_detection.key_columns import LETTERS_AND_DIGITS, REPEATED, UNIQUE_SHARE
from sfumato.hierarchies.role_detection.profile import FEW_VALUES, Profile
from sfumato.hierarchies.role_detection.quasi_identifiers import judge_knowledge, judge_rest, judge_units
from sfumato.hierarchies.role_detection.role_evidence import RoleEvidence, evidence_of
from sfumato.hierarchies.role_detection.sensitive_columns import judge_privacy
from sfumato.hierarchies.role_detection.suggestion import Suggestion
from sfumato.hierarchies.role_detection.text_columns import (
    judge_nameless_texts,
    judge_person_names,
    judge_remarks,
    judge_written_remarks,
)


def suggest(profile: Profile) -> Suggestion:
    """Suggest role, type and hierarchy of a column."""
    if not profile.counts:
        return Suggestion("insensitive", role_reasons.EMPTY)
    evidence = evidence_of(profile)
    if len(profile.counts) == 1 and not profile.missing:
        return _same_for_all(evidence)
    return next(suggestion for judge in _JUDGES if (suggestion := judge(evidence)))


def _same_for_all(evidence: RoleEvidence) -> Suggestion:
    """Suggest to publish a constant column, unless it identifies the one person whom all rows are about."""
    judges = (judge_format, judge_key_words, judge_person_names)
    pointing = next((found.reason for judge in judges if (found := judge(evidence))), None)
    return Suggestion("insensitive", role_reasons.SAME) if pointing is None else Suggestion("identifier", pointing)


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


_JUDGES: tuple[Callable[[RoleEvidence], Suggestion | None], ...] = (
    judge_format,
    judge_key_words,
    judge_written_remarks,
    judge_person_names,
    judge_own_values,
    judge_given_numbers,
    judge_nameless_texts,
    judge_privacy,
    judge_units,
    judge_knowledge,
    judge_remarks,
    judge_rest,
)
