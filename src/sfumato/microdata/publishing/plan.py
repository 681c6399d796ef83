"""What a plan says a column is published as: its operations, in the order in which they are asked."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Annotated

from sfumato.hierarchies.types import canonical
from sfumato.microdata.publishing.bin import Bin
from sfumato.microdata.publishing.bottom import Bottom
from sfumato.microdata.publishing.operation import Operation
from sfumato.microdata.publishing.round import Round
from sfumato.microdata.publishing.top import Top
from sfumato.shapes.records import Note

# Keys of `publish` and the operation of each, in the order in which a number is offered to them.
OPERATIONS: dict[str, Callable[[Decimal], Operation]] = {"bottom": Bottom, "top": Top, "round": Round, "bin": Bin}


@dataclass(frozen=True, slots=True)
class PublishPlan:
    """How the numbers of a column are published; the first operation that says something of a number decides."""

    bottom: Annotated[float | None, Note("numbers below it are published as <bottom")] = None
    top: Annotated[float | None, Note("numbers above it are published as >top")] = None
    round: Annotated[float | None, Note("numbers are rounded to a multiple of it")] = None
    bin: Annotated[float | None, Note("numbers are published as intervals of this width")] = None

    def __post_init__(self) -> None:
        if not any(True for _ in self.operations()):
            raise ValueError(f"publish must name an operation: {', '.join(OPERATIONS)}.")
        if self.round is not None and self.bin is not None:
            raise ValueError("round and bin do not go together.")
        if any(step is not None and step <= 0 for step in (self.round, self.bin)):
            raise ValueError("round and bin must be greater than 0.")
        if self.bottom is not None and self.top is not None and self.bottom > self.top:
            raise ValueError("bottom is above top.")

    def operations(self) -> Iterator[Operation]:
        """The operations asked for."""
        for part in fields(self):
            asked = getattr(self, part.name)
            if asked is not None:
                yield OPERATIONS[part.name](Decimal(str(asked)))

    def publish(self, texts: Sequence[str]) -> list[str | None]:
        """What each text is published as; None for one that is no number.

        >>> PublishPlan(top=100, round=10).publish(["007", "55", "1e3", "many"])
        ['10', '60', '>100', None]
        """
        operations = tuple(self.operations())
        forms, _ = canonical(texts, "decimal")
        return [None if form is None else _published(operations, form) for form in forms]

    def keeps(self, text: str) -> bool:
        """Whether a published text may stand there: it is no number, or one that is published as itself."""
        published = self.publish([text])[0]
        return published is None or published == text


def _published(operations: Sequence[Operation], text: str) -> str:
    number = Decimal(text)
    return next((label for one in operations if (label := one.publish(number)) is not None), text)
