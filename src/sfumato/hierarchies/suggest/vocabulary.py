"""What names of columns speak of, and words of scales and of categories that speak for themselves."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from sfumato.hierarchies.suggest.concepts import BY_KEY, CONCEPTS, WORDS, Concept

SCALES: tuple[tuple[str, ...], ...] = (
    ("very low", "low", "medium", "high", "very high"),
    ("sehr niedrig", "niedrig", "mittel", "hoch", "sehr hoch"),
    ("none", "mild", "moderate", "severe", "critical"),
    ("keine", "leicht", "mittel", "schwer", "kritisch"),
    ("xs", "s", "m", "l", "xl", "xxl"),
    ("tiny", "small", "medium", "large", "huge"),
    ("klein", "mittel", "gross"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("nie", "selten", "manchmal", "oft", "immer"),
    ("very poor", "poor", "fair", "good", "very good", "excellent"),
    ("sehr gut", "gut", "befriedigend", "ausreichend", "mangelhaft", "ungenugend"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("very dissatisfied", "dissatisfied", "neutral", "satisfied", "very satisfied"),
    ("sehr unzufrieden", "unzufrieden", "neutral", "zufrieden", "sehr zufrieden"),
    ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    ("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag"),
)
_FOLDED = str.maketrans({"ä": "a", "ö": "o", "ü": "u", "ß": "ss", "é": "e", "è": "e"})
# German compounds: the last part is the head and may be short; a first part must be long to be no accident.
_HEAD, _FIRST = 4, 5
_ABBREVIATED = 3
# Concepts that a name's last word decides, and those of things that have names, too.
_HEADS = frozenset({"name", "sex", "age", "phone", "email", "address", "place", "nationality", "origin"})
_THINGS = tuple(
    concept
    for concept in CONCEPTS
    if concept.role in ("quasi-identifier", "sensitive")
    and concept.key not in ("family", "age", "sex", "crime", "title")
)


def fold(text: str) -> str:
    """A text without case, umlauts and accents.

    >>> fold("Größe")
    'grosse'
    """
    return text.lower().translate(_FOLDED)


def words_of(name: str) -> list[str]:
    """The words of a column's name, folded.

    >>> words_of("dateOfBirth"), words_of("patient_ID"), words_of("Straße")
    (['date', 'of', 'birth'], ['patient', 'id'], ['strasse'])
    """
    apart = re.sub(r"(?<=[a-zäöüß])(?=[A-Z])", " ", name)
    return re.findall(r"[a-z]+[0-9]*[a-z]+|[a-z]+", fold(apart))


def concepts_of(name: str) -> list[tuple[Concept, str]]:
    """What a column's name may speak of, the likeliest first, each with the word that does.

    >>> [(concept.key, word) for concept, word in concepts_of("Geburtsdatum")]
    [('age', 'geburtsdatum'), ('date', 'geburtsdatum')]
    >>> [concepts_of(name)[0][0].key for name in ("number_of_children", "suspect_sex", "account_balance")]
    ['family', 'sex', 'money']
    """
    words = [_spelled_out(word) if f"{word}." in fold(name) else word for word in words_of(name)]
    pairs = [pair for compound in (False, True) for pair in _matches(words, compound)]
    private = any(concept.role == "sensitive" and word in words[-1:] for concept, word in pairs)

    def place(pair: tuple[Concept, str]) -> int:
        """The last word of a name is what the column is; those before it say whose or which."""
        concept, last = pair[0], pair[1] in words[-1:]
        if last and concept.key in _HEADS:
            return 0
        return 2 if private and concept.role == "identifier" and not last else 1

    return sorted(pairs, key=place)


def _matches(words: Sequence[str], compound: bool) -> Iterator[tuple[Concept, str]]:
    """The concepts that words are those of, in the order of the list."""
    exact = {*words, *(first + second for first, second in pairwise(words))}
    exact |= {word.removesuffix("s") for word in exact}
    counts = bool(WORDS["counts"] & exact) or [*words[:2]] == ["number", "of"]
    thing = _names_a_thing(words)
    for concept in CONCEPTS:
        if (concept.key == "key" and counts) or (concept.key == "name" and thing):
            continue
        searched = {*words[:1], *words[-1:]} if concept.key == "key" else {*words} if compound else exact
        word = min((word for word in searched if _speaks_of(word, concept, compound)), default=None)
        if word is not None:
            yield concept, word


def _spelled_out(word: str) -> str:
    """The first concept's word that an abbreviation begins, such as `geschl.`; the word itself where there is none."""
    if len(word) < _ABBREVIATED:
        return word
    return next((full for concept in CONCEPTS for full in sorted(concept.words) if full.startswith(word)), word)


def _speaks_of(word: str, concept: Concept, compound: bool) -> bool:
    if not compound or word in concept.words or word in WORDS["no_compounds"]:
        return not compound and word in concept.words
    if concept.key == "key" and len(word) > _FIRST and word.endswith("id"):
        return True
    return any(
        (len(stem) >= _HEAD and word.endswith(stem)) or (len(stem) >= _FIRST and word.startswith(stem))
        for stem in concept.words
    )


def _names_a_thing(words: Sequence[str]) -> bool:
    """Whether a name is one of a place, a school, an employer, an illness: of something that is no person."""
    others = [word for word in words if not any(_speaks_of(word, BY_KEY["name"], way) for way in (False, True))]
    return any(_speaks_of(word, concept, way) for word in others for concept in _THINGS for way in (False, True))


def scale_of(values: Sequence[str]) -> list[str] | None:
    """The values in the order of a scale that has them all, if there is one.

    >>> scale_of(["High", "Low", "Medium"])
    ['Low', 'Medium', 'High']
    """
    by_word = {fold(value.strip()): value for value in values}
    for scale in SCALES:
        if len(by_word) == len(values) >= 3 and by_word.keys() <= set(scale):
            return [by_word[word] for word in scale if word in by_word]
    return None
