"""The web application: one factory that combines middleware and routers.

Further parts (jobs, pages) are added to the same application by `app.include_router` or by mounting themselves; they
share error handling, request log and API keys.
"""

import asyncio
import multiprocessing
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from sfumato.attributes.fetching import Fetcher
from sfumato.errors import SfumatoError
from sfumato.localization.messages import Message
from sfumato.service import problems
from sfumato.service.access.authentication import make_door
from sfumato.service.access.sign_in import sign_in_routes
from sfumato.service.attributes.routes import add_attribute_routes, arxaas_routes
from sfumato.service.health import Check, ServiceFigures, health_routes
from sfumato.service.jobs.pool import Pool
from sfumato.service.jobs.routes import job_routes
from sfumato.service.middleware import ForwardedScheme, Metrics, OriginCheck, RequestLog
from sfumato.service.problems import keep_log_plain, start_log
from sfumato.service.request_bodies import Stopping
from sfumato.service.settings import JobSettings, Settings, from_environment
from sfumato.service.workers.messages import WorkerCall
from sfumato.service.workers.process import end_with_parent
from sfumato.service.workers.request_queue import RequestQueue

PREPARE = "sfumato.service.attributes.endpoints:prepare"
ABOUT = "Anonymizes personal data attribute by attribute, as a knowledge graph or an inline configuration says."


def create_app(settings: Settings | None = None, jobs: JobSettings | None = None) -> FastAPI:
    """Return the application for some settings; with job settings, also with jobs and pages.

    Raises:
        PlanError: The file of API keys is invalid.
    """
    chosen = settings or Settings()
    keep_log_plain()
    metrics = Metrics()
    ontologies = [chosen.ontologies] if chosen.ontologies else []
    lanes = RequestQueue(chosen.limits, WorkerCall(PREPARE, (chosen.of_workers,)), confined=ontologies)
    door = make_door(chosen, jobs.folder if jobs else None)
    pool = Pool(jobs, Fetcher(chosen.allowed_hosts), door.audit) if jobs else None
    stopping = Stopping()
    app = FastAPI(
        title="Sfumato anonymization service",
        description=ABOUT,
        version=problems.API_VERSION,
        docs_url=None,
        redoc_url=None,
        lifespan=_lifespan(lanes, pool, stopping),
    )
    app.state.door, app.state.stopping, app.state.pool = door, stopping, pool
    metrics.add(ServiceFigures(lanes, pool))
    _add_error_policy(app)
    app.add_middleware(OriginCheck, names=chosen.server_names)
    app.add_middleware(RequestLog, metrics=metrics, audit=door.audit)
    app.add_middleware(ForwardedScheme, trusted=chosen.trusted_proxies)
    add_attribute_routes(app, lanes, chosen.limits)  # most used first
    app.include_router(sign_in_routes(door))
    app.include_router(
        health_routes(chosen, metrics, jobs is not None and jobs.pages, _checks(door.fault, lanes.fault, pool))
    )
    app.include_router(arxaas_routes(lanes, chosen.limits))
    if pool is not None:
        app.include_router(job_routes(pool, chosen.limits))
        if pool.settings.pages:
            from sfumato.web.pages import mount_pages

            mount_pages(app, pool, door)
    return app


def description() -> dict[str, Any]:
    """Return the OpenAPI document of the service, including jobs."""
    with TemporaryDirectory() as folder:
        app = create_app(jobs=JobSettings(Path(folder), pages=False))
        try:
            return app.openapi()
        finally:
            app.state.pool.close()


def from_variables() -> FastAPI:
    """Return the application for the settings in the environment, for worker processes."""
    start_log()
    starter = multiprocessing.parent_process()
    if starter is not None:  # one of several processes: it ends when its parent is killed
        end_with_parent(signal.SIGTERM)
        if os.getppid() != starter.pid:  # the parent was gone before this was registered
            raise SystemExit(1)
    return create_app(*from_environment())


def _checks(*parts: Check | Pool | None) -> Check:
    """Return a health check that reports the first of its parts with a problem."""
    checks = [part.fault if isinstance(part, Pool) else part for part in parts if part is not None]
    return lambda: next((fault for check in checks if (fault := check()) is not None), None)


def _add_error_policy(app: FastAPI) -> None:
    for kind in (SfumatoError, problems.RefusedError, HTTPException):
        app.add_exception_handler(kind, problems.handle)
    app.add_exception_handler(RequestValidationError, _invalid)


async def _invalid(request: Request, error: Exception) -> Response:
    """Return the response to an invalid request: which parameter, and what it should be, without quoting values."""
    faults = error.errors() if isinstance(error, RequestValidationError) else []
    shown = "; ".join(f"{fault['loc'][-1]}: {fault['msg']}" for fault in faults[:5])
    what = Message("request.parameter", faults=shown) if shown else Message("request.invalid")
    return problems.answer(request, problems.RefusedError("http.parameter", what))


def _lifespan(lanes: RequestQueue, pool: Pool | None, stopping: Stopping):  # type: ignore[no-untyped-def]  # noqa: ANN202
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        stopping.listen()
        await lanes.start()
        if pool is not None:
            await asyncio.to_thread(pool.start)
        yield
        if pool is not None:
            await asyncio.to_thread(pool.close)
        await lanes.close()

    return lifespan
