"""Routes for signing in and out: a form for API keys, or the redirects to and from an OpenID provider."""

import asyncio
import json
import logging
from html import escape
from urllib.parse import parse_qs

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from sfumato.localization.messages import Message, Messages, accepted_words
from sfumato.service.access.authentication import Authenticator
from sfumato.service.access.openid import Attempt, OpenId, SignInError, new_attempt
from sfumato.service.access.sessions import COOKIE, User, set_cookie
from sfumato.service.problems import RefusedError
from sfumato.values import asdict

LOG = logging.getLogger("sfumato.service")
PATH, CALLBACK, LEAVING = "/sign-in", "/sign-in/callback", "/sign-out"
ATTEMPT = "sfumato_sign_in"
ATTEMPT_SECONDS = 600
MOST_BYTES = 4_000
HOME = "/app"
POLICY = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'"
# Without a referrer, browsers would send the form without an origin, and it would be refused.
HEADERS = {"content-security-policy": POLICY, "referrer-policy": "same-origin"}
PAGE = """<!doctype html><html lang="{language}"><head><meta charset="utf-8"><title>Sfumato</title>
<meta name="viewport" content="width=device-width"><style>body{{font:1rem/1.5 system-ui,sans-serif;margin:4rem auto;
max-width:24rem;padding:0 1rem}}label,input,button{{display:block;width:100%;box-sizing:border-box;font:inherit;
margin:.4rem 0}}input,button{{padding:.5rem}}.fault{{color:#a00}}</style></head><body><h1>Sfumato</h1>{fault}
<p>{needed}</p><form method="post" action="{path}"><label for="key">{key}</label>
<input id="key" name="key" type="password" autocomplete="off" autofocus required>
<input type="hidden" name="next" value="{target}"><button>{enter}</button></form></body></html>"""


def sign_in_routes(door: Authenticator) -> APIRouter:
    """Return the router for signing in, by the configured method."""
    router = APIRouter(include_in_schema=False)
    router.add_api_route(LEAVING, _leaving(door), methods=["GET", "POST"])
    if door.openid is not None:
        router.add_api_route(PATH, _to_provider(door, door.openid), methods=["GET"])
        router.add_api_route(CALLBACK, _from_provider(door, door.openid), methods=["GET"])
    elif door.keys is not None:
        router.add_api_route(PATH, _form, methods=["GET"])
        router.add_api_route(PATH, _by_key(door), methods=["POST"])
    return router


def own_path(text: str) -> str:
    """Return a path of this service as the redirect target; anything else becomes the start page.

    >>> own_path("/app/tables"), own_path("//evil.example"), own_path("https://evil.example"), own_path("/\\\\evil")
    ('/app/tables', '/app', '/app', '/app')
    """
    plain = text.startswith("/") and not text.startswith(("//", "/\\")) and text.isascii() and text.isprintable()
    return text if plain and len(text) <= 500 else HOME


async def _form(request: Request, next: str = HOME) -> HTMLResponse:
    return _key_page(request, next)


def _key_page(request: Request, target: str, fault: bool = False) -> HTMLResponse:
    words: Messages = accepted_words(request.headers.get("accept-language", ""))
    told = f'<p class="fault" role="alert">{escape(words["key_wrong"])}</p>' if fault else ""
    texts = {"needed": words["key_needed"], "key": words["key"], "enter": words["enter"]}
    texts |= {"target": own_path(target), "path": PATH}
    shown = {name: escape(text, quote=True) for name, text in texts.items()}
    page = PAGE.format(language=words.language, fault=told, **shown)
    return HTMLResponse(page, 401 if fault else 200, HEADERS)


def _by_key(door: Authenticator):  # type: ignore[no-untyped-def]  # noqa: ANN202
    async def enter(request: Request) -> Response:
        fields = parse_qs((await _small_body(request)).decode("utf-8", "replace"))
        target = own_path(fields.get("next", [HOME])[0])
        user = door.keys.find(fields.get("key", [""])[0]) if door.keys is not None else None
        if user is None or "pages" not in user.scopes:
            await _note(door, "", "sign-in refused")
            return _key_page(request, target, fault=True)
        return await _admitted(door, request, user, target)

    return enter


async def _small_body(request: Request) -> bytes:
    body = b""
    async with asyncio.timeout(30):
        async for part in request.stream():
            body += part
            if len(body) > MOST_BYTES:
                raise RefusedError("limit.body", Message("error.part.this_is_no_key"))
    return body


def _to_provider(door: Authenticator, openid: OpenId):  # type: ignore[no-untyped-def]  # noqa: ANN202
    async def go(request: Request, next: str = HOME) -> Response:
        base = f"{request.url.scheme}://{request.headers['host']}"
        attempt = new_attempt(base + CALLBACK, own_path(next))
        response = RedirectResponse(await asyncio.to_thread(openid.address, attempt), 303)
        set_cookie(request, response, ATTEMPT, door.sessions.seal(asdict(attempt)), ATTEMPT_SECONDS)
        return response

    return go


def _from_provider(door: Authenticator, openid: OpenId):  # type: ignore[no-untyped-def]  # noqa: ANN202
    async def come_back(request: Request, code: str = "", state: str = "") -> Response:
        begun = door.sessions.unseal(request.cookies.get(ATTEMPT, ""), ATTEMPT_SECONDS)
        attempt = Attempt(**begun) if begun is not None else None
        try:
            if attempt is None or not code or state != attempt.state:
                raise SignInError("it was not begun here, or the provider refused it")
            user = await asyncio.to_thread(openid.user, attempt, code)
        except SignInError as error:
            LOG.warning(json.dumps({"sign-in": str(error)}))
            await _note(door, "", "sign-in refused")
            raise RefusedError("access.openid", Message("request.sign_in_failed")) from None
        return await _admitted(door, request, user, attempt.target)

    return come_back


async def _admitted(door: Authenticator, request: Request, user: User, target: str) -> Response:
    await _note(door, user.owner, "sign-in")
    response = RedirectResponse(target, 303)
    door.sessions.begin(request, response, door.signed_in(user))
    response.delete_cookie(ATTEMPT, path="/")
    return response


def _leaving(door: Authenticator):  # type: ignore[no-untyped-def]  # noqa: ANN202
    async def leave(request: Request) -> Response:
        signed_in = door.sessions.signed_in(request.cookies)
        if signed_in is not None:
            await asyncio.to_thread(door.sessions.end, request.cookies)
            await _note(door, f"{signed_in.way}:{signed_in.name}", "sign-out")
        response = RedirectResponse("/", 303)
        response.delete_cookie(COOKIE, path="/")
        return response

    return leave


async def _note(door: Authenticator, who: str, what: str) -> None:
    await asyncio.to_thread(door.audit.note, who, what)
