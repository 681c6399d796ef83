"""A list of plan entries on a page: a card with fields for each, and a choice to add more."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from nicegui import events, ui

from sfumato.dataclass import dataclass
from sfumato.localization.messages import Messages
from sfumato.web import components
from sfumato.web.components import EntryCard
from sfumato.web.forms import Values

# Limits: entries shown opened, values named in a summary, entries of a kind shown without folding.
MOST_OPEN, MOST_NAMED, MOST_ALIKE = 2, 3, 4
SIGNS = {"alpha": "α", "beta": "β", "delta": "δ", "epsilon": "ε", "min": "≥", "max": "≤"}


@dataclass
class EntryList:
    """The entries of one kind; at least one remains.

    Attributes:
        kind: The key that identifies an entry; its texts are found by it (`rule.dominance`, `rule.dominance.says`).
        offered: The entries that can be added, with their initial values.
        entries: Returns the list in the plan, called each time because another plan may have been opened.
        fields: Builds the fields of an entry.
        changed: Called after each change.
    """

    words: Messages
    kind: str
    offered: Mapping[str, Callable[[], Values]]
    entries: Callable[[], list[Values]]
    fields: Callable[[Values], None]
    changed: Callable[[], Any]
    _room: Any = field(default=None, init=False)
    _cards: list[tuple[Values, EntryCard]] = field(default_factory=list, init=False)

    def build(self) -> None:
        """Build the cards, and the choice for adding one."""
        self._room = ui.column().classes("w-full gap-2")
        self.show()
        offered = {name: self.words[f"{self.kind}.{name}"] for name in self.offered}
        choice = ui.select(offered, label=self.words[f"add_{self.kind}"], on_change=self._add)
        choice.classes("w-full").props("outlined dense")

    def show(self) -> None:
        """Rebuild all cards; if there are many, only the first is open."""
        self._room.clear()
        self._cards.clear()
        counts = Counter(entry[self.kind] for entry in self.entries())
        folded: set[str] = set()
        for place, entry in enumerate(self.entries()):
            name, opened = entry[self.kind], place == 0 or len(self.entries()) <= MOST_OPEN
            if counts[name] <= MOST_ALIKE:
                self._card(entry, opened, self._room)
            elif name not in folded:
                folded.add(name)
                self._fold(name, [other for other in self.entries() if other[self.kind] == name])
        self._tell()

    def _fold(self, name: str, alike: list[Values]) -> None:
        """Build a collapsed container for many entries of a kind, filled when it is opened."""
        with self._room, ui.element("details").classes("sf-promise sf-alike") as room, ui.element("summary"):
            ui.label(self.words[f"{self.kind}.{name}"]).classes("font-bold")
            ui.label(self.words["entries_alike"].format(count=len(alike))).classes("sf-soft sf-small")

        def fill() -> None:
            for entry in alike:
                self._card(entry, False, room)
            self._tell()

        _once(room, fill)

    def told(self) -> None:
        """Update the summary of each entry."""
        for entry, card in self._cards:
            card.chosen.text = summary(self.kind, entry, self.words)

    def _tell(self) -> None:
        """Disable the removal of the last entry."""
        for _, card in self._cards:
            card.remove.set_visibility(len(self.entries()) > 1)

    def _add(self, event: events.ValueChangeEventArguments[Any]) -> None:
        if event.value is None:
            return
        entry = {self.kind: event.value, **self.offered[event.value]()}
        self.entries().append(entry)
        event.sender.set_value(None)  # type: ignore[attr-defined]
        self._card(entry, True, self._room)
        self._tell()
        self.changed()

    def _remove(self, entry: Values) -> None:
        """Remove one card; the others stay in place, so that no click on them is lost."""
        gone = next((card for other, card in self._cards if other is entry), None)
        if gone is None or len(self.entries()) == 1:
            return
        self.entries()[:] = [other for other in self.entries() if other is not entry]
        self._cards = [(other, card) for other, card in self._cards if other is not entry]
        gone.frame.delete()
        self._tell()
        self.changed()

    def _card(self, entry: Values, opened: bool, room: Any) -> None:
        key = f"{self.kind}.{entry[self.kind]}"
        title, about = self.words[key], self.words[f"{key}.says"]
        with room:
            card = components.entry(title, about, lambda: self._remove(entry), self.words, opened)
        card.chosen.text = summary(self.kind, entry, self.words)
        self._cards.append((entry, card))

        def fill() -> None:
            with card.room:
                self.fields(entry)

        fill() if opened else _once(card.room, fill)


def _once(details: Any, fill: Callable[[], None]) -> None:
    """Fill a collapsed element when it is first opened, to save time."""
    waiting = [fill]
    details.on("toggle", lambda: waiting.pop()() if waiting else None)


def summary(kind: str, entry: Values, words: Messages) -> str:
    """Summarize an entry in a few characters.

    >>> from sfumato.localization.messages import words_in
    >>> alpha = {"model": "alpha-k-anonymity", "alpha": 0.8, "k": 5, "column": "illness", "values": ["flu"]}
    >>> summary("model", alpha, words_in("de"))
    'illness · α 0,8 · k 5 · flu'
    >>> summary("model", {"model": "l-diversity", "l": 3, "variant": "distinct", "column": "pay"}, words_in("de"))
    'pay · l 3 · l verschiedene Werte'
    >>> summary("rule", {"rule": "range", "min": 1, "max": 3}, words_in("de"))
    '≥ 1 · ≤ 3'
    """
    parts = [str(entry["column"])] if "column" in entry else []
    for key, value in entry.items():
        if key in (kind, "column") or isinstance(value, dict | bool):
            continue
        if isinstance(value, list):
            parts.append(", ".join(map(str, value[:MOST_NAMED])) + (", …" if len(value) > MOST_NAMED else ""))
        else:
            parts.append(_chosen(key, value, words))
    return " · ".join(parts)


def _chosen(key: str, value: object, words: Messages) -> str:
    """Return the value of a key as text: the meaning of a choice, a number with its symbol."""
    if isinstance(value, str):
        told = words.get(f"{key}.{value}", value)
        return told.removeprefix(f"{value}: ")
    return f"{SIGNS.get(key, key)} {words.value(str(value))}"
