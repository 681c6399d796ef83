"""A local HTTP server for pages that tests define."""

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


@dataclass
class Pages:
    """The pages of the server by path: status, headers, body, seconds to wait between its bytes."""

    port: int = 0
    known: dict[str, tuple[int, dict[str, str], bytes, float]] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)

    def put(self, path: str, body: bytes = b"{}", status: int = 200, seconds: float = 0.0, **headers: str) -> str:
        self.known[path] = (status, {name.replace("_", "-"): text for name, text in headers.items()}, body, seconds)
        return self.url(path)

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"


@pytest.fixture
def pages() -> Iterator[Pages]:
    known = Pages()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known.asked.append((self.path, self.headers["Host"]))
            status, headers, body, seconds = known.known.get(self.path, (404, {}, b"", 0.0))
            self.send_response(status)
            for name, text in ({"Content-Length": str(len(body))} | headers).items():
                self.send_header(name, text)
            self.end_headers()
            try:
                for place in range(0, len(body), 1 if seconds else 65536):
                    time.sleep(seconds)
                    self.wfile.write(body[place : place + (1 if seconds else 65536)])
            except OSError:
                pass

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    known.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield known
    server.shutdown()
    server.server_close()
    thread.join()
