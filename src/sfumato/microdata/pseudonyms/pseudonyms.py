"""The common interface of all kinds of pseudonyms."""

from typing import Literal, Protocol

from sfumato.microdata.pseudonyms.formats import FormatPseudonyms
from sfumato.microdata.pseudonyms.key import PseudonymKey
from sfumato.microdata.pseudonyms.tokens import KeyedPseudonyms


class Pseudonyms(Protocol):
    """What makes pseudonyms of identifiers, and turns them back."""

    def hide(self, text: str) -> str:
        """The pseudonym of an identifier."""
        ...

    def reveal(self, pseudonym: str) -> str:
        """The identifier behind a pseudonym."""
        ...


def pseudonyms_of(key: PseudonymKey, kind: Literal["keyed", "format"]) -> Pseudonyms:
    """The pseudonyms under a key."""
    return KeyedPseudonyms(key) if kind == "keyed" else FormatPseudonyms(key)
