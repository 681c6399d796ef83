"""Find the concepts in column names, and terms that identify scales and categories without further evidence."""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from itertools import pairwise

from sfumato.hierarchies.role_detection.lexicon.coded_names import spelled_out
from sfumato.hierarchies.role_detection.lexicon.concepts import BY_KEY, CONCEPTS, WHOLE_WORDS, WORDS, Concept, fold
from sfumato.patterns import regex

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
# German compounds: both parts must have a minimum length, except for the short ones of a list.
_HEAD, _FIRST = 5, 5
# Minimum remainder of a compound next to a part: a shorter one is an ending, a prefix, or another word.
_REST = 3
_SUFFIXES = ("ment", "ments", "ness", "less", "able", "ible", "ing", "ings", "ship", "tion", "tions", "ation", "ations")
# In brackets: the unit of a number, which is no time at which something happened.
_SPANS = regex(
    r"(?i:[(\[][^)\]]*\b(?:days?|weeks?|months?|years?|yrs|hours?|tagen?|wochen?|monaten?|jahren?|stunden?|jours?|mois|ans|"
    r"d[ií]as|meses|años|giorni|mesi|anni|dagar|dagen|maanden|jaar|dni)\b[^)\]]*[)\]])"
)
# Endings of plurals.
_PLURALS = ("s", "e", "en", "n", "es")
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
    # The pH value of blood, and doses and rates in units of their own.
    ("health", regex(r"pH(?![a-zA-Z])|(?i:[(\[ _](?:mg|mcg|bpm|mmol|promille)(?![a-z])|‰)")),
    # The size of a home.
    ("belongings", regex(r"m²|(?i:(?<![a-z])(?:qm|sqm|sqft|sq\.? ?ft|m2)(?![a-z]))")),
)
# Endings that describe a notation, not the meaning.
_ENDED = regex(r"(.{3,})(?:id|cd|code|nr|no|num|flg|flag|fl|bl|dtc|ind|yn|lvl|grp|cat|txt)")
_NUMBERED = regex(r"([a-z]{3,})(nr|no|id|num|nummer)")
# A name with this many words is a question: its topic is what is sensitive in it.
_QUESTION = 5
_AND = frozenset(("y", "e", "i", "o"))
# Prepositions between two words.
_OF = frozenset(("of", "de", "del", "di", "du", "der", "des", "von", "van"))
# Words for persons in courts.
_WHOSE = frozenset(("suspect", "victim", "offender", "defendant", "accused", "beschuldigter", "opfer", "tater"))
# Concepts decided by a name's last word, and those of things that have names, too.
_HEADS = frozenset({"name", "sex", "age", "phone", "email", "address", "place", "nationality", "origin"})
# Words for names that things have, too; the others are of persons only.
_ANY_NAMES = frozenset(
    ["name", "names", "nom", "nome", "nombre", "naam", "namn", "navn", "jmeno", "contact", "kontakt", "person"]
)
_OWN_NAMES = BY_KEY["name"].words - _ANY_NAMES - WORDS["persons"] - WORDS["staff"]
_KNOWN_THINGS = tuple(BY_KEY[key] for key in ("place", "work", "schooling", "belongings"))
_THINGS = tuple(
    concept
    for concept in CONCEPTS
    if concept.role in ("quasi-identifier", "sensitive")
    and concept.key not in ("family", "age", "sex", "crime", "title")
)


