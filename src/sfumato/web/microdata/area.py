"""The interface through which a step uses the area that it belongs to."""

from typing import Protocol

from sfumato.web.page_layout import Shell
from sfumato.web.projects.workspace import Workspace


class Area(Protocol):
    """An area of steps; it is stale where another tab changed the project since it was built."""

    workspace: Workspace
    shell: Shell

    @property
    def stale(self) -> bool:
        """Whether another tab changed the project."""
        ...

    def go(self, step: str) -> None:
        """Enter a step."""
        ...

    def refresh(self) -> None:
        """Build the step at hand anew."""
        ...

    def tell_steps(self) -> None:
        """Say anew which steps are done."""
        ...

    def ways(self, back: str | None, onward: str | None) -> None:
        """The buttons that lead to the neighboring steps."""
        ...


class Step(Protocol):
    """A step, made for an area."""

    def build(self) -> None:
        """The step, in the container at hand; data are there, but for the first step."""
        ...
