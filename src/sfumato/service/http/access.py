"""Access control: open to everyone if no sign-in is configured, otherwise only for signed-in users and API keys."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import APIKeyHeader, HTTPAuthorizationCredentials, HTTPBearer

from sfumato.service.access.authentication import Authenticator
from sfumato.service.access.users import ANYONE, Scope, User

_header = APIKeyHeader(name="X-API-Key", auto_error=False, description="A key, where the service asks for one.")
_bearer = HTTPBearer(auto_error=False, description="The same key as a bearer token.")


def check_key(request: Request, scope: Scope) -> None:
    """Refuse a request of a user without access to a part of the service."""
    door: Authenticator = request.app.state.door
    door.admit(request, scope)


def needs_key(scope: Scope) -> Callable[..., Awaitable[None]]:
    """Return a dependency that checks access and appears in the documentation."""

    async def needed(
        request: Request,
        _key: Annotated[str | None, Depends(_header)],
        _token: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
    ) -> None:
        check_key(request, scope)

    return needed


def user_of(request: Request) -> User:
    """Return the admitted user of a request."""
    user: User = getattr(request.state, "user", ANYONE)
    return user
