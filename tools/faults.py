"""Run the service through external failures: `python tools/faults.py` exits with 0 if it handles all of them.

A store locked for half a minute, a full disk, a killed worker, servers killed with and without their own folder,
two servers in different process namespaces, a clock that jumps by ten days: nothing may be lost, half published, or
left behind, and readiness must report the problem.
"""

import argparse
import hashlib
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx

from sfumato.datasets import census, patients

WAITING_SECONDS = 300.0
DISK_MEGABYTES = 24
# The server of the command line, with a clock offset read from a file.
CODE = """import sys, time
from pathlib import Path
from typing import Any
clock, shift = time.time, Path(sys.argv.pop(1))
time.time = lambda: clock() + float(shift.read_text() or 0)
from sfumato.cli.main import main
main(sys.argv[1:])"""
APART = ("unshare", "-pf", "--mount-proc", "--kill-child")


@dataclass(slots=True)
class Server:
    """A running server: its process and a client for it."""

    process: "subprocess.Popen[bytes]"
    client: httpx.Client

    def kill(self) -> None:
        """Kill it at once, like a power failure."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """Request its end."""
        self.process.terminate()
        expect(self.process.wait(60) in (0, -signal.SIGTERM), "a server that is asked to stop ends well")


@dataclass(slots=True)
class World:
    """The environment: a small disk, a temporary folder, a clock, and results that must not change."""

    root: Path
    lock_seconds: float
    busy_seconds: float
    lease_seconds: float
    results: dict[str, str] = field(default_factory=dict)

    @property
    def disk(self) -> Path:
        return self.root / "disk"

    @property
    def jobs(self) -> Path:
        return self.disk / "jobs"

    @property
    def clock(self) -> Path:
        return self.root / "clock"

    @property
    def options(self) -> list[str]:
        limits = ["--lease-seconds", self.lease_seconds, "--busy-seconds", self.busy_seconds]
        return ["--jobs", str(self.jobs), "--min-free-bytes", "2000000", *map(str, limits)]


def expect(holds: bool, what: str) -> None:
    """Stop if the service does not behave as required."""
    if not holds:
        raise SystemExit(f"NOT so: {what}")


def wait_until(holds: Callable[[], bool], what: str) -> None:
    """Wait for a condition, for five minutes at most, because loops may have to be compiled."""
    deadline = time.monotonic() + WAITING_SECONDS
    while not holds():
        expect(time.monotonic() < deadline, what)
        time.sleep(0.05)


@contextmanager
def served(world: World, *options: str, before: Sequence[str] = ()) -> Iterator[Server]:
    """Run a server."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [*before, sys.executable, "-c", CODE, str(world.clock), "serve", "--no-pages", "--port", str(port)]
    environment = {**os.environ, "TMPDIR": str(world.root / "temporary")}
    process = subprocess.Popen([*command, *options], stderr=subprocess.DEVNULL, env=environment)
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False) as client:
        try:
            wait_until(lambda: readiness(client) == "ready", "a server starts")
            yield Server(process, client)
        finally:
            process.kill()
            process.wait()


def readiness(client: httpx.Client) -> str:
    """Return the server's readiness."""
    try:
        answer = client.get("/health/ready")
    except httpx.TransportError:
        return "away"
    expect((answer.status_code == 200) == (answer.json()["status"] == "ready"), "status and word of readiness agree")
    return str(answer.json()["status"])


def send(client: httpx.Client, endless: bool = False) -> httpx.Response:
    """Submit a job: an instant one, or one that would take an hour."""
    dataset = census(20_000) if endless else patients()
    plan = dataset.plan("rows.csv", 5) | ({"method": {"name": "k-optimize", "time_limit": 3000}} if endless else {})
    with tempfile.TemporaryDirectory() as folder:
        dataset.write(Path(folder) / "rows.csv")
        rows = (Path(folder) / "rows.csv").read_bytes()
    fields = {"kind": "anonymize", "plan": json.dumps(plan)}
    return client.post("/api/jobs", data=fields, files={"data": ("rows.csv", rows)})


def begun(client: httpx.Client) -> str:
    """Return a job that is in the middle of its search."""
    answer = send(client, endless=True)
    expect(answer.status_code == 202, "a long job is taken")
    place = answer.headers["location"]
    wait_until(lambda: told(client, place)["progress"]["stage"] == "search", "a long job begins")
    return str(place)


