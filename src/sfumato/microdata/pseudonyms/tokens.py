"""Keyed pseudonyms: a keyed hash of the identifier, and the identifier encrypted under it (AES-SIV, RFC 5297).

Equal identifiers have equal pseudonyms, so that files can be joined. Without the key, only equality and the approximate
length of identifiers can be learned. A pseudonym of another key or domain is refused.
"""

import re
from base64 import b32decode, b32encode
from binascii import Error

from sfumato.errors import DataError, missing_extra
from sfumato.microdata.pseudonyms.key import KEY_BYTES, PseudonymKey

# Identifiers are padded to a multiple of this: shorter ones have pseudonyms of equal length.
BLOCK = 48
# Minimum length: the hash and a block, in base 32.
TOKEN = re.compile(r"[a-z2-7]{103,}")


class KeyedPseudonyms:
    """Keyed pseudonyms (tokens) under a key."""

    def __init__(self, key: PseudonymKey) -> None:
        try:
            from cryptography.hazmat.primitives.ciphers.aead import AESSIV
        except ImportError:
            raise missing_extra("pseudonyms", "pseudonyms") from None
        self._cipher = AESSIV(key.part("keyed", KEY_BYTES))

    def hide(self, text: str) -> str:
        """Return the pseudonym of an identifier."""
        content = text.encode()
        padding = BLOCK - len(content) % BLOCK
        sealed = self._cipher.encrypt(content + bytes([padding]) * padding, None)
        return b32encode(sealed).decode().rstrip("=").lower()

    def reveal(self, pseudonym: str) -> str:
        """Return the identifier of a pseudonym.

        Raises:
            DataError: It is no pseudonym of this key.
        """
        from cryptography.exceptions import InvalidTag

        letters = pseudonym.upper()
        try:
            content = self._cipher.decrypt(b32decode(letters + "=" * (-len(letters) % 8)), None)
        except (InvalidTag, Error, ValueError):
            raise refused() from None
        return content[: -content[-1]].decode()


def is_token(text: str) -> bool:
    """Return whether a text looks like a keyed pseudonym.

    >>> is_token("Huber"), is_token("a" * 103)
    (False, True)
    """
    return TOKEN.fullmatch(text) is not None


def refused() -> DataError:
    """Return the error that a text is no pseudonym of a key."""
    return DataError("pseudonym.this_is_no_pseudonym")
