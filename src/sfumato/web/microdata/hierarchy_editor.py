"""Edit the hierarchy of a column by forms: drag cuts of intervals, choose levels of dates, drag values to groups."""

import math
from collections.abc import Callable, Mapping
from html import escape
from itertools import pairwise
from typing import Any

from nicegui import events, ui

from sfumato.hierarchies.dates import LEVELS
from sfumato.hierarchies.hierarchy import ROOT
from sfumato.hierarchies.registry import SPECS, TYPES
from sfumato.web import components
from sfumato.web.forms import Form
from sfumato.web.microdata.column_drawings import Histogram, bars, histogram
from sfumato.web.projects.loaded_data import LoadedColumn
from sfumato.web.projects.workspace import Workspace

# The kinds in the order in which they are offered.
KINDS = ("intervals", "date", "digits", "tree", "order", "any", "file")
Settings = dict[str, Any]


def start_hierarchy(kind: str, column: LoadedColumn, suggested: Mapping[str, Any]) -> Settings:
    """Return initial settings, valid for most columns; the suggested ones if they are of this kind."""
    if suggested.get("type") == kind:
        return dict(suggested)
    if kind == "intervals":
        return start_intervals(column)
    if kind == "tree":
        return {"type": "tree", "parents": dict.fromkeys(column.counts, ROOT)}
    return {"type": kind, **SPECS[kind].start}


def start_intervals(column: LoadedColumn) -> Settings:
    """Return intervals of three widths, each twice the previous one, which divide the numbers into about ten."""
    shape = histogram(column)
    if shape is None:
        return {"type": "intervals", "start": 0, "end": 100, "widths": [10, 20, 40]}
    width = nice((shape.high - shape.low) / 10 or 1.0, shape.whole)
    low, high = math.floor(shape.low / width) * width, math.ceil((shape.high + 1) / width) * width
    end = high - 1 if shape.whole else high
    return {
        "type": "intervals",
        "start": tidy(low),
        "end": tidy(end),
        "widths": [tidy(width * n) for n in (1, 2, 4)],
    }


def nice(width: float, whole: bool) -> float:
    """Return the next round width: 1, 2, 5 times a power of ten.

    >>> nice(7.2, True), nice(0.3, False), nice(0.3, True)
    (10.0, 0.5, 1.0)
    """
    power = 10.0 ** math.floor(math.log10(width))
    found = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= width * (1 - 1e-9))
    return max(found, 1.0) if whole else found


def tidy(value: float) -> float | int:
    """Return a number without an unnecessary fraction."""
    return int(value) if value == int(value) else round(value, 6)


MOST_GROUPED = 400
AXIS_BINS, MOST_LEVELS = 40, 4


