"""Compress responses of pages quickly, but not downloads, which would be delayed."""

from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

# Higher levels make pages hardly smaller and much slower.
LEVEL = 1
# Paths of downloads.
DOWNLOADS = "/_nicegui/auto/static/"


class Compression(GZipMiddleware):
    """Middleware that compresses pages and their assets."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(app, compresslevel=LEVEL)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and DOWNLOADS in scope["path"]:
            await self.app(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)
