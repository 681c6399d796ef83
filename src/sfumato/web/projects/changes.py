"""Changes of a project: undo and redo of plans, and what other browser tabs show of a change."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any
from weakref import WeakKeyDictionary

from nicegui import Client, ui

from sfumato.localization.messages import Messages
from sfumato.values import State, field
from sfumato.web import components

MOST_STEPS = 200
Plan = dict[str, Any]


class Undo(State):
    """The undo history of a plan.

    >>> undo = Undo()
    >>> [undo.record({"k": k}) for k in (2, 3, 4, 4)]
    [True, True, True, False]
    >>> undo.back({"k": 4}), undo.back({"k": 3}), undo.forth({"k": 2})
    ({'k': 3}, {'k': 2}, {'k': 3})
    """

    past: list[Plan] = field(default_factory=list)
    future: list[Plan] = field(default_factory=list)

    def record(self, plan: Plan) -> bool:
        """Record a plan if it differs from the last one, and return whether it does; clears the redo history."""
        if not plan or (self.past and self.past[-1] == plan):
            return False
        self.past.append(deepcopy(plan))
        self.future.clear()
        del self.past[:-MOST_STEPS]
        return True

    def back(self, plan: Plan) -> Plan | None:
        """Return the plan before this one, or None."""
        self.record(plan)
        if len(self.past) < 2:
            return None
        self.future.append(self.past.pop())
        return deepcopy(self.past[-1])

    def forth(self, plan: Plan) -> Plan | None:
        """Return the plan that was undone last, or None if another one was made since."""
        self.record(plan)
        if not self.future:
            return None
        self.past.append(self.future.pop())
        return deepcopy(self.past[-1])


class Tabs:
    """The callbacks of each tab for changes made in another tab."""

    def __init__(self) -> None:
        self._tells: WeakKeyDictionary[Client, Callable[[], None]] = WeakKeyDictionary()

    def join(self, tell: Callable[[], None]) -> None:
        """Register the current tab; `tell` is called when another tab changes the project."""
        client = ui.context.client
        self._tells[client] = tell
        client.on_delete(lambda: self._tells.pop(client, None))

    def changed(self) -> None:
        """Report a change by the current tab to all others; changes without a tab are not reported."""
        own = _client()
        for client, tell in list(self._tells.items()) if own else ():
            if client is not own:
                with client:
                    tell()


def _client() -> Client | None:
    """Return the current tab; None outside of a tab."""
    try:
        return ui.context.client
    except RuntimeError:
        return None


class TabSync:
    """A container for entries; `load` rebuilds it from the stored state.

    Attributes:
        stale: Whether another tab has changed the displayed state since it was built; actions are then disabled.
        content: The element that contains the content of the area.
    """

    def __init__(self, words: Messages, says: str, load: Callable[[], Any]) -> None:
        self.stale = False
        self._words, self._says, self._load = words, says, load

    def build(self) -> Any:
        """Build the empty container, with a place for notices above it."""
        self._news = ui.column().classes("w-full sf-news-room").props('role="alert"')
        self.content = ui.element("div").classes("sf-page").style("padding: 0")
        return self.content

    def change_elsewhere(self) -> None:
        """Handle a change by another tab: the displayed state is outdated."""
        if self.stale:
            return
        self.stale = True
        self.content.props("inert")
        with self._news, components.card(classes="sf-news"), ui.row().classes("items-center"):
            ui.label(self._words[self._says])
            components.button(self._words["other_tab.load"], self._load)

    def renew(self) -> None:
        """Clear the container for the current state."""
        self.stale = False
        self.content.props(remove="inert")
        self._news.clear()
        self.content.clear()
