"""Column names of public files and programs, with their meanings by the codebooks of these."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache

from sfumato.hierarchies.role_detection.lexicon.concepts import (
    COMMON_WORDS,
    fold,
    list_folder,
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
