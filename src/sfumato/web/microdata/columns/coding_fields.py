"""Fields for coding numbers: top and bottom coding, rounding, intervals."""

from collections.abc import Callable
from typing import Any

from nicegui import ui

from sfumato.dataclass import dataclass
from sfumato.localization.messages import Messages
from sfumato.microdata.column_transforms.transform_plan import PublishPlan
from sfumato.schema.dataclass_schema import record_of
from sfumato.web import components
from sfumato.web.forms import Form, Values

LIMITS, WIDTHS = ("top", "bottom"), ("round", "bin")
CODING = {name: key for name, key in record_of(PublishPlan).keys.items() if name in (*LIMITS, *WIDTHS)}
# A limit is a proportion of the rows, or a number; the default for a proportion.
SHARE, NUMBER = "share", "number"
STARTS = {"top": 0.99, "bottom": 0.01}


@dataclass(frozen=True, slots=True)
class CodingFields:
    """The fields for top and bottom coding; entries are written to `values` at once, then `changed` is called."""

    words: Messages
    values: Values
    changed: Callable[[], Any]

    def build(self) -> None:
        """Build the fields in the current container."""
        for name in LIMITS:
            self._limit(name)
        widths = {name: CODING[name] for name in WIDTHS}
        Form(self.words, "publish.coded", widths, self.values, self.changed).build()

    def _limit(self, name: str) -> None:
        words, now = self.words, self.values.get(name)
        kinds = {"": words["publish.unlimited"], SHARE: words["publish.by_share"], NUMBER: words["publish.by_number"]}
        with ui.element("div").classes("sf-fields"):
            choice = ui.select(kinds, label=words[f"publish.{name}"], value=kind_of(now)).props("dense")
            components.with_tooltip(choice, words[f"tip.publish.{name}"])
            number = ui.number(words[f"publish.{name}.number"], value=amount_of(now)).props("dense debounce=400")
            number.set_visibility(now is not None)

        def take() -> None:
            limit = limit_of(str(choice.value or ""), number.value)
            self.values.pop(name, None) if limit is None else self.values.update({name: limit})
            self.changed()

        def choose() -> None:
            number.set_visibility(bool(choice.value))
            number.set_value(STARTS[name] if choice.value == SHARE else None)
            take()

        choice.on_value_change(lambda _: choose())
        number.on_value_change(lambda _: take())


def kind_of(limit: Any) -> str:
    """Return the kind of a limit in a plan: a plain number between 0 and 1 is a proportion.

    >>> kind_of({"share": 0.9}), kind_of(0.9), kind_of({"value": 0.9}), kind_of(90)
    ('share', 'share', 'number', 'number')
    """
    if isinstance(limit, dict):
        return SHARE if SHARE in limit else NUMBER
    return "" if limit is None else SHARE if 0 < limit < 1 else NUMBER


def amount_of(limit: Any) -> float | None:
    """Return the number of a limit."""
    amount: float | None = next(iter(limit.values()), None) if isinstance(limit, dict) else limit
    return amount


def limit_of(kind: str, amount: float | None) -> Any:
    """Return a limit as a plan has it; None if there is none.

    >>> limit_of("share", 0.99), limit_of("number", 90.0), limit_of("number", 0.5), limit_of("", 5.0)
    ({'share': 0.99}, 90, {'value': 0.5}, None)
    """
    if not kind or amount is None:
        return None
    if kind == SHARE:
        return {SHARE: amount}
    return {"value": amount} if 0 < amount < 1 else int(amount) if amount == int(amount) else amount
