"""All error classes: each error states what is wrong and what to do, and carries a stable code.

The text of an error never contains a data value; such values are in `values`, for callers of the library only. One
table, `STATUS`, maps the kind of an error to exit status and HTTP status.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, Literal, Self

from sfumato.localization.messages import Message, words_in
from sfumato.values import Value

# What to do about an error, or an empty text.
Hint = Message | Literal[""]


class ResponseStatus(Value):
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

    Args:
        code: Its code, such as `columns.no_column`: its text has the key `error.KIND.CODE`, its hint that with `.do`.
        message: The problem, if the code has no text of its own.
        hint: What to do, if the code has no hint of its own.
        **values: Values of the placeholders in the texts.

    Attributes:
        message: The problem, without any data value.
        hint: What to do, or an empty text.
        code: Stable code of the error, `<kind>.<name>`, without the suffix that distinguishes its texts.
        values: The data values concerned, for callers of the library only.
        column: The column concerned, if there is one.
        rows: Numbers of the rows concerned, counted from 1 without the header.
    """

    kind: ClassVar[str] = "internal"

    def __init__(
        self, code: str = "", /, *, message: Message | None = None, hint: Hint | None = None, **values: object
    ) -> None:
        key = f"error.{self.kind}.{code}"
        self.message = Message(key, **values) if message is None else message
        self.hint = _hint(key, values) if hint is None else hint
        self.code = f"{self.kind}.{code.partition('.')[0]}" if code else self.kind
        self.values: tuple[str | None, ...] = ()
        self.column: str | None = None
        self.rows: tuple[int, ...] = ()
        super().__init__(self.message)

    def about(self, *, values: Iterable[str | None] = (), column: str | None = None, rows: Iterable[int] = ()) -> Self:
        """Return the error with the data that it concerns."""
        self.values, self.column, self.rows = tuple(values), column, tuple(rows)
        return self

    def at(self, name: str, line: int, column: int) -> Self:
        """Return the error with its position in a file."""
        self.message = Message("located", name=name, line=line, column=column, message=self.message)
        return self

    def with_text(self, message: Message, hint: Hint | None = None) -> Self:
        """Return the error with another message, and another hint if one is given."""
        self.message, self.hint = message, self.hint if hint is None else hint
        return self

    @property
    def text(self) -> Message:
        """The problem and the hint."""
        return Message("sentences", parts=(self.message, self.hint)) if self.hint else self.message

    def __str__(self) -> str:
        return str(self.text)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self.__dict__)

    @property
    def status(self) -> ResponseStatus:
        return STATUS[self.kind]


def _restore(kind: type[SfumatoError], state: dict[str, Any]) -> SfumatoError:
    error = kind.__new__(kind)
    error.__dict__.update(state)
    error.args = (error.message,)
    return error


def _hint(key: str, values: Mapping[str, object]) -> Hint:
    """Return the hint of a text, or an empty one."""
    return Message(f"{key}.do", **values) if f"{key}.do" in words_in() else ""


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

    def __init__(
        self, code: str = "", /, *, message: Message | None = None, hint: Hint | None = None, **values: object
    ) -> None:
        super().__init__(code, message=message, hint=hint, **values)
        self.hint = self.hint or Message("error.internal.do")


class PlanIssue(Value):
    """One issue of a plan: its path, the problem, and a hint."""

    path: str
    message: Message
    hint: Hint = ""

    @property
    def text(self) -> Message:
        return Message("place_in_plan", path=self.path, message=Message("sentences", parts=(self.message, self.hint)))

    def __str__(self) -> str:
        return str(self.text)


def issue(
    path: str, code: str = "", /, *, message: Message | None = None, hint: Hint | None = None, **values: object
) -> PlanIssue:
    """Return an issue by its code: the key `error.issue.CODE` of the texts, that of the hint with `.do`."""
    key = f"error.issue.{code}"
    what = Message(key, **values) if message is None else message
    return PlanIssue(path, what, _hint(key, values) if hint is None else hint)


class PlanError(SfumatoError):
    """The plan is invalid; all its issues are reported at once in `issues`."""

    kind = "plan"

    def __init__(
        self, code: str = "", /, *, message: Message | None = None, hint: Hint | None = None, **values: object
    ) -> None:
        super().__init__(code, message=message, hint=hint, **values)
        self.issues: tuple[PlanIssue, ...] = (PlanIssue("plan", self.message, self.hint),)

    @classmethod
    def listing(cls, issues: Iterable[PlanIssue], code: str = "faults") -> Self:
        """Return one error for several issues, each with its path."""
        listed = tuple(issues)
        error = cls(code, message=Message("lines", lines=tuple(one.text for one in listed)), hint="")
        error.issues = listed
        return error


def missing_extra(package: str, extra: str) -> EngineError:
    """Return the error for an optional package that is not installed.

    >>> str(missing_extra("pyspark", "spark"))
    'pyspark is not installed. Install it with: pip install "sfumato[spark]"'
    """
    return EngineError("extra", package=package, extra=extra)


@contextmanager
def extra_part(package: str, extra: str) -> Iterator[None]:
    """Translate a failed import of an optional package within this context.

    Raises:
        EngineError: It is not installed, with a hint what to install.
    """
    try:
        yield
    except ImportError:
        raise missing_extra(package, extra) from None


def did_you_mean(name: str, valid: Iterable[str]) -> Hint:
    """Return a hint at the nearest valid name, or the valid names if none is near.

    >>> print(did_you_mean("quasi-identifer", ["identifier", "quasi-identifier"]))
    Did you mean "quasi-identifier"?
    >>> print(did_you_mean("Agee", ["age", "gender"]))
    Did you mean "age"?
    """
    names = sorted(valid)
    near = nearest(name, names)
    if near is not None:
        return Message("hint.did_you_mean", name=near)
    return Message("hint.valid", names=", ".join(names)) if names else ""


def nearest(name: str, valid: Iterable[str]) -> str | None:
    """Return the most similar valid name, ignoring case."""
    from difflib import get_close_matches

    folded = {valid_name.casefold(): valid_name for valid_name in sorted(valid, reverse=True)}
    near = get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    return folded[near[0]] if near else None
