"""The key that creates pseudonyms and reverses them."""

from dataclasses import field
from hashlib import blake2b, sha256
from secrets import token_bytes
from typing import Any

from sfumato.dataclass import dataclass
from sfumato.errors import PlanError

KEY_BYTES = 64
FORMAT_BYTES = 32


@dataclass(frozen=True, slots=True)
class PseudonymKey:
    """A key and its domain: equal identifiers have equal pseudonyms only within one domain.

    Attributes:
        domain: The pseudonymization domain: who uses these pseudonyms for what purpose.
    """

    domain: str
    secret: bytes = field(repr=False)

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
            raise PlanError("key.the_key_file_of")
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
