"""Session cookies that only this service can create and read, and that expire or end by signing out."""

import json
import os
import time
import uuid
from contextlib import suppress
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from cryptography.fernet import Fernet, InvalidToken
from starlette.requests import Request
from starlette.responses import Response

from sfumato.dataclass import dataclass

COOKIE = "sfumato_user"
SECRET = "sessions.key"
ENDED = "ended-sessions"


@dataclass(frozen=True, slots=True)
class SignedIn:
    """What a cookie says: who signed in and how. Roles and scopes are those of the configuration at each request.

    Attributes:
        way: How they signed in.
        name: Under which that way knows them.
        label: What pages call them.
        by: What vouched for them, such as the provider; the same name by another one is another user.
    """

    way: str
    name: str
    label: str
    by: str


PARTS = tuple(part.name for part in fields(SignedIn))


def session_secret(folder: Path | None) -> bytes:
    """The secret of the servers that share a folder; without a folder, one for this process."""
    if folder is None:
        return Fernet.generate_key()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / SECRET
    partial = folder / f".{SECRET}.{os.getpid()}.{os.urandom(4).hex()}"
    if not path.exists():
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
            stream.write(Fernet.generate_key())
        with suppress(FileExistsError):
            path.hardlink_to(partial)  # the first of several servers makes it
        partial.unlink()
    return path.read_bytes()


class EndedSessions:
    """The sign-ins that somebody ended: an empty file each, in the folder that servers share, for as long as needed."""

    def __init__(self, folder: Path | None, seconds: float) -> None:
        self._folder, self._seconds = None if folder is None else folder / ENDED, seconds
        self._here: set[str] = set()

    def add(self, session: str) -> None:
        """Note that a sign-in has ended, on all servers.

        Raises:
            OSError: There is no room to note it.
        """
        self._here.add(session)
        if self._folder is not None:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            self._erase_old(self._folder)
            (self._folder / session).touch(0o600)

    def __contains__(self, session: str) -> bool:
        return session in self._here or (self._folder is not None and (self._folder / session).exists())

    def _erase_old(self, folder: Path) -> None:
        """Cookies of before are too old by themselves."""
        oldest = time.time() - 2 * self._seconds
        for path in folder.iterdir():
            with suppress(OSError):
                if path.stat().st_mtime < oldest:
                    path.unlink()


class Sessions:
    """Makes and reads the cookies of users who signed in."""

    def __init__(self, secret: bytes, seconds: float, folder: Path | None = None) -> None:
        self._cipher, self._seconds = Fernet(secret), int(seconds)
        self._ended = EndedSessions(folder, seconds)

    def seal(self, content: dict[str, Any]) -> str:
        """A text that only this service can read."""
        return self._cipher.encrypt(json.dumps(content).encode()).decode()

    def unseal(self, text: str, seconds: int) -> dict[str, Any] | None:
        """What a text holds, if this service made it and not too long ago."""
        try:
            content: dict[str, Any] = json.loads(self._cipher.decrypt(text.encode(), seconds))
        except (InvalidToken, ValueError):
            return None
        return content

    def signed_in(self, cookies: dict[str, str]) -> SignedIn | None:
        """Who signed in with a browser, and how; what they may do is no part of it."""
        content = self._content(cookies)
        if content is None or content["session"] in self._ended:
            return None
        return SignedIn(*(str(content.get(part, "")) for part in PARTS))

    def end(self, cookies: dict[str, str]) -> None:
        """Let a cookie, wherever there is a copy of it, be nobody's any more.

        Raises:
            OSError: There is no room to note it.
        """
        content = self._content(cookies)
        if content is not None:
            self._ended.add(content["session"])

    def _content(self, cookies: dict[str, str]) -> dict[str, Any] | None:
        content = self.unseal(cookies[COOKIE], self._seconds) if COOKIE in cookies else None
        return content if content is not None and "session" in content else None

    def begin(self, request: Request, response: Response, signed_in: SignedIn) -> None:
        """Let a browser be known as a user's."""
        content = {"session": uuid.uuid4().hex, **asdict(signed_in)}
        set_cookie(request, response, COOKIE, self.seal(content), self._seconds)


def set_cookie(request: Request, response: Response, name: str, value: str, seconds: int) -> None:
    """Give a browser a cookie that no script reads, and that goes with links from other sites but not with forms."""
    secure = request.url.scheme == "https"
    response.set_cookie(name, value, max_age=seconds, httponly=True, samesite="lax", secure=secure, path="/")