def words_of(name: str) -> list[str]:
    """Return the words of a column's name, folded.

    >>> words_of("dateOfBirth"), words_of("patient_ID"), words_of("Straße"), words_of("Ημ. γέννησης")
    (['date', 'of', 'birth'], ['patient', 'id'], ['strasse'], ['ημ', 'γεννησης'])

    A number behind a word is left out, unless it belongs to the word:

    >>> words_of("SpO2"), words_of("grade2")
    (['spo2'], ['grade'])
    """
    name = _SPANS.sub(" ", name) if _SPANS.sub("", name).strip() else name
    apart = re.sub(
        r"(?<=[a-zäöüß])(?=[A-Z][a-zäöüß])|(?<=[a-zäöüß]{2})(?=[A-Z])"
        r"|(?<=[A-Z])(?=[A-Z][a-zäöüß]{3})",
        " ",
        name,
    )
    words = re.findall(r"[^\W\d_]+[0-9]*[^\W\d_]+[0-9]*|[^\W\d_]+[0-9]*", fold(apart))
    plain = [word if word in _keys_of() else word.rstrip("0123456789") for word in words]
    return [part for word in plain for part in _without_numbering(word)]


@cache
def _without_numbering(word: str) -> tuple[str, ...]:
    """Split a word into a person and a word for a number: patnr, lidnr, custid.

    >>> _without_numbering("patnr"), _without_numbering("android")
    (('pat', 'nr'), ('android',))
    """
    match = None if word in _keys_of() or word in WORDS["no_compounds"] else _NUMBERED.fullmatch(word)
    return (match[1], match[2]) if match and spelled_out(match[1], False) in WORDS["persons"] else (word,)


def counts_something(name: str) -> bool:
    """Return whether a column's name says that it counts something.

    >>> counts_something("juv_fel_count"), counts_something("Anz. Vorstrafen"), counts_something("account")
    (True, True, False)
    """
    return bool({*words_of(name), *meanings_of(name)} & WORDS["counts"])


def concepts_of(name: str) -> list[tuple[Concept, str]]:
    """Return the concepts that a column's name may refer to, the likeliest first, each with its word.

    >>> [(concept.key, word) for concept, word in concepts_of("Geburtsdatum")]
    [('age', 'geburtsdatum'), ('date', 'geburtsdatum')]
    >>> [concepts_of(name)[0][0].key for name in ("number_of_children", "suspect_sex", "account_balance", "$1")]
    ['family', 'sex', 'money', 'money']
    """
    words = _without_ands(_head_last(meanings_of(name)))
    asked = len(words) >= _QUESTION
    joint = _joint(words) | _joint(words_of(name))
    pairs = [*_units(name), *(pair for compound in (False, True) for pair in _matches(words, joint, compound))]
    # A suspect's hair is hair: the owner precedes the thing.
    pairs = [pair for pair in pairs if pair[1] not in _WHOSE or pair[1] in words[-1:]]
    private = any(concept.role == "sensitive" and word in words[-1:] for concept, word in pairs)

    def place(pair: tuple[Concept, str]) -> int:
        """The last word of a name is the thing itself; those before it say whose or which."""
        concept, last = pair[0], pair[1].endswith(tuple(words[-1:]))
        # Two words that are together in a list are more specific than each: a civil state is no state.
        if pair[1] in joint and pair[1] in concept.words:
            return -3
        # A word of another concept is not split: a state tax is no state.
        if pair[1] in _keys_of() and pair[1] not in concept.words:
            return 3
        # An opinion about a town is no town; graduates of a school were asked for the school.
        if concept.key == "opinion" and pair[1] in words and pair[1] not in WORDS["whole"]:
            return -2
        if asked and concept.role == "sensitive":
            return -2 if concept.key != "outcome" else 2
        # The end of a compound is the thing itself: a yearly fee is no year.
        if concept.role == "quasi-identifier" and pair[1] in words and _ends_privately(pair[1], concept):
            return 2
        if last and concept.key in _HEADS:
            return -1 if pair[1] not in words else 0
        return 2 if private and concept.role == "identifier" and not last else 1

    return sorted(pairs, key=place)


def _without_ands(words: list[str]) -> list[str]:
    """Remove single letters between other words, which join these; at an end they are kept.

    >>> _without_ands(["marca", "y", "modelo"]), _without_ands(["target", "y"])
    (['marca', 'modelo'], ['target', 'y'])
    """
    inner = range(1, len(words) - 1)
    return [word for place, word in enumerate(words) if place not in inner or word not in _AND]


