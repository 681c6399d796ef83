"""The goal step: purpose, privacy models, suppression limit, method, and the estimated cost."""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

from nicegui import background_tasks, ui

from sfumato.errors import PlanError, SfumatoError
from sfumato.localization.messages import Messages
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.models.equivalence_classes import Counts
from sfumato.microdata.models.persons import PERSONS, persons_in
from sfumato.microdata.plan.read import read_plan
from sfumato.microdata.publish_plan import PublishPlan
from sfumato.microdata.rounding_suggestion import published_counts
from sfumato.pipelines.plan_suggestion.plan_draft import proposed_promise, rare_promise
from sfumato.policies.policy import Clause, policies
from sfumato.service.problems import RefusedError
from sfumato.service.workers.messages import CancelledWorkError
from sfumato.web import components
from sfumato.web.job_progress import watched
from sfumato.web.microdata.estimate import Estimate, Estimates
from sfumato.web.microdata.method_choice import MethodChoice, fixed_levels, show_fixed_levels
from sfumato.web.microdata.privacy_models import PrivacyModels, goal_words, names_persons
from sfumato.web.page_layout import Area
from sfumato.web.projects.loaded_data import Loaded, LoadedColumn, class_sizes, policy_models
from sfumato.web.projects.workspace import Workspace

NONE = ""
# Methods that evaluate classes one by one, and the models that they therefore satisfy in a stricter form.
ONE_BY_ONE = ("mondrian", "local")
# Models whose k counts rows of the data.
OF_ROWS = ("k-anonymity", "alpha-k-anonymity")
STRICTER = ("average-risk", "sample-uniqueness", "k-map", "global-risk", "population-uniqueness")
# Codings of single numbers, after which models see the published values.
CODINGS = {"round", "top", "bottom", "bin"}
# Presets: the k, the l of every sensitive column (0: none), and the suppression limit.
PURPOSES = {"public": (11, 3, 0.05), "research": (5, 2, 0.02), "internal": (3, 0, 0.01)}


