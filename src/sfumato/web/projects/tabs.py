"""Browser tabs that show the same project: notify the others of a change."""

from collections.abc import Callable
from weakref import WeakKeyDictionary

from nicegui import Client, ui


class Tabs:
    """What each tab does when another one changed the project."""

    def __init__(self) -> None:
        self._tells: WeakKeyDictionary[Client, Callable[[], None]] = WeakKeyDictionary()

    def join(self, tell: Callable[[], None]) -> None:
        """The tab at hand shows the project; `tell` is called when another one changes it."""
        client = ui.context.client
        self._tells[client] = tell
        client.on_delete(lambda: self._tells.pop(client, None))

    def changed(self) -> None:
        """The tab at hand changed the project; nobody is told of what no tab did."""
        own = _client()
        for client, tell in list(self._tells.items()) if own else ():
            if client is not own:
                with client:
                    tell()


def _client() -> Client | None:
    """The tab on whose behalf something is done; None where no tab asked for it."""
    try:
        return ui.context.client
    except RuntimeError:
        return None
