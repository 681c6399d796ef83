"""API keys: long random texts of which the service stores only the hash; the key file is watched while it runs.

The file has one line per key: `name:sha256-of-the-key`, followed, if needed, by `role=admin`, `scopes=attributes,jobs`,
`expires=2027-01-31` and `revoked=2026-11-16`. Keys have 256 bits of entropy, so the plain hash cannot be guessed.
"""

import fcntl
import grp
import hashlib
import hmac
import json
import logging
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path

from sfumato.errors import PlanError
from sfumato.localization.messages import Message
from sfumato.service.access.sessions import ROLES, SCOPES, Role, Scope, User
from sfumato.service.problems import RefusedError
from sfumato.values import Value, replace

LOG = logging.getLogger("sfumato.service")
LINE = re.compile(r"(?P<name>[A-Za-z0-9._-]{1,64}):(?P<hash>[0-9a-f]{64})(?P<rest>( [a-z]+=[a-z0-9,-]+)*)")
NOTES = ("role", "scopes", "expires", "revoked")
# Maximum age of the keys in memory; a revoked key is refused after that time.
LOOKING_SECONDS = 0.5


class Key(Value):
    """A key; it is valid through the day `expires` (UTC), and invalid at once when it is revoked."""

    name: str
    hash: str
    role: Role = "user"
    scopes: tuple[Scope, ...] = SCOPES
    expires: date | None = None
    revoked: date | None = None

    def holds(self, day: date) -> bool:
        """Return whether the key is valid on a day."""
        return self.revoked is None and (self.expires is None or day <= self.expires)

    def user(self) -> User:
        """Return the user of the key."""
        return User(self.name, "key", self.role, frozenset(self.scopes), self.name)

    def line(self) -> str:
        """Return the line of the key in a file."""
        notes = [f"role={self.role}"] if self.role != "user" else []
        notes += [f"scopes={','.join(self.scopes)}"] if self.scopes != SCOPES else []
        notes += [f"expires={self.expires}"] if self.expires else []
        notes += [f"revoked={self.revoked}"] if self.revoked else []
        return " ".join([f"{self.name}:{self.hash}", *notes])


def today() -> date:
    """Return the current day, in UTC."""
    return datetime.now(UTC).date()


def digest(key: str) -> str:
    """Return the hash under which a key is stored."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def make_key(
    name: str, role: Role = "user", scopes: tuple[Scope, ...] = SCOPES, expires: date | None = None
) -> tuple[str, Key]:
    """Generate a key, and return it with its entry for a file.

    Raises:
        PlanError: The name has characters that a line cannot contain.
    """
    text = secrets.token_urlsafe(32)
    key = Key(name, digest(text), role, scopes, expires)
    if not LINE.fullmatch(key.line()):
        raise PlanError("api-key-name.key_name_not_valid")
    return text, key


def new_key(name: str) -> tuple[str, str]:
    """Generate a key for all scopes, and return it with its line for a file."""
    text, key = make_key(name)
    return text, key.line()


def read_keys(path: Path) -> tuple[Key, ...]:
    """Read the keys of a file; empty lines and lines that start with # are ignored.

    Raises:
        PlanError: The file cannot be read, has no key, or a line contains no hash (for example a plain key).
    """
    try:
        if path.exists() and not path.is_file():  # a pipe would block everyone until something is written
            raise OSError("no regular file")
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise PlanError("api-keys.unreadable_file", name=path.name) from None
    entries = [(number, line.strip()) for number, line in enumerate(lines, 1)]
    keys = tuple(_key(line, number, path) for number, line in entries if line and line[0] != "#")
    if not keys:
        raise _no_keys("none", path)
    return keys


def _key(line: str, number: int, path: Path) -> Key:
    match = LINE.fullmatch(line)
    if match is None:
        raise _no_keys("line", path, number)
    notes = dict(note.split("=", 1) for note in match["rest"].split())
    scopes = tuple(notes.get("scopes", ",".join(SCOPES)).split(","))
    role = notes.get("role", "user")
    try:
        days = {name: date.fromisoformat(notes[name]) for name in ("expires", "revoked") if name in notes}
    except ValueError:
        raise _no_keys("date", path, number) from None
    if set(notes) - set(NOTES) or set(scopes) - set(SCOPES) or role not in ROLES:
        raise _no_keys("word", path, number)
    known = tuple(scope for scope in SCOPES if scope in scopes)
    return Key(match["name"], match["hash"], role, known, days.get("expires"), days.get("revoked"))


def _no_keys(what: str, path: Path, number: int = 0) -> PlanError:
    message = Message(f"error.plan.api-keys.{what}", name=path.name, **({"line": number} if number else {}))
    return PlanError("api-keys", message=message, hint=Message("hint.make_line_sfumato_keys"))


class KeyFile:
    """The current keys of a file.

    Raises:
        PlanError: The file is invalid when the service starts.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        # State and keys change together: requests in other threads read them meanwhile.
        self._read: tuple[tuple[int, ...], tuple[Key, ...] | None] = (_state(path), read_keys(path))
        self._looked = time.monotonic()

    def find(self, key: str) -> User | None:
        """Return the user of a key, or None; the time does not depend on which key it is or how much of it matches."""
        keys = self._current()
        user = _match(keys, key)
        if user is None:
            self._look(soon=True)
            user = _match(newer, key) if (newer := self._current()) is not keys else None
        return user

    def named(self, name: str) -> User | None:
        """Return the user of a valid key by its name, or None."""
        return next((key.user() for key in self._current() if key.name == name and key.holds(today())), None)

    def hash_of(self, name: str) -> str:
        """Return the hash of a valid key by its name, or an empty text."""
        return next((key.hash for key in self._current() if key.name == name and key.holds(today())), "")

    @property
    def fault(self) -> str | None:
        """The reason why no user can sign in, or None."""
        self._look()
        return "the file of keys cannot be read" if self._read[1] is None else None

    def _look(self, *, soon: bool = False) -> None:
        """Read the file again if it has changed; `soon`: also within the maximum age."""
        now = time.monotonic()
        if now - self._looked <= LOOKING_SECONDS and not soon:
            return
        self._looked, state = now, _state(self._path)
        known_state, known = self._read
        if state == known_state and known is not None:
            return
        self._read = (state, _read_or_none(self._path))
        if known is not None and self._read[1] is None:
            LOG.error(json.dumps({"keys": "the file cannot be read"}))

    def _current(self) -> tuple[Key, ...]:
        """Return the keys; none is accepted while the file cannot be read, because any of them may have been revoked.

        Raises:
            RefusedError: The file cannot be read.
        """
        self._look()
        keys = self._read[1]
        if keys is None:
            what = Message("request.no_keys")
            raise RefusedError("access.keys", what, {"retry-after": "60"})
        return keys


