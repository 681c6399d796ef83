"""A draft of a suggested plan: the role of each column, how sensitive ones are published, and the resulting plan."""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from math import isqrt
from textwrap import fill, indent
from typing import Any

from sfumato.hierarchies.role_detection.families import families_of, patterns_for
from sfumato.hierarchies.role_detection.identifier_formats import mentions
from sfumato.hierarchies.role_detection.lexicon.name_terms import counts_something
from sfumato.hierarchies.role_detection.missing_value_codes import MISSING_WORDS, is_limit
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.role_reasons import (
    LIMITS,
    MISSING_CODES,
    MISSPELLINGS,
    ONE_SPELLING,
    ROUNDED,
    SPELLINGS,
    TAILS,
    WORDS_AMONG,
)
from sfumato.hierarchies.role_detection.suggestion import Suggestion
from sfumato.hierarchies.spellings import misspelled, negatives_of, one_spelling, surplus
from sfumato.hierarchies.types import are_plain_numbers
from sfumato.localization.messages import Message
from sfumato.localization.plurals import filled
from sfumato.microdata.publish_plan import PublishPlan, read_numbers
from sfumato.microdata.rounding_suggestion import proposed_publication, published_counts
from sfumato.schema.files import dumped
from sfumato.values import Value, asdict, field

# l-diversity costs little unless one value is in nearly all rows.
_COMMON_SHARE = 0.6
_RARE_SHARE = 0.3
# If fewer rows have other values than the frequent one, classes with two values would be too large to be useful.
_OTHER_SHARE = 0.05
ALPHA = 0.8
K = 5
SUPPRESSION = 0.02
# Columns with more values are not checked for spelling variants.
_MAX_NAMED = 200
# With fewer rows, nearly every number is unique, and rounding until it is not would leave no information.
_ROWS_TO_ROUND = 50
_LEAST_NUMBERS = 8
# Numbers of unknown meaning may be known to others, such as body weights; at most this many distinct values are
# published.
_GUESSED_NUMBERS = 20


