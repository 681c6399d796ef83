"""The common interface of all kinds of pseudonyms."""

from typing import Literal, Protocol

from sfumato.microdata.pseudonyms.formats import FormatPseudonyms
from sfumato.microdata.pseudonyms.key import PseudonymKey
from sfumato.microdata.pseudonyms.tokens import KeyedPseudonyms


class Pseudonyms(Protocol):
    """Creates pseudonyms of identifiers, and reverses them."""

    def hide(self, text: str) -> str:
        """Return the pseudonym of an identifier."""
        ...

    def reveal(self, pseudonym: str) -> str:
        """Return the identifier of a pseudonym."""
        ...


def pseudonyms_of(key: PseudonymKey, kind: Literal["keyed", "format"]) -> Pseudonyms:
    """Return the pseudonym generator of a key."""
    return KeyedPseudonyms(key) if kind == "keyed" else FormatPseudonyms(key)