def told(client: httpx.Client, place: str) -> dict[str, Any]:
    answer: dict[str, Any] = client.get(place).json()
    return answer


def finish(world: World, client: httpx.Client, answer: httpx.Response, what: str) -> None:
    """Wait for the success of a job; record its result."""
    expect(answer.status_code == 202, f"a job is taken {what}")
    place = answer.headers["location"]
    wait_until(lambda: told(client, place)["state"] == "done", f"a job is done {what}")
    world.results[place] = digest(client, place)


def digest(client: httpx.Client, place: str) -> str:
    answer = client.get(f"{place}/result")
    return hashlib.sha256(answer.content).hexdigest() if answer.status_code == 200 else f"status {answer.status_code}"


def check_results(world: World, client: httpx.Client, what: str) -> None:
    """Check that every result is unchanged, and that the folder contains nothing else."""
    for place, before in world.results.items():
        expect(digest(client, place) == before, f"each result is as it was {what}")
    names = {place.rsplit("/", 1)[1] for place in world.results}
    wait_until(lambda: folders(world.jobs) == names, f"no folder is left {what}")
    left = [path for path in world.jobs.glob("*/*") if not path.name.startswith("output-")]
    expect(not left, f"no upload and no draft is left {what}")


def folders(place: Path) -> set[str]:
    return {path.name for path in place.iterdir() if path.is_dir()}


def lock_the_store(world: World, server: Server) -> None:
    """Lock the store by another process; a job that runs meanwhile must succeed."""
    client, running = server.client, send(server.client)
    connection = sqlite3.connect(world.jobs / "jobs.sqlite", isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    end = time.monotonic() + world.lock_seconds
    refused = send(client)
    expect(refused.status_code == 503 and "retry-after" in refused.headers, "no job is taken while the store is locked")
    wait_until(lambda: readiness(client) == "the store of jobs cannot be written", "a locked store is told")
    time.sleep(max(0.0, end - time.monotonic()))
    connection.execute("ROLLBACK")
    connection.close()
    wait_until(lambda: readiness(client) == "ready", "a store that is free again is told")
    finish(world, client, running, "that ran while the store was locked")
    finish(world, client, send(client), "after the lock")


def fill(filling: Path) -> None:
    """Write into a file until the disk is full."""
    with filling.open("ab", buffering=0) as stream, suppress(OSError):
        while True:
            stream.write(b"x" * 4096)


def fill_the_disk(world: World, server: Server) -> None:
    """Fill the disk while a job runs: the job must fail or succeed completely."""
    client, filling = server.client, world.disk / "filling"
    running = send(client)
    fill(filling)
    refused = send(client)
    expect(refused.status_code == 507 and "retry-after" in refused.headers, "no job is taken while the disk is full")

    def told_full() -> bool:
        fill(filling)  # the job that fails meanwhile frees space again
        return "full" in readiness(client)

    wait_until(told_full, "a full disk is told")
    time.sleep(1)
    filling.unlink()
    wait_until(lambda: readiness(client) == "ready", "room on the disk is told")
    place = running.headers["location"]
    wait_until(lambda: told(client, place)["state"] in ("done", "failed"), "a job that met a full disk ends")
    if told(client, place)["state"] == "done":
        world.results[place] = digest(client, place)
    finish(world, client, send(client), "after the disk was full")


def workers(folder: Path) -> list[int]:
    """Return the processes of jobs: the working folder of each is its own."""
    places = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            places[int(entry.name)] = (entry / "cwd").readlink()
        except OSError:
            continue
    return [pid for pid, place in places.items() if place.is_relative_to(folder.resolve())]


def kill_a_worker(world: World, server: Server) -> None:
    """Kill a worker: the job must fail with an error and leave nothing behind."""
    place = begun(server.client)
    for pid in workers(world.jobs):
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: told(server.client, place)["state"] == "failed", "a job whose process was killed has failed")
    expect("SIGKILL" in told(server.client, place)["error"]["message"], "a job says why it failed")
    finish(world, server.client, send(server.client), "after a worker was killed")


def jump(world: World, server: Server) -> None:
    """Move the clock forward and back by ten days: no result may be erased, and work must continue."""
    for days in (10, -10, 0):
        world.clock.write_text(str(days * 86_400.0))
        time.sleep(max(3.0, 1.5 * world.lease_seconds) if world.lease_seconds < 5 else 5.0)
        expect(readiness(server.client) == "ready", "a clock that jumps is no fault")
        finish(world, server.client, send(server.client), "while the clock is wrong")
        check_results(world, server.client, "after the clock jumped")


