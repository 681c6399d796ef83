"""Routes about the service itself: name and version, health, metrics of requests, jobs and workers, documentation."""

import base64
import hashlib
import json
import shutil
import time
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from sfumato.errors import SfumatoError
from sfumato.report.html_page import page, paragraph, section, table
from sfumato.service.attributes.schemas import About, Health
from sfumato.service.jobs.pool import STORE_FAULTS, Pool
from sfumato.service.middleware import Metrics
from sfumato.service.problems import API_VERSION
from sfumato.service.settings import Settings
from sfumato.service.workers.request_queue import RequestQueue
from sfumato.version import __version__

STYLE = """<style>
details { border: 1px solid var(--line); background: var(--card); margin: .5rem 0; padding: .5rem .8rem; }
summary { cursor: pointer; }
.method { font-weight: 700; color: var(--accent); display: inline-block; min-width: 3.5rem; }
textarea { width: 100%; min-height: 14rem; font: .85rem/1.4 ui-monospace, monospace; box-sizing: border-box; }
pre { overflow: auto; max-height: 24rem; font-size: .85rem; padding: .6rem; border: 1px solid var(--line); }
button { font: inherit; padding: .3rem .9rem; margin: .4rem 0; }
</style>"""
# The only script of the page: it sends the content of a text field and shows the response.
SCRIPT = """document.querySelectorAll('button[data-path]').forEach(function (button) {
  button.addEventListener('click', async function () {
    const box = button.parentElement, out = box.querySelector('output'), body = box.querySelector('textarea');
    const key = document.getElementById('key').value, headers = key ? {'X-API-Key': key} : {};
    if (body) { headers['Content-Type'] = 'application/json'; }
    out.textContent = '…';
    try {
      const answer = await fetch(button.dataset.path,
        {method: button.dataset.method, headers: headers, body: body ? body.value : undefined});
      out.textContent = answer.status + ' ' + answer.statusText + '\\n' + await answer.text();
    } catch (error) { out.textContent = String(error); }
  });
});"""
PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
PAGES = "/app"
RETRY = {"retry-after": "10"}
Check = Callable[[], str | None]
# Addresses of the documentation in an earlier service, and the current ones.
ELSEWHERE = {"/swagger-ui/index.html": "/docs", "/swagger-ui.html": "/docs", "/v3/api-docs": "/openapi.json"}


def health_routes(settings: Settings, metrics: Metrics, pages: bool = False, check: Check = lambda: None) -> APIRouter:
    """Return the router for information on the service; `check` returns what prevents it from running jobs."""
    router = APIRouter(tags=["service"])
    _add_about(router, pages)

    @router.get("/health/live", response_model=Health, operation_id="live", summary="Whether the process answers.")
    async def live() -> Health:
        return Health(status="alive")

    @router.get(
        "/health/ready",
        response_model=Health,
        operation_id="ready",
        summary="Whether the service can do its work.",
        responses={503: {"model": Health, "description": "A part is missing."}},
    )
    def ready() -> JSONResponse:
        fault = _fault(settings.ontologies) or check()
        return JSONResponse({"status": fault or "ready"}, 503 if fault else 200, RETRY if fault else None)

    @router.get(
        "/metrics",
        response_class=PlainTextResponse,
        operation_id="metrics",
        summary="Figures of requests, jobs, workers, disk and store as Prometheus text.",
    )
    def figures() -> PlainTextResponse:
        return PlainTextResponse(metrics.text(), media_type=PROMETHEUS)

    @router.get("/docs", include_in_schema=False)
    async def docs(request: Request) -> HTMLResponse:
        page, policy = documentation_page(request.app.openapi())
        return HTMLResponse(page, headers={"content-security-policy": policy})

    for path, target in ELSEWHERE.items():
        router.add_api_route(path, _lead(target), include_in_schema=False)
    return router


def _lead(target: str) -> Callable[[], RedirectResponse]:
    def lead() -> RedirectResponse:
        return RedirectResponse(target, 307)

    return lead


def _add_about(router: APIRouter, pages: bool) -> None:
    """Add the start route: name and version for programs, a redirect to the pages for people."""
    description = About(
        service="Sfumato anonymization service",
        version=API_VERSION,
        release=__version__,
        documentation="/docs",
    )

    @router.get(
        "/",
        response_model=About,
        operation_id="about",
        summary="Name and version of the service.",
        responses={307: {"description": "A browser is led to the pages."}} if pages else None,
    )
    async def about(request: Request, response: Response) -> About | Response:
        if not pages:
            return description
        if wants_page(request.headers.get("accept", "")):
            return RedirectResponse(PAGES, 307, {"vary": "accept"})
        response.headers["vary"] = "accept"
        return description


def wants_page(accept: str) -> bool:
    """Return whether an `Accept` header requests a page rather than data, as those of browsers do.

    >>> wants_page("text/html,application/xhtml+xml,*/*;q=0.8"), wants_page("*/*"), wants_page("")
    (True, False, False)
    >>> wants_page("application/json, text/html;q=0.5")
    False
    """
    quality = {"text/html": 0.0, "application/json": 0.0}
    for part in accept.lower().split(","):
        kind, *options = (text.strip() for text in part.split(";"))
        weight = next((text.removeprefix("q=") for text in options if text.startswith("q=")), "1")
        if kind in quality:
            quality[kind] = float(weight) if weight.replace(".", "", 1).isdecimal() else 0.0
    return quality["text/html"] > quality["application/json"]


