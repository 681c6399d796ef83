"""Receive requests for jobs: check them and store their files in a private folder.

A plan that a client sends may name files: only those that came with the request, or one of the server's own sources.
"""

import asyncio
import hashlib
import json
import os
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, BinaryIO, cast

from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartParser
from starlette.requests import Request
from starlette.types import Message as Received
from starlette.types import Receive

from sfumato.attributes.sources import inside
from sfumato.errors import PlanError
from sfumato.localization.messages import Message
from sfumato.schema.composite import Choice, Flag, Integer, KeySchema, ListSchema, Number, RecordSchema, Text, read
from sfumato.schema.files import written
from sfumato.service.jobs.folders import DiskSpace, no_space
from sfumato.service.jobs.plans import MOST_BYTES, check_plan, read_plan_text, with_quoted_formulas
from sfumato.service.jobs.store import KINDS, OF_TABLES, Kind
from sfumato.service.jobs.webhooks import Webhook, read_webhook
from sfumato.service.problems import RefusedError, is_disk_full
from sfumato.service.request_bodies import Stopping, parse_json, receive
from sfumato.service.settings import JobSettings, Limits
from sfumato.values import Value, field

NAMELESS = getattr(os, "O_TMPFILE", None)
NAME = re.compile(r"(?!\.)[\w .()+-]{1,120}")
# The parameters of each kind of job.
PARAMETERS: dict[Kind, RecordSchema[dict[str, Any]]] = {
    "anonymize": RecordSchema(
        {
            "engine": KeySchema(Choice(("duckdb", "spark"), about="What counts and rewrites the rows.")),
            "attack": KeySchema(
                Flag(about="Whether the release is attacked before it is saved; its reports then tell.")
            ),
        },
        dict,
        "Of anonymize.",
    ),
    "risk": RecordSchema(
        {
            "population_size": KeySchema(
                Integer(1, about="Persons in the population from which the rows are a sample.")
            ),
            "sampling_fraction": KeySchema(Number(0, 1, "Or the share of it that the rows are.")),
            "threshold": KeySchema(Number(0, 1, "Rows with a greater risk than this are counted.")),
        },
        dict,
        "Of risk.",
    ),
    "compare": RecordSchema(
        {
            "methods": KeySchema(ListSchema(Text(), 1, "Names of methods.")),
            "k": KeySchema(ListSchema(Integer(1), about="What to ask of k-anonymity.")),
            "suppression": KeySchema(ListSchema(Number(0, 1), about="Shares of the rows that may be suppressed.")),
        },
        dict,
        "Of compare.",
    ),
    "compare-tables": RecordSchema(
        {
            "methods": KeySchema(ListSchema(Text(), 1, "Names of ways to protect a table.")),
            "time_limit": KeySchema(Number(0, about="Seconds for each.")),
            "redesign_seconds": KeySchema(Number(0, about="Seconds for proposals of coarser tables.")),
        },
        dict,
        "Of compare-tables.",
    ),
}
MOST_FILES = 50
ONCE = ("kind", "plan", "source", "parameters", "webhook", "webhookSecret")
ReleaseOf = Callable[[str], Path | None]
BLOCK = 1 << 20


# A file without a name vanishes with the process that wrote it. If the file system does not support this, files are
# copied.
def new_file(folder: Path) -> IO[bytes]:
    """Create a file without a name, which can get one later if the system supports it."""
    if NAMELESS is not None:
        with suppress(OSError):
            return os.fdopen(os.open(folder, NAMELESS | os.O_RDWR, 0o600), "w+b")
    return TemporaryFile(dir=folder)


def give_name(file: BinaryIO, target: Path) -> bool:
    """Give a file without a name a path, and return whether that was possible."""
    try:
        if os.fstat(file.fileno()).st_nlink:
            return False  # it has a name already, whose owner may change it
        file.flush()
        number = file.fileno()  # passed as a folder only because the call follows links for folders only
        os.link(f"/proc/self/fd/{number}", target, src_dir_fd=number, follow_symlinks=True)
    except (OSError, AttributeError, ValueError):
        return False
    return True


