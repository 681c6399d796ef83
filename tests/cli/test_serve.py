"""`sfumato serve` as a process of its own: starts, answers, finishes what runs when it is told to stop."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager

import httpx
import pytest

from sfumato.cli.main import run

BODY = {"configuration": {"name": {"anonymisationType": "Masking", "dataType": "String"}}, "data": [{"name": "Ada"}]}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def served(*options):
    port = free_port()
    code = "import sys; from sfumato.cli.main import main; main(sys.argv[1:])"
    command = [sys.executable, "-c", code, "serve", "--no-pages", "--port", str(port), *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONWARNINGS": ""})
    client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30, trust_env=False)
    try:
        wait_for(client, process)
        yield process, client
    finally:
        client.close()
        process.kill()
        process.wait()
        process.stderr.close()


def wait_for(client, process):
    deadline = time.monotonic() + 40
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if client.get("/health/ready").status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError("the service did not start")


def test_two_workers_with_keys_then_a_graceful_end(tmp_path, capsys):
    assert run(["serve", "--new-api-key", "clinic"]) == 0
    key, line = capsys.readouterr().out.split()
    (tmp_path / "keys").write_text(line + "\n")
    with served("--workers", "2", "--api-keys", str(tmp_path / "keys")) as (process, client):
        assert client.put("/api/anonymise", json=BODY).status_code == 401
        for _ in range(6):
            with httpx.Client(base_url=client.base_url, trust_env=False) as other:  # a worker of its own each
                assert other.put("/api/anonymise", json=BODY, headers={"X-API-Key": key}).status_code == 202
        time.sleep(1.6)  # workers share their figures every second
        found = re.search(
            r'_count\{method="PUT",route="/api/anonymise",status="202"\} (\d+)', client.get("/metrics").text
        )
        assert found
        assert int(found[1]) == 6
        process.send_signal(signal.SIGTERM)
        output = process.communicate(timeout=30)[1]
        assert process.returncode == 0
        assert '"status": 202' in output
        assert "Traceback" not in output
        assert key not in output


def test_what_runs_is_finished(tmp_path):
    with (
        served("--allow-config-host", "127.0.0.1") as (process, client),
        socket.create_server(("127.0.0.1", 0)) as slow,
    ):
        address = f"http://127.0.0.1:{slow.getsockname()[1]}/c"
        sender = httpx.Client(base_url=client.base_url, timeout=30, trust_env=False)
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(1) as pool:
            body = {"configurationURL": address, "data": [{"name": "Ada"}]}
            answer = pool.submit(sender.put, "/api/anonymise", json=body)
            connection, _ = slow.accept()  # the service now waits for the configuration
            with connection:
                process.send_signal(signal.SIGTERM)
                time.sleep(0.5)
                connection.recv(1000)
                connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            assert answer.result(30).status_code == 400
        sender.close()
        assert process.wait(30) == 0


def test_port_that_is_taken():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        code = "import sys; from sfumato.cli.main import main; main(sys.argv[1:])"
        done = subprocess.run(
            [sys.executable, "-c", code, "serve", "--no-pages", "--port", port],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 5
    assert "did not start" in done.stderr


@pytest.mark.parametrize(
    "options",
    [
        ["--api-keys", "no-such-file"],
        ["--ontologies", "no-such-folder"],
        ["--workers", "0"],
        ["--max-body-bytes", "0"],
        ["--new-api-key", "bad name"],
    ],
)
def test_wrong_use(options):
    assert run(["serve", *options]) == 2
