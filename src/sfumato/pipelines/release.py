"""The pipeline of a microdata release: count, search, apply, recount, compare, evaluate; then a Release, or nothing."""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar, cast

from sfumato.atomic_folders import ScratchFolder
from sfumato.dataclass import dataclass
from sfumato.engines.engine import Engine, PublishedRows
from sfumato.engines.opening import EngineName, open_engine, publishes_files
from sfumato.engines.postprocessing import with_bounds
from sfumato.errors import InternalError
from sfumato.microdata.counts.frequency_table import FrequencyTable, ValueCounts, typed
from sfumato.microdata.measures.overview import measure, measure_raw
from sfumato.microdata.methods.heavily_generalized_columns import heavily_generalized_columns, with_remedies
from sfumato.microdata.methods.search import search
from sfumato.microdata.methods.search_result import Result
from sfumato.microdata.plan.methods import Local
from sfumato.microdata.plan.model import Plan, RequestedPlan
from sfumato.microdata.plan.read import read_plan
from sfumato.microdata.plan.resolve import resolve
from sfumato.microdata.recoding.expected_counts import ExpectedCounts, expected_counts
from sfumato.microdata.recoding.mapping import SuppressionHandling
from sfumato.microdata.recoding.reference import persons_by_label, weights_by_label
from sfumato.microdata.verdict import Verdict, judge_plan
from sfumato.pipelines.persons.pseudonyms import check_single, drawn_key, keys_of
from sfumato.pipelines.release_check import refuse, release_check
from sfumato.pipelines.release_folder import ProgressCallback, Release
from sfumato.pipelines.release_stages.build_report import ReleaseOutcome, report_of, sensitive_shares
from sfumato.pipelines.release_stages.counting import (
    SharedCounts,
    check_texts,
    frequency_table,
    published_persons,
    published_reading,
    published_weights,
    recount,
)
from sfumato.pipelines.release_stages.disclosure import disclosure
from sfumato.pipelines.release_stages.published_columns import handling_of, with_limits
from sfumato.schema.paths import PlanPath

if TYPE_CHECKING:
    from sfumato.pipelines.persons.match_persons import MatchedRelease
    from sfumato.pipelines.release_stages.perturb import PerturbedRows
    from sfumato.policies.evaluation import PolicyVerdict

T = TypeVar("T")
# Larger tables are measured after the engine is done, so that both do not need memory at the same time.
MOST_MEASURED_BESIDE = 2_000_000


def anonymize(
    data: Any,
    plan: RequestedPlan | Mapping[str, Any] | str | Path,
    *,
    engine: EngineName | None = None,
    workspace: Path | None = None,
    progress: ProgressCallback | None = None,
) -> Release:
    """Release microdata as a plan requests.

    Args:
        data: A pandas, Polars or Arrow frame, a path, or None for the source that the plan names. If the plan has
            several files, a mapping of these; the result is then a `FilesRelease`.
        plan: A plan, a mapping of the same form, or the path of a YAML or JSON file.
        engine: The engine to use; by default the one that fits the data.
        workspace: The folder for files before they are saved; by default a temporary one.
        progress: Called with the stage, the amount done, and the total.

    Raises:
        PlanError: The plan is invalid, or does not fit the data.
        DataError: The rows do not match the plan.
        UnattainableError: No recoding satisfies the models.
        EngineError: A file cannot be read or written, or a part of the installation is missing.
    """
    tell = progress or (lambda _stage, _done, _all: None)
    read = read_plan(plan)
    if read.files:
        # Here and below, modules for rare plan options are imported only if needed.
        from sfumato.pipelines.linked_files.release import anonymize_files

        return cast("Release", anonymize_files(data, read, engine=engine, workspace=workspace))
    requested = _sourced(read, data)
    with ExitStack() as undo:
        folder = ScratchFolder(workspace) if publishes_files(data, engine) else None
        if folder is not None:
            undo.callback(folder.cleanup)
        release = _released(data, requested, engine, folder, tell)
        undo.pop_all()
    return release


def _released(
    data: Any, requested: RequestedPlan, engine: EngineName | None, folder: ScratchFolder | None, tell: ProgressCallback
) -> Release:
    place = None if folder is None else folder.path
    with ExitStack() as stack:
        source = open_engine(data, requested, engine, folder=place)
        stack.callback(source.close)
        resolved = resolve(_with_policy(requested, source), source.columns)
        # A policy may choose columns with codes that mean missing in one column.
        if resolved.source_data.codes != requested.source_data.codes:
            source = open_engine(data, resolved, engine, folder=place)
            stack.callback(source.close)
        check_texts(resolved, source)
        placed = _placed(resolved, source)
        if placed is not None and placed.source is not source:
            stack.callback(placed.source.close)
        release = _Run(resolved, source, tell, placed).release(folder)
        if release.published is source:
            stack.pop_all()
        return release


def _with_policy(plan: RequestedPlan, source: Engine) -> RequestedPlan:
    """Return the plan completed by its policy; few plans have one, and its module loads slowly."""
    if plan.policy is None:
        return plan
    from sfumato.pipelines.policy_completion import with_policy

    return with_policy(plan, source)


