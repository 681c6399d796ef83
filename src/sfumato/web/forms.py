"""Forms generated from the schema of a plan: a field for each key."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

from nicegui import ui

from sfumato.dataclass import dataclass
from sfumato.errors import PlanError
from sfumato.localization.messages import Messages
from sfumato.schema.composite import Choice, Flag, Integer, KeySchema, ListSchema, Number
from sfumato.schema.files import written
from sfumato.service.http.problems import RefusedError
from sfumato.service.jobs.plans import read_plan_text
from sfumato.web import components

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


@dataclass(frozen=True, slots=True)
class Form:
    """Fields for some keys of a plan; entries are written to `values` at once, an empty field removes its key.

    Attributes:
        owner: The name of the described object, by which specific texts are found (`l-diversity.l` before `key.l`).
        keys: The keys with their shapes.
        values: The current values.
        offers: Names to choose from, for keys that name a column or the like.
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
        room = ui.element("div").classes("sf-fields")

        def fill() -> None:
            room.clear()
            with room:
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


def is_number(value: Any) -> bool:
    """Return whether a value, or the number in its text, is a number."""
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return not isinstance(value, bool)
