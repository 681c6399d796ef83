"""The error for a value that an operation cannot process; its text never contains the value."""

from sfumato.errors import DataError
from sfumato.localization.messages import Message

SHOWN_CHARACTERS = 200


class ValueRefusedError(DataError):
    """A value does not fit the requested operation; `place` is its index among the nonmissing values.

    The text names only the attribute. `text_with_place` also names the record, `text_for_sender` the value, for the
    sender, who knows it.

    >>> error = ValueRefusedError("age", Message("request.generalization", type="Numeric"), "no_number", "old", 3)
    >>> str(error).removeprefix("Error when applying anonymization to attribute ")
    'age: Numeric Generalization was requested but the input is not numeric'
    """

    def __init__(self, attribute: str, request: Message, complaint: str, value: object, place: int) -> None:
        self.place = place
        self._parts = {
            "column": attribute,
            "request": request,
            "complaint": Message(f"complaint.{complaint}"),
        }
        super().__init__("value.column", **self._parts)
        self.about(values=(str(value),), column=attribute, rows=(place + 1,))

    def of_row(self, number: int) -> "ValueRefusedError":
        """Return the same error, with the number of the row among all rows, missing values included."""
        self.rows = (number,)
        return self

    def text_with_place(self) -> Message:
        """Return the text with the number of the record."""
        return Message("error.data.value.record", row=self.rows[0], **self._parts)

    def text_for_sender(self) -> Message:
        """Return the text with the value."""
        value = str(self.values[0])
        shown = value if len(value) <= SHOWN_CHARACTERS else value[:SHOWN_CHARACTERS] + "…"
        return Message("error.data.value.sender", example=shown, **self._parts)
