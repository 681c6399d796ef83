"""Users, what they may do, and the session cookies that only this service can create and read."""

import json
import os
import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from cryptography.fernet import Fernet, InvalidToken
from starlette.requests import Request
from starlette.responses import Response

from sfumato.values import Value, asdict, fields

COOKIE = "sfumato_user"
SECRET = "sessions.key"
ENDED = "ended-sessions"


class SignedIn(Value):
    """The content of a cookie: who signed in and how. Roles and scopes come from the configuration at each request.

    Attributes:
        way: The sign-in method.
        name: The user's name with that method.
        label: The name shown on pages.
        by: What authorized the user, such as the provider; the same name by another one is another user.
    """

    way: str
    name: str
    label: str
    by: str


PARTS = fields(SignedIn)


def session_secret(folder: Path | None) -> bytes:
    """Return the secret of the servers that share a folder; without a folder, one for this process."""
    if folder is None:
        return Fernet.generate_key()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / SECRET
    partial = folder / f".{SECRET}.{os.getpid()}.{os.urandom(4).hex()}"
    if not path.exists():
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
            stream.write(Fernet.generate_key())
        with suppress(FileExistsError):
            path.hardlink_to(partial)  # the first of several servers creates it
        partial.unlink()
    return path.read_bytes()


class EndedSessions:
    """Sessions that were ended: an empty file for each, in the shared folder, as long as needed."""

    def __init__(self, folder: Path | None, seconds: float) -> None:
        self._folder, self._seconds = None if folder is None else folder / ENDED, seconds
        self._here: set[str] = set()

    def add(self, session: str) -> None:
        """Record on all servers that a session has ended.

        Raises:
            OSError: There is no free space for the record.
        """
        self._here.add(session)
        if self._folder is not None:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            self._erase_old(self._folder)
            (self._folder / session).touch(0o600)

    def __contains__(self, session: str) -> bool:
        return session in self._here or (self._folder is not None and (self._folder / session).exists())

    def _erase_old(self, folder: Path) -> None:
        """Delete records of sessions whose cookies have expired."""
        oldest = time.time() - 2 * self._seconds
        for path in folder.iterdir():
            with suppress(OSError):
                if path.stat().st_mtime < oldest:
                    path.unlink()


class Sessions:
    """Creates and reads the cookies of signed-in users."""

    def __init__(self, secret: bytes, seconds: float, folder: Path | None = None) -> None:
        self._cipher, self._seconds = Fernet(secret), int(seconds)
        self._ended = EndedSessions(folder, seconds)

    def seal(self, content: dict[str, Any]) -> str:
        """Encrypt content so that only this service can read it."""
        return self._cipher.encrypt(json.dumps(content).encode()).decode()

    def unseal(self, text: str, seconds: int) -> dict[str, Any] | None:
        """Return the content of an encrypted text, or None if it is not from this service or too old."""
        try:
            content: dict[str, Any] = json.loads(self._cipher.decrypt(text.encode(), seconds))
        except (InvalidToken, ValueError):
            return None
        return content

    def signed_in(self, cookies: dict[str, str]) -> SignedIn | None:
        """Return who signed in with a browser, and how; their permissions are not included."""
        content = self._content(cookies)
        if content is None or content["session"] in self._ended:
            return None
        return SignedIn(*(str(content.get(part, "")) for part in PARTS))

    def end(self, cookies: dict[str, str]) -> None:
        """End a session, so that every copy of its cookie becomes invalid.

        Raises:
            OSError: There is no free space for the record.
        """
        content = self._content(cookies)
        if content is not None:
            self._ended.add(content["session"])

    def _content(self, cookies: dict[str, str]) -> dict[str, Any] | None:
        content = self.unseal(cookies[COOKIE], self._seconds) if COOKIE in cookies else None
        return content if content is not None and "session" in content else None

    def begin(self, request: Request, response: Response, signed_in: SignedIn) -> None:
        """Begin a session of a user in a browser."""
        content = {"session": uuid.uuid4().hex, **asdict(signed_in)}
        set_cookie(request, response, COOKIE, self.seal(content), self._seconds)


def set_cookie(request: Request, response: Response, name: str, value: str, seconds: int) -> None:
    """Set a cookie that no script can read, and that is sent with links from other sites but not with forms."""
    secure = request.url.scheme == "https"
    response.set_cookie(name, value, max_age=seconds, httponly=True, samesite="lax", secure=secure, path="/")


Role = Literal["user", "admin"]
Scope = Literal["attributes", "jobs", "pages"]
Way = Literal["", "key", "proxy", "openid"]
ROLES: tuple[Role, ...] = ("user", "admin")
SCOPES: tuple[Scope, ...] = ("attributes", "jobs", "pages")


class User(Value):
    """The sender of a request.

    Attributes:
        name: The user's name with the sign-in method; empty if no sign-in is needed.
        way: The sign-in method.
        role: Admins see and cancel all jobs; results are accessible to their owner only.
        scopes: The permitted parts of the service.
        label: The name shown on pages.
    """

    name: str = ""
    way: Way = ""
    role: Role = "user"
    scopes: frozenset[Scope] = frozenset(SCOPES)
    label: str = ""

    @property
    def owner(self) -> str:
        """The owner of the user's jobs; a key and a person of the same name are different owners."""
        return f"{self.way}:{self.name}" if self.name else ""


# The user if no sign-in is needed.
ANYONE = User()
