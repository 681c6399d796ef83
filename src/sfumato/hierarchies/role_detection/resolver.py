"""Decide the role of a column from evidence: add weights by concept, forbid what values contradict, take the safest."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from math import exp

from sfumato.hierarchies.role_detection import role_reasons
from sfumato.hierarchies.role_detection import thresholds as at
from sfumato.hierarchies.role_detection.detectors import DETECTORS
from sfumato.hierarchies.role_detection.evidence import NUMERIC, Column, Evidence, Table
from sfumato.hierarchies.role_detection.key_columns import (
    UNIQUE_SHARE,
    are_given_numbers,
    are_keys_of_persons,
    are_weights,
    has_digit,
    repeats_as_persons_do,
    rows_each,
)
from sfumato.hierarchies.role_detection.lexicon.concepts import BY_KEY
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.quasi_identifiers import judge_rest, judge_units, quasi_identifier
from sfumato.hierarchies.role_detection.suggestion import UNKNOWN_RANK, Suggestion
from sfumato.hierarchies.role_detection.value_vetoes import is_contradicted
from sfumato.localization.messages import Message
from sfumato.values import replace

# Concepts that detectors find in values and no name has.
_ROLES = {"row": "identifier", "case": "identifier"}
# The safest role first: what is removed, what is generalized, what is published.
_SAFEST = ("identifier", "household", "weight", "quasi-identifier", "sensitive", "insensitive")


def evidence_for(columns: Mapping[str, Column]) -> dict[str, list[Evidence]]:
    """Return what all detectors saw in each column; members of a family have what all of them have on average."""
    table = Table(columns)
    own = {name: [one for detector in DETECTORS for one in detector(column, table)] for name, column in columns.items()}
    kept = {name: [one for one in found if not is_contradicted(columns[name], one)] for name, found in own.items()}
    kept = {name: _without_second_codes(name, kept, columns) for name in columns}
    return {name: _pooled(name, kept, columns, table) for name in columns}


def _without_second_codes(
    name: str, kept: Mapping[str, list[Evidence]], columns: Mapping[str, Column]
) -> list[Evidence]:
    """Drop what codes of a letter or two say if another column is named so: F and M are felonies beside a sex."""
    if max(map(len, columns[name].profile.values), default=0) > at.LETTERS:
        return kept[name]
    others = {one.of for other, found in kept.items() if other != name for one in found if one.by == "name"}
    return [one for one in kept[name] if one.code != "by_values" or one.of not in others]


def _pooled(
    name: str, own: Mapping[str, list[Evidence]], columns: Mapping[str, Column], table: Table
) -> list[Evidence]:
    """Return the evidence of a column, or the mean of that of its family if most members have values of its kind."""
    members = [
        other
        for other in table.families.get(name, ())
        if columns[other].profile.counts and _kind(columns[other]) == _kind(columns[name])
    ]
    if len(members) < 2 or not columns[name].profile.counts:
        return own[name]
    return [
        Evidence(one.of, one.by, one.weight / len(members), one.code, one.values)
        for other in (name, *(other for other in members if other != name))
        for one in own[other]
    ]


def _kind(column: Column) -> str:
    return "numbers" if column.shape.kind in (*NUMERIC, "codes") else column.shape.kind


def resolve(column: Column, evidence: Iterable[Evidence]) -> Suggestion:
    """Return the suggestion for a column."""
    scores: dict[str, float] = defaultdict(float)
    reasons: dict[str, Evidence] = {}
    for one in evidence:
        scores[one.of] += one.weight
        if one.of not in reasons or one.weight > reasons[one.of].weight:
            reasons[one.of] = one
    profile = column.profile
    if not profile.counts:
        return Suggestion("insensitive", Message("said.empty"))
    best = max(scores.values(), default=0.0)
    near = [key for key, score in scores.items() if score >= max(best - at.MARGIN, at.DECIDED)]
    constant = len(profile.counts) == 1 and not profile.missing
    if constant:
        near = [key for key in near if _role(key) == "identifier" and key not in ("row", "processing", "free_text")]
        if not near:
            return Suggestion("insensitive", Message("said.same"))
    named = [one for one in scores if one in at.GIVEN and scores[one] >= at.DECIDED]
    if not near:
        return judge_units(column) or judge_rest(column)
    key = min(near, key=lambda key: (_SAFEST.index(_role(key)), -scores[key]))
    if key in ("key", "row") and named:
        key = max(named, key=lambda one: scores[one])
    return replace(
        _suggested(column, key, reasons[key]),
        confidence=_confidence(_role(key), scores),
        evidence=tuple(sorted(((one, round(score, 2)) for one, score in scores.items()), key=lambda pair: -pair[1])),
    )


def _confidence(role: str, scores: Mapping[str, float]) -> float:
    """Return how sure a role is: the log-odds of its best concept above those of the best concept of another role.

    >>> _confidence("sensitive", {"health": 3.0}), _confidence("sensitive", {"health": 3.0, "place": 3.0})
    (0.953, 0.5)
    """
    own = max(score for key, score in scores.items() if _role(key) == role)
    other = max((score for key, score in scores.items() if _role(key) != role), default=0.0)
    return round(1 / (1 + exp(other - own)), 3)


def _role(key: str) -> str:
    return _ROLES.get(key) or BY_KEY[key].role


def _suggested(column: Column, key: str, why: Evidence) -> Suggestion:
    role = _role(key)
    reason = role_reasons.reason_of(key, why)
    if role == "identifier":
        return _key(column, key, why, reason)
    if role == "sensitive":
        asked = key == "opinion" and why.code in ("question_text", "box")
        content = column.content
        type_ = "text" if content.rejected else content.type
        protected = role_reasons.is_special(key)
        guessed = why.code in ("like.measure", "like.count")
        return Suggestion("sensitive", reason, type_, protected=protected, guessed=guessed, asked=asked, concept=key)
    if mixed := judge_units(column):
        return mixed
    if why.by == "name":
        reason = role_reasons.known(reason, column.content.words)
    return quasi_identifier(column.content, reason, _rank(column, key), key)


def _rank(column: Column, key: str) -> int:
    """Return the rank of a concept; a duration, distance or count is less widely known than the concept itself."""
    concept, kind = BY_KEY[key], column.shape.kind
    counted = key in ("work", "family") and kind in ("whole", "decimal")
    counted = counted or (key == "place" and kind == "decimal")
    return max(concept.rank, BY_KEY["date"].rank) if counted else concept.rank


def _key(column: Column, key: str, why: Evidence, reason: str) -> Suggestion:
    """Return an identifier: removed, or the person column if it repeats."""
    profile = column.profile
    if key == "row":
        return Suggestion("identifier", reason)
    # A column of patients or customers holds their keys if nearly all values have digits.
    if key == "name" and why.by == "name" and profile.share(has_digit) >= UNIQUE_SHARE:
        key = "key"
    if key == "free_text" and why.code in ("remarks", "written"):
        return Suggestion("identifier", Message("said.decide", reason=reason), undecided=True, concept=key)
    if key == "household":
        return Suggestion("household", Message("said.household", reason=reason), concept=key)
    if key == "weight" and are_weights(profile):
        return Suggestion("weight", reason, concept=key)
    if why.code == "repeating_codes":
        return _repeating_keys(column)
    if not _names_persons(column, key):
        return Suggestion("identifier", reason, concept=key)
    if profile.missing and not column.has("staff"):
        return Suggestion("identifier", Message("said.nameless", reason=reason), concept=key)
    rank = 0 if column.has("persons") else 2 if key == "key" else 1
    return Suggestion(
        "person", Message("said.person", reason=reason, count=_rows_each(profile)), rank=rank, concept=key
    )


def _rows_each(profile: Profile) -> Message:
    return Message("phrase.mean_rows", rows=float(rows_each(profile)))


def _names_persons(column: Column, key: str) -> bool:
    """Return whether the values of an identifying column repeat as persons do."""
    other = column.named("quasi-identifier", "sensitive") is not None
    # Numbers of a hospital are those of its patients if many codes of one length occur in a few rows each.
    other = other and not are_keys_of_persons(column.profile)
    # A tax number is no tax.
    other = other and not (key == "office_number" and are_given_numbers(column.profile))
    return repeats_as_persons_do(column.profile, key, other)


def _repeating_keys(column: Column) -> Suggestion:
    """Return the person column for codes that repeat as person keys do, unless the name says otherwise."""
    profile, rows = column.profile, _rows_each(column.profile)
    if profile.missing:
        return Suggestion("identifier", Message("said.nameless", reason=Message("said.no_word")), concept="key")
    if column.has("staff"):
        return Suggestion("identifier", Message("said.staff_keys"), concept="key")
    if column.has("events"):
        return Suggestion(
            "identifier", Message("said.advice", reason=Message("said.codes_repeat", count=rows)), concept="key"
        )
    rank = 0 if column.has("persons") else UNKNOWN_RANK
    return Suggestion("person", Message("said.person_keys", count=rows), rank=rank, concept="key")
