"""What tests ask of an error: its code and its position in a file, never its words."""

from collections.abc import Callable

from sfumato.errors import SfumatoError
from sfumato.localization.messages import Message


def coded(expected: str) -> Callable[[SfumatoError], bool]:
    """Return the check for `pytest.raises` that an error has a code, such as `plan.no-table`.

    A position in a file follows after a blank: `data.format.expected 3:1` is line 3, column 1.
    """

    def check(error: SfumatoError) -> bool:
        assert identity(error) == expected
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
