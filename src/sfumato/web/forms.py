"""Forms for parts of a plan, drawn from its schema: a field for each key, lists of entries, the approval."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nicegui import events, ui

from sfumato.errors import PlanError
from sfumato.localization.messages import Messages
from sfumato.report.html_page import ABOUT
from sfumato.schema.composite import Choice, Flag, Integer, KeySchema, ListSchema, Number
from sfumato.schema.files import written
from sfumato.service.jobs.plans import read_plan_text
from sfumato.service.problems import RefusedError
from sfumato.values import State, Value, field
from sfumato.web import components
from sfumato.web.components import EntryCard

Values = dict[str, Any]
# Keys that apply only with certain values of another key.
ONLY_WITH: dict[str, tuple[str, str]] = {
    "c": ("variant", "recursive"),
    "order": ("distance", "ordered"),
    "hierarchy": ("distance", "hierarchical"),
    "class": ("loss", "classification"),
    "tie_break": ("name", "intervals"),
    "repair": ("name", "intervals"),
}
# Initial values of such keys if they are required.
STARTS: Values = {"c": 3.0, "hierarchy": {"type": "any"}}
# A longer label is placed above its field, where it can have several lines.
LONGEST_LABEL = 34
# Step width of number fields, if it is not 1, or 0.05 for proportions.
STEPS = {"delta": 0.1, "beta": 0.1, "c": 0.5, "time_limit": 10}


class Form(Value):
    """Fields for some keys of a plan; entries are written to `values` at once, an empty field removes its key.

    Attributes:
        owner: The name of the described object, by which specific texts are found (`l-diversity.l` before `key.l`).
        keys: The keys with their shapes.
        values: The current values.
        offers: Names to choose from, for keys that name a column or a similar object.
        defaults: The defaults of keys without a value.
        changed: Called after each change.
    """

    words: Messages
    owner: str
    keys: Mapping[str, KeySchema]
    values: Values
    changed: Callable[[], Any]
    offers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)

    def build(self) -> None:
        """Build the fields in the current container; a choice that changes the fields rebuilds them."""
        container = ui.element("div").classes("sf-fields")

        def fill() -> None:
            with components.refilled(container):
                for name, key in self.keys.items():
                    if self.applies(name):
                        self._field(name, key, fill)

        fill()

    def applies(self, name: str) -> bool:
        """Return whether a key applies, given the values of the others."""
        other, choice = ONLY_WITH.get(name, ("", ""))
        return not other or self._value(other) == choice

    def missing(self) -> list[str]:
        """Return the labels of required keys without a value."""
        needed = [name for name, key in self.keys.items() if key.required or name in ("c", "class")]
        return [self.label(name) for name in needed if self.applies(name) and self.values.get(name) in (None, "")]

    def label(self, name: str) -> str:
        """Return the label of a key."""
        return self.words.get(f"{self.owner}.{name}") or self.words[f"key.{name}"]

    def _value(self, name: str) -> Any:
        return self.values.get(name, self.defaults.get(name))

    def _set(self, name: str, value: Any) -> None:
        if value is None or value in ("", []):
            self.values.pop(name, None)
        else:
            self.values[name] = value
        self.changed()

    def _field(self, name: str, key: KeySchema, fill: Callable[[], None]) -> None:
        long = len(self.label(name)) > LONGEST_LABEL and not isinstance(key.shape, Flag)
        if not long:
            self._bare_field(name, key, fill)
            return
        with ui.element("div").classes("sf-labeled"):
            ui.label(self.label(name)).classes("sf-soft").props('aria-hidden="true"')
            self._bare_field(name, key, fill).props["aria-label"] = self.label(name)

    def _shown(self, name: str) -> str | None:
        """Return the label inside a field; None if it is above the field."""
        label = self.label(name)
        return label if len(label) <= LONGEST_LABEL else None

    def _bare_field(self, name: str, key: KeySchema, fill: Callable[[], None]) -> Any:
        shape = key.shape
        if isinstance(shape, Choice):
            field = self._choice(name, shape, fill)
        elif isinstance(shape, Flag):
            field = components.held(ui.switch(self.label(name), value=bool(self._value(name))))
            field.on_value_change(lambda event: self._set(name, bool(event.value)))
        elif isinstance(shape, Integer | Number):
            field = self._number(name, shape)
        elif name in self.offers:
            field = self._offer(name, several=isinstance(shape, ListSchema))
        else:
            field = self._settings(name, listed=isinstance(shape, ListSchema))
        return components.with_tooltip(field, self.words.get(f"tip.{name}"))

    def _number(self, name: str, shape: Integer | Number) -> Any:
        whole = isinstance(shape, Integer)
        return ui.number(
            self._shown(name),
            value=self._value(name),
            min=shape.minimum,
            max=shape.maximum,
            step=STEPS.get(name, 0.05 if shape.maximum == 1 else 1),
            precision=0 if whole else None,
            validation=self._said_otherwise if whole else None,
            on_change=lambda event: self._set(name, _number(event.value, whole)),
        )

    def _said_otherwise(self, entry: float | None) -> str | None:
        """Return what the plan says if it differs from the entry in an integer field."""
        number = _number(entry, whole=True)
        return None if number == entry else self.words["whole_number"].format(number=self.words.count(int(number or 0)))

    def _choice(self, name: str, shape: Choice, fill: Callable[[], None]) -> Any:
        def choose(value: str) -> None:
            self.values[name] = value
            self._settle()
            fill()
            self.changed()

        return ui.select(
            {choice: self.words[f"{name}.{choice}"] for choice in shape.names},
            label=self._shown(name),
            value=self._value(name) or shape.names[0],
            on_change=lambda event: choose(event.value),
        )

    def _settle(self) -> None:
        """Remove keys that no longer apply, and initialize those that are now required."""
        for name in self.keys:
            if name in ONLY_WITH and not self.applies(name):
                self.values.pop(name, None)
            elif name in STARTS and self.applies(name):
                self.values.setdefault(name, STARTS[name])
            elif name == "class" and self.applies(name) and self.offers.get(name):
                self.values.setdefault(name, self.offers[name][0])

    def _offer(self, name: str, several: bool) -> Any:
        value = self._value(name)
        options = list(self.offers[name])
        fits = [one for one in value or [] if one in options] if several else value if value in options else None
        field = ui.select(
            options,
            label=self._shown(name),
            value=fits,
            multiple=several,
            clearable=not self.keys[name].required,
            on_change=lambda event: self._set(name, event.value),
        )
        return components.held(field) if several else field

    def _settings(self, name: str, listed: bool) -> Any:
        """Build a text field in plan notation for a structured value; for a list, its entries separated by commas."""
        value = self._value(name)
        plain = value if isinstance(value, str) else written(value, flow=True)
        text = "" if value in (None, (), []) else plain.removeprefix("[").removesuffix("]") if listed else plain
        entry = ui.input(self._shown(name), value=text, placeholder=self.words.get(f"example.{name}", ""))
        entry.props("debounce=400")
        return entry.on_value_change(lambda event: self._set(name, _read(str(event.value or ""), listed)))


def _number(value: float | None, whole: bool) -> float | int | None:
    if value is None:
        return None
    return round(value) if whole or value == int(value) else float(value)


def _read(text: str, listed: bool = False) -> Any:
    """Parse a text in plan notation; return the text itself if it cannot be parsed.

    >>> _read("{a: 1}"), _read("5, 10", listed=True), _read("[5, 10]", listed=True), _read("", listed=True)
    ({'a': 1}, [5, 10], [5, 10], None)
    """
    inside = text.strip()
    try:
        return read_plan_text(f"[{inside}]" if listed and inside and not inside.startswith("[") else text)
    except (PlanError, RefusedError):
        return text


# Limits: entries shown opened, values named in a summary, entries of a kind shown without folding.
MOST_OPEN, MOST_NAMED, MOST_ALIKE = 2, 3, 4
SIGNS = {"alpha": "α", "beta": "β", "delta": "δ", "epsilon": "ε", "min": "≥", "max": "≤"}


class EntryList(State):
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
    _container: Any = None
    _cards: list[tuple[Values, EntryCard]] = field(default_factory=list)

    def build(self) -> None:
        """Build the cards, and the choice for adding one."""
        self._container = ui.column().classes("w-full gap-2")
        self.show()
        offered = {name: self.words[f"{self.kind}.{name}"] for name in self.offered}
        choice = ui.select(offered, label=self.words[f"add_{self.kind}"], on_change=self._add)
        choice.classes("w-full").props("outlined dense")

    def show(self) -> None:
        """Rebuild all cards; if there are many, only the first is open."""
        self._container.clear()
        self._cards.clear()
        counts = Counter(entry[self.kind] for entry in self.entries())
        folded: set[str] = set()
        for place, entry in enumerate(self.entries()):
            name, opened = entry[self.kind], place == 0 or len(self.entries()) <= MOST_OPEN
            if counts[name] <= MOST_ALIKE:
                self._card(entry, opened, self._container)
            elif name not in folded:
                folded.add(name)
                self._fold(name, [other for other in self.entries() if other[self.kind] == name])
        self._tell()

    def _fold(self, name: str, alike: list[Values]) -> None:
        """Build a collapsed container for many entries of a kind, filled when it is opened."""
        with self._container, ui.element("details").classes("sf-promise sf-alike") as container, ui.element("summary"):
            ui.label(self.words[f"{self.kind}.{name}"]).classes("font-bold")
            ui.label(self.words["entries_alike"].format(count=len(alike))).classes("sf-soft sf-small")

        def fill() -> None:
            for entry in alike:
                self._card(entry, False, container)
            self._tell()

        _once(container, fill)

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
        self._card(entry, True, self._container)
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

    def _card(self, entry: Values, opened: bool, container: Any) -> None:
        key = f"{self.kind}.{entry[self.kind]}"
        title, about = self.words[key], self.words[f"{key}.says"]
        with container:
            card = components.entry(title, about, lambda: self._remove(entry), self.words, opened)
        card.chosen.text = summary(self.kind, entry, self.words)
        self._cards.append((entry, card))

        def fill() -> None:
            with card.container:
                self.fields(entry)

        fill() if opened else _once(card.container, fill)


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


def approval_fields(words: Messages, stated: dict[str, str], changed: Callable[[dict[str, str]], Any]) -> None:
    """Build a field for each key of the approval; `changed` gets the entries whenever they change."""
    about = dict(stated)

    def note(key: str, text: str) -> None:
        about[key] = text
        changed({name: entry for name, entry in about.items() if entry})

    for key in ABOUT:
        field = ui.input(words[f"report.{key}"], value=about.get(key, "")).props("debounce=300")
        field.on_value_change(lambda event, key=key: note(key, str(event.value or "")))
