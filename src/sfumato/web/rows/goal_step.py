"""The step of the goal: promises, how many rows may be withheld, the method, and how many rows are at risk now."""

from nicegui import background_tasks, ui

from sfumato.errors import SfumatoError
from sfumato.microdata.plan.read import read_plan
from sfumato.service.http.problems import RefusedError
from sfumato.web import components
from sfumato.web.loaded_data import Loaded, class_sizes
from sfumato.web.rows.area import Area
from sfumato.web.rows.method_choice import MethodChoice
from sfumato.web.rows.promises import Promises

# Methods that judge groups one by one, and promises of which they therefore keep a stricter reading.
ONE_BY_ONE = ("mondrian", "local")
# Promises whose k counts rows of the data.
OF_ROWS = ("k-anonymity", "alpha-k-anonymity")
STRICTER = ("average-risk", "sample-uniqueness", "k-map")


def build(area: Area) -> None:
    """The step, for an area."""
    if not area.needs_data():
        _GoalStep(area).build()


class _GoalStep:
    def __init__(self, area: Area) -> None:
        self.area, self.visit = area, area.visit
        self._promises = Promises(self.visit, self._changed)
        self._method = MethodChoice(self.visit, self._check)
        self._question = 0

    def build(self) -> None:
        words = self.visit.words
        with ui.card().classes("sf-card"):
            ui.label(words["promises"]).classes("text-lg font-bold")
            self._risk = ui.label("").props('role="status"')
            self._promises.build()
        with ui.card().classes("sf-card mt-2"):
            ui.label(words["way"]).classes("text-lg font-bold")
            self._method.build()
        self._verdict = ui.column().classes("w-full gap-1 mt-2").props('role="status" aria-live="polite"')
        self._check()
        ui.timer(0.05, self._tell_risk, once=True)
        self.area.ways("columns", "result")

    def _changed(self) -> None:
        self._check()
        background_tasks.create(self._tell_risk())

    def _check(self) -> None:
        """Say at once whether the plan can be run, and if not, why."""
        words = self.visit.words
        faults, notes = self._faults(), self._notes()
        self._verdict.clear()
        with self._verdict:
            for fault in faults:
                components.notice(fault, good=False)
            for note in notes:
                components.notice(note, good=None)
            if not faults:
                components.notice(words["can_run"], good=True)

    def _faults(self) -> list[str]:
        words, plan = self.visit.words, self.visit.plan
        missing = [*self._promises.missing(), *self._method.missing()]
        faults = [words["missing_value"].format(field=field) for field in missing]
        needs = [entry for entry in plan["privacy"] if entry["model"] == "k-map" and not entry.get("population")]
        faults += [words["population_missing"] for _ in needs]
        others = dict.fromkeys(entry["model"] for entry in plan["privacy"] if entry["model"] != "k-anonymity")
        if others and plan["method"]["name"] == "k-optimize":
            named = ", ".join(words[f"model.{model}"].partition(":")[0] for model in others)
            faults.append(words["k_optimize_alone"].format(models=named))
        return faults or [*self._refusals(), *self._unattainable()]

    def _unattainable(self) -> list[str]:
        """What no method can reach: a group has at most all rows."""
        words, rows = self.visit.words, self.visit.loaded.rows if self.visit.loaded else 0
        sizes = [entry.get("k") for entry in self.visit.plan["privacy"] if entry["model"] in OF_ROWS]
        most = words.count(rows)
        return [words["too_few_rows"].format(k=k, rows=most) for k in sizes if isinstance(k, int) and k > rows]

    def _refusals(self) -> list[str]:
        """What the reader of plans says; it sees what the page does not think of."""
        return components.refusals(lambda: read_plan(self.visit.plan), self.visit.words)

    def _notes(self) -> list[str]:
        """What a method makes of a promise, where that is not obvious."""
        words, plan = self.visit.words, self.visit.plan
        name = plan["method"]["name"]
        if name not in ONE_BY_ONE:
            return []
        models = [entry["model"] for entry in plan["privacy"] if entry["model"] in STRICTER]
        return [words[f"stricter.{model}"].format(method=name) for model in models]

    async def _at_risk(self, loaded: Loaded, names: tuple[str, ...], k: int) -> int:
        """Rows in groups smaller than k by some columns; each set of columns is counted once."""
        if names and names not in loaded.sizes:
            loaded.sizes[names] = await self.visit.aside(class_sizes, loaded.path, loaded.read, names)
        return loaded.at_risk(names, k)

    async def _tell_risk(self) -> None:
        loaded, words = self.visit.loaded, self.visit.words
        if loaded is None:
            return
        k = max((int(entry["k"]) for entry in self.visit.plan["privacy"] if entry.get("k")), default=2)
        names = [name for name, column in self.visit.plan["columns"].items() if column["role"] == "quasi-identifier"]
        self._question = question = self._question + 1
        try:
            count = await self._at_risk(loaded, tuple(names), k)
        except (SfumatoError, RefusedError) as error:
            self._risk.text = components.error_text(error, words)
            return
        if question != self._question:  # another goal was asked for since
            return
        share = words.percent(count / max(loaded.rows, 1))
        counted = {"count": words.count(count), "rows": words.count(loaded.rows)}
        self._risk.text = words["at_risk"].format(**counted, share=share, k=k)
