"""A started service, for tests of what it answers over HTTP."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import uvicorn

from sfumato.app import create_app
from sfumato.service.settings import JobSettings, Settings


@contextmanager
def service(settings: Settings | None = None, jobs: JobSettings | None = None) -> Iterator[httpx.Client]:
    """A started service and a client for it."""
    config = uvicorn.Config(
        create_app(settings, jobs),
        port=0,
        ws="none",
        access_log=False,
        log_config=None,
        timeout_graceful_shutdown=10,
        proxy_headers=False,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 120
    while not server.started and time.monotonic() < deadline:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False) as client:
            yield client
    finally:
        server.should_exit = True
        thread.join(20)
