"""FF1, the format-preserving encryption of NIST SP 800-38G: numerals of a radix become the same number of others."""

from collections.abc import Sequence
from math import ceil, log2
from typing import Any

from sfumato.errors import missing_extra

ROUNDS = 10
AES_BLOCK = 16
# With fewer possible texts, all could be tried.
LEAST_DOMAIN = 1_000_000


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
        # The standard builds its own mode from single blocks.
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
            raise ValueError("too few texts are possible")
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
        sealed: bytes = self._encryptor.update(block)
        return sealed

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
