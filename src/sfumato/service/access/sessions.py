"""Sign-ins that last: a cookie that only this service can make and read, and that ends by itself."""

import json
import os
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cryptography.fernet import Fernet, InvalidToken
from starlette.requests import Request
from starlette.responses import Response

from sfumato.service.access.users import User

COOKIE = "sfumato_user"
SECRET = "sessions.key"


def session_secret(folder: Path | None) -> bytes:
    """The secret of the servers that share a folder; without a folder, one for this process."""
    if folder is None:
        return Fernet.generate_key()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / SECRET
    partial = folder / f".{SECRET}.{os.getpid()}.{os.urandom(4).hex()}"
    if not path.exists():
        partial.write_bytes(Fernet.generate_key())
        partial.chmod(0o600)
        with suppress(FileExistsError):
            path.hardlink_to(partial)  # the first of several servers makes it
        partial.unlink()
    return path.read_bytes()


class Sessions:
    """Makes and reads the cookies of users who signed in."""

    def __init__(self, secret: bytes, seconds: float) -> None:
        self._cipher, self._seconds = Fernet(secret), int(seconds)

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

    def user(self, cookies: dict[str, str]) -> User | None:
        """Who signed in with a browser."""
        content = self.unseal(cookies[COOKIE], self._seconds) if COOKIE in cookies else None
        return None if content is None else User(**content | {"scopes": frozenset(content["scopes"])})

    def begin(self, request: Request, response: Response, user: User) -> None:
        """Let a browser be known as a user's."""
        content = asdict(user) | {"scopes": sorted(user.scopes)}
        set_cookie(request, response, COOKIE, self.seal(content), self._seconds)


def set_cookie(request: Request, response: Response, name: str, value: str, seconds: int) -> None:
    """Give a browser a cookie that no script reads, and that goes with links from other sites but not with forms."""
    secure = request.url.scheme == "https"
    response.set_cookie(name, value, max_age=seconds, httponly=True, samesite="lax", secure=secure, path="/")
