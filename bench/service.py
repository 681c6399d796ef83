"""Load on the service: batches of 1, 100 and 10,000 records with three attributes, and what they cost the server.

The cost is the CPU time of all its processes (server, template, workers), which a busy machine does not change. Then
both cores at eight clients, the tail of single records while large batches run, a two-row job, the guard of JSON-LD
documents, and the memory along many requests.
"""

import argparse
import http.client
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
from urllib.parse import urlsplit

import httpx

CONFIGURATION = {
    "name": {"anonymisationType": "Masking", "dataType": "String"},
    "born": {"anonymisationType": "Randomization", "dataType": "Date"},
    "income": {"anonymisationType": "Generalization", "dataType": "Numeric"},
}
# Records in a batch -> the most CPU seconds that a record may cost.
BARS = {1: 2.5e-3, 100: 35e-6, 10_000: 12e-6}
# So many that the system's count of CPU time, in hundredths of seconds, is fine enough.
REQUESTS = {1: 2_000, 100: 300, 10_000: 40}
JOB_BAR = 0.3
TAIL_BAR = 10.0
TICKS = os.sysconf("SC_CLK_TCK")


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
        }
        for number in range(records)
    ]
    return json.dumps({"configuration": CONFIGURATION, "data": data}).encode()


@contextmanager
def served(*options: str) -> Iterator[tuple[str, int]]:
    """A started service: its address and the process' number."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    code = "import sys; from sfumato.cli.main import main; main(sys.argv[1:])"
    command = [sys.executable, "-c", code, "serve", "--port", str(port), *options]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        wait_for(f"http://127.0.0.1:{port}/health/ready")
        yield f"http://127.0.0.1:{port}", process.pid
    finally:
        process.terminate()
        process.wait(60)


def wait_for(address: str) -> None:
    """Return when the service is ready."""
    for _ in range(600):
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
        place = urlsplit(address)
        client = http.client.HTTPConnection(place.hostname or "", place.port, timeout=120)
        while time.perf_counter() < end:
            with lock:
                if next(left, None) is None:
                    break
            _one(client, content, load, lock)
        client.close()

    threads = [threading.Thread(target=send) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return load


def _one(client: http.client.HTTPConnection, content: bytes, load: Load, lock: threading.Lock) -> None:
    """Send one request, by a client that costs next to nothing: what it takes, the server would not get."""
    started = time.perf_counter()
    try:
        client.request("PUT", "/api/anonymise", content, {"content-type": "application/json"})
        answer = client.getresponse()
        fine = bool(answer.read()) and answer.status == 202
    except (OSError, http.client.HTTPException):
        client.close()
        fine = False
    with lock:
        if fine:
            load.seconds.append(time.perf_counter() - started)
        else:
            load.errors += 1


def family(parent: int) -> dict[int, list[str]]:
    """A process and all that come from it: their numbers, and what the system says of them."""
    entries: dict[int, list[str]] = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            entries[int(path.name)] = (path / "stat").read_text().rsplit(")", 1)[1].split()
        except (OSError, IndexError):
            continue
    members, before = {parent}, 0
    while len(members) > before:
        before = len(members)
        members |= {pid for pid, stat in entries.items() if int(stat[1]) in members}
    return {pid: entries[pid] for pid in members if pid in entries}


def cpu(parent: int) -> float:
    """CPU seconds of a process and all that come from it, those that ended and were waited for included."""
    return sum(sum(map(int, stat[11:15])) for stat in family(parent).values()) / TICKS


def cpu_of(pid: int) -> float:
    """CPU seconds of one process."""
    return sum(map(int, family(pid)[pid][11:13])) / TICKS


def idle_seconds() -> float:
    """Seconds that the machine's cores had nothing to do."""
    return int(Path("/proc/stat").read_text().split("\n", 1)[0].split()[4]) / TICKS


def memory(parent: int) -> float:
    """Megabytes that a process and all that come from it hold by themselves, what they share counted once."""
    total = 0
    for pid in family(parent):
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            total += next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
        except (OSError, StopIteration):
            continue
    return total / 1e3


def report_costs(address: str, pid: int, clients: int) -> bool:
    """Print what a record costs in batches of each size; whether all stay below their bars."""
    fine = True
    for records, bar in BARS.items():
        content, requests = body(records), REQUESTS[records]
        drive(address, content, clients, requests=10)
        before = cpu(pid)
        load = drive(address, content, clients, requests=requests)
        cost = (cpu(pid) - before) / requests / records
        fine &= cost <= bar and not load.errors
        print(f"batch of {records:>6}: {cost * 1e6:8.1f} µs CPU a record (bar {bar * 1e6:.1f}), errors {load.errors}")
    return fine


