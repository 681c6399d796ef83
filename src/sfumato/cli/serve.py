"""`sfumato serve`: runs the web service until it is told to stop, and then finishes what runs."""

import os
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from sfumato.errors import EngineError, PlanError, missing_extra


def command(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")] = 8000,
    ontologies: Annotated[Path | None, typer.Option(help="Folder of ontologies to host.")] = None,
    allow_config_host: Annotated[
        list[str] | None, typer.Option(help="Host (name or name:port) inside the network to fetch from; repeatable.")
    ] = None,
    api_keys: Annotated[Path | None, typer.Option(help="File of hashed API keys; requests then need one.")] = None,
    new_api_key: Annotated[
        str | None, typer.Option(metavar="NAME", help="Print a new key and its line for the file, and stop.")
    ] = None,
    max_body_bytes: Annotated[int, typer.Option(min=1, help="Largest body of a request.")] = 10_000_000,
    max_records: Annotated[int, typer.Option(min=1, help="Most records in a request.")] = 100_000,
    max_nodes: Annotated[int, typer.Option(min=1, help="Most objects in a JSON-LD document.")] = 10_000,
    max_depth: Annotated[int, typer.Option(min=1, max=200, help="Deepest nesting of a body.")] = 32,
    max_seconds: Annotated[float, typer.Option(min=0.1, help="Time to receive a body, and again to answer.")] = 30.0,
    max_waiting: Annotated[int, typer.Option(min=1, help="Requests worked on or waiting, a process.")] = 64,
    workers: Annotated[int, typer.Option(min=1, help="Processes; the pages in the browser need one alone.")] = 1,
    jobs: Annotated[
        Path | None, typer.Option(help="Folder for jobs, which then survive a restart; a temporary one by default.")
    ] = None,
    sources: Annotated[Path | None, typer.Option(help="Folder of files that jobs may name as their source.")] = None,
    job_slots: Annotated[int, typer.Option(min=1, help="Jobs at the same time, a process.")] = 1,
    max_jobs: Annotated[int, typer.Option(min=1, help="Jobs that may wait.")] = 32,
    max_upload_bytes: Annotated[int, typer.Option(min=1, help="Largest upload.")] = 1_000_000_000,
    max_job_seconds: Annotated[float, typer.Option(min=0.1, help="Time that a job may take.")] = 3600.0,
    max_job_memory: Annotated[int, typer.Option(min=1, help="Memory of a job, in bytes.")] = 8_000_000_000,
    keep_hours: Annotated[float, typer.Option(min=0.0001, help="How long results are kept.")] = 24.0,
    session_hours: Annotated[float, typer.Option(min=0.0001, help="How long pages keep a visitor's data.")] = 2.0,
    pages: Annotated[bool, typer.Option(help="Serve the pages in the browser, at /app.")] = True,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the pages in the browser.")] = False,
) -> int | None:
    """Run the service: attributes, jobs, and the pages in the browser."""
    if new_api_key is not None:
        return _print_key(new_api_key)
    try:
        from sfumato.service.http.settings import Limits, Settings
        from sfumato.service.jobs.settings import JobSettings
    except ImportError:
        raise missing_extra("fastapi", "web") from None
    if ontologies and not ontologies.is_dir():
        raise PlanError("the folder of ontologies is missing.", "Check --ontologies.", "ontologies")
    if sources and not sources.is_dir():
        raise PlanError("the folder of sources is missing.", "Check --sources.", "sources")
    if jobs and jobs.exists() and not jobs.is_dir():
        raise PlanError("the folder of jobs is a file.", "Check --jobs.", "jobs")
    limits = Limits(max_body_bytes, max_records, max_nodes, max_depth, max_seconds, max_waiting)
    with tempfile.TemporaryDirectory(prefix="sfumato-") as folder:
        settings = Settings(
            ontologies and ontologies.resolve(),
            frozenset(allow_config_host or ()),
            api_keys and api_keys.resolve(),
            Path(folder) if workers > 1 else None,
            limits,
        )
        job_settings = JobSettings(
            (jobs or Path(folder) / "jobs").resolve(),
            sources and sources.resolve(),
            job_slots,
            max_jobs,
            max_upload_bytes,
            max_job_seconds,
            max_job_memory,
            keep_hours * 3600,
            session_hours * 3600,
            pages and workers == 1,
        )
        if open_browser and job_settings.pages:
            _open_later(f"http://{'127.0.0.1' if host in ('0.0.0.0', '::') else host}:{port}/app")
        _run(settings.to_environment() | job_settings.to_environment(), host, port, workers, max_seconds)
    return None


def _open_later(address: str) -> None:
    """Open the pages in the user's browser as soon as the server answers."""
    import threading

    threading.Thread(target=_open_when_ready, args=(address,), daemon=True).start()


def _open_when_ready(address: str) -> None:
    import socket
    import time
    import webbrowser
    from urllib.parse import urlsplit

    parts = urlsplit(address)
    for _ in range(300):
        try:
            socket.create_connection((parts.hostname or "127.0.0.1", parts.port or 80), timeout=1).close()
        except OSError:
            time.sleep(0.1)
            continue
        webbrowser.open(address)
        return


def _run(environment: dict[str, str], host: str, port: int, workers: int, seconds: float) -> None:
    try:
        import uvicorn

        from sfumato.server import from_variables
    except ImportError:
        raise missing_extra("fastapi, uvicorn or rdflib", "web") from None
    os.environ.update(environment)
    from_variables()  # faults of the settings show here, once, before any process starts
    signal.signal(signal.SIGTERM, _leave)
    try:
        _start(uvicorn.run, host, port, workers, seconds)
    except SystemExit as end:
        if end.code:
            raise EngineError("the service did not start.", "Is the port free? The log says more.", "serve") from None


def _leave(*_: object) -> NoReturn:
    """End as after any work well done; the server restores and calls this when it has finished what runs."""
    raise SystemExit(0)


def _start(run: Callable[..., None], host: str, port: int, workers: int, seconds: float) -> None:
    run(
        "sfumato.server:from_variables",
        factory=True,
        host=host,
        port=port,
        workers=workers,
        access_log=False,
        server_header=False,
        log_config=None,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=int(seconds) + 5,
    )


def _print_key(name: str) -> int:
    from sfumato.service.http.keys import new_key

    key, line = new_key(name)
    sys.stderr.write("The key, shown once (send it as X-API-Key), then the line for the file of keys:\n")
    sys.stdout.write(f"{key}\n{line}\n")
    return 0
