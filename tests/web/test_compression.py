"""Pages are compressed, downloads are not: who loads a large file does not wait for it."""

from collections.abc import Callable
from typing import Any

import httpx
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from sfumato.web.page_requests import DOWNLOADS, Compression

TEXT = "age,zip\n" * 1000


async def answers(app: Starlette, paths: list[str]) -> list[httpx.Response]:
    """What each path answers to a browser that takes compressed texts."""
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
        return [await client.get(path, headers={"accept-encoding": "gzip"}) for path in paths]


def test_downloads_are_sent_as_they_are(complete: Callable[..., Any]) -> None:
    paths = ["/page", f"{DOWNLOADS}key/data.csv"]
    routes = [Route(path, lambda _: PlainTextResponse(TEXT)) for path in paths]
    app = Starlette(routes=routes, middleware=[Middleware(Compression)])
    page, download = complete(answers(app, paths))
    assert page.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in download.headers
    assert page.text == download.text == TEXT
