"""Who may use the service: everyone when no keys are set, else whoever sends one."""

from http import HTTPStatus
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import APIKeyHeader, HTTPAuthorizationCredentials, HTTPBearer

from sfumato.service.http.keys import ApiKeys
from sfumato.service.http.problems import RefusedError

_header = APIKeyHeader(name="X-API-Key", auto_error=False, description="A key, where the service asks for one.")
_bearer = HTTPBearer(auto_error=False, description="The same key as a bearer token.")


async def needs_key(
    request: Request,
    key: Annotated[str | None, Depends(_header)],
    bearer: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
) -> None:
    """Turn away a request without a valid key; routers name this as a dependency.

    Raises:
        RefusedError: Keys are set, and the request has none of them.
    """
    keys: ApiKeys | None = request.app.state.api_keys
    sent = key or (bearer.credentials if bearer else None)
    if keys is not None and not (sent and keys.opens(sent)):
        what = "A valid API key is needed (header X-API-Key)."
        raise RefusedError(HTTPStatus.UNAUTHORIZED, "access.key", what, {"www-authenticate": "Bearer"})
