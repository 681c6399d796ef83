"""What tests ask of an error: its code and its position in a file, never its words."""

from collections.abc import Callable, Iterator
from typing import Any

from sfumato.errors import SfumatoError
from sfumato.localization.messages import Message


def coded(expected: str) -> Callable[[SfumatoError], bool]:
    """Return the check for `pytest.raises` that an error has a code, such as `plan.no-table`.

    A position in a file follows after a blank: `data.format.expected 3:1` is line 3, column 1. Of a list of faults the
    code of each is one of the error.
    """

    def check(error: SfumatoError) -> bool:
        _, _, place = identity(error).partition(" ")
        assert expected in (identity(error), error.code, f"{error.code} {place}", *codes_of(error.message))
        return True

    return check


def identity(error: SfumatoError) -> str:
    """Return the code of an error's text, and its position in a file if it has one."""
    text, place = error.message, ""
    if isinstance(text, Message) and text.code == "located":
        place = f" {text.values['line']}:{text.values['column']}"
        text = text.values["message"]
    code = text.code.removeprefix("error.") if isinstance(text, Message) else ""
    return f"{code or error.code}{place}"


def codes_of(text: object) -> Iterator[str]:
    """Yield the code of a message, and those of the messages that it is filled with."""
    if isinstance(text, Message):
        yield text.code.removeprefix("error.")
    for part in text.values.values() if isinstance(text, Message) else text if isinstance(text, list | tuple) else ():
        yield from codes_of(part)


def refused(code: str, *issues: str, **values: str) -> Callable[[Any], bool]:
    """Return the check for `pytest.raises` that an error has a code, issues and values.

    Args:
        code: Of the error or of its message.
        issues: Codes of issues of a plan, without `error.issue.`.
        values: Values of its message, as texts.
    """

    def check(error: Any) -> bool:
        message = getattr(error, "message", None) or error.args[0]
        found = {str(issue.message.code).removeprefix("error.issue.") for issue in getattr(error, "issues", ())}
        same = all(str(message.values[name]) == value for name, value in values.items())
        return code in (getattr(error, "code", None), message.code) and found >= set(issues) and same

    return check
