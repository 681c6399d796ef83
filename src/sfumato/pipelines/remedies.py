"""Changes of a plan that keep more detail, each of them carried out, and what each privacy model costs.

A change is a plan of its own. It is released like any other, with all checks, and listed only if that succeeded, all
privacy models are kept, and the release lost less: advice that fails or makes a release worse cannot be listed.
"""

from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from sfumato.engines.opening import EngineName, open_engine
from sfumato.errors import PlanError, SfumatoError, UnattainableError
from sfumato.microdata.methods.class_assessment import column_losses
from sfumato.microdata.methods.search import search
from sfumato.microdata.plan.methods import METHOD, SUPPRESSING
from sfumato.microdata.plan.model import RequestedPlan
from sfumato.microdata.plan.read import read_plan
from sfumato.microdata.plan.resolve import resolve
from sfumato.microdata.plan.write import plan_dict
from sfumato.microdata.release_report import COMPARED, Report
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.release_folder import ProgressCallback
from sfumato.pipelines.release_stages.counting import frequency_table
from sfumato.pipelines.release_stages.missing_hierarchies import with_hierarchies
from sfumato.pipelines.release_stages.published_columns import with_limits
from sfumato.values import Value, asdict, replace

PlanText = Mapping[str, Any]
METHODS = ("auto", "optimal", "local", "mondrian", "local-suppression")
# Suppression limits that are tried; numbers of the best columns to remove and of remedies that are listed.
LIMITS, MOST_REMOVED, MOST_LISTED = (0.02, 0.05, 0.1), 3, 5
# A smaller gain of mean information loss is none.
LEAST_GAIN = 0.005
_OF_LEVELS = ("min_level", "max_level")


class Outcome(Value):
    """What a release of a plan loses and risks.

    Attributes:
        loss: Mean information loss of the quasi-identifiers of the original plan; a removed one counts 1.
        highest_risk: The maximum prosecutor risk of a published row.
        same_answers: How many questions of the plan have the same answer as before; None if it names none.
    """

    loss: float
    suppressed_rows: int
    highest_risk: float
    same_answers: int | None = None


class Remedy(Value):
    """A change of a plan that was carried out and loses less.

    Attributes:
        change: The changed keys of the plan, each as `key: old -> new`.
        plan: The changed plan.
        before: The outcome of the original plan; None if it cannot be released.
    """

    change: tuple[str, ...]
    plan: RequestedPlan
    before: Outcome | None
    after: Outcome

    def to_dict(self) -> dict[str, Any]:
        before = None if self.before is None else asdict(self.before)
        return {"change": list(self.change), "before": before, "after": asdict(self.after)}

    def applied_to(self, plan: Mapping[str, Any], original: RequestedPlan) -> dict[str, Any]:
        """Return a plan as plain values with this change, and with everything else as it is.

        Args:
            original: The plan for which the change was found, the same as `plan`.
        """
        old, new = plan_dict(original), plan_dict(self.plan)
        parts = {key: new[key] for key in ("method", "privacy") if old.get(key) != new.get(key)}
        changed = {name: part for name, part in new["columns"].items() if part != old["columns"][name]}
        return {**plan, **parts, "columns": {**plan["columns"], **changed}}


class ModelCost(Value):
    """The loss of a plan without one of its privacy models, by the search alone.

    Attributes:
        before: The mean loss with all models; None if no recoding satisfies them.
        without: The mean loss without the model; None if no recoding satisfies the others either.
    """

    model: str
    column: str
    before: float | None
    without: float | None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


class Advice(Value):
    """Remedies, the best first, and the cost of each privacy model of a sensitive column, the costliest first.

    Attributes:
        fails: Whether no release satisfies the original plan.
    """

    remedies: tuple[Remedy, ...]
    costs: tuple[ModelCost, ...]
    fails: bool = False

    def to_dict(self) -> dict[str, Any]:
        return {"remedies": [one.to_dict() for one in self.remedies], "costs": [one.to_dict() for one in self.costs]}

    def chosen(self, number: int) -> Remedy:
        """Return a remedy by its number, from 1.

        Raises:
            PlanError: There is none of that number.
        """
        if not 1 <= number <= len(self.remedies):
            raise PlanError("remedies.no_such", number=number, count=len(self.remedies))
        return self.remedies[number - 1]


