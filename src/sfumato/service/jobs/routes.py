"""Routes for jobs: submit within the limits, show progress, download results, cancel and erase."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import FileResponse, JSONResponse, Response, StreamingResponse

from sfumato.localization.messages import Message
from sfumato.service.access.authentication import needs_key, user_of
from sfumato.service.jobs.folders import erase, no_space, size_of
from sfumato.service.jobs.pool import Pool
from sfumato.service.jobs.requests import PARAMETERS, JobRequest, receive_request, store_request
from sfumato.service.jobs.store import KINDS, Job, new_id
from sfumato.service.problems import RefusedError, failure_responses
from sfumato.service.settings import Limits


def submit(pool: Pool, request: JobRequest, owner: str, idempotency: str | None = None) -> Job:
    """Accept a job; the same request with the same idempotency key is the same job.

    Raises:
        RefusedError: Too many jobs wait, the owner exceeds a quota, or the key was used for another request.
    """
    check_room(pool, owner)
    job_id = new_id()
    draft = pool.folders.private("upload")
    try:
        fingerprint, size = store_request(request, draft), size_of(draft)
        _check_quota(pool, owner, size)
        draft.rename(pool.folder(job_id))
        if request.webhook is not None:
            pool.webhooks.add(job_id, request.webhook)
        job = pool.store.add(job_id, owner, request.kind, fingerprint, idempotency, size)
    except BaseException:
        erase(draft, pool.folder(job_id))
        pool.webhooks.drop(job_id)
        raise
    if job.id != job_id:
        erase(pool.folder(job_id))
        pool.webhooks.drop(job_id)
        if job.digest != fingerprint:
            what = Message("request.other_request")
            raise RefusedError("jobs.idempotency", what, status=HTTPStatus.CONFLICT)
    pool.wake()
    return job


def check_room(pool: Pool, owner: str) -> None:
    """Refuse a job before its upload is read, if it could not be accepted.

    Raises:
        RefusedError: Too many jobs wait, or too many of this owner have not ended.
        OSError: The disk is nearly full.
    """
    if not pool.room.takes_jobs():
        raise no_space()
    if pool.store.counts()["queued"] >= pool.settings.waiting:
        raise _busy("limit.busy", Message("request.jobs_busy"))
    if owner and pool.store.use_of(owner)[0] >= pool.settings.user_jobs:
        raise _busy("limit.user-jobs", Message("request.user_jobs", most=pool.settings.user_jobs))


def _check_quota(pool: Pool, owner: str, size: int) -> None:
    if owner and pool.store.use_of(owner)[1] + size > pool.settings.user_bytes:
        what = Message("request.quota", bytes=pool.settings.user_bytes)
        raise RefusedError("limit.quota", what)


def _busy(code: str, what: Message) -> RefusedError:
    return RefusedError(code, what, {"retry-after": "10"})


LOOKING_SECONDS = 0.2
Limit = Annotated[int, Query(ge=1, le=500)]
# Maximum duration of a stream, so that a stopping server need not wait; browsers reconnect.
STREAM_SECONDS = 20.0
REPORTS = ("report.html", "compare.html")
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
FAILURES = {
    400: "The request is refused.",
    401: "A key is needed.",
    403: "The key is for other parts.",
    404: "There is no such job.",
}
FAILURES |= {409: "The job is not as far, or the idempotency key stands for another request."}
FAILURES |= {410: "The files of the result are gone.", 503: "The store does not answer.", 507: "The disk is full."}
# Errors that only job submission can return.
SUBMISSION_FAILURES = {408: "The body came too slowly.", 413: "Too large.", 415: "Neither a form nor JSON."}
SUBMISSION_FAILURES |= {429: "Too many jobs wait."}
KIND = {"enum": list(KINDS), "description": "What to do."}
WEBHOOK: dict[str, Any] = {
    "webhook": {"type": "string", "maxLength": 2048, "description": "Address that is told when the job has ended."},
    "webhookSecret": {"type": "string", "minLength": 16, "maxLength": 200, "description": "Signs what it is told."},
}
FORM: dict[str, Any] = {
    "type": "object",
    "description": "A job with its files.",
    "required": ["kind", "plan"],
    "properties": {
        "kind": KIND,
        "plan": {"type": "string", "description": "The plan: YAML or JSON, as text or file."},
        "data": {
            "type": "string",
            "format": "binary",
            "description": "The data; hierarchies and ZIP files of releases of before come as further files.",
        },
        "source": {"type": "string", "description": "Instead of data: a file of the server's folder of sources."},
        "parameters": {"type": "string", "description": "JSON text, for the kinds that take some."},
        **WEBHOOK,
    },
}
DOCUMENT: dict[str, Any] = {
    "type": "object",
    "description": "A job on a file of the server.",
    "required": ["kind", "plan", "source"],
    "properties": {
        "kind": KIND,
        "plan": {"type": ["object", "string"], "description": "The plan: an object, or YAML or JSON as text."},
        "source": {"type": "string", "description": "A file of the server's folder of sources."},
        "parameters": {
            "anyOf": [shape.schema() for shape in PARAMETERS.values()],
            "description": "More, for the kinds that take some.",
        },
        **WEBHOOK,
    },
}
BODY = {
    "required": True,
    "content": {"multipart/form-data": {"schema": FORM}, "application/json": {"schema": DOCUMENT}},
}


def describe(job: Job) -> dict[str, Any]:
    """Return the description of a job for clients."""
    base = f"/api/jobs/{job.id}"
    links = {"self": base, "events": f"{base}/events"}
    if job.state == "done":
        links |= {"result": f"{base}/result", "report": f"{base}/report", "files": f"{base}/files"}
    return {
        "id": job.id,
        "kind": job.kind,
        "state": job.state,
        "progress": {"stage": job.stage, "done": job.done, "total": job.whole},
        "created": _moment(job.created),
        "started": _moment(job.started),
        "finished": _moment(job.finished),
        "expires": _moment(job.expires),
        "error": {"code": job.code, "message": job.message} if job.state == "failed" else None,
        "links": links,
    }


def _moment(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def result_files(folder: Path) -> dict[str, Path]:
    """Return the files of a result by name, including folders of a partitioned one."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path for path in files}