def _joint(words: Sequence[str]) -> set[str]:
    """Return neighboring words joined, including those connected by a preposition.

    >>> sorted(_joint(["length", "of", "stay"]))
    ['lengthof', 'lengthofstay', 'ofstay']
    """
    linked = (words[place - 1 : place + 2] for place in range(1, len(words) - 1) if words[place] in _OF)
    return {first + second for first, second in pairwise(words)} | {"".join(three) for three in linked}


def _matches(words: Sequence[str], joint: Collection[str], compound: bool) -> Iterator[tuple[Concept, str]]:
    """Yield the concepts of words, or of two of them together, in the order of the list."""
    exact = {*words, *joint}
    exact |= {singular for word in exact if word not in _keys_of() for singular in _singulars(word)}
    silent = {*_silent_concepts(words, exact)}
    for concept in CONCEPTS:
        if concept.key in silent:
            continue
        searched = {*words[:1], *words[-1:]} if concept.key == "key" else {*words} if compound else exact
        spoken = (word for word in searched if _speaks_of(word, concept, compound))
        word = min(spoken, key=lambda word: (-len(word), word not in words[-1:], word), default=None)
        if word is not None:
            yield concept, word


def _silent_concepts(words: Sequence[str], exact: Collection[str]) -> Iterator[str]:
    """Yield the concepts that a name does not refer to, though one of its words does."""
    head = words[-1:]
    # A person named before the number is numbered, not counted: patient_nbr.
    numbered = {*head} & WORDS["numbering"] and {*words[:-1]} & WORDS["persons"]
    if (WORDS["counts"] & {*exact} and not numbered) or [*words[:2]] == ["number", "of"]:
        yield "key"
    others = [word for word in words if not any(_speaks_of(word, BY_KEY["name"], way) for way in (False, True))]
    # A school's name is no person's, nor is a customer's type; but only persons have surnames.
    persons = WORDS["persons"] | WORDS["staff"]
    things = _is_a_thing([word for word in others if word not in persons], _THINGS) and not {*head} & _OWN_NAMES
    if things or ({*head} & WORDS["attributes"] and {*words} & persons):
        yield "name"
    if {*head} & WORDS["descriptors"] and _is_a_thing(words[:-1], _KNOWN_THINGS):
        yield "free_text"
    # A class of an income or of a bonus is no school class.
    if (
        {*words} & WORDS["classes"]
        and len(words) > 1
        and not _is_a_thing(words, (BY_KEY["schooling"],), WORDS["classes"])
    ):
        yield "schooling"


def _singulars(word: str) -> Iterator[str]:
    """Yield possible singulars of a word: endings other than an s must leave a word of some length."""
    for ending in _PLURALS:
        stem = word.removesuffix(ending)
        fits = ending == "s" or (len(stem) >= _HEAD and (ending != "n" or stem[-1] in "elr"))
        if stem != word and fits:
            yield stem


def meanings_of(name: str) -> list[str]:
    """Return the words of a column's name with abbreviations expanded.

    >>> meanings_of("Disab_Dt")
    ['disability', 'date']
    """
    folded = fold(name)
    return [word if _is_known(word) else spelled_out(word, f"{word}." in folded) for word in words_of(name)]


def spoken_word(name: str, meaning: str) -> str:
    """Return the word of a column's name with a meaning, and the meaning in brackets if it is another word.

    >>> [spoken_word(name, word) for name, word in (("Geschl.", "geschlecht"), ("Prénom", "prenom"), ("x (kg)", "kg"))]
    ['"Geschl" (geschlecht)', '"Prénom"', '"kg"']
    """
    parts = re.findall(r"[^\W\d_]+", name)
    if meaning.lower() in name.lower() or meaning in fold(name):
        return f'"{next((part for part in parts if fold(part) == meaning), meaning)}"'
    word = next((word for word, full in zip(words_of(name), meanings_of(name), strict=True) if full == meaning), None)
    written = next((part for part in parts if fold(part) == word), word)
    return f'"{name}"' if written is None else f'"{written}" ({meaning})'


