"""Settings of the service: one declaration for options, checks and worker processes; its temporary folder."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from sfumato.localization.messages import Message
from sfumato.values import Value, field, force_setattr, from_json, to_json

VARIABLE = "SFUMATO_SERVICE"


class Option(Value):
    """An option of the operator: its flag, description, minimum, maximum, and the factor of its unit.

    Fields of settings that an operator may set are annotated with one. Worker processes receive all settings in one
    environment variable.
    """

    flag: str
    help: str
    min: float | None = None
    max: float | None = None
    unit: float = 1


def options(kind: type[Any]) -> dict[str, Option]:
    """Return the options of settings by field."""
    hints = get_type_hints(kind, include_extras=True)
    marks = {name: getattr(hint, "__metadata__", ()) for name, hint in hints.items()}
    return {name: mark for name, entries in marks.items() for mark in entries if isinstance(mark, Option)}


class _Bounded(Value):
    def __post_init__(self) -> None:
        for name, option in options(type(self)).items():
            if option.min is not None and getattr(self, name) <= 0:
                raise ValueError(Message("error.value.limits_greater_than_zero"))


class Limits(_Bounded):
    """The limits of requests to the attribute endpoints."""

    body_bytes: Annotated[int, Option("--max-body-bytes", "Largest body of a request.", 1)] = 10_000_000
    records: Annotated[int, Option("--max-records", "Most records in a request.", 1)] = 100_000
    nodes: Annotated[int, Option("--max-nodes", "Most objects in a JSON-LD document.", 1)] = 10_000
    depth: Annotated[int, Option("--max-depth", "Deepest nesting of a body.", 1, 200)] = 32
    seconds: Annotated[float, Option("--max-seconds", "Time to receive a body, and again to answer.", 0.1)] = 30.0
    waiting: Annotated[int, Option("--max-waiting", "Requests worked on or waiting, a process.", 1)] = 64
    attributes: Annotated[int, Option("--max-attributes", "Most attributes in a request.", 1)] = 1_000
    memory_bytes: Annotated[int, Option("--max-memory", "Memory of a process that answers, in bytes.", 1)] = (
        2_000_000_000
    )
    workers: Annotated[int, Option("--answering", "Processes that answer requests for attributes.", 1)] = 4


class Settings(Value):
    """The settings of the service."""

    ontologies: Annotated[Path | None, Option("--ontologies", "Folder of ontologies to host.")] = None
    allowed_hosts: Annotated[
        frozenset[str],
        Option("--allow-config-host", "Host (name or name:port) inside the network to fetch from; repeatable."),
    ] = frozenset()
    server_names: Annotated[
        frozenset[str], Option("--allow-host", "Name under which the service is reached; repeatable.")
    ] = frozenset()
    api_keys: Annotated[Path | None, Option("--api-keys", "File of hashed API keys; requests then need one.")] = None
    limits: Limits = field(default_factory=Limits)
    audit_log: Annotated[Path | None, Option("--audit-log", "File to which who did what is appended.")] = None
    admins: Annotated[frozenset[str], Option("--admin", "User who sees and cancels everybody's jobs; repeatable.")] = (
        frozenset()
    )
    proxy_header: Annotated[
        str | None, Option("--proxy-header", "Header in which a reverse proxy names who has signed in.")
    ] = None
    trusted_proxies: Annotated[
        frozenset[str], Option("--trusted-proxy", "Address or network of a proxy that is believed; repeatable.")
    ] = frozenset()
    openid: Annotated[str | None, Option("--openid", "Issuer of an OpenID provider, by which people sign in.")] = None
    openid_client: Annotated[str | None, Option("--openid-client", "This service's name with the provider.")] = None
    openid_secret: Annotated[
        Path | None, Option("--openid-secret", "File that holds the secret of that name, where there is one.")
    ] = None
    openid_claim: Annotated[str, Option("--openid-claim", "What in a token names the user.")] = "sub"
    sign_in_seconds: Annotated[float, Option("--sign-in-hours", "How long a sign-in lasts.", 0.0001, unit=3600)] = (
        43200.0
    )

    def __post_init__(self) -> None:
        for name in ("allowed_hosts", "server_names"):
            force_setattr(self, name, frozenset(host.casefold() for host in getattr(self, name)))
        for name in ("admins", "trusted_proxies"):
            force_setattr(self, name, frozenset(getattr(self, name)))

    @property
    def of_workers(self) -> "Settings":
        """The settings for processes that answer requests, without paths of secrets and without users."""
        return Settings(ontologies=self.ontologies, allowed_hosts=self.allowed_hosts, limits=self.limits)


class JobSettings(_Bounded):
    """The folder and limits of jobs; the folder is accessible to the server's user only."""

    folder: Annotated[
        Path, Option("--jobs", "Folder for jobs, which then survive a restart; a temporary one by default.")
    ]
    sources: Annotated[Path | None, Option("--sources", "Folder of files that jobs may name as their source.")] = None
    slots: Annotated[int, Option("--job-slots", "Jobs at the same time, a process.", 1)] = 1
    waiting: Annotated[int, Option("--max-jobs", "Jobs that may wait.", 1)] = 32
    user_jobs: Annotated[int, Option("--max-user-jobs", "Jobs of one user that may wait or run.", 1)] = 16
    user_bytes: Annotated[int, Option("--max-user-bytes", "Bytes of all jobs and results of one user.", 1)] = (
        10_000_000_000
    )
    free_bytes: Annotated[int, Option("--min-free-bytes", "Room on the disk below which no job is taken.", 1)] = (
        200_000_000
    )
    upload_bytes: Annotated[int, Option("--max-upload-bytes", "Largest upload.", 1)] = 1_000_000_000
    upload_seconds: Annotated[float, Option("--max-upload-seconds", "Time that an upload may take.", 0.1)] = 600.0
    seconds: Annotated[float, Option("--max-job-seconds", "Time that a job may take.", 0.1)] = 3600.0
    memory_bytes: Annotated[int, Option("--max-job-memory", "Memory of a job, in bytes.", 1)] = 8_000_000_000
    keep_seconds: Annotated[float, Option("--keep-hours", "How long results are kept.", 0.0001, unit=3600)] = 86400.0
    session_seconds: Annotated[
        float, Option("--session-hours", "How long pages keep a visitor's data.", 0.0001, unit=3600)
    ] = 7200.0
    page_seconds: Annotated[
        float, Option("--max-page-seconds", "Time for a step of reading a visitor's file.", 0.1)
    ] = 120.0
    page_memory_bytes: Annotated[
        int, Option("--max-page-memory", "Memory for reading a file of a visitor, in bytes.", 1)
    ] = 2_000_000_000
    pages: Annotated[bool, Option("--pages/--no-pages", "Serve the pages in the browser, at /app.")] = True
    store: Annotated[
        str | None, Option("--store", "Address of a PostgreSQL database for jobs, where several machines serve.")
    ] = None
    busy_seconds: Annotated[
        float, Option("--busy-seconds", "How long a call waits for a store that another process has locked.", 0.1)
    ] = 20.0
    lease_seconds: Annotated[
        float, Option("--lease-seconds", "Silence of a server after which others take over what it had.", 0.5)
    ] = 30.0
    spark: Annotated[str | None, Option("--spark", "Spark cluster for jobs that ask for the engine spark.")] = None


