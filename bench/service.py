"""Load on the service: 1,000-record requests from a real client at two workers; then memory over 10,000 requests."""

import argparse
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

CONFIGURATION = {
    "name": {"anonymisationType": "Masking", "dataType": "String"},
    "born": {"anonymisationType": "Randomization", "dataType": "Date"},
    "income": {"anonymisationType": "Generalization", "dataType": "Numeric"},
    "address": {"anonymisationType": "Generalization", "dataType": "Address"},
}
WARM_REQUESTS = 1_000


@dataclass(slots=True)
class Load:
    """What the clients saw: the seconds of each request that was answered well, and how many were not."""

    seconds: list[float] = field(default_factory=list)
    errors: int = 0


def body(records: int) -> bytes:
    """A request of invented persons, the same at each run."""
    dice = random.Random(1)
    data = [
        {
            "name": f"Person {number}",
            "born": f"{dice.randrange(1930, 2010)}-{dice.randrange(1, 13):02d}-{dice.randrange(1, 29):02d}",
            "income": dice.randrange(10_000, 90_000),
            "address": f"Street {number}, {dice.randrange(1000, 1010)} Town {number % 40}, State {number % 5}, Land",
        }
        for number in range(records)
    ]
    return json.dumps({"configuration": CONFIGURATION, "data": data}).encode()


@contextmanager
def served(workers: int) -> Iterator[tuple[str, int]]:
    """A started service: its address and the process' number."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    code = "import sys; from sfumato.cli.main import main; main(sys.argv[1:])"
    command = [sys.executable, "-c", code, "serve", "--port", str(port), "--workers", str(workers)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        wait_for(f"http://127.0.0.1:{port}/health/ready")
        yield f"http://127.0.0.1:{port}", process.pid
    finally:
        process.terminate()
        process.wait(30)


def wait_for(address: str) -> None:
    """Return when the service is ready."""
    for _ in range(300):
        try:
            if httpx.get(address, trust_env=False).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.1)
    raise SystemExit("the service did not start")


def drive(address: str, content: bytes, clients: int, *, seconds: float = 1e9, requests: int = 10**9) -> Load:
    """Send requests from several clients until the time or their number is reached."""
    load, lock = Load(), threading.Lock()
    left = iter(range(requests))
    end = time.perf_counter() + seconds

    def send() -> None:
        with httpx.Client(base_url=address, timeout=60, trust_env=False) as client:
            while time.perf_counter() < end:
                with lock:
                    if next(left, None) is None:
                        return
                _one(client, content, load, lock)

    threads = [threading.Thread(target=send) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return load


def _one(client: httpx.Client, content: bytes, load: Load, lock: threading.Lock) -> None:
    started = time.perf_counter()
    try:
        answer = client.put("/api/anonymise", content=content, headers={"content-type": "application/json"})
        fine = answer.status_code == 202
    except httpx.HTTPError:
        fine = False
    with lock:
        if fine:
            load.seconds.append(time.perf_counter() - started)
        else:
            load.errors += 1


def memory(parent: int) -> float:
    """Megabytes that a process and its children hold, where the system tells."""
    total = 0
    for path in Path("/proc").glob("[0-9]*"):
        try:
            fields = (path / "stat").read_text().rsplit(")", 1)[1].split()
            if parent in (int(path.name), int(fields[1])):
                total += int((path / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, IndexError):
            continue
    return total / 1e6


def report_load(load: Load, seconds: float, records: int) -> None:
    """Print throughput and times."""
    times = sorted(load.seconds)
    done = len(times)
    p99 = times[min(done - 1, int(done * 0.99))]
    rate = f"{done / seconds:.1f} requests/s, {done * records / seconds:,.0f} records/s"
    print(f"requests {done}, errors {load.errors}, {rate}")
    print(f"median {statistics.median(times) * 1000:.1f} ms, p99 {p99 * 1000:.1f} ms, worst {times[-1] * 1000:.1f} ms")


def report_memory(address: str, pid: int, content: bytes, clients: int, requests: int) -> bool:
    """Print the memory along the requests; whether it stayed the same but for a tenth."""
    drive(address, content, clients, requests=WARM_REQUESTS)
    start, errors = memory(pid), 0
    held = [start]
    for _ in range(4):
        errors += drive(address, content, clients, requests=requests // 4).errors
        held.append(memory(pid))
    print(f"memory over {requests} requests: " + " → ".join(f"{size:.0f}" for size in held) + f" MB, errors {errors}")
    return errors == 0 and held[-1] <= start * 1.1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the load and print the figures; 1 when there was an error or memory grew."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--records", type=int, default=1_000)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--requests", type=int, default=10_000, help="for memory; 0 leaves it out")
    asked = parser.parse_args(arguments)
    with served(asked.workers) as (address, pid):
        drive(address, body(asked.records), asked.clients, requests=20)
        started = time.perf_counter()
        load = drive(address, body(asked.records), asked.clients, seconds=asked.seconds)
        report_load(load, time.perf_counter() - started, asked.records)
        steady = not asked.requests or report_memory(address, pid, body(100), asked.clients, asked.requests)
    return 0 if steady and not load.errors else 1


if __name__ == "__main__":
    raise SystemExit(main())
