"""A small HTTP client of the service for attributes and jobs; it raises the library's own errors.

It needs only httpx, so that a client program need not install the packages of the server.
"""

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from sfumato.errors import DataError, EngineError, InternalError, PlanError, SfumatoError, missing_extra
from sfumato.localization.messages import Message
from sfumato.values import Value

if TYPE_CHECKING:
    import httpx

Kind = Literal["anonymize", "protect", "risk", "compare", "compare-tables"]
LOOKING_SECONDS = 0.2
# The error class for each kind of error, which is the first part of its code; others depend on the status.
ERRORS: dict[str, type[SfumatoError]] = {"plan": PlanError, "data": DataError, "engine": EngineError}
# Hints for refusals that are about neither plan nor data, by their kind.
REFUSALS = {"access": "hint.refused_access", "limit": "hint.refused_limit", "store": "hint.refused_store"}


class AnonymizedRecords(Value):
    """Anonymized records.

    Attributes:
        data: The records, in the order given.
        kpis: The metrics, if they were requested.
        warnings: Warnings for the recipient.
    """

    data: list[dict[str, Any]]
    kpis: dict[str, int]
    warnings: tuple[str, ...]


class RemoteJob(Value):
    """A job of the server, in the state of the last request.

    Attributes:
        stage: The current stage, or None.
        done: The amount done in this stage.
        total: The total amount of this stage.
        error: Code and message if it failed, else None.
    """

    id: str
    kind: str
    state: str
    stage: str | None
    done: int
    total: int
    error: tuple[str, str] | None

    @property
    def ended(self) -> bool:
        return self.state in ("done", "failed", "cancelled")


class Client:
    """A client of the service; use it in a `with` block, or close it.

    Args:
        address: The address of the service, such as `https://anonymize.clinic.example`.
        key: An API key, if the service requires one.
        seconds: The time limit of one request.

    Example:
        with sf.Client("http://127.0.0.1:8000") as client:
            job = client.submit("anonymize", "plan.yaml", ["patients.csv"])
            client.download(client.wait(job), "release.zip")
    """

    def __init__(self, address: str, key: str | None = None, seconds: float = 60.0) -> None:
        try:
            import httpx
        except ImportError:
            raise missing_extra("httpx", "client") from None
        if key is not None and not (key.isascii() and key.isprintable() and key == key.strip()):
            raise PlanError("api-key")
        headers = {"accept": "application/json, application/problem+json"} | ({"x-api-key": key} if key else {})
        self._http = httpx.Client(base_url=address, headers=headers, timeout=seconds)

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def anonymize_attributes(
        self,
        records: Sequence[Mapping[str, Any]],
        configuration: Mapping[str, Any] | str,
        *,
        ontology: str | None = None,
        data_class: str | None = None,
        buckets: str | int | None = None,
        pass_through: bool | None = None,
        kpis: bool = True,
    ) -> AnonymizedRecords:
        """Mask, generalize or randomize the attributes of records; a configuration given as text is an address.

        Raises:
            PlanError: The service refuses the configuration.
            DataError: The service refuses a value.
        """
        place = {"configurationURL" if isinstance(configuration, str) else "configuration": configuration}
        options = {"ontology": ontology, "dataClass": data_class, "buckets": buckets, "passThrough": pass_through}
        chosen = {name: value for name, value in options.items() if value is not None}
        body = _dumped({"data": [dict(record) for record in records], "kpis": kpis, **place, **chosen})
        headers = {"content-type": "application/json"}
        content = self._json("PUT", "/api/anonymise", content=body, headers=headers)
        return AnonymizedRecords(content["anonymisedData"], content.get("kpis", {}), tuple(content.get("warnings", ())))

    def submit(
        self,
        kind: Kind,
        plan: Mapping[str, Any] | str | Path,
        files: str | Path | Sequence[str | Path] = (),
        *,
        source: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
        webhook: tuple[str, str] | None = None,
    ) -> RemoteJob:
        """Submit a job.

        Args:
            kind: The kind of job.
            plan: The plan in plain values, or its file.
            files: The files that the plan names: data, hierarchies.
            source: One of the server's own sources, instead of files.
            parameters: Parameters of `risk` and `compare`.
            idempotency_key: The same request with the same key is the same job.
            webhook: The address to notify when the job has ended, and the secret that signs the notification.
        """
        if isinstance(files, str | Path):
            files = [files]
        text = _dumped(plan) if isinstance(plan, Mapping) else _plan_text(Path(plan))
        fields: dict[str, Any] = {"kind": kind, "plan": text, "source": source}
        fields["parameters"] = None if parameters is None else json.dumps(dict(parameters))
        fields |= dict(zip(("webhook", "webhookSecret"), webhook or (None, None), strict=True))
        headers = {} if idempotency_key is None else {"idempotency-key": idempotency_key}
        sent: list[tuple[str, Any]] = [(name, (None, value)) for name, value in fields.items() if value is not None]
        with ExitStack() as opened:
            sent += [("data", (Path(path).name, opened.enter_context(_opened(Path(path))))) for path in files]
            return _job(self._json("POST", "/api/jobs", files=sent, headers=headers))

    def job(self, job: RemoteJob | str) -> RemoteJob:
        """Return the job in its current state."""
        return _job(self._json("GET", f"/api/jobs/{_id(job)}"))

    def wait(self, job: RemoteJob | str, seconds: float = 3600.0) -> RemoteJob:
        """Wait until a job is done, and return it.

        Raises:
            SfumatoError: It failed, was cancelled, or is not done in time; code and text give the reason.
        """
        deadline = time.monotonic() + seconds
        while not (now := self.job(job)).ended:
            if time.monotonic() > deadline:
                raise EngineError("time")
            time.sleep(LOOKING_SECONDS)
        if now.state != "done":
            code, message = now.error or ("engine.cancelled", "the job was cancelled.")
            raise _error(500, code, message)
        return now

    def cancel(self, job: RemoteJob | str) -> None:
        """Cancel a job and delete its files."""
        self._send("DELETE", f"/api/jobs/{_id(job)}")

    def files(self, job: RemoteJob | str) -> dict[str, int]:
        """Return the names and sizes of the files of a result."""
        return dict(self._json("GET", f"/api/jobs/{_id(job)}/files"))

    def download(self, job: RemoteJob | str, target: str | Path, name: str | None = None) -> Path:
        """Download a file of the result, or all of them as ZIP, to a new file."""
        path = f"/api/jobs/{_id(job)}/" + (f"files/{name}" if name else "result")
        place = Path(target)
        with self._http.stream("GET", path) as answer:
            if answer.is_error:
                answer.read()
                _check(answer)
            with place.open("xb") as stream:
                for block in answer.iter_bytes():
                    stream.write(block)
        return place

    def _json(self, method: str, path: str, **request: Any) -> Any:
        return self._send(method, path, **request).json()

    def _send(self, method: str, path: str, **request: Any) -> "httpx.Response":
        import httpx

        try:
            answer = self._http.request(method, path, **request)
        except httpx.HTTPError as error:
            raise EngineError("service", name=type(error).__name__) from None
        _check(answer)
        return answer


