"""API keys: long random texts of which the service knows only the hash.

A file has one line a key, `name:sha256-of-the-key`. The keys are made by `new_key` with 256 bits of entropy, so that a
plain hash cannot be guessed back.
"""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from pathlib import Path

from sfumato.errors import PlanError

LINE = re.compile(r"(?P<name>[A-Za-z0-9._-]{1,64}):(?P<hash>[0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class ApiKeys:
    """The hashes of the keys that open the service."""

    hashes: tuple[str, ...]

    def opens(self, key: str) -> bool:
        """Whether a key is one of them; the time it takes does not depend on which, nor on how much of it fits."""
        sent = digest(key)
        matches = [hmac.compare_digest(sent, entry) for entry in self.hashes]
        return any(matches)


def digest(key: str) -> str:
    """The hash under which a key is kept."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def new_key(name: str) -> tuple[str, str]:
    """A new key, and the line of the file that lets it in.

    Raises:
        PlanError: The name has letters that a line cannot hold.
    """
    key = secrets.token_urlsafe(32)
    line = f"{name}:{digest(key)}"
    if not LINE.fullmatch(line):
        raise PlanError(
            "the key's name is not valid.", "Use letters, digits, dots, hyphens; at most 64.", "api-key-name"
        )
    return key, line


def read_keys(path: Path) -> ApiKeys:
    """The keys of a file; empty lines and lines that start with # are left out.

    Raises:
        PlanError: The file cannot be read, has no key, or a line holds no hash (a plain key, say).
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise PlanError(f"the file of API keys {path.name} cannot be read.", "Check the path.", "api-keys") from None
    entries = [(number, line.strip()) for number, line in enumerate(lines, 1) if line.strip() and line[0] != "#"]
    matches = [(number, LINE.fullmatch(line)) for number, line in entries]
    wrong = [number for number, match in matches if not match]
    if wrong or not matches:
        where = f"line {wrong[0]} of {path.name} is not name:sha256." if wrong else f"{path.name} has no key."
        raise PlanError(where, "Make a line with: sfumato serve --new-api-key NAME", "api-keys")
    return ApiKeys(tuple(match["hash"] for _, match in matches if match))
