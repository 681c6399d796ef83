"""Safe Harbor identifiers that each column contains, by its name and its values; one value is enough."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from datetime import date
from unicodedata import normalize

from sfumato.dataclass import dataclass
from sfumato.hierarchies.role_detection.lexicon.person_names import share_of_full_names, share_of_names
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.policies.safe_harbor.column_names import WORDS, kinds_of_name, words_speak_of
from sfumato.policies.safe_harbor.places import place_faults
from sfumato.policies.safe_harbor.times import age_fault, date_fault
from sfumato.policies.safe_harbor.values import is_plain_phone, kinds_of_value, tells_nothing

# Kinds that a name alone does not prove: their values must distinguish rows, or have the format of codes.
_BY_NAME_AND_VALUES = frozenset(
    ("other-identifiers", "device-identifiers", "vehicle-identifiers", "account-numbers", "license-numbers", "urls")
)
_TELLING_SHARE = 0.5
_CODE = re.compile(r"(?=.*\d)[\w./ -]{4,}")
_FLAG = frozenset(("yes", "no", "y", "n", "true", "false", "0", "1", "ja", "nein", "unknown"))
_LONG_TEXT = 40
_SEQUENCE = re.compile(r"\d{1,9}")


@dataclass(frozen=True, slots=True)
class SafeHarborContext:
    """The parameters of the evaluation: the day for ages, the populations of ZIP areas, the code column."""

    today: date
    people: Mapping[str, int] | None = None
    code_column: str | None = None


@dataclass(frozen=True, slots=True)
class Identifiers:
    """The findings: by kind of identifier, the columns that contain it with the reason; and columns of free text."""

    kinds: dict[str, dict[str, str]] = field(default_factory=dict)
    free_text: tuple[str, ...] = ()


def identifiers_of(profiles: Sequence[Profile], setting: SafeHarborContext) -> Identifiers:
    """Return the identifiers in the columns of a file."""
    kinds: dict[str, dict[str, str]] = {}
    for profile in profiles:
        for kind, why in column_identifiers(profile, setting):
            kinds.setdefault(kind, {}).setdefault(profile.name, why)
    return Identifiers(kinds, tuple(profile.name for profile in profiles if _is_free_text(profile)))


def column_identifiers(profile: Profile, setting: SafeHarborContext) -> Iterator[tuple[str, str]]:
    """Yield the kinds of identifiers in a column, each with the reason.

    >>> day = SafeHarborContext(date(2026, 1, 1))
    >>> list(column_identifiers(Profile("contact", {"ada@example.org": 1}, rows=1), day))
    [('email-addresses', 'values written so')]
    >>> list(column_identifiers(Profile("x", {"ada\uff20example.org": 1}, rows=1), day))
    [('email-addresses', 'values written so')]
    >>> list(column_identifiers(Profile("ssn", {"***": 5}, rows=5), day))
    []
    """
    values = [value for value in profile.values if not tells_nothing(value)]
    if not values or profile.name == setting.code_column:
        return
    # Full-width letters are equivalent to ordinary ones.
    plain = [normalize("NFKC", value) for value in values]
    written = dict.fromkeys(kind for value in plain for kind in kinds_of_value(value))
    if words_speak_of(profile.name, WORDS["contacts"]) and any(map(is_plain_phone, values)):
        written["telephone-numbers"] = None
    yield from ((kind, "values written so") for kind in written)
    shown = Profile(profile.name, {value: profile.counts[value] for value in values}, profile.rows)
    yield from ((kind, "the name says so") for kind in kinds_of_name(profile.name) if _confirm(kind, shown, written))
    if share_of_full_names(shown) or (share_of_names(shown) and "names" in kinds_of_name(profile.name)):
        yield "names", "values are names of persons"
    for kind, fault in (
        ("geography", place_faults(profile.name, values, setting.people)),
        ("dates", date_fault(profile.name, plain)),
        ("ages", age_fault(profile.name, plain, setting.today)),
    ):
        if fault:
            yield kind, fault


def _confirm(kind: str, shown: Profile, written: Mapping[str, None]) -> bool:
    """Return whether the values of a column are consistent with its name."""
    lowered = {value.strip().lower() for value in shown.values}
    # A number that is always 1 is the first one, not a yes.
    flags = lowered <= _FLAG and lowered != {"1"}
    if flags or kind in written or (kind == "other-identifiers" and written):
        return False
    if kind == "names":
        return any(map(str.isalpha, "".join(shown.values)))
    if kind not in _BY_NAME_AND_VALUES:
        return True
    telling = shown.distinct_share >= _TELLING_SHARE
    coded = shown.share(_CODE.fullmatch) > _TELLING_SHARE or shown.share(_SEQUENCE.fullmatch) > _TELLING_SHARE
    return telling and (coded or kind in ("other-identifiers", "urls"))


def _is_free_text(profile: Profile) -> bool:
    """Return whether a column holds sentences, which may contain undetected names of persons."""
    texts = [value for value in profile.sample if not tells_nothing(value)]
    return bool(texts) and sum(len(text) > _LONG_TEXT and text.count(" ") > 3 for text in texts) > len(texts) / 2
