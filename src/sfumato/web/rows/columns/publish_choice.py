"""What a column that has no ladder is published as: itself, coded at the top, or perturbed, with one number."""

from collections.abc import Callable
from typing import Any

from nicegui import ui

from sfumato.texts.words import Words

# Operations that are offered, in this order, with the number that each starts with and its bounds.
STARTS: dict[str, tuple[float, float, float]] = {
    "top": (0.99, 0.5, 1.0),
    "microaggregate": (5, 2, 1_000),
    "noise": (0.1, 0.01, 10.0),
    "swap": (0.05, 0.001, 1.0),
    "pram": (0.9, 0.0, 1.0),
}
ITSELF = "itself"


class PublishChoice:
    """The choice for one column; `changed` is called after each change."""

    def __init__(self, words: Words, plan: dict[str, Any], numeric: bool, changed: Callable[[], Any]) -> None:
        self.words, self.plan, self._changed = words, plan, changed
        self._offered = [name for name in STARTS if (name == "pram") != numeric]

    def build(self) -> None:
        """The fields, in the container at hand; a plan that says more than they can is left alone."""
        name, number = chosen(self.plan.get("publish"))
        if name is None:
            ui.label(self.words["publish.other"]).classes("sf-soft sf-small")
            return
        options = {entry: self.words[f"publish.{entry}"] for entry in (ITSELF, *self._offered)}
        if name not in options:
            options[name] = self.words[f"publish.{name}"]
        select = ui.select(options, label=self.words["publish"], value=name, on_change=lambda e: self._choose(e.value))
        select.classes("w-full").props("dense outlined")
        self._room = ui.column().classes("w-full")
        self._show(name, number)

    def _choose(self, name: str) -> None:
        self._take(name, None if name == ITSELF else STARTS[name][0])
        self._show(*chosen(self.plan.get("publish")))

    def _show(self, name: str | None, number: float | None) -> None:
        self._room.clear()
        if name in (None, ITSELF) or number is None:
            return
        _, low, high = STARTS[str(name)]
        with self._room:
            ui.number(
                self.words[f"publish.{name}.number"],
                value=number,
                min=low,
                max=high,
                on_change=lambda event: self._take(str(name), event.value),
            ).classes("w-full").props("dense outlined debounce=500")
            ui.label(self.words["perturbed.honest"] if name != "top" else "").classes("sf-soft sf-small")

    def _take(self, name: str, number: float | None) -> None:
        if name == ITSELF:
            self.plan.pop("publish", None)
        elif number is not None:
            self.plan["publish"] = published(name, number)
        self._changed()


def published(name: str, number: float) -> dict[str, Any]:
    """What a plan says of an operation with its number.

    >>> published("top", 0.99), published("microaggregate", 5.0)
    ({'top': {'share': 0.99}}, {'microaggregate': 5})
    """
    if name == "top":
        return {"top": {"share": number}}
    return {name: int(number) if name == "microaggregate" else number}


def chosen(publish: Any) -> tuple[str | None, float | None]:
    """The operation and its number that a plan says; no operation where it says more than these fields can.

    >>> chosen(None), chosen({"noise": 0.1}), chosen({"top": {"share": 0.9}}), chosen({"round": 5})
    (('itself', None), ('noise', 0.1), ('top', 0.9), (None, None))
    """
    if publish is None:
        return ITSELF, None
    if not isinstance(publish, dict) or len(publish) != 1:
        return None, None
    name, number = next(iter(publish.items()))
    if name == "top":
        plain = number if isinstance(number, float) and 0 < number < 1 else None
        number = number.get("share") if isinstance(number, dict) else plain
    return (name, number) if name in STARTS and isinstance(number, int | float) else (None, None)
