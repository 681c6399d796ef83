"""The pipeline of a microdata release: count, search, apply, recount, compare, judge; then a Release, or nothing."""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar, cast

from sfumato.engines.bounds import with_bounds
from sfumato.engines.engine import Engine, PublishedRows
from sfumato.engines.opening import EngineName, open_engine
from sfumato.errors import InternalError
from sfumato.folders import Scratch
from sfumato.loops.compiled import way
from sfumato.microdata.counts.frequencies import FrequencyTable, typed
from sfumato.microdata.measures.disclosure import Disclosure
from sfumato.microdata.measures.release import Measures, measure, measure_raw
from sfumato.microdata.methods.full_domain.warm_up import warm_up
from sfumato.microdata.methods.lost_columns import lost_columns, with_remedies
from sfumato.microdata.methods.rehearsal import rehearse
from sfumato.microdata.methods.result import Result
from sfumato.microdata.methods.search import search
from sfumato.microdata.outcome import ClassFigures, LossFigure, Seconds, figures
from sfumato.microdata.plan.methods import Auto, FullDomain
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.plan.read import read_plan
from sfumato.microdata.recoding.population import persons_by_label, weights_by_label
from sfumato.microdata.recoding.prediction import predict, veils
from sfumato.microdata.recoding.recoding import Handling, Recoding
from sfumato.microdata.verdict import Verdict, judge_plan
from sfumato.pipelines.previous.placing import Placed, check_together, placed_beside
from sfumato.pipelines.pseudonym_keys import check_single, drawn_key, keys_of
from sfumato.pipelines.relations.release import anonymize_files
from sfumato.pipelines.release_folder import Progress, Release, ReleaseReport
from sfumato.pipelines.stages.counting import (
    frequency_table,
    published_persons,
    published_reading,
    published_weights,
    recount,
    unnamed,
)
from sfumato.pipelines.stages.disclosure import disclosure
from sfumato.pipelines.stages.fingerprints import check_fingerprints
from sfumato.pipelines.stages.order import order_remarks
from sfumato.pipelines.stages.perturb import Perturbed, perturbed, with_limits
from sfumato.version import __version__

if TYPE_CHECKING:
    from sfumato.policies.judgment import PolicyVerdict

T = TypeVar("T")
# Larger tables are measured when the engine is done, so that both do not ask for memory at the same time.
MOST_MEASURED_BESIDE = 2_000_000
RISKS_OF_PERSONS = "The risks count persons: that of a row is 1 / persons of its class."
# A greater share of rows that columns besides the quasi-identifiers make unique is warned about.
_MOST_UNIQUE = 0.5


def anonymize(
    data: Any,
    plan: Plan | Mapping[str, Any] | str | Path,
    *,
    engine: EngineName | None = None,
    workspace: Path | None = None,
    progress: Progress | None = None,
) -> Release:
    """Release microdata as a plan says.

    Args:
        data: A pandas, Polars or Arrow frame, a path, or None for the source that the plan names; where it names
            several files, a mapping of these, and the answer is a `FilesRelease`.
        plan: A plan, a mapping of the same form, or the path of a YAML or JSON file.
        engine: Which engine to use; by default the one that fits the data.
        workspace: Where a file is written before it is saved; a temporary folder by default.
        progress: Called with the stage, how much of it is done, and how much there is.

    Raises:
        PlanError, DataError, UnattainableError, EngineError: See each; nothing is published then.
    """
    tell = progress or (lambda _stage, _done, _all: None)
    files = read_plan(plan)
    if files.files:
        return cast("Release", anonymize_files(data, files, engine=engine, workspace=workspace))
    resolved = _sourced(read_plan(plan), data).with_secret()
    with ExitStack() as stack:
        source = open_engine(data, resolved, engine)
        stack.callback(source.close)
        resolved = _with_policy(resolved, source).with_others(source.columns)
        placed = placed_beside(resolved, source) if resolved.previous else None
        if placed is not None and placed.source is not source:
            stack.callback(placed.source.close)
        release = _Run(resolved, source, tell, placed).release(workspace)
        if release.published is source:
            stack.pop_all()
        return release


def _with_policy(plan: Plan, source: Engine) -> Plan:
    """The plan with what its policy chooses; few plans name one, and what judges it loads slowly."""
    if plan.policy is None:
        return plan
    from sfumato.pipelines.policies.planning import with_policy

    return with_policy(plan, source)


def _policy_verdict(plan: Plan, published: PublishedRows) -> "PolicyVerdict | None":
    if plan.policy is None:
        return None
    from sfumato.pipelines.policies.planning import judge_published

    return judge_published(plan, published)


def _sourced(plan: Plan, data: Any) -> Plan:
    """The plan with the source that is really read."""
    if not isinstance(data, str | Path):
        return plan
    if "://" in str(data):
        return replace(plan, data=replace(plan.data, source=str(data)))
    return replace(plan, data=replace(plan.data, source=str(Path(data).resolve())))


