"""How a column without a hierarchy is published: unchanged, coded, rounded, perturbed, or as a pseudonym."""

from collections.abc import Callable, Sequence
from typing import Any

from nicegui import ui

from sfumato.localization.messages import Messages
from sfumato.microdata.perturbation.plan import (
    Microaggregate,
    Noise,
    Pram,
    Pseudonym,
    RankSwap,
    ShiftDays,
    SwapHouseholds,
)
from sfumato.microdata.plan.model import PUBLISH
from sfumato.microdata.publish_plan import PublishPlan
from sfumato.schema.composite import KeySchema, read
from sfumato.schema.dataclass_schema import record_of
from sfumato.values import Value, defaults
from sfumato.web import components
from sfumato.web.forms import Form, Values

LIMITS, WIDTHS = ("top", "bottom"), ("round", "bin")
CODING = {name: key for name, key in record_of(PublishPlan).keys.items() if name in (*LIMITS, *WIDTHS)}
# A limit is a proportion of the rows, or a number; the default for a proportion.
SHARE, NUMBER = "share", "number"
LIMIT_STARTS = {"top": 0.99, "bottom": 0.01}


class CodingFields(Value):
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
            number.set_value(LIMIT_STARTS[name] if choice.value == SHARE else None)
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


ITSELF, CODED = "itself", "coded"
KINDS = {kind.name: kind for kind in (Microaggregate, Noise, RankSwap, Pram, SwapHouseholds, Pseudonym, ShiftDays)}
# Initial values of each operation; a plan may abbreviate the first key.
STARTS: dict[str, Values] = {
    "microaggregate": {"k": 5},
    "noise": {"share": 0.1},
    "swap": {"share": 0.05},
    "pram": {"retention": 0.9},
    "swap_households": {"share": 0.05},
    "pseudonym": {"kind": "keyed"},
    "shift_days": {"days": 30},
}
# Keywords that are a complete choice, by the roles that may have them.
BY_ROLE = {"person": "key", "weight": "removed"}
# A page names no files: a key is drawn for each release.
LEFT_OUT = ("key_file",)
NUMBERS = (CODED, "microaggregate", "noise", "swap")
CATEGORIES = ("pram", "swap_households")
# Operations without a guarantee; the page says so.
PERTURBATIONS = ("microaggregate", "noise", "swap", *CATEGORIES)


class ColumnState(Value):
    """The properties of a column and of others that decide which operations it can have.

    Attributes:
        numeric: Whether its values are numbers.
        dated: Whether its values are dates.
        persons: Whether a column names persons.
        households: Whether a column names households.
        published: The published columns, which strata may name.
    """

    role: str
    numeric: bool = False
    dated: bool = False
    persons: bool = False
    households: bool = False
    published: Sequence[str] = ()

    def offered(self) -> list[str]:
        """Return the operations that such a column can have, the unchanged column first.

        >>> ColumnState("weight").offered(), ColumnState("insensitive", dated=True, persons=True).offered()
        (['itself', 'removed', 'coded'], ['itself', 'pram', 'shift_days'])
        """
        if self.role in ("identifier", "person"):
            return [ITSELF, *([BY_ROLE["person"]] if self.role == "person" else []), "pseudonym"]
        if self.role == "weight":
            return [ITSELF, BY_ROLE["weight"], CODED]
        if self.role not in ("sensitive", "insensitive"):
            return []
        shifted = ["shift_days"] if self.dated and self.persons else []
        if self.numeric:
            return [ITSELF, *NUMBERS, *shifted]
        return [ITSELF, "pram", *(["swap_households"] if self.households else []), *shifted]