class JobEndpoints:
    """The endpoints for jobs."""

    def __init__(self, pool: Pool, limits: Limits) -> None:
        self._pool, self._limits = pool, limits

    async def create(self, request: Request) -> Response:
        key = request.headers.get("idempotency-key")
        if key is not None and not 8 <= len(key) <= 200:
            raise RefusedError("jobs.idempotency", Message("request.idempotency_key"))
        owner = user_of(request).owner
        await asyncio.to_thread(check_room, self._pool, owner)
        release_of = partial(self._pool.release_of, owner)
        async with receive_request(request, self._pool.settings, self._limits, release_of) as wanted:
            job = await asyncio.to_thread(submit, self._pool, wanted, owner, key)
        request.state.job = job.id
        return JSONResponse(describe(job), 202, {"location": f"/api/jobs/{job.id}"})

    def state(self, request: Request, job_id: str) -> Response:
        return JSONResponse(describe(self._job(request, job_id, admins=True)))

    def list(self, request: Request, limit: Limit = 50, before: float | None = None, all: bool = False) -> Response:
        user = user_of(request)
        if not user.name:
            raise RefusedError("access.nobody", Message("request.no_users"))
        if all and user.role != "admin":
            raise RefusedError("access.role", Message("error.part.only_admins"))
        jobs = self._pool.store.of_owner(None if all else user.owner, limit, before)
        listed = [describe(job) | ({"owner": job.owner} if all else {}) for job in jobs]
        return JSONResponse({"jobs": listed, "before": jobs[-1].created if len(jobs) == limit else None})

    def delete(self, request: Request, job_id: str) -> Response:
        self._pool.cancel(self._job(request, job_id, admins=True))
        return Response(status_code=204)

    def events(self, request: Request, job_id: str) -> Response:
        job = self._job(request, job_id, admins=True)
        return StreamingResponse(_events(request, self._pool, job), media_type="text/event-stream")

    def result(self, request: Request, job_id: str) -> Response:
        archive = self._finished(request, job_id).parent / "result.zip"
        return FileResponse(archive, filename=f"{self._job(request, job_id).kind}.zip")

    def report(self, request: Request, job_id: str) -> Response:
        folder = self._finished(request, job_id)
        report = next(folder / name for name in REPORTS if (folder / name).exists())
        return FileResponse(report, media_type="text/html", headers={"content-security-policy": POLICY})

    def files(self, request: Request, job_id: str) -> Response:
        folder = self._finished(request, job_id)
        return JSONResponse({name: path.stat().st_size for name, path in result_files(folder).items()})

    def file(self, request: Request, job_id: str, name: str) -> Response:
        folder = self._finished(request, job_id)
        path = result_files(folder).get(name)
        if path is None:
            raise RefusedError("jobs.file", Message("error.part.no_such_result_file"))
        return FileResponse(path, filename=path.name)

    def _job(self, request: Request, job_id: str, admins: bool = False) -> Job:
        """Return a job of the requesting user; with `admins`, admins get every job."""
        job, user = self._pool.store.find(job_id), user_of(request)
        if job is None or not (job.owner == user.owner or (admins and user.role == "admin")):
            raise RefusedError("jobs.unknown", Message("error.part.there_is_no_such_job"))
        request.state.job = job.id
        return job

    def _finished(self, request: Request, job_id: str) -> Path:
        """Return the folder of a job's result."""
        job = self._job(request, job_id)
        if job.state != "done":
            raise RefusedError("jobs.state", Message("error.part.the_job_is", state=job.state))
        folder = self._pool.folders.output(job) / "result"
        if not folder.is_dir():
            raise RefusedError("jobs.gone", Message("error.part.result_files_removed"))
        return folder