def kill_servers(world: World, server: Server, apart: bool) -> None:
    """Kill two servers in turn: the next one spares jobs of a live one, takes over, and fails a job that ran twice."""
    place = begun(server.client)
    with served(world, *world.options, before=APART if apart else ()) as second:
        finish(world, second.client, send(server.client), "by the second server while the first is busy")
        time.sleep(1.5 * world.lease_seconds)
        expect(told(second.client, place)["state"] == "running", "a job of a living server is left alone")
        server.kill()
        wait_until(lambda: told(second.client, place)["progress"]["stage"] in (None, "count"), "a job is taken over")
        wait_until(lambda: told(second.client, place)["progress"]["stage"] == "search", "a job taken over begins anew")
        waiting = send(second.client)
        second.kill()
    wait_until(lambda: not workers(world.jobs), "workers end with their server")
    with served(world, *world.options) as third:
        finish(world, third.client, waiting, "that waited when its server was killed")
        wait_until(lambda: told(third.client, place)["state"] == "failed", "a job that met two dead servers has failed")
        check_results(world, third.client, "after two servers were killed")
        third.stop()


def elsewhere(world: World) -> World:
    """Return a second environment with a correct clock."""
    other = replace(world, root=world.root / "elsewhere", results={})
    (other.root / "temporary").mkdir()
    other.clock.write_text("0")
    return other


def kill_without_folder(world: World) -> None:
    """Check that rows of a killed server without its own folder are erased by the next one, and by a normal stop."""
    temporary = world.root / "temporary"
    with served(world) as first:
        begun(first.client)
        first.kill()
    expect(bool(list(temporary.glob("sfumato-serve-*/jobs/*/input"))), "the run left rows behind to be erased")
    with served(world) as second:
        # A killed warm-up may leave a folder, too, of made-up rows.
        wait_until(lambda: len(_folders(temporary)) == 1, "what a killed server left is erased by the next")
        second.stop()
    expect(not _folders(temporary), "a server that stops leaves nothing")


def _folders(temporary: Path) -> list[Path]:
    """Return the folders of servers without their own folder."""
    return list(temporary.glob("sfumato-serve-*"))


@contextmanager
def world_of(options: argparse.Namespace) -> Iterator[World]:
    """Provide a small separate disk if the system allows it, else a folder."""
    root = Path(tempfile.mkdtemp(prefix="sfumato-faults-"))
    world = World(root, options.lock_seconds, options.busy_seconds, options.lease_seconds)
    (root / "temporary").mkdir()
    (root / "elsewhere").mkdir()
    world.clock.write_text("0")
    world.disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MEGABYTES}m", "tmpfs", str(world.disk)]
    mounted = subprocess.run(mount, check=False, capture_output=True).returncode == 0
    try:
        yield world
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(world.disk)], check=False)
        shutil.rmtree(root, ignore_errors=True)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lock-seconds", type=float, default=30.0)
    parser.add_argument("--busy-seconds", type=float, default=20.0)
    parser.add_argument("--lease-seconds", type=float, default=30.0)
    options = parser.parse_args(arguments)
    can_part = subprocess.run([*APART, "true"], check=False, capture_output=True).returncode == 0
    with world_of(options) as world, ThreadPoolExecutor(1) as beside:
        without_folder = beside.submit(kill_without_folder, elsewhere(world))  # while the others wait
        with served(world, *world.options) as server:
            finish(world, server.client, send(server.client), "before any fault")
            for step in (lock_the_store, fill_the_disk, kill_a_worker, jump):
                if step is fill_the_disk and not world.disk.is_mount():
                    print("fill_the_disk: not done, no small disk can be had here")
                    continue
                began = time.monotonic()
                step(world, server)
                check_results(world, server.client, f"after {step.__name__}")
                print(f"{step.__name__}: {time.monotonic() - began:.0f} s", flush=True)
            kill_servers(world, server, can_part)
        print(f"kill_servers: {'in different process namespaces' if can_part else 'in one process namespace'}")
        without_folder.result()
        print("kill_without_folder: done")
        print(f"{len(world.results)} results, each as it was when its job ended")
    return 0


if __name__ == "__main__":
    sys.exit(main())
