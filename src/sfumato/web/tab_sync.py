"""Disable an area in other tabs after one tab changed its project, until they are reloaded."""

from collections.abc import Callable
from typing import Any

from nicegui import ui

from sfumato.localization.messages import Words
from sfumato.web import components


class SharedRoom:
    """A room for what is entered; `load` builds it anew from what is kept.

    Attributes:
        stale: Whether another tab changed what is shown since it was built; nothing is done with it then.
        content: The element that holds what the area builds.
    """

    def __init__(self, words: Words, says: str, load: Callable[[], Any]) -> None:
        self.stale = False
        self._words, self._says, self._load = words, says, load

    def build(self) -> Any:
        """The room, empty, with a place above it for the news."""
        self._news = ui.column().classes("w-full sf-news-room").props('role="alert"')
        self.content = ui.element("div").classes("sf-page").style("padding: 0")
        return self.content

    def change_elsewhere(self) -> None:
        """Another tab made a change: what stands here is no longer true."""
        if self.stale:
            return
        self.stale = True
        self.content.props("inert")
        with self._news, components.card(classes="sf-news"), ui.row().classes("items-center"):
            ui.label(self._words[self._says])
            components.button(self._words["other_tab.load"], self._load)

    def renew(self) -> None:
        """Empty the room for what is true now."""
        self.stale = False
        self.content.props(remove="inert")
        self._news.clear()
        self.content.clear()