def report_cores(address: str, pid: int, seconds: float) -> None:
    """Print how many cores the server's processes use at eight clients, beside what the machine had to give.

    The share of the process that all requests go through says how far more cores would help.
    """
    content = body(10_000)
    before, front, started, idle = cpu(pid), cpu_of(pid), time.perf_counter(), idle_seconds()
    load = drive(address, content, 8, seconds=seconds)
    wall = time.perf_counter() - started
    used, own, left = cpu(pid) - before, cpu_of(pid) - front, idle_seconds() - idle
    rate = len(load.seconds) * 10_000 / wall
    print(f"eight clients: {used / wall:.2f} cores, {left / wall:.2f} of {os.cpu_count()} idle, {rate:,.0f} records/s")
    print(f"  of this the process that listens: {own / used:.0%}")


def report_tail(address: str, seconds: float) -> bool:
    """Print the tail of single records while large batches run; whether it stays within ten times the median."""
    large = threading.Thread(target=drive, args=(address, body(10_000), 2), kwargs={"seconds": seconds})
    large.start()
    load = drive(address, body(1), 1, seconds=seconds)
    large.join()
    times = sorted(load.seconds)
    median, p99 = statistics.median(times), times[int(len(times) * 0.99)]
    print(f"single records beside batches of 10,000: median {median * 1e3:.1f} ms, p99 {p99 * 1e3:.1f} ms")
    return p99 <= TAIL_BAR * median


def report_job(address: str, pid: int) -> bool:
    """Print what a two-row job costs; whether it is below its bar."""
    from sfumato.service.jobs.worker import REHEARSED_PLAN, REHEARSED_ROWS

    costs = []
    with httpx.Client(base_url=address, timeout=60, trust_env=False) as client:
        for _ in range(4):
            before = cpu(pid)
            fields = {"kind": "anonymize", "plan": json.dumps(REHEARSED_PLAN)}
            answer = client.post("/api/jobs", data=fields, files={"data": ("rows.csv", REHEARSED_ROWS)})
            while client.get(answer.headers["location"]).json()["state"] in ("queued", "running"):
                time.sleep(0.1)
            time.sleep(0.5)
            costs.append(cpu(pid) - before)
    print(f"a two-row job: {min(costs[1:]):.2f} CPU seconds (bar {JOB_BAR})")
    return min(costs[1:]) <= JOB_BAR


def report_guard() -> None:
    """Print what reading a JSON-LD answer again costs beside making it."""
    from sfumato.attributes.knowledge_graph import documents, leak_check
    from sfumato.attributes.knowledge_graph.parsing import parse

    configuration = parse(
        "@prefix r: <http://www.w3.org/2000/01/rdf-schema#> . @prefix s: <https://w3id.org/soya/ns#> . "
        "@prefix x: <http://www.w3.org/2001/XMLSchema#> . @prefix : <https://a.example/> . "
        ":name r:domain :P ; r:range x:string ; s:classification s:masking . "
        ":pay r:domain :P ; r:range x:integer ; s:classification s:generalization .",
        "text/turtle",
    )
    nodes = [{"@id": f":{n}", "@type": ":P", ":name": {":last": f"N{n}"}, ":pay": n} for n in range(500)]
    document = {"@context": {"": "https://a.example/"}, "@graph": nodes}
    whole, guard = [], []
    check = leak_check.check_places

    def timed(*arguments: object) -> None:
        started = time.process_time()
        check(*arguments)  # type: ignore[arg-type]
        guard.append(time.process_time() - started)

    documents.check_places = timed  # type: ignore[assignment]
    for _ in range(3):
        started = time.process_time()
        documents.anonymize_document(document, configuration, documents.Request())
        whole.append(time.process_time() - started)
    documents.check_places = check
    print(f"guard of a document of 500 nodes: {min(guard) * 1e3:.0f} of {min(whole) * 1e3:.0f} ms CPU")


def report_memory(address: str, pid: int, clients: int, requests: int) -> bool:
    """Print the memory along the requests; whether it stayed the same but for a tenth."""
    content = body(100)
    drive(address, content, clients, requests=1_000)
    errors, sizes = 0, [memory(pid)]
    for _ in range(4):
        errors += drive(address, content, clients, requests=requests // 4).errors
        sizes.append(memory(pid))
    print(f"memory over {requests} requests: " + " → ".join(f"{size:.0f}" for size in sizes) + f" MB, errors {errors}")
    return errors == 0 and sizes[-1] <= sizes[0] * 1.1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the load and print the figures; 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--clients", type=int, default=2)
    parser.add_argument("--requests", type=int, default=10_000, help="for memory; 0 leaves it out")
    chosen = parser.parse_args(arguments)
    report_guard()
    with served() as (address, pid):
        fine = report_job(address, pid)
        fine &= report_costs(address, pid, chosen.clients)
        report_cores(address, pid, chosen.seconds)
        fine &= report_tail(address, chosen.seconds)
        fine &= not chosen.requests or report_memory(address, pid, chosen.clients, chosen.requests)
    return 0 if fine else 1


if __name__ == "__main__":
    raise SystemExit(main())
