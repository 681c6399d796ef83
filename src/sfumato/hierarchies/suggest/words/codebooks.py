"""Codebooks of well-known public files: what their columns are about, told by names that nobody would guess.

A name of two or three letters may mean anything; several names of one codebook in one file do not. The names stand in
`codebooks.txt`, which is read when somebody asks.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from importlib.resources import files

from sfumato.dataclass import dataclass

# So many names of one codebook, which are no words themselves, tell that a file is one of it.
_LEAST_NAMES = 3
_CODES = "*"
# The letter of a wave before a name; a number of a question, and a word that somebody wrote behind it.
_WAVE = re.compile("([a-z]{1,2}_)")
_EXPLAINED = re.compile(r"^([a-z]{1,2}\d{3,4}[a-z]?)_.*$")


@dataclass(frozen=True, slots=True)
class CodebookLabel:
    """What the codebook of a public file says of a column.

    Attributes:
        book: The file, or the survey.
        text: What the column is about, in words of names of columns.
        coded: Whether its values are codes without an order.
    """

    book: str
    text: str
    coded: bool


def labels_of(names: Collection[str]) -> dict[str, CodebookLabel]:
    """The labels of columns that the likeliest codebook has; none where names are those of no codebook.

    >>> labels_of(["AGEP", "RAC1P", "WAGP", "note"])["RAC1P"].text
    'race'
    >>> labels_of(["DIS", "MAR", "note"])
    {}
    """
    folded = dict(zip(names, _folded([name.lower() for name in names]), strict=True))
    books = ((book, labels, _strange(folded.values(), labels)) for book, labels in _books().items())
    book, labels, strange = max(books, key=lambda entry: entry[2])
    if strange < _LEAST_NAMES:
        return {}
    return {
        name: CodebookLabel(book, label.removesuffix(_CODES), label.endswith(_CODES))
        for name, plain in folded.items()
        if (label := labels.get(plain))
    }


def _folded(names: Sequence[str]) -> list[str]:
    """Names as codebooks have them: without the letter of a wave that most of them begin with, and what explains them.

    >>> _folded(["j_dvage", "j_sex", "j_hidp", "pidp"]), _folded(["v012", "v201_ceb"])
    (['dvage', 'sex', 'hidp', 'pidp'], ['v012', 'v201'])
    """
    waves = Counter(match[1] for name in names if (match := _WAVE.match(name)))
    wave, count = waves.most_common(1)[0] if waves else ("", 0)
    prefix = wave if count > len(names) / 2 else ""
    return [_EXPLAINED.sub(r"\1", name.removeprefix(prefix)) for name in names]


def _strange(names: Collection[str], labels: dict[str, str]) -> int:
    """How many of some names a codebook has that are not what they mean."""
    return sum(name in labels and name not in labels[name] for name in names)


@cache
def _books() -> dict[str, dict[str, str]]:
    """The labels of each codebook by the names of columns, in small letters."""
    return dict(_read_books())


def _read_books() -> Iterator[tuple[str, dict[str, str]]]:
    text = files(__package__).joinpath("codebooks.txt").read_text(encoding="utf-8")
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    for section in lines.split("[")[1:]:
        book, _, pairs = section.partition("]")
        yield (
            book.replace("_", " "),
            {name.lower(): label for name, _, label in (p.partition("=") for p in pairs.split())},
        )
