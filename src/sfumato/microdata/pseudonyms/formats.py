"""Format-preserving pseudonyms: a digit stays a digit, a letter a letter of its case, all else stays unchanged.

The characters that change form one number of a mixed radix, which FF1 permutes; numbers beyond the last one are
encrypted again until they are in range (cycle walking). Separators stay visible.
"""

from collections.abc import Callable, Sequence
from math import prod
from string import ascii_lowercase, ascii_uppercase, digits

from sfumato.errors import DataError
from sfumato.microdata.pseudonyms.ff1 import FF1, LEAST_DOMAIN
from sfumato.microdata.pseudonyms.key import FORMAT_BYTES, PseudonymKey
from sfumato.microdata.pseudonyms.tokens import refused

ALPHABETS = (digits, ascii_uppercase, ascii_lowercase)


class FormatPseudonyms:
    """Format-preserving pseudonyms under a key."""

    def __init__(self, key: PseudonymKey) -> None:
        self._cipher = FF1(key.part("format", FORMAT_BYTES), 2, b"")

    def hide(self, text: str) -> str:
        """Return the pseudonym of an identifier.

        Raises:
            DataError: Its format has so few values that all could be tried, or some letters would stay visible.
        """
        alphabets = _alphabets(text)
        if any(character.isalnum() and not letters for character, letters in zip(text, alphabets, strict=True)):
            raise _unfit("an identifier has letters or digits other than a to z and 0 to 9: they would show.")
        if _possible(alphabets) < LEAST_DOMAIN:
            raise _unfit("an identifier is too short for its format: fewer than a million others are possible.")
        return self._walk(text, alphabets, self._cipher.encrypt)

    def reveal(self, pseudonym: str) -> str:
        """Return the identifier of a pseudonym; another key would give another one.

        Raises:
            DataError: The format is too short for a pseudonym.
        """
        alphabets = _alphabets(pseudonym)
        if _possible(alphabets) < LEAST_DOMAIN:
            raise refused()
        return self._walk(pseudonym, alphabets, self._cipher.decrypt)

    def _walk(self, text: str, alphabets: Sequence[str], step: Callable[[Sequence[int]], list[int]]) -> str:
        size = _possible(alphabets)
        bits = (size - 1).bit_length()
        number = _number(text, alphabets)
        while True:
            numerals = step([int(bit) for bit in f"{number:0{bits}b}"])
            number = int("".join(map(str, numerals)), 2)
            if number < size:
                return _text(number, text, alphabets)


def _unfit(what: str) -> DataError:
    return DataError(what, "Use pseudonym: keyed for this column.", "format")


def _alphabets(text: str) -> list[str]:
    """Return the alphabet of each character; empty if it stays."""
    return [next((letters for letters in ALPHABETS if character in letters), "") for character in text]


def shape_of(pseudonym: str) -> str:
    """Return what a pseudonym keeps of its identifier: the alphabet of each character, and the characters that stay.

    >>> shape_of("AB-12c")
    'AA-00a'
    """
    pairs = zip(pseudonym, _alphabets(pseudonym), strict=True)
    return "".join(
        {digits: "0", ascii_uppercase: "A", ascii_lowercase: "a"}.get(letters, one) for one, letters in pairs
    )


def _possible(alphabets: Sequence[str]) -> int:
    return prod(len(letters) or 1 for letters in alphabets)


def _number(text: str, alphabets: Sequence[str]) -> int:
    number = 0
    for character, letters in zip(text, alphabets, strict=True):
        if letters:
            number = number * len(letters) + letters.index(character)
    return number


def _text(number: int, text: str, alphabets: Sequence[str]) -> str:
    characters = list(text)
    for place in reversed(range(len(text))):
        if alphabets[place]:
            number, rest = divmod(number, len(alphabets[place]))
            characters[place] = alphabets[place][rest]
    return "".join(characters)