class GoalStep:
    """The step for models, method, and estimated cost."""

    def __init__(self, area: Area) -> None:
        self.area, self.workspace = area, area.workspace
        self._models = PrivacyModels(self.workspace, self._changed)
        self._method = MethodChoice(self.workspace, self._changed)
        self._estimates = Estimates(self.workspace)
        self._question = 0

    @property
    def words(self) -> Messages:
        return goal_words(self.workspace.words, self.workspace.plan)

    def build(self) -> None:
        words = self.words
        with components.head(words["goal"], words["goal_about"]):
            self.area.ways("columns", "result")
        with components.card(words["purpose"]):
            self._purposes()
            PolicyChoice(self.workspace, self.area.refresh, self._changed).build()
        with ui.element("div").classes("sf-two sf-panel-first"):
            with ui.column().classes("w-full gap-4"):
                with components.card(words["promises"]):
                    self._models.build()
                with components.card(words["way"]):
                    self._method.build()
                    show_fixed_levels(self.area, "chosen_goal")
            with components.card(words["consequences"], "sf-panel"):
                self._risk = ui.label("").props('role="status"')
                self._cost = ui.column().classes("w-full").props('role="status" aria-live="polite"')
                self._verdict = ui.column().classes("w-full gap-1").props('role="status" aria-live="polite"')
        if known := self._estimates.known(self.workspace.plan):
            self._show_cost(known, "")
        components.when_seen(self._cost, self._judge)

    async def _judge(self) -> None:
        """Check whether the plan can be run, and estimate its cost, once the step is visible."""
        self._check()
        await self._tell()

    def _purposes(self) -> None:
        """Build the presets by purpose, each with its meaning."""
        words = self.words
        with ui.element("div").classes("sf-thirds"):
            for name, (k, _, share) in PURPOSES.items():
                with ui.element("div").classes("sf-promise"):
                    components.button(words[f"purpose.{name}"], lambda name=name: self._adopt(name)).props(
                        "outline dense"
                    )
                    means = words[f"purpose.{name}.says"].format(k=k, share=words.percent(share))
                    ui.label(means).classes("sf-soft sf-small mt-1")

    def _adopt(self, name: str) -> None:
        assert self.workspace.loaded is not None
        plan = deepcopy(self.workspace.plan)
        plan["privacy"] = purpose_models(plan, name, self.workspace.loaded)
        if plan["method"]["name"] not in ("mondrian", "k-optimize"):
            plan["method"]["suppression"] = PURPOSES[name][2]
        self.workspace.change_plan(plan)
        self.area.refresh()

    def _changed(self) -> None:
        self.workspace.touch()
        self._check()
        self.area.tell_steps()
        background_tasks.create(self._tell())

    def _check(self) -> None:
        """Show at once whether the plan can be run, and if not, why."""
        faults, notes = self._faults(), self._notes()
        with components.refilled(self._verdict):
            for fault in faults:
                components.notice(fault, good=False)
            for note in notes:
                components.notice(note, good=None)
            if not faults:
                components.notice(self.words["can_run"], good=True)

    def _faults(self) -> list[str]:
        words, plan = self.words, self.workspace.plan
        missing = [*self._models.missing(), *self._method.missing()]
        faults = [words["missing_value"].format(field=field) for field in missing]
        needs = [
            entry
            for entry in plan["privacy"]
            if entry["model"] == "k-map" and not (entry.get("population") or entry.get("sampling_fraction"))
        ]
        faults += [words["population_missing"] for _ in needs]
        others = dict.fromkeys(entry["model"] for entry in plan["privacy"] if entry["model"] != "k-anonymity")
        if others and plan["method"]["name"] == "k-optimize":
            named = ", ".join(words[f"model.{model}"].partition(":")[0] for model in others)
            faults.append(words["k_optimize_alone"].format(models=named))
        return faults or [*self._refusals(), *self._unattainable()]

    def _unattainable(self) -> list[str]:
        """Return what no method can achieve: a class has at most all rows."""
        words, rows = self.words, self.workspace.loaded.rows if self.workspace.loaded else 0
        sizes = [entry.get("k") for entry in self.workspace.plan["privacy"] if entry["model"] in OF_ROWS]
        most = words.count(rows)
        return [words["too_few_rows"].format(k=k, rows=most) for k in sizes if isinstance(k, int) and k > rows]

    def _refusals(self) -> list[str]:
        """Return the errors of the plan reader, which covers cases that the page does not check."""
        texts = components.refusals(lambda: read_plan(self.workspace.plan), self.words)
        return [with_labels(text, self.workspace.plan["privacy"], self.words) for text in texts]

    def _notes(self) -> list[str]:
        """Return how a method interprets a model, if that is not obvious."""
        plan = self.workspace.plan
        name = plan["method"]["name"]
        if name not in ONE_BY_ONE:
            return []
        models = [entry["model"] for entry in plan["privacy"] if entry["model"] in STRICTER]
        return [self.words[f"stricter.{model}"].format(method=name) for model in models]

    async def _tell(self) -> None:
        """Show how many rows are at risk now, and the estimated cost of the goal."""
        loaded = self.workspace.loaded
        if loaded is None:
            return
        self._question = question = self._question + 1
        plan = deepcopy(self.workspace.plan)
        try:
            at_risk = await self._at_risk(plan)
            if question == self._question:
                self._risk.text = at_risk
                if not self._cost.default_slot.children:  # no earlier estimate is displayed
                    with self._cost:
                        ui.label(self.words["working"]).classes("sf-soft sf-small")
            estimate = await asyncio.to_thread(self._estimates.of, plan)
            why = "" if estimate else self.words["cost_unknown"]
        except (SfumatoError, RefusedError) as error:  # that of a plan is shown above
            estimate, why = None, "" if isinstance(error, PlanError) else components.error_text(error, self.words)
        if question == self._question:  # no other goal was requested since
            self._show_cost(estimate, why)

    async def _at_risk(self, plan: dict[str, Any]) -> str:
        words, loaded = self.workspace.words, self.workspace.loaded
        assert loaded is not None
        sizes = [int(entry["k"]) for entry in plan["privacy"] if entry.get("k")]
        k = max([size for size in sizes if size > 0], default=2)
        names = tuple(name for name, column in plan["columns"].items() if column["role"] == "quasi-identifier")
        count = await self._among_few_persons(plan, k) if names and names_persons(plan) else None
        if count is not None:
            words = goal_words(words, plan)
        else:
            if names and names not in loaded.sizes:
                loaded.sizes[names] = await self._sizes(plan, loaded, names)
            count = loaded.at_risk(names, k)
        share = words.percent(count / max(loaded.rows, 1))
        return words["at_risk"].format(count=words.count(count), rows=words.count(loaded.rows), share=share, k=k)

    async def _among_few_persons(self, plan: dict[str, Any], k: int) -> int | None:
        """Return the rows in classes of fewer than k persons; None if the plan cannot be counted yet."""
        try:
            return rows_among_few(await asyncio.to_thread(self._estimates.count, plan), k)
        except SfumatoError:
            return None

    async def _sizes(self, plan: dict[str, Any], loaded: Loaded, names: tuple[str, ...]) -> Counts:
        """Return the current class sizes, from the counts for the estimate if possible."""
        try:
            return (await asyncio.to_thread(self._estimates.count, plan)).counts
        except SfumatoError:
            return await self.workspace.aside(class_sizes, loaded.path, loaded.read, names)

    def _show_cost(self, estimate: Estimate | None, why: str) -> None:
        words, loaded = self.words, self.workspace.loaded
        with components.refilled(self._cost):
            if estimate is None or loaded is None:
                ui.label(why).classes("sf-soft sf-small")
                return
            withheld = f"{words.count(estimate.withheld)} ({words.percent(estimate.withheld / max(loaded.rows, 1))})"
            # Shown in both forms: the result has the loss.
            left = words["cost_detail"].format(loss=words.percent(1 - estimate.detail))
            components.tiles([(words.percent(estimate.detail), left), (withheld, words["suppressed"])])
            chosen = fixed_levels(self.workspace.plan)
            for key, is_chosen in (("cost_lost", False), ("cost_pinned", True)):
                if names := [name for name in estimate.lost if (name in chosen) == is_chosen]:
                    components.notice(words[key].format(columns=", ".join(names)), good=None)
            ui.label(words["cost_hint"]).classes("sf-soft sf-small")


