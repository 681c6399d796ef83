"""Read column names: whole words, abbreviations and compounds, and the concepts that they mean, with weights.

A name is split into words before anything is looked up. A word that is not in a list is read as an inflected form, an
abbreviation, or a compound of known words without a remainder. A part of a word is no evidence.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise

from sfumato.hierarchies.role_detection import thresholds
from sfumato.hierarchies.role_detection.lexicon.concepts import BY_KEY, CONCEPTS, WORDS, Concept, fold, read_sections
from sfumato.patterns import regex
from sfumato.values import Value, replace

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
# In brackets: the unit of a number, which is no time at which something happened.
_SPANS = regex(
    r"(?i:[(\[][^)\]]*\b(?:days?|weeks?|months?|years?|yrs|hours?|tagen?|wochen?|monaten?|jahren?|stunden?|jours?|mois|ans|"
    r"d[ií]as|meses|años|giorni|mesi|anni|dagar|dagen|maanden|jaar|dni)\b[^)\]]*[)\]])"
)
_UNITS = (
    (
        "money",
        regex(
            r"[€$£]|(?i:(?<![a-z])(?:t?eur|euro|usd|chf|gbp|sek|nok|dkk|pln|czk|huf|brl)(?![a-z])|"
            r"[(\[_ ](?:kr|zł|kč)(?![^\W\d_]))"
        ),
    ),
    ("body", regex(r"(?i:[(\[ _](?:kg|cm|lbs?)(?![a-z]))")),
    ("health", regex(r"(?i:(?<![a-z])(?:[mµun]?g|[mµn]?mol|m?iu|u|pg|meq)/(?:d?l|ml)(?![a-z])|(?<![a-z])mm ?hg)")),
    ("health", regex(r"pH(?![a-zA-Z])|(?i:[(\[ _](?:mg|mcg|bpm|mmol|promille)(?![a-z])|‰)")),
    ("belongings", regex(r"m²|(?i:(?<![a-z])(?:qm|sqm|sqft|sq\.? ?ft|m2)(?![a-z]))")),
)
_CAMEL = regex(
    r"(?<=[a-zäöüß])(?=[A-Z][a-zäöüß])|(?<=[a-zäöüß]{2})(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-zäöüß]{3})"
    r"|(?<=[a-z])(?=O[Ff][a-z])|(?<=O[Ff])(?=[a-z])"
)
_WORD = regex(r"[^\W\d_]+[0-9]*[^\W\d_]+[0-9]*|[^\W\d_]+[0-9]*")
# Words after which another word says whose or when; in some languages the main word precedes them.
_OF = frozenset(("of", "de", "del", "di", "du", "der", "des", "von", "van", "at", "by", "im", "al"))
_AND = frozenset(("y", "e", "i", "o"))
# Parts of compounds: minimum length, most parts, and letters that German puts between them.
_PART, _MOST_PARTS, _LINKS = 3, 3, ("", "s", "es", "n", "en")
_ENDINGS = (
    ("ies", "y"),
    ("s", ""),
    ("es", ""),
    ("en", ""),
    ("n", ""),
    ("e", ""),
    ("ing", ""),
    ("ed", ""),
    ("y", "ied"),
)
_SHORTEST_STEM, _LONG_STEM = 4, 6
_STOPS = (".", "?", "!", "…")


class Term(Value):
    """A word of a column's name and a concept that it means.

    Attributes:
        word: The word as the list has it.
        weight: How much it says, in log-odds.
    """

    concept: Concept
    word: str
    weight: float


def words_of(name: str) -> list[str]:
    """Return the words of a column's name, folded.

    >>> words_of("dateOfBirth"), words_of("patient_ID"), words_of("Straße"), words_of("Ημ. γέννησης")
    (['date', 'of', 'birth'], ['patient', 'id'], ['strasse'], ['ημ', 'γεννησης'])

    A number behind a word is left out, unless it belongs to the word:

    >>> words_of("SpO2"), words_of("grade2")
    (['spo2'], ['grade'])
    """
    name = _SPANS.sub(" ", name) if _SPANS.sub("", name).strip() else name
    words = _WORD.findall(fold(_CAMEL.sub(" ", name)))
    return [word if word in _keys_of() else word.rstrip("0123456789") for word in words]


def meanings_of(name: str) -> list[str]:
    """Return the words of a column's name with abbreviations expanded and compounds divided.

    >>> meanings_of("Disab_Dt"), meanings_of("Krankheitstage"), meanings_of("please")
    (['disability', 'date'], ['krankheit', 'tage'], ['please'])
    """
    return [part for word in words_of(name) for part in read_word(word)[0]]


@lru_cache(maxsize=20000)
def read_word(word: str) -> tuple[tuple[str, ...], float]:
    """Return the known words that a word stands for, and the factor by which these count; itself if it is unknown.

    >>> read_word("geburtsdatum")[0], read_word("inc")[0], read_word("pleas")[0]
    (('geburt', 'datum'), ('income',), ('pleas',))
    """
    known = _known()
    if word in known:
        return (word,), 1.0
    short = _lists()[0]
    if word in short:
        return (short[word],), thresholds.ABBREVIATED
    if stem := next((stem for stem in _stems(word) if stem in known), None):
        return (stem,), thresholds.INFLECTED
    if parts := _segmented(word, _MOST_PARTS):
        return tuple(parts), thresholds.COMPOUND
    return (word,), 1.0


def _stems(word: str) -> Iterator[str]:
    """Yield the words of which a word may be a plural or another form."""
    for ending, other in _ENDINGS:
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= (_PART if ending in ("s", "y") else _SHORTEST_STEM):
            if len(stem) < _LONG_STEM and ending in ("e", "n", "en"):
                continue
            yield stem + other
            if ending in ("ing", "ed"):
                yield stem + "e"
    if word.endswith(("t", "d", "k")) and len(word) >= _SHORTEST_STEM:
        yield from (word + "ing", word + "ed")


def _segmented(word: str, most: int) -> list[str] | None:
    """Return the known words that a compound consists of, without a remainder.

    >>> _segmented("kdnr", 3), _segmented("raceethnicity", 3), _segmented("current", 3)
    (['kunde', 'nr'], ['race', 'ethnicity'], None)
    """
    if most < 2 or word in WORDS["no_compounds"]:
        return None
    for end in range(len(word) - 2, 1, -1):
        first, rest = _part(word[:end], linked=True), word[end:]
        if first is None:
            continue
        if len(rest) < _PART:
            if rest in WORDS["numbering"]:
                return [first, rest]
        elif (last := _part(rest)) and (end >= _PART or len(rest) > _PART or rest in _lists()[0]):
            return [first, last]
        elif further := _segmented(rest, most - 1):
            return [first, *further]
    return None


def _part(text: str, linked: bool = False) -> str | None:
    """Return the word that a part of a compound is: a known one, an abbreviation, or another form of a known one."""
    meant, short = _meant(), _lists()[0]
    for link in _LINKS if linked else ("",):
        stem = text.removesuffix(link) if link else text
        if link and stem == text:
            continue
        if stem in meant and len(stem) >= _PART:
            return stem
        if stem in short and (len(stem) >= _PART or linked):
            return short[stem]
        if linked and not link and stem in WORDS["prefixes"]:
            return stem
    if len(text) > _SHORTEST_STEM:
        return next((one for one in _stems(text) if one in meant and len(one) >= _SHORTEST_STEM), None)
    return None


@cache
def _known() -> frozenset[str]:
    """Return every word of the lists."""
    return _meant() | _lists()[1] | _lists()[2]


@cache
def _meant() -> frozenset[str]:
    """Return the words that mean something."""
    return frozenset(_keys_of()).union(*WORDS.values())


@cache
def _keys_of() -> dict[str, tuple[str, ...]]:
    """Return the keys of the concepts of each word."""
    keys: dict[str, tuple[str, ...]] = {}
    for concept in CONCEPTS:
        for word in concept.words:
            keys[word] = (*keys.get(word, ()), concept.key)
    return keys


@cache
def _lists() -> tuple[dict[str, str], frozenset[str], frozenset[str], dict[str, str]]:
    """Return abbreviations, everyday words that are none, words that say nothing, and words that ask for a fact."""
    (_, pairs), (_, everyday), (_, neutral), (_, asking) = read_sections("abbreviations.txt")
    short, facts = (dict(pair.split("=") for pair in sorted(some)) for some in (pairs, asking))
    return short, everyday, neutral, facts


def is_question(name: str) -> bool:
    """Return whether a name is a question or statement that somebody answered.

    >>> [is_question(name) for name in ("My work is safe.", "How tall are you?", "Date of birth", "Tel. no.")]
    [True, True, False, False]
    """
    words = name.split()
    asking = len({fold(word.strip(",.?!")) for word in words} & WORDS["asking"])
    return len(words) >= 7 or (len(words) >= 3 and (name.rstrip().endswith(_STOPS) or asking > 1))


@lru_cache(maxsize=20000)
def terms_of(name: str) -> tuple[Term, ...]:
    """Return what the words of a column's name mean, with weights: the main word most, those beside it less.

    >>> [(term.concept.key, term.weight) for term in terms_of("suspect_sex")][0]
    ('sex', 3.0)
    """
    found = [Term(BY_KEY[key], word, thresholds.UNIT) for key, word in _units(name)]
    if is_question(name):
        return (*found, *_asked(name))
    written = words_of(name)
    words = _without_ands(_head_last(written))
    tokens = [(part, factor) for word in words for parts, factor in [read_word(word)] for part in parts]
    parts = [part for part, _ in tokens]
    joint = {
        "".join(some)
        for some in (*pairwise(parts), *pairwise(words), *zip(written, written[1:], written[2:], strict=False))
    }
    joint |= {"".join(words)} if len(words) > 1 else set()
    whole = [Term(BY_KEY[key], word, thresholds.JOINT) for word in joint for key in _keys_of().get(word, ())]
    single = (replace(one, weight=one.weight / 2) if whole else one for one in _weighted(tokens))
    return tuple(sorted((*found, *whole, *single), key=lambda term: -term.weight))


def _weighted(tokens: Sequence[tuple[str, float]]) -> Iterator[Term]:
    """Yield the concepts of single words; the last one that means something is the main word.

    A word of numbering, of names or of classes says how something is written, the word before it what it is.
    """
    head, words = True, [word for word, _ in tokens]
    for place, (word, factor) in reversed([*enumerate(tokens)]):
        keys = _keys_of().get(word, ())
        others = [*words[:place], *words[place + 1 :]]
        notation = bool(others) and _is_notation(word, others)
        weight = thresholds.NOTATION if notation else thresholds.HEAD if head else thresholds.MODIFIER
        if others and len(word) <= thresholds.SHORT_WORD and word not in WORDS["numbering"]:
            weight *= thresholds.SHORT
        for key in keys:
            if key != "key" or place in (0, len(tokens) - 1):
                yield Term(BY_KEY[key], word, weight * factor)
        head = head and (notation or not {*keys} - {"key"})


def _is_notation(word: str, others: Sequence[str]) -> bool:
    """Return whether a word only says that others have names, classes or dates: a school's name is no person's."""
    dated = "date" in _keys_of().get(word, ()) and any("age" in _keys_of().get(other, ()) for other in others)
    if dated or word in WORDS["classes"]:
        return True
    if word not in WORDS["descriptors"]:
        return False
    persons = WORDS["persons"] | WORDS["staff"] | WORDS["whole_names"] | BY_KEY["name"].words
    return not any(other in persons or other in WORDS["numbering"] for other in others)


def _asked(name: str) -> Iterator[Term]:
    """Yield what a question asks about the person; a word that is only mentioned in it says nothing."""
    words = [word for word in words_of(name) if word not in WORDS["asking"] | WORDS["filling"]]
    if len(words) > thresholds.WORDS_OF_FACT:
        return
    for word in words:
        fact = _lists()[3].get(word)
        parts, factor = ((fact,), 1.0) if fact else read_word(word)
        for key in _keys_of().get(parts[-1], ()):
            if key in thresholds.FACTS:
                yield Term(BY_KEY[key], parts[-1], thresholds.HEAD * factor)


def concepts_of(name: str) -> list[tuple[Concept, str]]:
    """Return the concepts that a column's name may refer to, the likeliest first, each with its word.

    >>> [concepts_of(name)[0][0].key for name in ("suspect_sex", "account_balance", "$1", "Krankheitstage")]
    ['sex', 'money', 'money', 'health']
    """
    first: dict[str, tuple[Concept, str]] = {}
    for term in terms_of(name):
        first.setdefault(term.concept.key, (term.concept, term.word))
    return [*first.values()]


def counts_something(name: str) -> bool:
    """Return whether a column's name says that it counts something.

    >>> counts_something("juv_fel_count"), counts_something("Anz. Vorstrafen"), counts_something("account")
    (True, True, False)
    """
    return bool({*words_of(name), *meanings_of(name)} & WORDS["counts"])


def spoken_word(name: str, meaning: str) -> str:
    """Return the word of a column's name with a meaning, and the meaning in brackets if it is another word.

    >>> [spoken_word(name, word) for name, word in (("Geschl.", "geschlecht"), ("Prénom", "prenom"), ("x (kg)", "kg"))]
    ['"Geschl" (geschlecht)', '"Prénom"', '"kg"']
    """
    parts = re.findall(r"[^\W\d_]+", name)
    if meaning.lower() in name.lower() or meaning in fold(name):
        return f'"{next((part for part in parts if fold(part) == meaning), meaning)}"'
    word = next((word for word in words_of(name) if meaning in read_word(word)[0]), None)
    written = next((part for part in parts if fold(part) == word), word)
    return f'"{name}"' if written is None else f'"{written}" ({meaning})'


def head_of(name: str) -> str:
    """Return the main word of a column's name; the others say whose or which.

    >>> head_of("Nom de naissance"), head_of("birth name")
    ('nom', 'name')
    """
    parts = [part for word in _head_last(words_of(name)) for part in read_word(word)[0]]
    return parts[-1] if parts else ""


def _head_last(words: list[str]) -> list[str]:
    """Return the words of a name with the main word at the end: the place of death is a place."""
    place = next((place for place, word in enumerate(words) if word in _OF and 0 < place < len(words) - 1), None)
    if place is None or words[0] in WORDS["counts"]:
        return words
    return [*words[place + 1 :], *words[:place]]


def _without_ands(words: list[str]) -> list[str]:
    """Remove single letters between other words, which join these; at an end they are kept."""
    inner = range(1, len(words) - 1)
    return [word for place, word in enumerate(words) if place not in inner or word not in _AND]


def _units(name: str) -> Iterator[tuple[str, str]]:
    """Yield the concepts of the unit in a column's name: money, or laboratory measures."""
    for key, pattern in _UNITS:
        if match := pattern.search(name):
            yield key, match[0].strip("()[]_ ")


def scale_of(values: Sequence[str]) -> list[str] | None:
    """Return the values in the order of a scale that contains them all, if there is one.

    >>> scale_of(["High", "Low", "Medium"])
    ['Low', 'Medium', 'High']
    """
    if not 3 <= len(values) <= max(map(len, SCALES)):
        return None
    by_word = {fold(value.strip()): value for value in values}
    for scale in SCALES:
        if len(by_word) == len(values) and by_word.keys() <= set(scale):
            return [by_word[word] for word in scale if word in by_word]
    return None
