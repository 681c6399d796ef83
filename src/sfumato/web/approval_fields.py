"""Fields of a plan's `release`: who releases, for which purpose; for rows and tables."""

from collections.abc import Callable
from typing import Any

from nicegui import ui

from sfumato.localization.messages import Messages
from sfumato.report.html_page import ABOUT


def sign_off_fields(words: Messages, stated: dict[str, str], changed: Callable[[dict[str, str]], Any]) -> None:
    """Build a field for each key of the approval; `changed` gets the entries whenever they change."""
    about = dict(stated)

    def note(key: str, text: str) -> None:
        about[key] = text
        changed({name: entry for name, entry in about.items() if entry})

    for key in ABOUT:
        field = ui.input(words[f"report.{key}"], value=about.get(key, "")).props("debounce=300")
        field.on_value_change(lambda event, key=key: note(key, str(event.value or "")))
