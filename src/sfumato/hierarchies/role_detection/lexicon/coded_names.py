"""Column names that cannot be guessed: those of codebooks of public files and programs, and abbreviations of words."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache

from sfumato.hierarchies.role_detection.lexicon.concepts import (
    COMMON_WORDS,
    CONCEPTS,
    JOINT_WORDS,
    OFFICE_WORDS,
    WHOLE_WORDS,
    WORDS,
    fold,
    list_folder,
    read_sections,
)
from sfumato.patterns import regex
from sfumato.values import Value

# Minimum number of names of one codebook that identify a file; twice as many of names that are ambiguous elsewhere,
# short ones and words.
_LEAST_NAMES = 3
_SHORT = 3
_CODES = "*"
# The letter of a wave before a name; a question number, and an explanation after it.
_WAVE = regex("([a-z]{1,2}_)")
_EXPLAINED = regex(r"^([a-z]{1,2}\d{1,4}[a-z]?)_[a-z].*$")
_NUMBERED = regex(r"[a-z](\d{1,3})[a-z]?")
_SERIES = regex(r"([a-z])0*(\d{1,3})")
# Numbered questions: minimum number with one letter and hardly any gap. They indicate no codebook.
_SEQUENCE, _WITHOUT_GAPS = 10, 0.8
_NUMBER_BEHIND, _NUMBERS, _BETWEEN = regex(r"\d+$"), regex(r"\d+"), regex(r"[^a-z0-9#]+")


# A name of two or three letters may mean anything; several names of one codebook in one file do not. The names are in
# `books`, one file per codebook, loaded on demand.
class CodebookLabel(Value):
    """The entry of a column in the codebook of a public file.

    Attributes:
        book: The file, the survey or the program.
        text: The meaning of the column, in words as used in column names.
        coded: Whether its values are codes without an order.
    """

    book: str
    text: str
    coded: bool


def labels_of(names: Collection[str]) -> dict[str, CodebookLabel]:
    """Return the labels of columns from the likeliest codebooks; empty if the names match none.

    >>> labels_of(["AGEP", "RAC1P", "WAGP", "note"])["RAC1P"].text
    'race'
    >>> labels_of(["DIS", "MAR", "note"])
    {}
    """
    spellings = dict(zip(names, _spellings([fold(name) for name in names]), strict=True))
    counted = _numbered_through([ways[0] for ways in spellings.values()])
    told: dict[str, CodebookLabel] = {}
    for book, labels in sorted(_found(spellings), key=lambda entry: -_strangeness(entry[1], counted)):
        further = {name: label for name, label in labels.items() if name not in told}
        if _strangeness(further, counted) >= _LEAST_NAMES:
            told |= {
                name: CodebookLabel(book, label.removesuffix(_CODES), label.endswith(_CODES))
                for name, (_, label) in further.items()
            }
    return told


def _found(spellings: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, dict[str, tuple[str, str]]]]:
    """Yield for each codebook its columns, each with its spelling there and its label."""
    for book, labels in _books().items():
        found = {name: next((way for way in ways if way in labels), None) for name, ways in spellings.items()}
        yield book, {name: (way, labels[way]) for name, way in found.items() if way is not None}


def _spellings(names: Sequence[str]) -> list[list[str]]:
    """Return possible codebook spellings of names, the likeliest first: without the letter of a wave that most have,

    >>> _spellings(["j_dvage", "j_sex", "pidp"]), _spellings(["v201_ceb"])[0][2:], _spellings(["DIAG 03".lower()])
    ([['dvage'], ['sex'], ['pidp']], ['v201', 'v#'], [['diag03', 'diag#']])
    """
    waves = Counter(match[1] for name in names if (match := _WAVE.match(name)))
    wave, count = waves.most_common(1)[0] if waves else ("", 0)
    prefix = wave if count > len(names) / 2 else ""
    return [_ways(name.removeprefix(prefix)) for name in names]


def _ways(name: str) -> list[str]:
    plain = (name, _EXPLAINED.sub(r"\1", name))
    ways = (way for one in plain for way in (one, _NUMBER_BEHIND.sub("#", one), _NUMBERS.sub("#", one)))
    return list(dict.fromkeys(_BETWEEN.sub("", way) for way in ways))


def _numbered_through(names: Iterable[str]) -> set[str]:
    """Return the names that are numbers of a series without gaps.

    >>> _numbered_through([*(f"v{number:03}" for number in range(1, 30)), "v101", "b1", "b2", "caseid"]) == {
    ...     f"v{number:03}" for number in range(1, 30)
    ... }
    True
    """
    series: dict[str, dict[int, str]] = {}
    for name in names:
        if match := _SERIES.fullmatch(name):
            series.setdefault(match[1], {})[int(match[2])] = name
    found: set[str] = set()
    for numbers in series.values():
        inner = sorted(numbers)
        while len(inner) >= _SEQUENCE and len(inner) < _WITHOUT_GAPS * (inner[-1] - inner[0] + 1):
            inner.pop()
        found |= {numbers[number] for number in inner} if len(inner) >= _SEQUENCE else set()
    return found


def _strangeness(labels: Mapping[str, tuple[str, str]], counted: Collection[str]) -> float:
    """Return how many column names occur only in a codebook; ambiguous ones count less."""
    return sum(_weight(way) for way, label in labels.values() if way not in label and way not in counted)


def _weight(way: str) -> float:
    """Return how characteristic a name is of its codebook: numbered questions occur in every survey.

    >>> [_weight(way) for way in ("rac1p", "mar", "st", "v012", "d10", "q12")]
    [1, 0.5, 0.25, 0.5, 0.25, 0]
    """
    if way in COMMON_WORDS:
        return 0.5
    if match := _NUMBERED.fullmatch(way):
        return 0 if way.startswith("q") else 0.5 if len(match[1]) >= _SHORT else 0.25
    return 1 if len(way) > _SHORT else 0.25 * max(1, len(way) - 1)


@cache
def _books() -> dict[str, dict[str, str]]:
    """Return the labels of each codebook by column name, in lower case without separators."""
    return dict(_read_books())


def _read_books() -> Iterator[tuple[str, dict[str, str]]]:
    for file in list_folder(__package__).joinpath("codebook_files").iterdir():
        head, *lines = file.read_text(encoding="utf-8").splitlines()
        labels: dict[str, str] = {}
        for label, _, names in (line.partition(": ") for line in lines):
            labels |= dict.fromkeys(fold(names).replace("_", "").split(), label)
        yield head.strip("[]").replace("_", " "), labels


# Three consonants are too ambiguous for an abbreviation; the common ones are in the list.
_BEGINNING, _CONSONANTS, _PART = 5, 4, 3
_DOTTED = 3
# Words of further languages share beginnings more often.
_LONG_BEGINNING = 6
_MISSING_LETTERS = 2
_ABBREVIATED = 7
_STEM, _ENDING = 7, 3
# Lists of words for persons.
_PERSONS = ("persons", "staff")
# A longer remainder is mostly another word with the same beginning: minor is no minority.
_SHARE_OF_WORD = 0.6


# Common abbreviations are listed in `abbreviations.txt`. Others are the beginning of a word (`disab`) or its consonants
# (`rtg`); a long word with another ending or one wrong letter matches the correct one. An abbreviation that may stand
# for words of several roles is not expanded.
@cache
def spelled_out(word: str, dotted: bool) -> str:
    """Return the word that an abbreviation stands for, or the word itself.

    Args:
        dotted: Whether a full stop follows it, as in `geschl.`: then it is the beginning of a word, unless it
            begins words of several roles.

    >>> spelled_out("geschl", dotted=True), spelled_out("rtg", dotted=False), spelled_out("zz", dotted=False)
    ('geschlecht', 'rating', 'zz')
    """
    common, everyday, _ = _lists()
    if word in common:
        return common[word]
    alike = _words_with(word[:1])
    if dotted and len(word) >= _DOTTED and word not in everyday:
        begun = [pair for pair in alike if pair[0].startswith(word)]
        return begun[0][0] if len({role for _, role in begun}) == 1 else word
    if parts := _run_together(word):
        return parts[0]
    for likens in () if word in everyday else (_abbreviates, _inflects, _misspells):
        candidates = [pair for pair in alike if likens(word, pair[0])]
        if len({role for _, role in candidates}) == 1:
            return candidates[0][0]
    return word if word in everyday else _beginning(word)


def _beginning(word: str) -> str:
    """Return the long word of a further language that begins like this, if all such words have one role."""
    if len(word) < _LONG_BEGINNING or f" {word}" not in _all_words():
        return word
    begun = [
        (full, concept.role)
        for concept in CONCEPTS
        for full in _begun(concept.words, word)
        if full in WHOLE_WORDS and full not in JOINT_WORDS
    ]
    short = [pair for pair in begun if len(word) <= _SHARE_OF_WORD * len(pair[0])]
    return short[0][0] if short and len({role for _, role in begun}) == 1 else word


def _begun(words: Collection[str], beginning: str) -> list[str]:
    """Return the words with a given beginning, in order; those with another first letter are skipped for speed."""
    first = beginning[:1]
    return sorted([word for word in words if word[:1] == first and word.startswith(beginning)])


@cache
def _all_words() -> str:
    """Return every word of a concept after a blank, for a fast prefix test."""
    return "".join(f" {word}" for concept in CONCEPTS for word in concept.words)


def _abbreviates(word: str, full: str) -> bool:
    if len(full) < len(word) + _MISSING_LETTERS or full[0] != word[0]:
        return False
    if len(word) >= _BEGINNING and full.startswith(word):
        return len(word) <= _SHARE_OF_WORD * len(full)
    letters = _consonants(full)
    if len(full) - len(letters) < _MISSING_LETTERS:
        return False
    close = len(word) >= _CONSONANTS and word == _consonants(word) and len(letters) - len(word) in (0, 1)
    return close and letters[-1] == word[-1] and _in_order(word, letters)


def _inflects(word: str, full: str) -> bool:
    """Return whether two long words differ in their endings alone: menopause and menopausal."""
    pairs = enumerate(zip(word, full, strict=False))
    same = next((place for place, (one, other) in pairs if one != other), min(len(word), len(full)))
    return same >= _STEM and max(len(word), len(full)) - same <= _ENDING


def _misspells(word: str, full: str) -> bool:
    """Return whether a long word is another with one letter wrong, missing or extra."""
    short, long = sorted((word, full), key=len)
    if len(short) < _ABBREVIATED or len(long) - len(short) > 1 or word[0] != full[0]:
        return False
    same = next((place for place, pair in enumerate(zip(short, long, strict=False)) if pair[0] != pair[1]), len(short))
    return short[same + (len(short) == len(long)) :] == long[same + 1 :]


def _run_together(word: str) -> tuple[str, str] | None:
    """Return the two abbreviations or words that are joined without a separator: `inctot`, `incwage`."""
    neutral, full = _lists()[2], _full_words()
    for end in range(_PART, len(word) - _PART + 1):
        first, second = word[:end], word[end:]
        if first in full and (second in full or second in neutral):
            return full[first], full.get(second, second)
    return None


def _consonants(word: str) -> str:
    return "".join(letter for letter in word if letter not in "aeiou")


def _in_order(letters: str, word: str) -> bool:
    rest = iter(word)
    return all(letter in rest for letter in letters)


@cache
def _words_with(letter: str) -> tuple[tuple[str, str], ...]:
    """Return every word of a concept or of persons with a first letter, with its role.

    Neither an abbreviation nor a misspelling begins with another one.
    """
    others = WHOLE_WORDS | OFFICE_WORDS
    concepts = [(full, concept.role) for concept in CONCEPTS for full in _begun(concept.words - others, letter)]
    persons = [(full, "person") for key in _PERSONS for full in _begun(WORDS[key] - WHOLE_WORDS, letter)]
    return (*concepts, *persons)


@cache
def _full_words() -> dict[str, str]:
    """Return the expansion of each word and each common abbreviation."""
    words = frozenset().union(*(concept.words for concept in CONCEPTS)) - OFFICE_WORDS
    words = words.union(*(WORDS[key] for key in _PERSONS)) - WHOLE_WORDS
    return {word: word for word in words} | _lists()[0]


@cache
def _lists() -> tuple[dict[str, str], frozenset[str], frozenset[str]]:
    """Return common abbreviations with their expansions, everyday words that are none, and meaningless endings."""
    (_, pairs), (_, everyday), (_, neutral) = read_sections("abbreviations.txt")
    return dict(pair.split("=") for pair in sorted(pairs)), everyday, neutral
