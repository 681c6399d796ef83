"""A server in a separate process that tests can kill, and functions that wait for it."""

import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager

import httpx
import pytest

WAITING_SECONDS = 120
CODE = "import sys; from sfumato.cli.main import main; main(sys.argv[1:])"


@contextmanager
def started(*options, before=(), **environment):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [*before, sys.executable, "-c", CODE, "serve", "--port", str(port), "--no-pages", *map(str, options)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONWARNINGS": "", **environment},
    )
    client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False)
    try:
        wait_until(lambda: answers(client))
        yield process, client
    finally:
        client.close()
        process.kill()
        process.wait()


def answers(client) -> bool:
    try:
        return client.get("/health/live").status_code == 200
    except httpx.TransportError:
        return False


def wait_until(holds):
    deadline = time.monotonic() + WAITING_SECONDS
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture(scope="session")
def served():
    """Starts `sfumato serve` with options; environment variables are keywords."""
    return started
