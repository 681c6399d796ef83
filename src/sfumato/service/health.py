"""Routes about the service itself: name and version, health, metrics, documentation."""

from collections.abc import Callable
from pathlib import Path

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse

from sfumato.errors import SfumatoError
from sfumato.service.attributes.schemas import About, Health
from sfumato.service.documentation import documentation_page
from sfumato.service.http.metrics import Metrics
from sfumato.service.http.problems import API_VERSION
from sfumato.service.settings import Settings
from sfumato.version import __version__

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