def _placed(plan: Plan, source: Engine) -> "MatchedRelease | None":
    """Match persons with earlier releases, if the plan names some."""
    if not plan.previous:
        return None
    from sfumato.pipelines.persons.match_persons import match_with_earlier

    return match_with_earlier(plan, source)


def _together(placed: "MatchedRelease | None", published: PublishedRows, plan: Plan) -> Any:
    """Return the metrics of the comparison with earlier releases, or None without any."""
    if placed is None:
        return None
    from sfumato.pipelines.persons.match_persons import check_together

    return check_together(placed, published, plan)


def _policy_verdict(plan: Plan, published: PublishedRows) -> "PolicyVerdict | None":
    if plan.policy is None:
        return None
    from sfumato.pipelines.policy_completion import judge_published

    return judge_published(plan, published)


def _sourced(plan: RequestedPlan, data: Any) -> RequestedPlan:
    """Return the plan with the source that is actually read."""
    if not isinstance(data, str | Path):
        return plan
    source = PlanPath(data)
    source = source if source.is_address else PlanPath(Path(data).resolve())
    return replace(plan, data=replace(plan.data, source=source))


@dataclass(frozen=True, slots=True)
class _Draft:
    """The intended result before writing.

    Attributes:
        table: The frequency table that was searched.
        promise_table: The same with the columns of privacy models only.
    """

    table: FrequencyTable
    promise_table: FrequencyTable
    result: Result
    handling: SuppressionHandling
    prediction: ExpectedCounts


@dataclass(frozen=True, slots=True)
class _Written:
    """The published rows, and how they were perturbed."""

    rows: PublishedRows
    perturbation: "PerturbedRows | None"