def head_of(name: str) -> str:
    """Return the main word of a column's name; the others say whose or which.

    >>> head_of("Nom de naissance"), head_of("birth name")
    ('nom', 'name')
    """
    return next(iter(_head_last(meanings_of(name))[::-1]), "")


def _head_last(words: list[str]) -> list[str]:
    """Return the words of a name with the main word at the end: the place of death is a place.

    >>> _head_last(["place", "of", "death"])
    ['death', 'place']
    """
    place = next((place for place, word in enumerate(words) if word in _OF and place), None)
    counted = words[:1] == ["number"]
    return words if place is None or counted else [*words[place + 1 :], *words[:place]]


def _is_known(word: str) -> bool:
    """Return whether a word is in a list or indicates a concept, so that it is no abbreviation."""
    if any(word in WORDS[key] for key in ("persons", "staff", "events")):
        return True
    return word in _keys_of() or bool(_concepts_of_parts(word))


def _units(name: str) -> Iterator[tuple[Concept, str]]:
    """Yield the concepts of the unit in a column's name: money, or laboratory measures."""
    for key, pattern in _UNITS:
        if match := pattern.search(name):
            yield BY_KEY[key], match[0].strip("()[]_ ")


def _speaks_of(word: str, concept: Concept, compound: bool) -> bool:
    if not compound or word in concept.words:
        return not compound and word in concept.words
    return concept.key in _concepts_of_parts(word)


def _ends_privately(word: str, concept: Concept) -> bool:
    """Return whether a compound ends in a word for something sensitive, and only begins with one of a concept."""
    keys = {key for part in _ends_of(word) - WHOLE_WORDS - WORDS["whole"] for key in _keys_of().get(part, ())}
    return concept.key not in keys and any(BY_KEY[key].role == "sensitive" for key in keys)


def _ends_of(word: str) -> set[str]:
    """Return the endings of a word that are long enough to be its last part."""
    places = (0, *range(_REST, len(word)))
    return {word[place:] for place in places if len(word) - place >= _HEAD or word[place:] in WORDS["heads"]}


@cache
def _concepts_of_parts(word: str) -> frozenset[str]:
    """Return the concepts of the parts of a compound, without accidental matches."""
    if word in WORDS["no_compounds"]:
        return frozenset()
    parts = _ends_of(word)
    ends = range(1, len(word) - _REST + 1)
    parts |= {
        word[:end] for end in ends if (end >= _FIRST or word[:end] in WORDS["firsts"]) and word[end:] not in _SUFFIXES
    } - WORDS["ends"]
    ended = _ENDED.fullmatch(word)
    parts = parts - WORDS["whole"] - WHOLE_WORDS | ({ended[1]} if ended else set())
    keys = {key for part in parts for key in _keys_of().get(part, ())}
    return frozenset(keys | ({"key"} if len(word) > _FIRST and word.endswith(("id", "nr")) else set()))


@cache
def _keys_of() -> dict[str, tuple[str, ...]]:
    """Return the keys of the concepts of each word."""
    keys: dict[str, tuple[str, ...]] = {}
    for concept in CONCEPTS:
        shared = {word: (*keys[word], concept.key) for word in keys.keys() & concept.words}
        keys |= dict.fromkeys(concept.words, (concept.key,)) | shared
    return keys


def _is_a_thing(words: Sequence[str], concepts: Sequence[Concept], left_out: Collection[str] = ()) -> bool:
    """Return whether some word is a place, a school, an employer, a disease: something that is no person."""
    asked = [word for word in words if word not in left_out]
    if not left_out and WORDS["things"] & {*asked}:
        return True
    return any(_speaks_of(word, concept, way) for word in asked for concept in concepts for way in (False, True))


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