def advise(
    data: Any,
    plan: RequestedPlan | Mapping[str, Any] | str | Path,
    *,
    engine: EngineName | None = None,
    progress: ProgressCallback | None = None,
) -> Advice:
    """Try changes of a plan, and the plan without each model of a sensitive column.

    Args:
        data: A frame, a path, or None for the source that the plan names.
        plan: The plan; it need not be attainable.
        engine: The engine to use; by default the one that fits the data.
        progress: Called before each trial, and at the end.

    Raises:
        PlanError: The plan is invalid, has several files, or asks for differential privacy: what is chosen by
            looking at the rows would break that.
        DataError: The rows do not match the plan.
    """
    requested = read_plan(plan)
    if requested.files:
        raise PlanError("remedies.files")
    if any(model.judges == "sampling" for model in requested.privacy):
        raise PlanError("remedies.differential")
    trials = _Trials(data, requested, engine)
    before = trials.original()
    changes = [*_changes(trials.text, trials.kept(), before is None)]
    models = [place for place, model in enumerate(trials.text.get("privacy", ())) if model.get("column")]
    tell, whole = progress or (lambda _step, _done, _all: None), len(changes) + len(models)
    remedies, costs = list[Remedy](), list[ModelCost]()
    searched = trials.searched(trials.text)
    for done, changed in enumerate(changes):
        tell("remedies", done, whole)
        after = trials.tried(changed) if trials.may_help(changed, searched) else None
        if after is not None and _is_better(after, before, requested):
            lines = tuple(_difference(trials.text, changed))
            remedies.append(Remedy(lines, read_plan(changed, requested.folder), before, after))
    for done, place in enumerate(models):
        tell("remedies", len(changes) + done, whole)
        model = trials.text["privacy"][place]
        rest = [other for number, other in enumerate(trials.text["privacy"]) if number != place]
        without = trials.searched({**trials.text, "privacy": rest}) if rest else None
        costs.append(ModelCost(model["model"], model["column"], searched, without))
    tell("remedies", whole, whole)
    remedies.sort(key=lambda remedy: (remedy.after.loss, remedy.after.suppressed_rows))
    costs.sort(key=lambda cost: 2.0 if cost.without is None else cost.without)
    return Advice(tuple(remedies[:MOST_LISTED]), tuple(costs), fails=before is None)


class _Trials:
    """Releases of a plan and of its changes."""

    def __init__(self, data: Any, plan: RequestedPlan, engine: EngineName | None) -> None:
        self.data, self.plan, self.engine = data, plan, engine
        self.text: dict[str, Any] = plan_dict(plan)
        self.losses: Mapping[str, float] = {}

    def original(self) -> Outcome | None:
        """Return the outcome of the plan itself, or None if no release satisfies it."""
        try:
            report = self._report(self.text)
        except UnattainableError:
            return None
        self.losses = report.column_losses
        return _outcome(report, self.plan.quasi_identifiers)

    def tried(self, text: PlanText) -> Outcome | None:
        """Return the outcome of a changed plan; None if it cannot be released or a guarantee fails."""
        try:
            report = self._report(text)
        except SfumatoError:
            return None
        sound = report.satisfied and not report.uncounted
        return _outcome(report, self.plan.quasi_identifiers) if sound else None

    def searched(self, text: PlanText) -> float | None:
        """Return the mean loss that the search of a plan finds, without a release; None if it finds nothing."""
        try:
            plan = read_plan(text, self.plan.folder)
            with closing(open_engine(self.data, plan, self.engine)) as source:
                completed = with_hierarchies(plan.with_others(source.columns), source)
                resolved, _ = with_limits(resolve(completed, source.columns), source)
                table = frequency_table(resolved, source)
                result = search(resolved, table)
        except SfumatoError:
            return None
        losses = result.per_column
        if result.loss_name != COMPARED or not losses:
            hidden = int(result.recoding.sizes[result.recoding.suppressed].sum()) / max(table.rows, 1)
            chosen = replace(resolved, method=result.method or resolved.method)
            published = column_losses(chosen, table, result)
            losses = {name: loss * (1 - hidden) + hidden for name, loss in published.items()}
        shares = [losses.get(name, 1.0) for name in self.plan.quasi_identifiers]
        return sum(shares) / len(shares) if shares else result.loss

    def may_help(self, text: PlanText, searched: float | None) -> bool:
        """Return whether a change is worth a release: its search must lose less, unless answers or a policy decide."""
        if searched is None or self.plan.purpose.questions or self.plan.policy or self.plan.previous:
            return True
        found = self.searched(text)
        return found is not None and found <= searched - LEAST_GAIN / 2

    def kept(self) -> list[str]:
        """Return the quasi-identifiers, those that keep most first: removing one of these helps the others most."""
        return sorted(self.plan.quasi_identifiers, key=lambda name: self.losses.get(name, 0.0))

    def _report(self, text: PlanText) -> Report:
        with closing(anonymize(self.data, read_plan(text, self.plan.folder), engine=self.engine)) as release:
            return release.report