class HierarchyEditor:
    """The fields for one kind of hierarchy; `changed` gets the settings whenever they change."""

    def __init__(
        self, workspace: Workspace, column: LoadedColumn, settings: Settings, changed: Callable[[Settings], Any]
    ) -> None:
        self.workspace, self.words, self.column = workspace, workspace.words, column
        self.settings, self._tell = settings, changed

    def build(self) -> None:
        """Build the fields for the current kind."""
        builders = {"intervals": self._intervals, "date": self._dates, "tree": self._tree}
        builders.get(self.settings["type"], self._form)()

    def _changed(self) -> None:
        self._tell(self.settings)

    def _form(self, *names: str) -> None:
        """Build plain fields, for kinds that need no more."""
        keys = TYPES[self.settings["type"]].keys
        shown = {name: key for name, key in keys.items() if name in names} if names else dict(keys)
        for hidden in SPECS[self.settings["type"]].unlisted:
            shown.pop(hidden, None)
        defaults = {"from": "right", "character": ROOT}
        Form(
            self.words, f"hierarchy.{self.settings['type']}", shown, self.settings, self._changed, {}, defaults
        ).build()

    # Intervals.

    def _intervals(self) -> None:
        words = self.words
        ends = self.settings.get("start"), self.settings.get("end")
        shape = histogram(self.column, AXIS_BINS, ends)
        modes = {"widths": words["hierarchy.by_widths"], "bounds": words["hierarchy.by_cuts"]}
        mode = "bounds" if "bounds" in self.settings else "widths"
        ui.toggle(modes, value=mode, on_change=lambda event: self._by(event.value)).props("no-caps dense spread")
        self._axis_container = ui.column().classes("w-full gap-1")
        with self._axis_container:
            self._axis(shape)
        if mode == "bounds":
            ui.label(words["hierarchy.cuts_hint"]).classes("sf-soft sf-small")
            levels = len(self.settings["bounds"])
            number = ui.number(words["hierarchy.levels"], value=levels, min=1, max=MOST_LEVELS, on_change=self._coarsen)
            number.classes("w-full")
            with ui.row().classes("gap-2"):
                components.button(words["hierarchy.add_cut"], self._add_cut).props("flat dense")
            components.listen("sf_cuts", self._cut)
            self._form("start", "end", "bottom", "top")
        else:
            self._form("start", "end", "widths", "bottom", "top")

    def _by(self, mode: str) -> None:
        """Switch between widths and bounds; each starts with the values of the other."""
        low, high = float(self.settings.get("start", 0)), float(self.settings.get("end", 100))
        if mode == "bounds":
            width = float((self.settings.pop("widths", None) or [10])[0])
            cuts = [tidy(low + width * place) for place in range(1, 200) if low + width * place <= high]
            self.settings["bounds"] = [cuts[:: max(len(cuts) // 8, 1)][:12] or [tidy((low + high) / 2)]]
        else:
            self.settings.pop("bounds", None)
            self.settings["widths"] = [tidy(max(round((high - low) / 10), 1))]
        self._changed()
        self._tell_rebuilt()

    def _tell_rebuilt(self) -> None:
        """Report that the fields changed."""
        with components.refilled(self._container):
            self.build()

    def place_in(self, container: Any) -> None:
        """Build the fields in a container, where they can be rebuilt."""
        self._container = container
        with container:
            self.build()

    def _axis(self, shape: Histogram | None) -> None:
        if shape is None:
            return
        picture = bars(shape.rows, 400, 96).replace('width="400" height="96"', 'preserveAspectRatio="none"')
        low, high = shape.low, shape.high  # bars and cuts share one axis
        step = 1 if shape.whole else tidy((high - low) / 100)
        cuts = "".join(self._cut_mark(cut, low, high) for cut in (self.settings.get("bounds") or [[]])[0])
        attributes = f'data-low="{low:g}" data-high="{high:g}" data-step="{step:g}" data-level="0"'
        attributes += f' data-decimal="{escape(self.words["decimal"])}"'
        ui.html(f'<div class="sf-axis sf-hist" {attributes}>{picture}{cuts}</div>', sanitize=False).classes("w-full")

    def _cut_mark(self, cut: float, low: float, high: float) -> str:
        left = 100 * (float(cut) - low) / max(high - low, 1e-9)
        value = f'aria-valuemin="{low:g}" aria-valuemax="{high:g}" aria-valuenow="{cut:g}" data-value="{cut:g}"'
        label, shown = escape(self.words["hierarchy.cut"]), escape(self.words.figure(f"{cut:g}"))
        return (
            f'<div class="sf-cut" role="slider" tabindex="0" aria-label="{label}" {value} '
            f'style="left:{left:.2f}%"><span>{shown}</span></div>'
        )

    def _cut(self, event: events.GenericEventArguments) -> None:
        cuts = [tidy(float(cut)) for cut in event.args["cuts"]]
        if cuts and "bounds" in self.settings:
            self.settings["bounds"] = coarsened(cuts, len(self.settings["bounds"]))
            self._changed()

    def _coarsen(self, event: events.ValueChangeEventArguments[Any]) -> None:
        if event.value:
            self.settings["bounds"] = coarsened(self.settings["bounds"][0], int(event.value))
            self._changed()

    def _add_cut(self) -> None:
        """Add a cut in the middle of the widest interval."""
        low, high = float(self.settings.get("start", 0)), float(self.settings.get("end", 100))
        ends = [low, *self.settings["bounds"][0], high]
        gaps = [(after - before, before) for before, after in pairwise(ends)]
        width, before = max(gaps)
        cut = tidy(before + round(width / 2) if width > 2 else before + width / 2)
        cuts = sorted({*self.settings["bounds"][0], cut})
        self.settings["bounds"] = coarsened(cuts, len(self.settings["bounds"]))
        self._changed()
        self._tell_rebuilt()

    # Dates.

    def _dates(self) -> None:
        words = self.words
        chosen = list(self.settings.get("levels") or [name for name in LEVELS if name not in ("day", "any")])

        def choose(name: str, wanted: bool) -> None:
            names = {*chosen, name} if wanted else {*chosen} - {name}
            chosen[:] = [level for level in LEVELS if level in names]
            if chosen:
                self.settings["levels"] = list(chosen)
                self._changed()

        ui.label(words["hierarchy.rungs"]).classes("sf-soft sf-small")
        with ui.element("div").classes("sf-fields"):
            for name in LEVELS:
                if name not in ("day", "any"):
                    box = components.held(ui.checkbox(words[f"rung.{name}.name"], value=name in chosen)).props("dense")
                    box.on_value_change(lambda event, name=name: choose(name, bool(event.value)))
        self._form("format")

    # Groups.

    def _tree(self) -> None:
        words = self.words
        if len(self.column.counts) > MOST_GROUPED:
            ui.label(words["too_many"]).classes("sf-soft")
            return
        ui.label(words["hierarchy.groups_hint"]).classes("sf-soft sf-small")
        self._groups_container = ui.html(self._groups(), sanitize=False).classes("w-full")
        with ui.row().classes("items-center w-full gap-2"):
            name = ui.input(words["hierarchy.new_group"]).props("dense outlined").classes("w-full")
            name.on("keydown.enter", lambda: self._add_group(name))
            components.button(words["hierarchy.add_group"], lambda: self._add_group(name)).props("outline dense")
        components.listen("sf_group", self._grouped)

    def _groups(self) -> str:
        """Return a box for each group with its values, and one for ungrouped values."""
        parents: dict[str, str] = self.settings["parents"]
        names = [*dict.fromkeys(parents.get(value, ROOT) for value in self.column.counts), *self._empty]
        order = [ROOT, *sorted(name for name in dict.fromkeys(names) if name != ROOT)]
        return '<div class="sf-groups">' + "".join(self._group(name, parents) for name in order) + "</div>"

    _empty: tuple[str, ...] = ()

    def _group(self, name: str, parents: dict[str, str]) -> str:
        words, counts = self.words, self.column.counts
        values = [value for value in counts if parents.get(value, ROOT) == name]
        title = words["hierarchy.ungrouped"] if name == ROOT else name
        rows = words.count(sum(counts[value] for value in values))
        label = escape(words["hierarchy.send"].format(group=title))
        chips = "".join(
            f'<button class="sf-value" draggable="true" aria-pressed="false" data-value="{escape(value)}">'
            f"{escape(value)}</button>"
            for value in values
        )
        send = f'<button class="sf-value sf-send" data-group="{escape(name)}" aria-label="{label}">+</button>'
        return (
            f'<div class="sf-group" data-group="{escape(name)}"><h4>{escape(title)}<span>{rows}</span></h4>'
            f'<div class="sf-values">{chips}{send}</div></div>'
        )

    def _add_group(self, field: Any) -> None:
        name = str(field.value or "").strip()
        if name in self.column.counts:
            components.alarm(self.words["hierarchy.group_is_value"].format(name=name))
        elif name and name != ROOT:
            self._empty = (*self._empty, name)
            field.set_value("")
            self._groups_container.set_content(self._groups())

    def _grouped(self, event: events.GenericEventArguments) -> None:
        group, values = str(event.args["group"]), [str(value) for value in event.args["values"]]
        parents = {value: self.settings["parents"].get(value, ROOT) for value in self.column.counts}
        upper = {name: parent for name, parent in self.settings["parents"].items() if name not in self.column.counts}
        parents |= {value: group for value in values if value in parents and value != group}
        self.settings["parents"] = parents | upper
        self._groups_container.set_content(self._groups())
        self._changed()


def coarsened(cuts: list[float], levels: int) -> list[list[float]]:
    """Return the cuts of several levels: each has every second one of the level below.

    >>> coarsened([10, 20, 30, 40], 3)
    [[10, 20, 30, 40], [20, 40], [40]]
    """
    by_level = [list(cuts)]
    while len(by_level) < levels and len(by_level[-1]) > 1:
        by_level.append(by_level[-1][1::2])
    return by_level
