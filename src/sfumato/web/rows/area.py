"""What a step may ask of the area it belongs to."""

from typing import Protocol

from sfumato.web.visit import Visit


class Area(Protocol):
    """An area of steps."""

    visit: Visit

    def go(self, step: str) -> None:
        """Enter a step."""
        ...

    def needs_data(self) -> bool:
        """Whether there are no data yet; then the step says so."""
        ...

    def ways(self, back: str | None, onward: str | None) -> None:
        """The buttons that lead to the neighboring steps."""
        ...