def _outcome(report: Report, names: tuple[str, ...]) -> Outcome:
    losses = report.column_losses
    shares = [losses.get(name, 1.0) for name in names]
    loss = sum(shares) / len(shares) if shares else report.loss.value
    answers = report.details.get("questions")
    same = None if answers is None else sum(answer["verdict"] == "same" for answer in answers)
    return Outcome(loss, report.suppressed_rows, float(report.risk["after"]["highest"]), same)


def _is_better(after: Outcome, before: Outcome | None, plan: RequestedPlan) -> bool:
    """Return whether a release loses less or answers more questions, and no fewer, at no higher risk than accepted."""
    if before is None:
        return after.loss < 1.0
    accepted = max(before.highest_risk, 1 / plan.minimum_class_size if plan.minimum_class_size > 1 else 0.0)
    gain, answers = before.loss - after.loss, (after.same_answers or 0) - (before.same_answers or 0)
    better = (gain >= LEAST_GAIN and answers >= 0) or (gain >= 0 and answers > 0)
    return better and after.highest_risk <= accepted + 1e-9


def _changes(text: PlanText, kept: list[str], fails: bool) -> Iterator[PlanText]:
    """Yield changed plans: other methods and limits, all levels, one column less; if it fails, also one model less."""
    method, columns = dict(text.get("method", {})), text.get("columns", {})
    for name in METHODS:
        if name != method.get("name"):
            keys = METHOD.variants[name].keys
            yield {**text, "method": {key: value for key, value in method.items() if key in keys} | {"name": name}}
    share = method.get("suppression", 0)
    if method.get("name") in SUPPRESSING and isinstance(share, int | float):
        yield from ({**text, "method": {**method, "suppression": limit}} for limit in LIMITS if limit > share)
    free = {
        name: {key: part for key, part in entry.items() if key not in _OF_LEVELS} for name, entry in columns.items()
    }
    if any(entry.get(key) for entry in columns.values() for key in _OF_LEVELS):
        yield {**text, "columns": free}
    for name in kept[:MOST_REMOVED]:
        yield {**text, "columns": {**columns, name: {"role": "identifier"}}}
    models = text.get("privacy", ())
    if fails and len(models) > 1:
        for place in range(len(models)):
            yield {**text, "privacy": [*models[:place], *models[place + 1 :]]}


def _difference(before: PlanText, after: PlanText) -> Iterator[str]:
    """Yield the keys in which two plans differ, with their values; of another method or role, that alone."""
    old, new = dict(_leaves(before)), dict(_leaves(after))
    for key in dict.fromkeys((*old, *new)):
        part, _, rest = key.rpartition(".")
        decisive = f"{part}.name" if part == "method" else f"{part}.role"
        follows = rest not in ("name", "role") and old.get(decisive) != new.get(decisive)
        if old.get(key) != new.get(key) and not (follows and rest != "suppression"):
            yield f"{key}: {_said(old.get(key))} -> {_said(new.get(key))}"


def _said(value: Any) -> str:
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _leaves(part: Any, at: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the innermost values of a plan by their dotted keys; a privacy model is one value."""
    if at == "privacy":
        yield from ((f"privacy.{' '.join(_said(value) for value in model.values())}", "yes") for model in part)
    elif isinstance(part, Mapping):
        for key, value in part.items():
            yield from _leaves(value, f"{at}.{key}" if at else str(key))
    else:
        yield at, part
