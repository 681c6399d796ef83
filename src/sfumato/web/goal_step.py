"""The step of the goal: promises, how many rows may be withheld, the method, and how many rows are at risk now."""

import asyncio
from typing import Any

from nicegui import ui

from sfumato.errors import SfumatoError
from sfumato.web import looks
from sfumato.web.area import Area

METHODS = ("optimal", "samarati", "local", "mondrian")
SUPPRESSING = ("optimal", "samarati", "local")


def build(area: Area) -> None:
    """The step, for an area."""
    if not area.needs_data():
        _GoalStep(area).build()


class _GoalStep:
    def __init__(self, area: Area) -> None:
        self.area, self.visit = area, area.visit

    def build(self) -> None:
        words, plan = self.visit.words, self.visit.plan
        with ui.card().classes("sf-card"):
            ui.number(
                words["k"],
                value=_model(plan, "k-anonymity", "k", 5),
                min=1,
                precision=0,
                on_change=lambda event: self._promise("k-anonymity", "k", event.value),
            ).classes("w-full")
            self._risk = ui.label("").props('role="status"').classes("font-bold")
            self._build_sensitive()
        with ui.card().classes("sf-card mt-2"):
            self._share = ui.label("")
            slider = ui.slider(min=0, max=20, step=0.5, value=100 * self._suppression())
            slider.props(f'aria-label="{words["suppression"].format(share="")}" label')
            slider.on_value_change(lambda event: self._suppress(event.value))
            chosen = plan["method"]["name"]
            ui.select(
                {name: words[name] for name in METHODS},
                label=words["method"],
                value=chosen if chosen in METHODS else "optimal",
                on_change=lambda event: self._choose(event.value),
            ).classes("w-full")
        self._tell_share()
        ui.timer(0.05, self._tell_risk, once=True)
        self.area.ways("columns", "result")

    def _build_sensitive(self) -> None:
        """Promises about a sensitive column, where there is one."""
        words = self.visit.words
        names = [name for name, column in self.visit.plan["columns"].items() if column["role"] == "sensitive"]
        if not names:
            return
        judged = next((entry["column"] for entry in self.visit.plan["privacy"] if "column" in entry), names[0])
        self._column = ui.select(
            names,
            value=judged if judged in names else names[0],
            label=words["sensitive_column"],
            on_change=lambda event: self._judge(event.value),
        ).classes("w-full")
        ui.number(
            words["diversity"],
            value=_model(self.visit.plan, "l-diversity", "l", None),
            min=2,
            precision=0,
            placeholder=words["none"],
            on_change=lambda event: self._promise("l-diversity", "l", event.value),
        ).classes("w-full")
        ui.number(
            words["closeness"],
            value=_model(self.visit.plan, "t-closeness", "t", None),
            min=0,
            max=1,
            step=0.05,
            placeholder=words["none"],
            on_change=lambda event: self._promise("t-closeness", "t", event.value),
        ).classes("w-full")

    def _judge(self, column: str) -> None:
        """Make the promises about another sensitive column."""
        self.visit.touch()
        promises = self.visit.plan["privacy"]
        self.visit.plan["privacy"] = [{**entry, "column": column} if "column" in entry else entry for entry in promises]

    async def _promise(self, model: str, key: str, value: float | None) -> None:
        """Change a promise, or take it back when its field is empty."""
        self.visit.touch()
        others = [entry for entry in self.visit.plan["privacy"] if entry["model"] != model]
        if value is None or (model == "k-anonymity" and value < 1):
            self.visit.plan["privacy"] = others or self.visit.plan["privacy"]
            return
        entry: dict[str, Any] = {"model": model, key: int(value) if key in ("k", "l") else float(value)}
        if model != "k-anonymity":
            entry["column"] = self._column.value
        self.visit.plan["privacy"] = [entry, *others] if model == "k-anonymity" else [*others, entry]
        if model == "k-anonymity":
            await self._tell_risk()

    async def _tell_risk(self) -> None:
        loaded, words = self.visit.loaded, self.visit.words
        if loaded is None:
            return
        k = int(_model(self.visit.plan, "k-anonymity", "k", 5) or 1)
        names = [name for name, column in self.visit.plan["columns"].items() if column["role"] == "quasi-identifier"]
        try:
            count = await asyncio.to_thread(loaded.at_risk, names, k)
        except SfumatoError as error:
            looks.alarm(str(error))
            return
        share = f"{count / max(loaded.rows, 1):.1%}"
        self._risk.text = words["at_risk"].format(count=f"{count:,}", rows=f"{loaded.rows:,}", share=share, k=k)

    def _suppression(self) -> float:
        share = self.visit.plan["method"].get("suppression", 0.0)
        return float(share) if isinstance(share, int | float) else 0.0

    def _suppress(self, percent: float) -> None:
        self.visit.touch()
        if self.visit.plan["method"]["name"] in SUPPRESSING:
            self.visit.plan["method"]["suppression"] = round(percent / 100, 4)
        self._tell_share()

    def _tell_share(self) -> None:
        self._share.text = self.visit.words["suppression"].format(share=f"{100 * self._suppression():g} %")

    def _choose(self, name: str) -> None:
        """Another method; what it does not know is left out."""
        self.visit.touch()
        share = self._suppression()
        method: dict[str, Any] = {"name": name}
        if name in SUPPRESSING:
            method |= {"loss": "loss-metric", "suppression": share}
        else:
            for column in self.visit.plan["columns"].values():
                column.pop("min_level", None)
                column.pop("max_level", None)
        self.visit.plan["method"] = method
        self._tell_share()


def _model(plan: dict[str, Any], model: str, key: str, default: float | None) -> float | None:
    return next((entry[key] for entry in plan["privacy"] if entry["model"] == model and key in entry), default)