Setup = tuple[Settings, JobSettings | None]


def to_environment(settings: Settings, jobs: JobSettings | None = None) -> dict[str, str]:
    """Return the settings as an environment variable."""
    return {VARIABLE: to_json((settings, jobs))}


def from_environment(environment: Mapping[str, str] = os.environ) -> Setup:
    """Return the settings in an environment variable, or the defaults, without jobs.

    >>> from_environment(to_environment(Settings(limits=Limits(records=5))))[0].limits.records
    5
    """
    if VARIABLE not in environment:
        return Settings(), None
    setup: Setup = from_json(environment[VARIABLE], Setup)
    return setup


PREFIX = "sfumato-serve-"


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Create a private folder for the lifetime of the server."""
    root = Path(tempfile.gettempdir()).resolve()
    erase_abandoned(root)
    folder = Path(tempfile.mkdtemp(prefix=".sfumato-new-", dir=root))
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)  # held until this process ends, however it ends
        folder = folder.rename(root / f"{PREFIX}{folder.name.rsplit('-', 1)[1]}")
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def erase_abandoned(root: Path) -> None:
    """Delete the folders of servers that are gone, whose locks are free."""
    for path in root.glob(PREFIX + "*"):
        with suppress(OSError):
            if path.is_symlink() or path.stat().st_uid != os.getuid():
                continue
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(lock)