def _fault(ontologies: Path | None) -> str | None:
    """Return what prevents the service from working, or None."""
    from sfumato.attributes.knowledge_graph.parsing import new_graph
    from sfumato.attributes.operations.operation import load_all

    try:
        load_all()
        new_graph()
    except (SfumatoError, ImportError):
        return "a part is not installed"
    return "the folder of ontologies is missing" if ontologies and not ontologies.is_dir() else None


def documentation_page(document: dict[str, Any]) -> tuple[str, str]:
    """Return the page for an OpenAPI document, and a content security policy that prevents loading anything else."""
    info = document["info"]
    body = [
        STYLE,
        f"<h1>{escape(info['title'])}</h1>",
        paragraph(f"{info.get('description', '')} Version {info['version']}."),
        '<p>OpenAPI document: <a href="/openapi.json">/openapi.json</a></p>',
        '<p><label>API key, where one is needed: <input id="key" type="password" autocomplete="off"></label></p>',
        *_sections(document),
        f"<script>{SCRIPT}</script>",
    ]
    return page(info["title"], body), _policy()


def _policy() -> str:
    script = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    allowed = f"script-src 'sha256-{script}'; style-src 'unsafe-inline'; connect-src 'self'"
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


def _sections(document: dict[str, Any]) -> Iterator[str]:
    tags: dict[str, list[str]] = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            tag = operation.get("tags", ["service"])[0]
            tags.setdefault(tag, []).append(_operation(path, method.upper(), operation))
    for tag, entries in tags.items():
        yield section(tag.capitalize(), *entries)


def _operation(path: str, method: str, operation: dict[str, Any]) -> str:
    head = f'<span class="method">{method}</span> <code>{escape(path)}</code> {escape(operation.get("summary", ""))}'
    answers = [(status, answer.get("description", "")) for status, answer in operation["responses"].items()]
    parts = [
        *_request(operation),
        "<h3>Answers</h3>",
        table(["status", "meaning"], answers),
        *_examples(operation["responses"]),
        "<h3>Try it</h3>",
        f"<div>{_field(operation)}",
        f'<button data-path="{escape(path)}" data-method="{method}">Send</button><pre><output></output></pre></div>',
    ]
    return f"<details><summary>{head}</summary>{''.join(parts)}</details>"


def _request(operation: dict[str, Any]) -> Iterator[str]:
    for content in operation.get("requestBody", {}).get("content", {}).values():
        schema = content.get("schema", {})
        required = set(schema.get("required", ()))
        rows = [
            (name, "yes" if name in required else "no", entry.get("description", ""))
            for name, entry in schema.get("properties", {}).items()
        ]
        yield paragraph(schema.get("description", ""))
        yield table(["key", "required", "meaning"], rows)


def _examples(responses: dict[str, Any]) -> Iterator[str]:
    for answer in responses.values():
        for content in answer.get("content", {}).values():
            for name, example in content.get("examples", {}).items():
                shown = escape(json.dumps(example["value"], indent=1, ensure_ascii=False))
                yield f"<p>Example ({escape(name)})</p><pre>{shown}</pre>"


def _field(operation: dict[str, Any]) -> str:
    for content in operation.get("requestBody", {}).get("content", {}).values():
        first: dict[str, Any] = next(iter(content.get("examples", {}).values()), {"value": {}})
        shown = escape(json.dumps(first["value"], indent=1, ensure_ascii=False))
        return f'<textarea aria-label="Body of the request" spellcheck="false">{shown}</textarea>'
    return ""


class ServiceFigures(Collector):
    """Metrics in addition to request counts; jobs and servers are those of the whole store."""

    def __init__(self, lanes: RequestQueue, pool: Pool | None) -> None:
        self._lanes, self._pool = lanes, pool

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield the current metrics, without those of a store that does not answer."""
        workers = GaugeMetricFamily("sfumato_workers", "Processes that answer requests.", labels=["state"])
        for state, number in self._lanes.counts().items():
            workers.add_metric([state], number)
        yield workers
        if self._pool is not None:
            yield from self._of_jobs(self._pool)

    def _of_jobs(self, pool: Pool) -> Iterator[GaugeMetricFamily]:
        jobs = GaugeMetricFamily("sfumato_jobs", "Jobs in the store.", labels=["state"])
        started, answers = time.perf_counter(), float(pool.writes_store())
        waiting = servers = 0.0
        try:
            for state, number in pool.store.counts().items():
                jobs.add_metric([state], number)
            waiting, servers = pool.store.longest_wait(), float(len(pool.leases.live()))
        except STORE_FAULTS:
            answers = 0.0
        yield jobs
        disk = shutil.disk_usage(pool.settings.folder)
        for name, about, value in (
            ("sfumato_queue_seconds", "How long the oldest job that waits has waited.", waiting),
            ("sfumato_servers", "Servers that share the store.", servers),
            ("sfumato_store_up", "Whether the store answers and can be written.", answers),
            ("sfumato_store_seconds", "How long the store took to answer.", time.perf_counter() - started),
            ("sfumato_job_processes", "Processes that do jobs of this server.", float(pool.running())),
            ("sfumato_job_threads", "Threads of this server that care for jobs.", float(pool.threads_alive())),
            ("sfumato_disk_free_bytes", "Room on the disk of jobs.", float(disk.free)),
            ("sfumato_disk_bytes", "Size of the disk of jobs.", float(disk.total)),
        ):
            yield GaugeMetricFamily(name, about, value=value)