def job_routes(pool: Pool, limits: Limits) -> APIRouter:
    """Return the router for jobs."""
    router = APIRouter(prefix="/api/jobs", tags=["jobs"], dependencies=[Depends(needs_key("jobs"))])
    endpoints = JobEndpoints(pool, limits)
    table: list[tuple[str, str, Any, int, str]] = [
        ("POST", "", endpoints.create, 202, "Ask for a job."),
        ("GET", "", endpoints.list, 200, "Your last jobs, the newest first; admins may ask for all."),
        ("GET", "/{job_id}", endpoints.state, 200, "State and progress of a job."),
        ("DELETE", "/{job_id}", endpoints.delete, 204, "Cancel a job and erase it."),
        ("GET", "/{job_id}/events", endpoints.events, 200, "Progress as server-sent events."),
        ("GET", "/{job_id}/result", endpoints.result, 200, "All files of the result, as ZIP."),
        ("GET", "/{job_id}/report", endpoints.report, 200, "The report, as a page."),
        ("GET", "/{job_id}/files", endpoints.files, 200, "Names and sizes of the result's files."),
        ("GET", "/{job_id}/files/{name:path}", endpoints.file, 200, "One file of the result."),
    ]
    for method, path, run, status, about in table:
        router.add_api_route(
            path,
            run,
            methods=[method],
            status_code=status,
            response_class=Response,
            operation_id=f"job_{run.__name__}",
            summary=about,
            responses=failure_responses(FAILURES | (SUBMISSION_FAILURES if method == "POST" else {})),
            openapi_extra={"requestBody": BODY} if method == "POST" else None,
        )
    return router


async def _events(request: Request, pool: Pool, job: Job) -> AsyncIterator[str]:
    """Yield an event for every change, until the job has ended or is removed."""
    last, end = None, time.monotonic() + STREAM_SECONDS
    yield "retry: 300\n\n"
    while time.monotonic() < end and not await request.is_disconnected():
        now = await asyncio.to_thread(pool.store.find, job.id)
        if now is None:
            yield "event: gone\ndata: {}\n\n"
            return
        content = describe(now)
        if content != last:
            last = content
            yield f"event: {now.state}\ndata: {json.dumps(content)}\n\n"
        if now.ended:
            return
        await asyncio.sleep(LOOKING_SECONDS)