class SuggestedPlan(Value):
    """A plan that runs as it is, with the reason for each column's role and the profiles of the columns.

    Attributes:
        notes: What users should know about the rows before using the plan.
    """

    plan: dict[str, Any]
    reasons: dict[str, str]
    profiles: tuple[Profile, ...]
    notes: tuple[Message, ...] = ()

    def to_yaml(self) -> str:
        """Return the plan as YAML, with the notes above it and the reason for each column as a comment."""
        notes = "".join(f"{indent(fill(note, 106), '# ')}\n" for note in self.notes)
        parts = (self._columns() if key == "columns" else _yaml({key: part}) for key, part in self.plan.items())
        return notes + "".join(parts)

    def _columns(self) -> str:
        columns = self.plan["columns"].items()
        entries = (f"# {self.reasons[name]}\n{_yaml({name: entry})}" for name, entry in columns)
        return self._decision() + "columns:\n" + indent("".join(entries), "  ")

    def _decision(self) -> str:
        """Return the line that decides all undecided columns, as a comment; empty if there are none."""
        values = {one.name: one.counts for one in self.profiles}
        undecided = [name for name, entry in self.plan["columns"].items() if entry["role"] == "undecided"]
        families = families_of({name: values.get(name, ()) for name in undecided})
        if not families:
            return ""
        names = json.dumps([name for one in families for name in patterns_for(one, undecided)], ensure_ascii=False)
        about = (
            f"{len(undecided)} of {len(self.plan['columns'])} columns are undecided. This line decides them; "
            "name each under its role: identifier, quasi-identifier, sensitive or insensitive."
        )
        line = f"decide: {{sensitive: {names}}}"
        wrapped = fill(line, 106, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
        return indent(f"{fill(about, 106)}\n{wrapped}\n", "# ")


def _yaml(part: dict[str, Any]) -> str:
    return dumped(part, width=108)


class SensitiveColumnPlan(Value):
    """How a sensitive column is published, with the published values and their numbers of rows."""

    plan: PublishPlan
    counts: Mapping[str, int]

    def reason(self, numbers: int) -> str:
        """Return how a column with this number of distinct values is coded, and how many values remain."""
        if self.plan.round is None:
            return TAILS
        return ROUNDED.format(step=f"{self.plan.round:g}", left=len(self.counts), numbers=numbers)


def _told_of_missing(codes: Sequence[str]) -> str:
    """Return a sentence on texts that mean missing in one column: detection limits and others."""
    limits = [code for code in codes if is_limit(code)]
    # Words next to detection limits replace a number and may carry information.
    words = [code for code in codes if limits and code not in {*limits, *MISSING_WORDS} and any(map(str.isalpha, code))]
    others = [code for code in codes if code not in {*limits, *words}]
    said = ((LIMITS, limits), (WORDS_AMONG, words), (MISSING_CODES, others))
    return "".join(sentence.format(codes=", ".join(some)) for sentence, some in said if some)


class Draft(Value):
    """The suggestions for all columns, how sensitive ones are published, and the resulting plan.

    Attributes:
        codes: Texts that mean missing in one column only; the rows are counted without them.
        k: The minimum class size.
        needed_unique: The proportion of persons unique by the quasi-identifiers and two columns that questions need.
    """

    reading: Mapping[str, Any]
    suggestions: Mapping[str, Suggestion]
    profiles: Mapping[str, Profile]
    published: Mapping[str, SensitiveColumnPlan]
    codes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    k: int = K
    needed_unique: float = 0.0

    def plan(self) -> SuggestedPlan:
        """Return the plan, including the codes that mean missing in one column."""
        proposal = _proposal(self.reading, self.suggestions, self.profiles, self.published, self.codes, self.k)
        for name, codes in self.codes.items():
            proposal.plan["columns"][name] |= {"missing": [*codes]}
            proposal.reasons[name] += _told_of_missing(codes)
        return proposal

    def judged_columns(self) -> dict[str, Any]:
        """Return a plan with the quasi-identifiers and the sensitive columns, with a model for each of the latter."""
        plan = self._plan_of("quasi-identifier", "sensitive")
        sensitive = (name for name, one in self.suggestions.items() if one.role == "sensitive")
        plan["privacy"] += [differing(name) for name in sensitive if self.profiles[name].rows >= 2 * K]
        return plan

    def _plan_of(self, *roles: str) -> dict[str, Any]:
        chosen = {name: one for name, one in self.suggestions.items() if one.role in roles}
        promise = {"model": "k-anonymity", "k": max(min(K, member_count(self.suggestions, self.profiles)), 2)}
        return {
            "version": 1,
            "data": _data(self.reading, self.suggestions),
            "columns": _unprotected({name: _column(one, self.published.get(name)) for name, one in chosen.items()}),
            "privacy": [promise],
            "method": {"name": "auto", "suppression": SUPPRESSION},
        }


def member_count(suggestions: Mapping[str, Suggestion], profiles: Mapping[str, Profile]) -> int:
    """Return the number of persons that models count, or of rows without a person column."""
    rows = next(iter(profiles.values())).rows
    return next((profiles[name].distinct_keys for name, one in suggestions.items() if one.role == "person"), rows)


def _proposal(
    reading: Mapping[str, Any],
    suggestions: Mapping[str, Suggestion],
    profiles: Mapping[str, Profile],
    published: Mapping[str, SensitiveColumnPlan],
    codes: Mapping[str, Sequence[str]],
    k: int,
) -> SuggestedPlan:
    """Return the plan that follows from the suggestions for all columns, with their reasons."""
    size = max(min(k, member_count(suggestions, profiles)), 2)
    published = {name: one for name, one in published.items() if suggestions[name].role in ("sensitive", "weight")}
    columns = {name: _column(suggestion, published.get(name)) for name, suggestion in suggestions.items()}
    roles = Counter(suggestion.role for suggestion in suggestions.values())
    plan = {
        "version": 1,
        "data": _data(reading, suggestions),
        "columns": columns if roles["quasi-identifier"] > 1 and not roles["person"] else _unprotected(columns),
        "privacy": [
            {"model": "k-anonymity", "k": size},
            *_promises(suggestions, profiles, published, codes, size),
        ],
        "method": {"name": "auto", "suppression": SUPPRESSION},
        "output": {"format": "csv", "order": "shuffle", "suppressed": "drop"},
        "on_inference": "remove",
    }
    reasons = {name: _reason(one, profiles[name], published.get(name)) for name, one in suggestions.items()}
    return SuggestedPlan(plan, reasons, tuple(profiles.values()))


def _unprotected(columns: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the columns without the key `protect`, for comparisons of columns and for plans with a person column."""
    return {name: {key: part for key, part in entry.items() if key != "protect"} for name, entry in columns.items()}


def _data(reading: Mapping[str, Any], suggestions: Mapping[str, Suggestion]) -> dict[str, Any]:
    """Return the data section of the plan; values that a hierarchy rejects are read as missing."""
    invalid = any(suggestion.rejected for suggestion in suggestions.values())
    return dict(reading) | ({"on_invalid": "missing"} if invalid else {})


def publishable(suggestion: Suggestion, profile: Profile) -> Suggestion:
    """Return the suggestion; sensitive columns that name persons or cannot satisfy any model are removed."""
    if suggestion.role != "sensitive":
        return suggestion
    if count := mentions(profile, K):
        return suggestion.withheld(Message("reason.mentions", reason=suggestion.reason, count=count))
    if suggestion.kept:  # judged by how many persons are unique
        return suggestion
    if _few_own_numbers(profile):
        return suggestion.withheld(Message("reason.few_numbers", reason=suggestion.reason, count=profile.present))
    hopeless = proposed_promise(profile.name, profile.counts, profile.missing, K) is None
    if hopeless and (profile.rows >= _ROWS_TO_ROUND or len(profile.counts) == 1):
        return suggestion.withheld(Message("reason.uniform", reason=suggestion.reason))
    return suggestion


def _reason(suggestion: Suggestion, profile: Profile, publication: SensitiveColumnPlan | None) -> str:
    """Return the reason for the role of a column, how it is published, and which spellings to correct."""
    spelled = suggestion.role in ("sensitive", "quasi-identifier") and len(profile.counts) <= _MAX_NAMED
    more, wrong = (surplus(profile.counts), misspelled(profile.counts)) if spelled and publication is None else (0, 0)
    spellings = filled(ONE_SPELLING if suggestion.role == "sensitive" else SPELLINGS, {"count": more}) if more else ""
    misspellings = filled(MISSPELLINGS, {"count": wrong}) if wrong else ""
    coded = "" if publication is None else publication.reason(len(profile.counts))
    return suggestion.reason + coded + spellings + misspellings


def publications(
    suggestions: Mapping[str, Suggestion], profiles: Mapping[str, Profile]
) -> Iterator[tuple[str, SensitiveColumnPlan]]:
    """Yield the coding of sensitive columns whose numbers would make rows unique."""
    names = (
        name
        for name, one in suggestions.items()
        if (one.role == "sensitive" and not one.kept) or (one.role == "weight" and one.needed)
    )
    counts = {name: profiles[name].counts for name in names if _are_rounded(profiles[name])}
    # Two columns together have as many combinations as the product of their distinct values.
    most = {name: max(isqrt(profiles[name].present // K), _LEAST_NUMBERS) for name in counts}
    coarse = {name: _GUESSED_NUMBERS for name in counts if suggestions[name].guessed}
    together = {name: proposed_publication(counts[name], K, most[name], coarse.get(name)) for name in counts}
    needed = [name for name, publication in together.items() if publication is not None]
    for name in needed:
        publication = together[name]
        if len(needed) == 1:
            publication = proposed_publication(counts[name], K, None, coarse.get(name))
        if publication is not None:
            yield name, SensitiveColumnPlan(publication, published_counts(publication, counts[name]))


def _are_rounded(profile: Profile) -> bool:
    """Return whether the numbers of a column may be rounded: the file has enough rows."""
    return profile.rows >= _ROWS_TO_ROUND and profile.present > 0


def _few_own_numbers(profile: Profile) -> bool:
    """Return whether few of many rows have a number, nearly all distinct, and no rounding groups them usefully."""
    few = profile.present < _ROWS_TO_ROUND <= profile.rows
    if not few or 2 * len(profile.counts) <= profile.present or None in read_numbers([*profile.counts]):
        return False
    publication = proposed_publication(profile.counts, K, _LEAST_NUMBERS)
    return publication is None or publication.round is None


def _column(suggestion: Suggestion, publication: SensitiveColumnPlan | None) -> dict[str, Any]:
    """Return the column entry of the plan; columns with a coding get no type."""
    if publication is None:
        return suggestion.plan()
    rounded = PublishPlan(round=publication.plan.round) if suggestion.role == "weight" else publication.plan
    return {"role": suggestion.role, "publish": _plain(asdict(rounded))}


def _plain(entry: Any) -> Any:
    """Return a plan entry without empty keys, and with integers written without a decimal point."""
    if isinstance(entry, dict):
        return {key: _plain(value) for key, value in entry.items() if value is not None}
    return int(entry) if isinstance(entry, float) and entry.is_integer() else entry


def _promises(
    suggestions: Mapping[str, Suggestion],
    profiles: Mapping[str, Profile],
    published: Mapping[str, SensitiveColumnPlan],
    codes: Mapping[str, Sequence[str]],
    k: int,
) -> Iterator[dict[str, Any]]:
    """Yield one privacy model for each sensitive column, based on its published values."""
    for name, suggestion in suggestions.items():
        profile = profiles[name]
        if suggestion.role != "sensitive" or profile.rows < 2 * K:
            continue
        counts = published[name].counts if name in published else profile.counts
        if not suggestion.kept:
            yield proposed_promise(name, counts, profile.missing, k) or differing(name)
        elif rare := _limited(name, _rare_values(counts, profile.missing, codes.get(name, ())), k):
            yield rare


def _rare_values(counts: Mapping[str, int], missing: int, codes: Collection[str]) -> list[str]:
    """Return the values that no class should consist of: those of few rows, if they are few enough to be listed."""
    rows = sum(counts.values()) + missing
    spelling = _spelling(counts)
    values = _values(counts, spelling)
    rare = sorted(
        text for text in counts if values[spelling.get(text, text)] <= _RARE_SHARE * rows and text not in codes
    )
    return rare if len(rare) <= _MAX_NAMED else []


def differing(name: str) -> dict[str, Any]:
    return {"model": "l-diversity", "variant": "distinct", "l": 2, "column": name}


# If most rows have a harmless value, the other values must not fill a class. Otherwise the values of a class must
# differ; a frequent value is as sensitive as a rare one, unless it states the absence of something. If nearly all rows
# have one value, no class needs another one, but the rare ones must not fill a class.
def proposed_promise(column: str, counts: Mapping[str, int], missing: int, k: int) -> dict[str, Any] | None:
    """Return a model for a sensitive column; None if no useful one could be satisfied.

    Args:
        counts: The rows of each published value; missing: rows without one.

    >>> proposed_promise("hiv", {"no": 85, "yes": 15}, 0, 5)["values"]
    ['yes']
    >>> proposed_promise("hiv", {"pos": 85, "neg": 15}, 0, 5)["model"]
    'l-diversity'
    >>> proposed_promise("hiv", {"pos": 98, "neg": 2}, 0, 5)["values"]
    ['neg']
    >>> proposed_promise("mark", {"x": 55}, 45, 5)["model"], proposed_promise("mark", {"x": 70}, 30, 5)
    ('alpha-k-anonymity', None)
    """
    rows = sum(counts.values()) + missing
    values = _values(counts, _spelling(counts))
    negatives = negatives_of(counts, counted=counts_something(column))
    delicate = sorted(counts.keys() - negatives)
    harmless = missing + sum(counts[text] for text in negatives)
    # A mark that is present or missing has one value: no class has two, but its share can be limited.
    mark = len(values) == 1 and rows - harmless <= _COMMON_SHARE * rows
    if (mark or harmless > _COMMON_SHARE * rows) and 0 < len(delicate) <= _MAX_NAMED:
        return {"model": "alpha-k-anonymity", "alpha": ALPHA, "k": k, "column": column, "values": delicate}
    if len(values) == 1 and missing:
        return None
    most = max(values.values(), default=0)
    if len(values) > 1 and sum(values.values()) - most < _OTHER_SHARE * rows and not _is_harmless(values, negatives):
        return rare_promise(column, counts, missing, k)
    many = max(most, missing) <= _RARE_SHARE * rows and len(values) >= 2 * k
    return {"model": "l-diversity", "variant": "distinct", "l": 3 if many else 2, "column": column}


def rare_promise(column: str, counts: Mapping[str, int], missing: int, k: int) -> dict[str, Any] | None:
    """Return a model by which no class consists mostly of a rare value; None without rare ones, or with too many.

    >>> rare_promise("hiv", {"pos": 98, "neg": 2}, 0, 5)["values"]
    ['neg']
    """
    return _limited(column, _rare_values(counts, missing, ()), k)


def _limited(column: str, values: Sequence[str], k: int) -> dict[str, Any] | None:
    """Return a model by which no class consists mostly of the given values; None without any."""
    model = {"model": "alpha-k-anonymity", "alpha": ALPHA, "k": k, "column": column, "values": [*values]}
    return model if values else None


def _values(counts: Mapping[str, int], spelling: Mapping[str, str]) -> dict[str, int]:
    """Return the rows of each value, with spelling variants merged."""
    values: dict[str, int] = {}
    for text, rows in counts.items():
        value = spelling.get(text, text)
        values[value] = values.get(value, 0) + rows
    return values


def _spelling(counts: Mapping[str, int]) -> Mapping[str, str]:
    """Return the spelling that each value is counted by; numbers have one each."""
    return {} if are_plain_numbers(counts) else one_spelling(counts)


def _is_harmless(values: Mapping[str, int], negatives: Collection[str]) -> bool:
    """Return whether the most frequent value states the absence of something."""
    return max(values, key=lambda text: values[text]) in negatives