class _Run:
    """One run of the pipeline, with timings."""

    def __init__(
        self, plan: Plan, source: Engine, tell: ProgressCallback, placed: "MatchedRelease | None" = None
    ) -> None:
        self.plan = plan if placed is None else placed.plan
        self.source = source if placed is None else placed.source
        self.placed = placed
        self.tell = tell
        self.seconds: dict[str, float] = {}
        self.limit_remarks: tuple[str, ...] = ()
        self.keys = keys_of(plan)

    def release(self, folder: ScratchFolder | None) -> Release:
        begin = perf_counter()
        with ThreadPoolExecutor(1) as beside, ExitStack() as undo:
            table = self._count()
            raw = self._in_background(beside, table, lambda: measure_raw(table))
            result = self._with_bound(table, self._with_lost_columns(table, self._search(table)))
            draft = self._draft(table, result)
            measured = self._in_background(beside, table, lambda: measure(self.plan, table, result.recoding, raw()))
            written = self._publish(draft, folder, undo)
            recounted, verdict = self._judge(draft, written.rows)
            evidence = self._further_verdicts(written.rows) | self._checked(draft, written.rows, recounted)
            self.tell("measure", 0, 1)
            disclosed = disclosure(written.rows, recounted, self.plan, self.source, table, result.recoding, self.shared)
            measures = measured()
            self.seconds["total"] = perf_counter() - begin
            outcome = ReleaseOutcome(
                table, result, verdict, measures, disclosed, written.perturbation, self.limit_remarks
            )
            report = report_of(self.plan, self.source, outcome, self.seconds)
            spread = dict(sensitive_shares(self.plan, self.source, written.rows, self.shared, table.rows))
            told = {"sensitive_shares": spread} if spread else {}
            report = replace(report, details={**report.details, **told, **evidence})
            undo.pop_all()
        key = drawn_key(self.plan, self.keys)
        handling, prediction = draft.handling, draft.prediction
        return Release(
            self.plan,
            report,
            result.recoding,
            handling,
            written.rows,
            prediction,
            table,
            folder,
            self.tell,
            key,
        )

    def _count(self) -> FrequencyTable:
        with self._stage("count"):
            self.plan, self.limit_remarks = with_limits(self.plan, self.source)
            check_single(self.plan, self.source)
            self.shared = SharedCounts(self.plan, self.source)
            table = frequency_table(self.plan, self.source, self.shared)
        self.shared.rows = table.rows
        return table

    def _search(self, table: FrequencyTable) -> Result:
        """Search a recoding; from here on the plan names the method that found it."""
        with self._stage("search"):
            result = search(self.plan, table, lambda done, whole: self.tell("search", done, whole))
        self.plan = replace(self.plan, method=result.method or self.plan.method)
        return result

    def _draft(self, table: FrequencyTable, result: Result) -> _Draft:
        promise_table = table.holding(self.plan.checked_columns)
        handling = handling_of(self.plan, promise_table, result.recoding)
        if self.plan.publishes_keys:
            from sfumato.pipelines.release_stages.column_checks import check_longitudinal_records

            check_longitudinal_records(self.plan, self.source, promise_table, result.recoding)
        prediction = expected_counts(promise_table, result.recoding, handling, self.plan)
        return _Draft(table, promise_table, result, handling, prediction)

    def _publish(self, draft: _Draft, folder: ScratchFolder | None, undo: ExitStack) -> _Written:
        """Write the published rows: recoded, perturbed and with bounds, as the plan requests."""
        target = None if folder is None else folder.path / f"data.{self.plan.output.format}"
        with self._stage("apply"):
            reading = published_reading(self.plan, self.source)
            recoded = self.source.apply(draft.result.recoding, draft.handling, reading, self._first(target))
        undo.callback(recoded.close)
        perturbation = self._perturb(recoded, target, undo)
        rows = self._bounded(recoded if perturbation is None else perturbation.engine, undo)
        return _Written(rows, perturbation)

    def _judge(self, draft: _Draft, published: PublishedRows) -> tuple[ValueCounts, Verdict]:
        """Recount the written rows and evaluate the models on them.

        Raises:
            InternalError: The counts differ from the expected ones, or a model is violated; nothing is published.
        """
        table, recoding = draft.promise_table, draft.result.recoding
        with self._stage("verify"):
            recounted = recount(published, draft.prediction, self.shared)
            verdict = judge_plan(
                typed(recounted, self.plan)[0],
                self.plan,
                table.whole,
                persons_by_label(table, recoding),
                members=published_persons(self.plan, published),
                weights=published_weights(self.plan, published) or weights_by_label(draft.table, recoding),
            )
        if not verdict.satisfied:
            raise InternalError("promise.the_published_rows_do_not")
        return recounted, verdict

    def _checked(self, draft: _Draft, published: PublishedRows, rows: ValueCounts) -> dict[str, Any]:
        """Return the findings of the release check on the written rows, if there are any.

        Raises:
            InternalError: The content of a column differs from the plan.
            UnattainableError: An attacker who compares columns breaks a guarantee.
        """
        with self._stage("check"):
            checked = release_check(
                published,
                self.plan,
                rows,
                lambda counted, members: judge_plan(counted, self.plan, draft.promise_table.whole, members=members),
                self.shared,
                raw=lambda columns: self.shared.count(self.source, columns, published_reading(self.plan, self.source)),
            )
        refuse(checked, self.plan)
        return checked.figures

    def _further_verdicts(self, published: PublishedRows) -> dict[str, Any]:
        """Return the verdicts of the plan's policy and the comparison with earlier releases, if there are any."""
        policy = _policy_verdict(self.plan, published)
        compared = _together(self.placed, published, self.plan)
        return {
            **({} if policy is None else {"policy": policy.to_dict()}),
            **({} if compared is None else {"previous": compared}),
        }

    @staticmethod
    def _in_background(beside: Executor, table: FrequencyTable, work: Callable[[], T]) -> Callable[[], T]:
        """Return a function for the result of some work, done in the background for small tables, else on demand.

        Tasks run one after the other, so a task may use the results of earlier ones.
        """
        if len(table.counts) > MOST_MEASURED_BESIDE:
            return cache(work)
        return beside.submit(work).result

    def _with_bound(self, table: FrequencyTable, result: Result) -> Result:
        """Return the result of a local recoding with a lower bound of the loss, if one is found in time."""
        if not isinstance(self.plan.method, Local):
            return result
        from sfumato.microdata.methods.local_recoding.lower_bound import bounded

        with self._stage("bound"):
            return bounded(self.plan, self.plan.method, table, result)

    def _with_lost_columns(self, table: FrequencyTable, result: Result) -> Result:
        """Return the result with heavily generalized columns and with options to preserve them."""
        lost = heavily_generalized_columns(self.plan, table, result)
        if not lost:
            return replace(result, others={})
        seconds = self.seconds.get("search", 0.0)
        with self._stage("remedies"):
            entries = [column.to_dict() for column in with_remedies(self.plan, table, result, lost, seconds)]
        # Results of other methods are as large and not needed any more.
        return replace(result, details={**result.details, "heavily_generalized_columns": entries}, others={})

    @contextmanager
    def _stage(self, name: str) -> Iterator[None]:
        self.tell(name, 0, 1)
        begin = perf_counter()
        yield
        self.seconds[name] = perf_counter() - begin
        self.tell(name, 1, 1)

    def _bounded(self, published: PublishedRows, undo: ExitStack) -> PublishedRows:
        """Return the published rows with interval bounds, if the plan requests them."""
        bounded = with_bounds(published, self.plan)
        undo.callback(bounded.close)
        return bounded

    def _perturb(self, published: PublishedRows, target: Path | None, undo: ExitStack) -> "PerturbedRows | None":
        """Perturb the published rows, if the plan requests it."""
        if not self.plan.perturbations:
            return None
        from sfumato.pipelines.release_stages.perturb import perturbed

        with self._stage("perturb"):
            perturbation = perturbed(self.plan, published, target, self.keys)
        undo.callback(perturbation.engine.close)
        return perturbation

    def _first(self, target: Path | None) -> Path | None:
        """Return the first target path: a separate name if rows are perturbed afterwards."""
        perturbs = target is not None and self.plan.perturbations
        return target.with_name(f"unperturbed{target.suffix}") if target is not None and perturbs else target