def _check(answer: "httpx.Response") -> None:
    if answer.is_success:
        return
    try:
        content = answer.json()
    except ValueError:
        content = {}
    code = str(content.get("code", "")) or f"engine.http-{answer.status_code}"
    raise _error(
        answer.status_code, code, str(content.get("detail") or content.get("errorMessage") or answer.reason_phrase)
    )


def _error(status: int, code: str, sent: str) -> SfumatoError:
    """Return the library's error for a code of the service."""
    message = Message("verbatim", text=sent)
    kind = code.partition(".")[0]
    if kind in ERRORS:
        error, own = ERRORS[kind](message=message, hint=""), code
    elif kind in REFUSALS:
        error, own = EngineError(message=message, hint=Message(REFUSALS[kind])), f"engine.{code}"
    elif status >= 500:
        error, own = InternalError(message=message), code
    else:
        error, own = PlanError(message=message, hint=""), f"plan.{code}"
    error.code = own
    return error


def _dumped(values: Mapping[str, Any]) -> str:
    """Return plain values as JSON.

    Raises:
        DataError: A value is not plain, such as a date or a number that is not finite.
    """
    try:
        return json.dumps(values, allow_nan=False)
    except (TypeError, ValueError):
        raise DataError("json") from None


def _plan_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise PlanError("unreadable.the_plan_cannot_be_read", name=path.name) from None


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise DataError("unreadable.cannot_read", problem=error.strerror, name=path.name) from None


def _id(job: RemoteJob | str) -> str:
    name = job if isinstance(job, str) else job.id
    if not name.isalnum():
        raise PlanError("job")
    return name


def _job(content: Mapping[str, Any]) -> RemoteJob:
    progress, error = content["progress"], content["error"]
    return RemoteJob(
        content["id"],
        content["kind"],
        content["state"],
        progress["stage"],
        progress["done"],
        progress["total"],
        (error["code"], error["message"]) if error else None,
    )
