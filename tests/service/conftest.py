"""A running service and a second server for configurations, both real, on free ports."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from served import service
from sfumato.service.settings import JobSettings, Limits, Settings

CLASS = "https://clinic.example/Patient/"
CONTEXT = {
    "@base": CLASS,
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "soya": "https://w3id.org/soya/ns#",
    "domain": {"@id": "rdfs:domain", "@type": "@id"},
    "range": {"@id": "rdfs:range", "@type": "@id"},
    "classification": {"@id": "soya:classification", "@type": "@id"},
}


def attribute(name: str, kind: str, operation: str | None = None, domain: str = "Patient") -> dict[str, str]:
    entry = {"@id": name, "domain": domain, "range": kind}
    return entry | ({"classification": f"soya:{operation}"} if operation else {})


GRAPH: dict[str, Any] = {
    "@context": CONTEXT,
    "@graph": [
        attribute("name", "xsd:string", "masking"),
        attribute("born", "xsd:date", "randomization"),
        attribute("income", "xsd:integer", "generalization"),
        attribute("home", "Home", "generalization"),
        attribute("street", "xsd:string", domain="Home"),
        attribute("town", "xsd:string", domain="Home"),
        attribute("region", "xsd:string", domain="Home"),
    ],
}
TURTLE = """@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix soya: <https://w3id.org/soya/ns#> . @prefix : <https://clinic.example/Patient/> .
:visit rdfs:domain :Patient ; rdfs:range xsd:dateTime ; soya:classification soya:generalization .
:name rdfs:domain :Patient ; rdfs:range xsd:string ; soya:classification soya:masking .
"""


@dataclass
class Page:
    """The response of the second server for a path."""

    body: bytes
    media_type: str = "application/ld+json"
    status: int = 200
    location: str = ""
    seconds: float = 0.0


@dataclass
class ConfigServer:
    """The second server: its pages, and the requests it got."""

    port: int = 0
    pages: dict[str, Page] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def put(self, path: str, content: Any, **more: Any) -> str:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.pages[path] = Page(body, **more)
        return self.url(path)


@contextmanager
def config_server() -> Iterator[ConfigServer]:
    known = ConfigServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known.asked.append((self.path, self.headers["Host"]))
            page = known.pages.get(self.path, Page(b"", status=404))
            self.send_response(page.status)
            if page.location:
                self.send_header("Location", page.location)
            self.send_header("Content-Type", page.media_type)
            self.send_header("Content-Length", str(len(page.body)))
            self.end_headers()
            for start in range(0, len(page.body), 1024):
                time.sleep(page.seconds)
                try:
                    self.wfile.write(page.body[start : start + 1024])
                except OSError:
                    return

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: Any) -> None:
            pass

    server = Server(("127.0.0.1", 0), Handler)
    known.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield known
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(scope="session")
def configs() -> Iterator[ConfigServer]:
    with config_server() as server:
        server.put("/Patient", GRAPH)
        server.put("/patient.ttl", TURTLE.encode(), media_type="text/turtle")
        yield server


@pytest.fixture(scope="session")
def client(configs: ConfigServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A service with small limits that may fetch from the second server."""
    limits = Limits(body_bytes=2_000_000, records=5_000, nodes=500, depth=16, seconds=10)
    settings = Settings(tmp_path_factory.mktemp("ontologies"), frozenset({"127.0.0.1"}), limits=limits)
    with service(settings) as started:
        yield started


@pytest.fixture
def start() -> Callable[[Settings], Any]:
    return service


@pytest.fixture(scope="session")
def serving() -> Callable[..., Any]:
    """Starts a service with jobs in a folder, without pages."""

    def started(folder: Path, settings: Settings | None = None, **more: Any) -> Any:
        return service(settings, JobSettings(folder, pages=False, **more))

    return started


@pytest.fixture(scope="session")
def worked_example() -> dict[str, Any]:
    return json.loads((Path(__file__).parent / "worked_example.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def until() -> Callable[[Callable[[], bool]], None]:
    """Waits until a condition holds; the time limit only ends hanging tests."""

    def wait(holds: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 600
        while not holds():
            assert time.monotonic() < deadline
            time.sleep(0.05)

    return wait
