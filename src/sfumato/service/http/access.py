"""Who may use the service: everyone when no keys are set, else whoever sends one."""

from http import HTTPStatus
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import APIKeyHeader, HTTPAuthorizationCredentials, HTTPBearer

from sfumato.service.http.keys import ApiKeys
from sfumato.service.http.problems import RefusedError

_header = APIKeyHeader(name="X-API-Key", auto_error=False, description="A key, where the service asks for one.")
_bearer = HTTPBearer(auto_error=False, description="The same key as a bearer token.")


def sent_key(request: Request) -> str:
    """The key that a request sends; empty where it sends none."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return request.headers.get("x-api-key") or (token if scheme.lower() == "bearer" else "")


def check_key(request: Request) -> None:
    """Turn away a request without a valid key.

    Raises:
        RefusedError: Keys are set, and the request has none of them.
    """
    keys: ApiKeys | None = request.app.state.api_keys
    if keys is not None and not keys.opens(sent_key(request)):
        what = "A valid API key is needed (header X-API-Key)."
        raise RefusedError(HTTPStatus.UNAUTHORIZED, "access.key", what, {"www-authenticate": "Bearer"})


async def needs_key(
    request: Request,
    _key: Annotated[str | None, Depends(_header)],
    _token: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
) -> None:
    """The same for routers, which name it as a dependency, so that the documentation says it."""
    check_key(request)
