"""Disable an area in other tabs after one tab changed its project, until they are reloaded."""

from collections.abc import Callable
from typing import Any

from nicegui import ui

from sfumato.localization.messages import Messages
from sfumato.web import components


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