class _Run:
    """One run of the pipeline, with its clock."""

    def __init__(self, plan: Plan, source: Engine, tell: Progress, placed: Placed | None = None) -> None:
        self.plan = plan if placed is None else placed.plan
        self.source = source if placed is None else placed.source
        self.placed = placed
        self.tell = tell
        self.seconds: dict[str, float] = {}
        self.keys = keys_of(plan)

    def release(self, workspace: Path | None) -> Release:
        begin = perf_counter()
        with ThreadPoolExecutor(1) as beside, ExitStack() as undo:
            late = way() == "numba" and isinstance(self.plan.method, FullDomain | Auto)
            warm = beside.submit(warm_up) if late else None
            with self._stage("count"):
                self.plan = with_limits(self.plan, self.source)
                check_single(self.plan, self.source)
                table = frequency_table(self.plan, self.source)
                if warm is not None:
                    warm.result()
            raw = self._beside(beside, table, lambda: measure_raw(table))
            with self._stage("compile"):
                rehearse(self.plan, table)
            result = self._search(table)
            self.plan = replace(self.plan, method=result.method or self.plan.method)
            promise_table = table.holding(self.plan.checked_columns)
            handling = handling_of(self.plan, promise_table, result.recoding)
            if self.plan.publishes_keys:
                check_fingerprints(self.plan, self.source, promise_table, result.recoding)
            target, folder = self._target(workspace)
            if folder is not None:
                undo.callback(folder.cleanup)
            prediction = predict(promise_table, result.recoding, handling, self.plan)
            measured = self._beside(beside, table, lambda: measure(self.plan, table, result.recoding, raw()))
            with self._stage("apply"):
                reading = published_reading(self.plan, self.source)
                published = self.source.apply(result.recoding, handling, reading, self._first(target))
            undo.callback(published.close)
            perturbation = self._perturb(published, target, undo)
            published = self._bounded(published if perturbation is None else perturbation.engine, undo)
            with self._stage("verify"):
                recounted = recount(published, prediction)
                verdict = judge_plan(
                    typed(recounted, self.plan)[0],
                    self.plan,
                    promise_table.whole,
                    persons_by_label(promise_table, result.recoding),
                    members=published_persons(self.plan, published),
                    weights=published_weights(self.plan, published) or weights_by_label(table, result.recoding),
                )
            if not verdict.holds:
                raise InternalError("the published rows do not keep the promises.", code="promise")
            policy = _policy_verdict(self.plan, published)
            compared = None if self.placed is None else check_together(self.placed, published, self.plan)
            self.tell("measure", 0, 1)
            disclosed = disclosure(published, recounted, self.plan, self.source, table, result.recoding)
            figures_of = measured()
            self.seconds["total"] = perf_counter() - begin
            report = self._report(table, result, verdict, figures_of, disclosed, perturbation)
            if policy is not None:
                report = replace(report, details={**report.details, "policy": policy.to_dict()})
            if compared is not None:
                report = replace(report, details={**report.details, "previous": compared})
            undo.pop_all()
        recoding = result.recoding
        own_key = drawn_key(self.plan, self.keys)
        return Release(self.plan, report, recoding, handling, published, prediction, table, folder, self.tell, own_key)

    @staticmethod
    def _beside(beside: Executor, table: FrequencyTable, work: Callable[[], T]) -> Callable[[], T]:
        """What hands over the outcome of some work: done beside the rest where the table is small, else when asked for.

        One task waits for the one before, so a task may ask for what was made before it.
        """
        if len(table.counts) > MOST_MEASURED_BESIDE:
            return cache(work)
        return beside.submit(work).result

    def _search(self, table: FrequencyTable) -> Result:
        """The recoding, with the columns that it loses and what would keep them."""
        with self._stage("search"):
            result = search(self.plan, table, lambda done, whole: self.tell("search", done, whole))
        lost = lost_columns(table, result)
        if not lost:
            return result
        with self._stage("remedies"):
            entries = [column.to_dict() for column in with_remedies(self.plan, table, result, lost)]
        return replace(result, details={**result.details, "lost_columns": entries})

    @contextmanager
    def _stage(self, name: str) -> Iterator[None]:
        self.tell(name, 0, 1)
        begin = perf_counter()
        yield
        self.seconds[name] = perf_counter() - begin
        self.tell(name, 1, 1)

    def _target(self, workspace: Path | None) -> tuple[Path | None, Scratch | None]:
        if self.source.name == "frames":
            return None, None
        folder = Scratch(workspace)
        return folder.path / f"data.{self.plan.output.format}", folder

    def _bounded(self, published: PublishedRows, undo: ExitStack) -> PublishedRows:
        """Published rows with the ends of their intervals, where the plan asks for them."""
        bounded = with_bounds(published, self.plan)
        undo.callback(bounded.close)
        return bounded

    def _perturb(self, published: PublishedRows, target: Path | None, undo: ExitStack) -> Perturbed | None:
        """The published rows perturbed, where the plan says so."""
        if not self.plan.perturbations:
            return None
        with self._stage("perturb"):
            perturbation = perturbed(self.plan, published, target, self.keys)
        undo.callback(perturbation.engine.close)
        return perturbation

    def _first(self, target: Path | None) -> Path | None:
        """Where rows are written first: under a name of their own where they are perturbed afterwards."""
        perturbs = target is not None and self.plan.perturbations
        return target.with_name(f"unperturbed{target.suffix}") if target is not None and perturbs else target

    def _repeats(self) -> tuple[str, ...]:
        """Warnings on identifiers that repeat as keys do: they may name persons, whom promises then do not count."""
        names = () if self.plan.person is not None else self.plan.named("identifier")
        return tuple(
            f'The identifier "{name}" repeats: if it names a person, promises count rows where they should count '
            "persons. Give it role: person."
            for name in names
            if self._is_key_of_persons(name)
        )

    def _is_key_of_persons(self, name: str) -> bool:
        texts = self.source.first_texts(name)
        present = {text: rows for text, rows in texts.items() if text not in self.plan.data.missing}
        from sfumato.hierarchies.suggest.profile import Profile
        from sfumato.hierarchies.suggest.roles import may_name_persons

        return may_name_persons(Profile(name, present, sum(present.values())))

    def _report(
        self,
        table: FrequencyTable,
        result: Result,
        verdict: Verdict,
        measures: Measures,
        disclosed: Disclosure,
        perturbation: Perturbed | None,
    ) -> ReleaseReport:
        recoding = result.recoding
        kept = recoding.sizes[~recoding.suppressed]
        average = float(kept.mean()) if len(kept) else 0.0
        return ReleaseReport(
            version=__version__,
            method=self.plan.method.name,
            proved_optimal=result.proved_optimal,
            levels=result.levels,
            loss=LossFigure(result.loss_name, result.loss, result.per_column),
            rows=table.rows,
            dropped_rows=table.dropped_rows,
            suppressed_rows=int(recoding.sizes[recoding.suppressed].sum()),
            classes=ClassFigures(len(kept), int(kept.min(initial=table.rows)), int(kept.max(initial=0)), average),
            models=verdict.promises,
            risk=figures(measures.risk),
            utility=figures(measures.utility),
            nodes=figures({"total": result.total, "checked": result.checked}),
            seconds=Seconds(**self.seconds),
            engine=self.source.name,
            seed=self.plan.seed,
            input_sha256=self.source.fingerprint(),
            candidates=result.nodes,
            remarks=(
                *self._repeats(),
                *_telling_remark(disclosed, table.rows - int(recoding.sizes[recoding.suppressed].sum())),
                *self.source.notes,
                *result.remarks,
                *unnamed(self.plan, table),
                *_matching_remark(measures),
                *(() if self.plan.person is None else (RISKS_OF_PERSONS,)),
                *order_remarks(self.plan),
                *(() if perturbation is None else perturbation.remarks),
            ),
            details={**result.details, **({} if perturbation is None else {"perturbation": perturbation.figures})},
            disclosure=disclosed,
            star_rows=self.plan.output.suppressed == "star",
            withheld_columns=tuple(
                name for name in self.plan.named("identifier") if name in self.plan.withheld_columns
            ),
        )


