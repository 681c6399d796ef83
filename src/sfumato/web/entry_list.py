"""A list of entries of a plan on a page: a card for each with its fields, and a choice from which more are added."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nicegui import events, ui

from sfumato.texts.words import Words
from sfumato.web import components
from sfumato.web.forms import Values


@dataclass
class EntryList:
    """The entries of one kind, of which one always stays.

    Attributes:
        kind: The key that says what an entry is; its words are found by it (`rule.dominance`, `rule.dominance.says`).
        offered: What can be added, each with the values that it starts with.
        entries: The list in the plan, asked anew each time: another plan may have been opened.
        fields: Builds the fields of an entry; changed: called after each change.
    """

    words: Words
    kind: str
    offered: Mapping[str, Callable[[], Values]]
    entries: Callable[[], list[Values]]
    fields: Callable[[Values], None]
    changed: Callable[[], Any]
    _room: Any = field(default=None, init=False)

    def build(self) -> None:
        """The cards, and the choice from which one is added."""
        self._room = ui.column().classes("w-full gap-2")
        self.show()
        offered = {name: self.words[f"{self.kind}.{name}"] for name in self.offered}
        choice = ui.select(offered, label=self.words[f"add_{self.kind}"], on_change=self._add)
        choice.classes("w-full").props("outlined")

    def show(self) -> None:
        """Build the cards anew."""
        self._room.clear()
        with self._room:
            for entry in self.entries():
                self._card(entry)

    def _add(self, event: events.ValueChangeEventArguments[Any]) -> None:
        if event.value is None:
            return
        self.entries().append({self.kind: event.value, **self.offered[event.value]()})
        event.sender.set_value(None)  # type: ignore[attr-defined]
        self.show()
        self.changed()

    def _remove(self, entry: Values) -> None:
        self.entries()[:] = [other for other in self.entries() if other is not entry]
        self.show()
        self.changed()

    def _card(self, entry: Values) -> None:
        key = f"{self.kind}.{entry[self.kind]}"
        remove = (lambda: self._remove(entry)) if len(self.entries()) > 1 else None
        with components.entry(self.words[key], self.words[f"{key}.says"], remove, self.words):
            self.fields(entry)
