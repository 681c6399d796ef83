"""Pseudonyms: replacements of identifiers that only the holder of the key can reverse.

Format-preserving: a digit stays a digit, a letter a letter of its case, all else unchanged. The characters that change
form one number of a mixed radix, which FF1 permutes, again until the number is in range (cycle walking).

Keyed: a keyed hash of the identifier, and the identifier encrypted under it (AES-SIV, RFC 5297). Equal identifiers have
equal pseudonyms, so that files can be joined. Without the key, only equality and the approximate length of identifiers
can be learned. A pseudonym of another key or domain is refused.
"""

import re
from base64 import b32decode, b32encode
from binascii import Error
from collections.abc import Callable, Sequence
from hashlib import blake2b, sha256
from math import ceil, log2, prod
from secrets import token_bytes
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any, Literal, Protocol

from sfumato.errors import DataError, PlanError, missing_extra
from sfumato.localization.messages import Message
from sfumato.values import Value, shown

KEY_BYTES = 64
FORMAT_BYTES = 32


class PseudonymKey(Value):
    """A key and its domain: equal identifiers have equal pseudonyms only within one domain.

    Attributes:
        domain: The pseudonymization domain: the recipient and the purpose.
    """

    domain: str
    secret: bytes

    def __repr__(self) -> str:
        return shown(self, "secret")

    @classmethod
    def drawn(cls, domain: str) -> "PseudonymKey":
        """Return a new random key from the operating system."""
        return cls(domain, token_bytes(KEY_BYTES))

    @classmethod
    def of_dict(cls, content: Any) -> "PseudonymKey":
        """Return a key from the content of its file.

        Raises:
            PlanError: The content is no key.
        """
        try:
            key = cls(str(content["domain"]), bytes.fromhex(content["key"]))
        except (TypeError, KeyError, ValueError):
            key = cls("", b"")
        if len(key.secret) != KEY_BYTES:
            raise PlanError("key.empty_key_file")
        return key

    def to_dict(self) -> dict[str, Any]:
        return {"version": 1, "domain": self.domain, "fingerprint": self.fingerprint, "key": self.secret.hex()}

    @property
    def fingerprint(self) -> str:
        """A checksum that distinguishes keys without revealing them."""
        return sha256(b"sfumato pseudonyms" + self.secret).hexdigest()[:16]

    def part(self, purpose: str, size: int) -> bytes:
        """Derive a separate key for a purpose within the domain."""
        person = f"{purpose}\0{self.domain}".encode()
        return blake2b(person, key=self.secret, digest_size=size).digest()


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
        encrypted = self._cipher.encrypt(content + bytes([padding]) * padding, None)
        return b32encode(encrypted).decode().rstrip("=").lower()

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


ROUNDS = 10
AES_BLOCK = 16
# With fewer possible texts, all could be tried.
LEAST_DOMAIN = 1_000_000
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
            raise _unfit("other_letters")
        if _possible(alphabets) < LEAST_DOMAIN:
            raise _unfit("short_identifier")
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
    return DataError(f"format.{what}", hint=Message("hint.use_pseudonym_keyed_for"))


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


class FF1:
    """Encrypts numerals of a radix under a key and a tweak.

    >>> key = bytes.fromhex("2B7E151628AED2A6ABF7158809CF4F3C")
    >>> FF1(key, 10, b"").encrypt([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    [2, 4, 3, 3, 4, 7, 7, 4, 8, 4]
    """

    def __init__(self, key: bytes, radix: int, tweak: bytes) -> None:
        try:
            from cryptography.hazmat.primitives.ciphers import Cipher
            from cryptography.hazmat.primitives.ciphers.algorithms import AES
            from cryptography.hazmat.primitives.ciphers.modes import ECB
        except ImportError:
            raise missing_extra("pseudonyms", "pseudonyms") from None
        # The standard defines its mode on single blocks.
        self._encryptor: Any = Cipher(AES(key), ECB()).encryptor()
        self._radix, self._tweak = radix, tweak

    def encrypt(self, numerals: Sequence[int]) -> list[int]:
        """Return the encrypted numerals, of the same number."""
        return self._run(numerals, range(ROUNDS), 1)

    def decrypt(self, numerals: Sequence[int]) -> list[int]:
        """Return the decrypted numerals."""
        return self._run(numerals, reversed(range(ROUNDS)), -1)

    def _run(self, numerals: Sequence[int], rounds: Any, sign: int) -> list[int]:
        length = len(numerals)
        half = length // 2
        left, right = list(numerals[:half]), list(numerals[half:])
        if self._radix**length < LEAST_DOMAIN:
            raise ValueError(Message("error.value.too_few_texts_possible"))
        width = ceil(ceil((length - half) * log2(self._radix)) / 8)
        head = self._head(length, half)
        for number in rounds:
            known, changed = (right, left) if sign > 0 else (left, right)
            modulus = self._radix ** (half if number % 2 == 0 else length - half)
            value = (self._number(changed) + sign * self._draw(head, number, known, width)) % modulus
            fresh = self._numerals(value, half if number % 2 == 0 else length - half)
            left, right = (right, fresh) if sign > 0 else (fresh, left)
        return left + right

    def _head(self, length: int, half: int) -> bytes:
        parts = (b"\x01\x02\x01", self._radix.to_bytes(3), bytes([ROUNDS, half % 256]))
        return b"".join(parts) + length.to_bytes(4) + len(self._tweak).to_bytes(4)

    def _draw(self, head: bytes, number: int, half: Sequence[int], width: int) -> int:
        """Return the number that a round adds."""
        padding = b"\0" * (-(len(self._tweak) + width + 1) % AES_BLOCK)
        message = self._tweak + padding + bytes([number]) + self._number(half).to_bytes(width)
        block = self._chain(head + message)
        size = 4 * ceil(width / 4) + 4
        more = b"".join(
            self._block(bytes(a ^ b for a, b in zip(block, place.to_bytes(AES_BLOCK), strict=True)))
            for place in range(1, ceil(size / AES_BLOCK))
        )
        return int.from_bytes((block + more)[:size])

    def _chain(self, message: bytes) -> bytes:
        block = b"\0" * AES_BLOCK
        for start in range(0, len(message), AES_BLOCK):
            piece = message[start : start + AES_BLOCK]
            block = self._block(bytes(a ^ b for a, b in zip(block, piece, strict=True)))
        return block

    def _block(self, block: bytes) -> bytes:
        encrypted: bytes = self._encryptor.update(block)
        return encrypted

    def _number(self, numerals: Sequence[int]) -> int:
        number = 0
        for numeral in numerals:
            number = number * self._radix + numeral
        return number

    def _numerals(self, number: int, length: int) -> list[int]:
        numerals = []
        for _ in range(length):
            number, numeral = divmod(number, self._radix)
            numerals.append(numeral)
        return numerals[::-1]


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