class UploadParser(MultiPartParser):
    """Parses a form; its files are written directly to a folder."""

    def __init__(self, *arguments: Any, folder: Path, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._folder = folder

    def on_headers_finished(self) -> None:
        super().on_headers_finished()
        upload = self._current_part.file
        if upload is not None:
            upload.file.close()
            upload.file = cast("BinaryIO", new_file(self._folder))
            self._files_to_close_on_error.append(upload.file)  # type: ignore[arg-type]


class JobRequest(Value):
    """The content of a job request.

    Attributes:
        plan: The plan in plain values.
        files: The files sent with the request, by name: open for reading, or paths of the server's own sources.
        parameters: Further parameters of some kinds.
        webhook: The webhook to notify when the job has ended, or None.
    """

    kind: Kind
    plan: Mapping[str, Any]
    files: Mapping[str, BinaryIO | Path] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    webhook: Webhook | None = None


@asynccontextmanager
async def receive_request(
    request: Request, settings: JobSettings, limits: Limits, release_of: ReleaseOf = lambda _: None
) -> AsyncIterator[JobRequest]:
    """Receive a job request, a form or JSON with a source of the server; its files are open within the context.

    `release_of` finds the release that a job of the same user wrote.

    Raises:
        RefusedError: The request is too large or invalid.
        PlanError: The plan is no YAML, or names a file that was not sent.
    """
    if request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        form = await _form(request, settings, limits)
        try:
            yield await asyncio.to_thread(_of_form, form, settings, release_of)
        finally:
            await form.close()
        return
    body = parse_json(await receive(request, limits), limits)
    if not isinstance(body, dict):
        raise RefusedError("jobs.body", Message("request.job_body"))
    yield await asyncio.to_thread(_request, body, {}, settings, release_of)


async def _form(request: Request, settings: JobSettings, limits: Limits) -> FormData:
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > settings.upload_bytes:
        raise _too_large(settings)
    counted = Request(request.scope, _Counted(request.receive, settings, limits.seconds, request.app.state.stopping))
    try:
        async with asyncio.timeout(settings.upload_seconds):
            return await UploadParser(
                request.headers,
                counted.stream(),
                folder=settings.folder,
                max_files=MOST_FILES,
                max_fields=20,
                max_part_size=2_000_000,
            ).parse()
    except RefusedError:
        raise
    except TimeoutError:
        raise RefusedError("limit.time", Message("error.part.the_upload_took_too")) from None
    except Exception as error:  # any error in a form; its text may quote the form
        if is_disk_full(error):
            raise
        raise RefusedError("jobs.form", Message("request.job_form")) from None


class _Counted:
    """Passes a body on until it is larger than allowed, or stalls."""

    def __init__(self, receive: Receive, settings: JobSettings, seconds: float, stopping: Stopping) -> None:
        self._receive, self._settings, self._seconds, self._size = receive, settings, seconds, 0
        self._stopping, self._room, self._looked = stopping, DiskSpace(settings), 0

    async def __call__(self) -> Received:
        try:
            async with asyncio.timeout(self._seconds):
                message: Received = await self._stopping.unless(self._receive)
        except TimeoutError:
            raise RefusedError("limit.time", Message("error.part.the_body_came_too")) from None
        self._size += len(message.get("body", b""))
        if self._size > self._settings.upload_bytes:
            raise _too_large(self._settings)
        if self._size - self._looked >= BLOCK:
            self._looked = self._size
            if not self._room.keeps_jobs():
                raise no_space()
        return message


def _too_large(settings: JobSettings) -> RefusedError:
    what = Message("request.request_too_large", bytes=settings.upload_bytes)
    return RefusedError("limit.body", what, {"connection": "close"})


def _of_form(form: FormData, settings: JobSettings, release_of: ReleaseOf) -> JobRequest:
    for name in ONCE:
        if len(form.getlist(name)) > 1:
            raise RefusedError(f"jobs.{name}", Message("request.repeated_field", name=name))
    plan = form.get("plan")
    text = plan.file.read(MOST_BYTES + 1).decode("utf-8", "replace") if isinstance(plan, UploadFile) else plan
    files: dict[str, BinaryIO | Path] = {}
    for _, upload in form.multi_items():
        if isinstance(upload, UploadFile) and upload is not plan and (upload.filename or upload.size):
            name = _name(upload.filename)
            if name in files:
                raise RefusedError("jobs.file-name", Message("request.repeated_file"))
            files[name] = upload.file
    parameters = _json(form.get("parameters") or "{}", "parameters")
    return _request({**form, "plan": text, "parameters": parameters}, files, settings, release_of)


def _name(sent: str | None) -> str:
    name = Path((sent or "").replace("\\", "/")).name
    if not NAME.fullmatch(name) or name == "plan.yaml":
        raise RefusedError("jobs.file-name", Message("request.file_name"))
    return name


def _json(text: Any, name: str) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        raise RefusedError(f"jobs.{name}", Message("request.no_json", name=name)) from None


def _request(
    fields: Mapping[str, Any], files: dict[str, BinaryIO | Path], settings: JobSettings, release_of: ReleaseOf
) -> JobRequest:
    kind, plan, source = fields.get("kind"), fields.get("plan"), fields.get("source")
    if kind not in KINDS:
        raise RefusedError("jobs.kind", Message("request.job_kind", names=", ".join(KINDS)))
    parameters = {} if fields.get("parameters") is None else fields["parameters"]
    _check_parameters(kind, parameters)
    if parameters.get("engine") == "spark" and settings.spark is None:
        raise RefusedError("jobs.engine", Message("request.no_spark"))
    webhook = read_webhook(fields.get("webhook"), fields.get("webhookSecret"))
    content = read_plan_text(plan) if isinstance(plan, str) else plan
    if not isinstance(content, dict):
        raise RefusedError("jobs.plan", Message("request.job_plan"))
    if source is not None:
        files[_name(str(source))] = _server_source(source, settings)
    complete = _with_source(content, kind, files, source)
    files |= releases_named(complete, release_of)
    check_plan(complete, kind, files)
    return JobRequest(kind, complete, files, parameters, webhook)


def releases_named(plan: Mapping[str, Any], release_of: ReleaseOf) -> dict[str, Path]:
    """Return the releases of jobs that a plan names in `previous`, by the names of the jobs."""
    named = plan.get("previous")
    found = {name: release_of(name) for name in named if isinstance(name, str)} if isinstance(named, list) else {}
    return {name: path for name, path in found.items() if path is not None}


def _check_parameters(kind: Kind, parameters: Any) -> None:
    try:
        read(PARAMETERS.get(kind, RecordSchema({}, dict)), parameters, "parameters")
    except PlanError as error:
        raise RefusedError("jobs.parameters", error.text) from None


def _server_source(source: Any, settings: JobSettings) -> Path:
    """Return a file in the server's folder of sources, never outside it."""
    if settings.sources is None:
        raise RefusedError("jobs.source", Message("request.no_sources"))
    if not isinstance(source, str) or not source.isprintable():  # a lone surrogate is not printable, either
        raise RefusedError("jobs.source", Message("request.source_name"))
    path = inside(settings.sources, source)
    if path is None:
        raise RefusedError("jobs.source", Message("error.part.there_is_no_such"), status=HTTPStatus.NOT_FOUND)
    return path


def _with_source(plan: dict[str, Any], kind: Kind, files: Mapping[str, BinaryIO | Path], source: Any) -> dict[str, Any]:
    """Return the plan with its source filled in, if exactly one file was sent or a source of the server is named."""
    part = "table" if kind in OF_TABLES else "data"
    inner = plan.get(part) or {}
    if not isinstance(inner, dict):
        return plan
    own = inner.get("source")
    before = plan.get("previous")
    data = [name for name in files if not (isinstance(before, list) and name in before)]
    if len(data) > 1 and own is None:
        data = _unnamed(plan, data)
    named = Path(str(source)).name if source is not None else data[0] if len(data) == 1 else None
    if source is not None and own not in (None, named):
        raise RefusedError("jobs.source", Message("request.other_source"))
    if own is not None or named is None or any(inner.get(key) for key in ("cells", "microdata")):
        return plan
    # Several tables of one file are tabulated from its rows.
    return plan | {part: {**inner, "microdata" if plan.get("tables") else "source": named}}


def _unnamed(plan: Mapping[str, Any], files: list[str]) -> list[str]:
    """Return the files that a plan does not name; they are the data if it names hierarchies and other tables.

    Raises:
        RefusedError: There are several.
    """
    texts = set(_texts(plan))
    unnamed = [name for name in files if name not in texts]
    if len(unnamed) > 1:
        raise RefusedError("jobs.files", Message("request.unnamed_files"))
    return unnamed


def _texts(value: Any) -> Iterator[str]:
    """Yield all texts of a plan, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(inner)


def store_request(request: JobRequest, folder: Path) -> str:
    """Write a request to a private folder, and return its digest."""
    inputs = folder / "input"
    inputs.mkdir(mode=0o700)
    digest = hashlib.sha256()
    plan = written(with_quoted_formulas(request.plan) if request.kind == "anonymize" else dict(request.plan))
    (inputs / "plan.yaml").write_text(plan, encoding="utf-8")
    content = {"kind": request.kind, "parameters": dict(request.parameters)}
    (folder / "request.json").write_text(json.dumps(content), encoding="utf-8")
    digest.update(json.dumps([content, plan], sort_keys=True).encode())
    for name, file in sorted(request.files.items()):
        digest.update(f"{len(name)}:{name}".encode())
        if isinstance(file, Path):
            (inputs / name).symlink_to(file)
            digest.update(f"{file}:{file.stat().st_size}:{file.stat().st_mtime_ns}".encode())
        else:
            _copy(file, inputs / name, digest)
    return digest.hexdigest()


def _copy(file: BinaryIO, target: Path, digest: Any) -> None:
    """Place a file in a folder: by a link on the same disk, otherwise by copying."""
    named = give_name(file, target)
    file.seek(0)
    with target.open("rb" if named else "wb") as stream:
        while block := file.read(BLOCK):
            digest.update(block)
            if not named:
                stream.write(block)
