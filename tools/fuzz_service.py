"""Send requests generated from the OpenAPI document, and damaged ones, for a limited time, while watching the memory.

`python tools/fuzz_service.py [SECONDS]` starts its own server. It exits with 1 if the server responds with an internal
error, lets a request hang, or uses at the end over a tenth more memory than after the first quarter.
"""

import json
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.generation import GenerationMode

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "service")]

from bench.service import memory, served  # noqa: E402

from conftest import GRAPH  # noqa: E402
from test_fuzz import bodies, mutated  # noqa: E402

HANGING_SECONDS = 60.0
BATCH = 25
QUARTERS = 4
BOUNDED = settings(
    max_examples=BATCH,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


class Tally:
    """Counts of responses, and invalid ones."""

    def __init__(self) -> None:
        self.answers: Counter[int] = Counter()
        self.faults: list[str] = []

    def note(self, what: str, status: int, seconds: float) -> None:
        """Record a response."""
        self.answers[status] += 1
        if status >= 500 and status not in (503, 507):
            self.faults.append(f"{status}: {what}")
        if seconds > HANGING_SECONDS:
            self.faults.append(f"{seconds:.0f} seconds: {what}")


def graph_server() -> tuple[ThreadingHTTPServer, str]:
    """Start a server of configurations; return it with the address of one."""
    content = json.dumps(GRAPH).encode()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/ld+json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_address[1]}/Patient"


def made_up(address: str, tally: Tally) -> list[Callable[[], None]]:
    """Return one round for each operation of the document, with valid and invalid requests."""
    schema = schemathesis.openapi.from_url(f"{address}/openapi.json")
    operations = [entry.ok() for entry in schema.get_all_operations()]
    return [
        lambda operation=operation, mode=mode: _drive(operation, mode, tally)
        for operation in operations
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
        if mode is GenerationMode.POSITIVE or operation.body
        if not operation.path.endswith("/events")  # it continues as long as its job
    ]


def _drive(operation: object, mode: GenerationMode, tally: Tally) -> None:
    @BOUNDED
    @given(case=operation.as_strategy(generation_mode=mode))  # type: ignore[attr-defined]
    def drive(case: object) -> None:
        began = time.monotonic()
        answer = case.call()  # type: ignore[attr-defined]
        tally.note(operation.label, answer.status_code, time.monotonic() - began)  # type: ignore[attr-defined]

    drive()


def damaged(address: str, graph: str, tally: Tally, dice: random.Random) -> Callable[[], None]:
    """Return one round of valid requests with damage."""
    requests = bodies(graph)

    def drive() -> None:
        with httpx.Client(base_url=address, timeout=2 * HANGING_SECONDS, trust_env=False) as client:
            for path, body in requests.items():
                for _ in range(BATCH):
                    content, began = json.dumps(mutated(body, dice)).encode(), time.monotonic()
                    answer = client.post(path, content=content, headers={"Content-Type": "application/json"})
                    tally.note(path, answer.status_code, time.monotonic() - began)

    return drive


def main(arguments: Sequence[str]) -> int:
    seconds = float(arguments[0]) if arguments else 300.0
    seed, tally = random.SystemRandom().randrange(1 << 32), Tally()
    print(f"seed {seed}, {seconds:g} seconds")
    server, graph = graph_server()
    with tempfile.TemporaryDirectory() as folder:
        options = (
            "--jobs",
            folder,
            "--allow-config-host",
            "127.0.0.1",
            "--max-jobs",
            "100000",
            "--keep-hours",
            "0.005",
        )
        with served(*options) as (address, pid):
            rounds = [*made_up(address, tally), damaged(address, graph, tally, random.Random(seed))]
            sizes = []
            for quarter in range(QUARTERS):
                end = time.monotonic() + seconds / QUARTERS
                while time.monotonic() < end:
                    for go in rounds:
                        go()
                time.sleep(3)
                sizes.append(memory(pid))
                print(
                    f"after quarter {quarter + 1}: {sum(tally.answers.values()):,} requests, {sizes[-1]:.0f} MB",
                    flush=True,
                )
    server.shutdown()
    print(f"answers {dict(sorted(tally.answers.items()))}, faults {len(tally.faults)}")
    for fault in sorted(set(tally.faults))[:20]:
        print(f"  {fault}")
    return int(bool(tally.faults) or sizes[-1] > 1.1 * sizes[0])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
