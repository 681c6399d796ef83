"""The interface through which a step uses the area that it belongs to."""

from typing import Protocol

from sfumato.web.page_layout import Shell
from sfumato.web.projects.workspace import Workspace


class Area(Protocol):
    """An area of steps; it is stale if another tab has changed the project since it was built."""

    workspace: Workspace
    shell: Shell

    @property
    def stale(self) -> bool:
        """Return whether another tab has changed the project."""
        ...

    def go(self, step: str) -> None:
        """Go to a step."""
        ...

    def refresh(self) -> None:
        """Rebuild the current step."""
        ...

    def tell_steps(self) -> None:
        """Update which steps are done."""
        ...

    def ways(self, back: str | None, onward: str | None) -> None:
        """Build the buttons for the previous and the next step."""
        ...


class Step(Protocol):
    """A step of an area."""

    def build(self) -> None:
        """Build the step in the current container; data is loaded, except in the first step."""
        ...