def rows_among_few(table: FrequencyTable, k: int) -> int:
    """Return the rows in classes of fewer than k persons, of a table with persons."""
    return int(table.counts[persons_in(table.persons[PERSONS]) < k].sum())


def with_labels(text: str, promises: Sequence[Mapping[str, Any]], words: Messages) -> str:
    """Replace paths of a plan in error messages by the labels of fields.

    >>> from sfumato.localization.messages import words_in
    >>> with_labels("privacy[0].k: is missing.", [{"model": "k-anonymity"}], words_in())
    'Minimum class size in rows (k): is missing.'
    """

    def label(place: re.Match[str]) -> str:
        model = promises[int(place[1])].get("model") if int(place[1]) < len(promises) else None
        return words.get(f"{model}.{place[2]}") or words.get(f"key.{place[2]}") or place[0]

    return re.sub(r"privacy\[(\d+)\]\.(\w+)(?=:)", label, text)


def purpose_models(plan: dict[str, Any], name: str, loaded: Loaded) -> list[dict[str, Any]]:
    """Return the models of a preset: k-anonymity, and one for each sensitive column if the preset has diversity."""
    k, least, _ = PURPOSES[name]
    k = min(k, max(loaded.rows // 2, 1))
    sensitive = [column for column, entry in plan["columns"].items() if entry["role"] == "sensitive" and least]
    models = (_model_of(loaded.column(column), plan["columns"][column], k, least) for column in sensitive)
    return [{"model": "k-anonymity", "k": k}, *filter(None, models)]


def _model_of(column: LoadedColumn, entry: dict[str, Any], k: int, least: int) -> dict[str, Any] | None:
    """Return the model of a sensitive column, as `suggest` chooses it: rare values get a limit of their proportion.

    Diversity of rare values would need classes as large as they are rare. A column of two values has at most two of
    them in a class, and a constant column is not diverse.
    """
    own = column.read_by(entry)
    counts = _published_counts(own, entry.get("publish"))
    model = proposed_promise(own.name, counts, own.missing, k) or rare_promise(own.name, counts, own.missing, k)
    if model is None or model["model"] != "l-diversity":
        return model
    most = min(least, len(counts))
    return model | {"l": most} if most > 1 else None


def _published_counts(column: LoadedColumn, publish: object) -> Mapping[str, int]:
    """Return the rows of each value of a column as it is published."""
    if not isinstance(publish, dict) or not publish.keys() <= CODINGS:
        return column.counts
    return published_counts(PublishPlan(**publish), column.counts)


class PolicyChoice:
    """The choice of a policy; `adopted` is called when it changed the models, `changed` after other changes."""

    def __init__(self, workspace: Workspace, adopted: Callable[[], Any], changed: Callable[[], Any]) -> None:
        self.workspace, self.words = workspace, workspace.words
        self._adopted, self._changed = adopted, changed

    @property
    def name(self) -> str:
        """Return the policy of the plan."""
        said = self.workspace.plan.get("policy") or NONE
        return str(said["name"] if isinstance(said, dict) else said)

    def build(self) -> None:
        """Build the choice, and the clauses of the current policy."""
        words = self.words
        offered = {NONE: words["policy.none"]}
        offered |= {policy.id: policy.title for policy in policies().values() if policy.about == "rows"}
        choice = ui.select(offered, label=words["policy.choose"], value=self.name if self.name in offered else NONE)
        components.with_tooltip(choice, words["tip.policy"]).classes("w-full").props("dense outlined")
        choice.on_value_change(lambda event: self._choose(str(event.value or NONE)))
        self._container = ui.column().classes("w-full")
        if self.name in offered and self.name != NONE:
            policy = policies()[self.name]
            ui.label(words["policy.source"].format(source=policy.source)).classes("sf-soft sf-small")
            for clause in policy.clauses:
                self._clause(clause)

    def _clause(self, clause: Clause) -> None:
        """Show a clause: measured on the release, or attested by a person."""
        if clause.op != "attested":
            limit = "" if clause.value is None else f" ({clause.op} {self.words.figure(f'{clause.value:g}')})"
            components.notice(clause.says + limit, good=None)
            return
        label = self.words["policy.attest"].format(says=clause.says)
        field = (
            ui.input(label, value=self._attested().get(clause.name, "")).classes("w-full").props("dense debounce=300")
        )
        field.on_value_change(lambda event: self._attest(clause.name, str(event.value or "")))

    def _attested(self) -> dict[str, str]:
        said = self.workspace.plan.get("policy")
        return dict(said.get("attested") or {}) if isinstance(said, dict) else {}

    def _attest(self, name: str, who: str) -> None:
        attested = {key: text for key, text in {**self._attested(), name: who}.items() if text}
        self.workspace.plan["policy"] = {"name": self.name} | ({"attested": attested} if attested else {})
        self.workspace.touch()
        self._changed()

    async def _choose(self, name: str) -> None:
        """Set a policy with its required models, or none."""
        plan = {key: value for key, value in self.workspace.plan.items() if key != "policy"}
        if name != NONE and self.workspace.loaded is not None:
            plan["policy"] = {"name": name}
            loaded = self.workspace.loaded
            try:
                with self._container:
                    says, asked = self.words["reading"], (loaded.path, loaded.read, plan)
                    plan["privacy"] = await watched(self.workspace, says, policy_models, *asked)
            except CancelledWorkError:
                self._adopted()  # the current policy stays and is shown again
                return
            except (SfumatoError, RefusedError) as error:
                components.alarm(components.error_text(error, self.words))
                return
        self.workspace.change_plan(plan)
        self._adopted()
