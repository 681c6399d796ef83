"""Access control: open to everyone if no sign-in is configured, otherwise only for signed-in users and API keys."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import APIKeyHeader, HTTPAuthorizationCredentials, HTTPBearer

from sfumato.service.access.authentication import Door
from sfumato.service.access.users import ANYONE, Scope, User

_header = APIKeyHeader(name="X-API-Key", auto_error=False, description="A key, where the service asks for one.")
_bearer = HTTPBearer(auto_error=False, description="The same key as a bearer token.")


def check_key(request: Request, scope: Scope) -> None:
    """Turn away a request of somebody who may not use a part of the service.

    Raises:
        RefusedError: They may not.
    """
    door: Door = request.app.state.door
    door.admit(request, scope)


def needs_key(scope: Scope) -> Callable[..., Awaitable[None]]:
    """The same for routers, which name it as a dependency, so that the documentation says it."""

    async def needed(
        request: Request,
        _key: Annotated[str | None, Depends(_header)],
        _token: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
    ) -> None:
        check_key(request, scope)

    return needed


def user_of(request: Request) -> User:
    """Who asks, once they were admitted."""
    user: User = getattr(request.state, "user", ANYONE)
    return user
