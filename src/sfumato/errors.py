"""All error classes: each error states what is wrong and what to do, and carries a stable code.

The text of an error never contains a data value; such values are in `values`, for callers of the library only. One
table, `STATUS`, maps the kind of an error to exit status and HTTP status.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import ClassVar

from sfumato.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ResponseStatus:
    """The exit and HTTP status of one kind of error."""

    exit: int
    http: int


STATUS: dict[str, ResponseStatus] = {
    "promise": ResponseStatus(exit=1, http=409),
    "plan": ResponseStatus(exit=2, http=400),
    "data": ResponseStatus(exit=3, http=400),
    "unattainable": ResponseStatus(exit=4, http=422),
    "engine": ResponseStatus(exit=5, http=503),
    "internal": ResponseStatus(exit=5, http=500),
}


class SfumatoError(Exception):
    """Base class of all errors that Sfumato raises on purpose.

    Attributes:
        message: What is wrong, without any data value.
        hint: A hint what to do.
        code: Stable code of the error, `<kind>.<name>`.
        values: The data values concerned, for callers of the library only.
        column: The column concerned, if there is one.
        rows: Numbers of the rows concerned, counted from 1 without the header.
    """

    kind: ClassVar[str] = "internal"

    def __init__(
        self,
        message: str,
        hint: str = "",
        code: str = "",
        *,
        values: Iterable[str | None] = (),
        column: str | None = None,
        rows: Iterable[int] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = f"{self.kind}.{code}" if code else self.kind
        self.values = tuple(values)
        self.column = column
        self.rows = tuple(rows)

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()

    @property
    def status(self) -> ResponseStatus:
        return STATUS[self.kind]


class ViolationError(SfumatoError):
    """A privacy model is violated by the given data."""

    kind = "promise"


class DataError(SfumatoError):
    """The data do not match the plan."""

    kind = "data"


class UnattainableError(SfumatoError):
    """No recoding within the suppression limit satisfies the requested privacy models."""

    kind = "unattainable"


class EngineError(SfumatoError):
    """An engine, a disk or a missing part of the installation stopped the work."""

    kind = "engine"


class InternalError(SfumatoError):
    """A bug in Sfumato: its results are contradictory, and nothing is published."""

    kind = "internal"

    def __init__(self, message: str, hint: str = "", code: str = "") -> None:
        super().__init__(message, hint or "This is a bug in Sfumato; please report it. Nothing was published.", code)


@dataclass(frozen=True, slots=True)
class PlanIssue:
    """One issue of a plan: its path, the problem, and a hint."""

    path: str
    message: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.path}: {self.message}{' ' + self.hint if self.hint else ''}"


class PlanError(SfumatoError):
    """The plan is invalid; all its issues are reported at once in `issues`."""

    kind = "plan"

    def __init__(self, issues: Sequence[PlanIssue] | str, hint: str = "", code: str = "", **where: object) -> None:
        self.issues = (PlanIssue("plan", issues, hint),) if isinstance(issues, str) else tuple(issues)
        text = issues if isinstance(issues, str) else "\n".join(str(issue) for issue in self.issues)
        super().__init__(text, hint if isinstance(issues, str) else "", code, **where)  # type: ignore[arg-type]


def missing_extra(package: str, extra: str) -> EngineError:
    """Return the error for an optional package that is not installed.

    >>> str(missing_extra("pyspark", "spark"))
    'pyspark is not installed. Install it with: pip install "sfumato[spark]"'
    """
    return EngineError(f"{package} is not installed.", f'Install it with: pip install "sfumato[{extra}]"', "extra")


@contextmanager
def extra_part(package: str, extra: str) -> Iterator[None]:
    """Within this context, an optional package is imported.

    Raises:
        EngineError: It is not installed, with a hint what to install.
    """
    try:
        yield
    except ImportError:
        raise missing_extra(package, extra) from None


def did_you_mean(name: str, valid: Iterable[str]) -> str:
    """Return a hint at the nearest valid name, or the valid names if none is near.

    >>> did_you_mean("quasi-identifer", ["identifier", "quasi-identifier"])
    'Did you mean "quasi-identifier"?'
    >>> did_you_mean("Agee", ["age", "gender"])
    'Did you mean "age"?'
    """
    names = sorted(valid)
    near = nearest(name, names)
    if near is not None:
        return f'Did you mean "{near}"?'
    return "Valid: " + ", ".join(names) + "." if names else ""


def nearest(name: str, valid: Iterable[str]) -> str | None:
    """Return the most similar valid name, ignoring case."""
    from difflib import get_close_matches

    folded = {valid_name.casefold(): valid_name for valid_name in sorted(valid, reverse=True)}
    near = get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    return folded[near[0]] if near else None