def _match(keys: tuple[Key, ...], key: str) -> User | None:
    sent, day = digest(key), today()
    matches = [entry for entry in keys if hmac.compare_digest(sent, entry.hash)]
    return next((entry.user() for entry in matches if entry.holds(day)), None)


def _read_or_none(path: Path) -> tuple[Key, ...] | None:
    try:
        return read_keys(path)
    except PlanError:
        return None


def _state(path: Path) -> tuple[int, ...]:
    try:
        status = path.stat()
    except OSError:
        return ()
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


def add_key(path: Path, key: Key, group: str | None = None) -> None:
    """Add a key to a file, which may be new; members of a given group may read the file.

    Raises:
        PlanError: The name is taken, there is no such group, or the owner of the file cannot be preserved.
    """
    path = path.resolve()  # a link remains a link
    with _alone(path):
        if path.exists() and any(other.name == key.name for other in _keys_of(path)):
            raise PlanError("api-key-name.there_is_a_key_named", name=key.name)
        _write(path, [*_lines(path), key.line()], _readers(path, group))


def revoke_key(path: Path, name: str) -> None:
    """Revoke a key; its line remains, so that the name is not used again.

    Raises:
        PlanError: There is no such key.
    """
    path = path.resolve()  # the service reads the target of a link
    with _alone(path):
        keys = {key.line(): key for key in _keys_of(path)}
        if not any(key.name == name for key in keys.values()):
            raise PlanError("api-key-name.there_is_no_key_named", name=name)
        gone = {line: replace(key, revoked=today()).line() for line, key in keys.items() if key.name == name}
        _write(path, [gone.get(_normal(line, keys, path), line) for line in _lines(path)], _readers(path))


def _normal(line: str, keys: dict[str, Key], path: Path) -> str:
    text = line.strip()
    return text if text in keys or not text or text[0] == "#" else _key(text, 0, path).line()


def _keys_of(path: Path) -> tuple[Key, ...]:
    return read_keys(path) if _lines(path) else ()


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


class _Readers(Value):
    """The readers of a file: numbers of its owner and group (-1: the system's default), and its mode."""

    owner: int = -1
    group: int = -1
    mode: int = 0o600


def _readers(path: Path, group: str | None = None) -> _Readers:
    """Return the readers of an existing file, or its user only; a group may be given by name or number."""
    readers = _Readers()
    if path.exists():
        status = path.stat()
        readers = _Readers(status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode))
    if group is None:
        return readers
    try:
        number = int(group) if group.isdecimal() else grp.getgrnam(group).gr_gid
    except KeyError:
        raise PlanError("api-key-group") from None
    return replace(readers, group=number, mode=readers.mode | 0o040)


def _write(path: Path, lines: list[str], readers: _Readers) -> None:
    """Write a key file atomically, readable by the same users as before."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write("".join(line + "\n" for line in lines))
            stream.flush()
            os.fchown(descriptor, readers.owner, readers.group)
            os.fchmod(descriptor, readers.mode)
            os.fsync(descriptor)
        partial.replace(path)
    except PermissionError:
        raise PlanError("api-keys.owner_and_group") from None
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Lock a file against changes by other commands."""
    lock = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
