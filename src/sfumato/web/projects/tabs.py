"""Browser tabs that show the same project: notify the others of a change."""

from collections.abc import Callable
from weakref import WeakKeyDictionary

from nicegui import Client, ui


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
