"""The list of a plan's issues, collected while it is read."""

from sfumato.errors import Hint, PlanIssue, issue
from sfumato.localization.messages import Message
from sfumato.values import State, field


class Refused(Exception):  # noqa: N818  (it is caught by the shapes, never shown)
    """A value was refused; the list of issues has the reason."""


class PlanIssues(State):
    """The issues so far, and the paths that were read, each with its plan path."""

    entries: list[PlanIssue] = field(default_factory=list)
    paths: list[tuple[str, str]] = field(default_factory=list)

    def refuse(
        self, at: str, code: str = "", /, *, message: Message | None = None, hint: Hint | None = None, **values: object
    ) -> Refused:
        """Add an issue by its code, or with the message and hint given, and return what is to be raised."""
        self.entries.append(issue(at or "plan", code, message=message, hint=hint, **values))
        return Refused()
