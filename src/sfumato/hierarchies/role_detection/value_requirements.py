"""Requirements on a column's values before a term in its name is believed."""

from collections.abc import Callable

from sfumato.hierarchies.role_detection.content_detection import Content
from sfumato.hierarchies.role_detection.free_text import has_sentences, length
from sfumato.hierarchies.role_detection.key_columns import KEY_SHARE, UNIQUE_SHARE
from sfumato.hierarchies.role_detection.lexicon.concepts import BY_KEY, WORDS, Demand
from sfumato.hierarchies.role_detection.lexicon.name_terms import head_of, meanings_of, words_of
from sfumato.hierarchies.role_detection.lexicon.person_names import share_of_names
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.patterns import regex

NUMERIC = ("ages", "years", "whole", "decimal")
# Grades are short, whatever their notation.
_LONGEST_MARK = 3
_PROPER_NOUN = regex(r"[A-ZÀ-ÖØ-ÞĀ-Ž][^\W\d_]*(?:['’. -]+[^\W\d_]+)*[. ]*")
_SOME_NAMES = 3
_LONG_CODE = regex(r"(?=(?:.*\d){3}).{5,}")
# Times that are no dates: of day, of week, of year.
_TIME = regex(
    r"(?i:.*\d.*|(?:jan|feb|m[aä]r|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz]|mon?|tue?|wed?|thu?|fri?|sat?|sun?|di|mi|do|fr|sa|so)"
    r"(?:[a-zä]*day|[a-zä]*tag|woch|uary|ruar|ch|il|ust|t?ember|ober|[a-z]{0,3})?\.?)"
)
_TITLE = regex(
    r"(?i:(?:(?:dr|prof|mr|mrs|ms|miss|mx|sir|dame|lord|lady|rev|hon|jr|sr|ii|iii|iv|herrn?|frau|dipl|mag|ing|med|jur|"
    r"phil|rer|nat|hc|habil|msc|bsc|ma|ba|mba|phd|llm|m|mme|mlle|dott|sig|ra|don|dona|d|rn|md|esq|capt|col|major|jonkheer|drs|ir|master)"
    r"[ .,-]*)+)"
)


def _are_many(profile: Profile, _: Content) -> bool:
    """Return whether values are many, or few long ones with digits: persons with many rows have few numbers."""
    return not profile.few or profile.share_of(_LONG_CODE) >= UNIQUE_SHARE


def _is_key(profile: Profile, content: Content) -> bool:
    if content.kind == "decimal":
        return False
    if {*meanings_of(profile.name)} & WORDS["persons"]:
        return len(profile.counts) > 2
    return profile.distinct_share >= KEY_SHARE and _are_many(profile, content)


def _are_marks(profile: Profile, content: Content) -> bool:
    """Return whether values are numbers, grades or short symbols; else "note" means a remark."""
    return content.kind in (*NUMERIC, "scale") or length(profile) <= _LONGEST_MARK


def _are_proper_nouns(profile: Profile) -> bool:
    """Return whether values are words with a capital letter."""
    return len(profile.counts) >= _SOME_NAMES and profile.share_of(_PROPER_NOUN) >= UNIQUE_SHARE


def _is_text(profile: Profile, content: Content) -> bool:
    texts = content.kind in ("categories", "codes")
    words = words_of(profile.name)
    named = words[-1:] in (["name"], ["names"]) and bool({*words} & WORDS["whole_names"])
    named = named or (head_of(profile.name) in BY_KEY["name"].words and _are_proper_nouns(profile))
    return texts and (named or not profile.few or share_of_names(profile) > 0 or has_sentences(profile))


MEETS: dict[Demand, Callable[[Profile, Content], bool]] = {
    "anything": lambda _, __: True,
    "many": _are_many,
    "key": _is_key,
    "number": lambda _, content: content.kind in NUMERIC,
    "marks": _are_marks,
    "text": _is_text,
    "few": lambda profile, content: content.kind in ("categories", "codes", "scale") and profile.few,
    "time": lambda profile, content: content.kind in ("dates", *NUMERIC) or profile.share_of(_TIME) >= UNIQUE_SHARE,
    "titles": lambda profile, _: profile.share_of(_TITLE) >= UNIQUE_SHARE,
}