class PublishChoice:
    """The choice for one column; `changed` is called after each change."""

    def __init__(self, words: Messages, plan: Values, around: ColumnState, changed: Callable[[], Any]) -> None:
        self.words, self.plan, self.around, self._changed = words, plan, around, changed

    def build(self) -> None:
        """Build the fields in the current container; none if there is no choice."""
        offered = self.around.offered()
        if not offered:
            return
        name, self._values = said(self.plan.get("publish"))
        options = {entry: self._label(entry) for entry in dict.fromkeys((*offered, name))}
        choice = ui.select(options, label=self.words["publish"], value=name)
        choice.on_value_change(lambda event: self._choose(str(event.value)))
        components.with_tooltip(choice, self.words["tip.publish"]).classes("w-full").props("dense outlined")
        self._container = ui.column().classes("w-full gap-2")
        self._show(name)

    def _label(self, name: str) -> str:
        """Return the name of an operation; an unchanged column that identifies persons is not published."""
        hidden = name == ITSELF and self.around.role in ("identifier", "person")
        return self.words["publish.removed" if hidden else f"publish.{name}"]

    def _choose(self, name: str) -> None:
        self._values = dict(STARTS.get(name, {}))
        if name == CODED:
            # Weights are rounded or removed, because analysts must be able to compute with them.
            self._values = {"round": 10} if self.around.role == "weight" else {"top": {"share": 0.99}}
        self._show(name)
        self._take(name)

    def _show(self, name: str) -> None:
        with components.refilled(self._container):
            if name == CODED:
                CodingFields(self.words, self._values, lambda: self._take(name)).build()
            elif name in KINDS:
                keys = {key: spec for key, spec in fields_of(name).items() if key not in LEFT_OUT}
                offers = dict.fromkeys(("strata", "similar"), self.around.published)
                usual = {key: value for key, value in defaults(KINDS[name]).items() if value not in (None, {})}
                Form(self.words, f"publish.{name}", keys, self._values, lambda: self._take(name), offers, usual).build()
            says = self.words.get(f"publish.{name}.says")
            if says:
                ui.label(says).classes("sf-soft sf-small")
            if name in PERTURBATIONS:
                ui.label(self.words["perturbed.honest"]).classes("sf-soft sf-small")
            self._faults = ui.column().classes("w-full gap-0").props('role="status"')
        self._check()

    def _take(self, name: str) -> None:
        publish = published(name, self._values)
        if publish is None:
            self.plan.pop("publish", None)
        else:
            self.plan["publish"] = publish
        self._check()
        self._changed()

    def _check(self) -> None:
        """Show problems of the entries at once."""
        publish = self.plan.get("publish")
        faults = [] if publish is None else components.refusals(lambda: read(PUBLISH, publish, "publish"), self.words)
        with components.refilled(self._faults):
            for fault in faults:
                components.notice(fault, good=False)


def fields_of(name: str) -> dict[str, KeySchema]:
    """Return the keys of an operation; numbers may be rounded after it."""
    keys = dict(record_of(KINDS[name]).keys)
    return keys | ({"round": CODING["round"]} if KINDS[name].numbers else {})


def published(name: str, values: Values) -> Any:
    """Return an operation with its values as a plan has it, abbreviated if possible.

    >>> published("microaggregate", {"k": 5}), published("noise", {"share": 0.1, "round": 10}), published("itself", {})
    ({'microaggregate': 5}, {'noise': 0.1, 'round': 10}, None)
    >>> published("pram", {"retention": 0.9, "strata": ["sex"]}), published("key", {})
    ({'pram': {'retention': 0.9, 'strata': ['sex']}}, 'key')
    """
    if name == ITSELF:
        return None
    if name in BY_ROLE.values():
        return name
    if name == CODED:
        return dict(values) or None
    own = {key: value for key, value in values.items() if key != "round"}
    short = next(iter(STARTS[name]))
    operation = own[short] if list(own) == [short] else own
    return {name: operation} | ({"round": values["round"]} if "round" in values else {})


def said(publish: Any) -> tuple[str, Values]:
    """Return the operation of a plan, and its values.

    >>> said(None), said({"noise": 0.1}), said({"top": {"share": 0.9}, "round": 5}), said("removed")
    (('itself', {}), ('noise', {'share': 0.1}), ('coded', {'top': {'share': 0.9}, 'round': 5}), ('removed', {}))
    >>> said({"microaggregate": {"k": 3, "group": "pay"}, "round": 10})
    ('microaggregate', {'k': 3, 'group': 'pay', 'round': 10})
    """
    if publish is None:
        return ITSELF, {}
    if isinstance(publish, str):
        return publish, {}
    name = next((key for key in publish if key in KINDS), CODED)
    if name == CODED:
        return name, dict(publish)
    own = publish[name]
    values = dict(own) if isinstance(own, dict) else {next(iter(STARTS[name])): own}
    return name, values | ({"round": publish["round"]} if "round" in publish else {})