def _labels(table: FrequencyTable, name: str) -> dict[str | None, str | None]:
    """What each text of a column is published as; one that means missing stays as it is."""
    values = table.sensitive_values[name]
    return {text: text if values[code] is None else values[code] for text, code in table.spellings[name].items()}


def _telling_remark(disclosed: Disclosure, rows: int) -> tuple[str, ...]:
    """A warning on published columns that make most rows unique: no promise is about them."""
    worst = disclosed.most_telling
    if worst is None or worst.rows <= _MOST_UNIQUE * rows:
        return ()
    names = " and ".join(f'"{name}"' for name in worst.columns)
    return (
        f"{names} single out {worst.rows:,} of {rows:,} published rows, and no promise is about that: whoever knows "
        "these values of a person finds the row. Publish them rounded (publish), or withhold them (role: identifier).",
    )


def _matching_remark(measures: Measures) -> tuple[str, ...]:
    """What a reader of the risks should know where missing values match anything."""
    matching = measures.risk.get("matching")
    if matching is None:
        return ()
    highest = matching["after"]["highest"]
    return (
        "The risks count a missing value as a value of its own, which is the higher risk; where it matches anything, "
        f"the highest risk after is {highest:.4g}.",
    )


def handling_of(plan: Plan, table: FrequencyTable, recoding: Recoding) -> Handling:
    """What happens to suppressed rows and other columns, as the plan says."""
    return Handling(
        suppressed=plan.output.suppressed,
        withheld_columns=plan.withheld_columns,
        veiled_columns=plan.shown_sensitive if veils(table, recoding, plan) else (),
        labels={name: _labels(table, name) for name, column in plan.columns.items() if column.operations is not None},
        class_column=plan.output.class_column,
        order_key=f"{plan.secret}:order:" if plan.output.order == "shuffle" else None,
        person=plan.household if plan.swaps_households else plan.person,
        person_key=f"{plan.person_secret or plan.secret}:person:",
        publishes_keys=plan.publishes_keys and not plan.pseudonyms,
    )
