"""The pipeline of a microdata release: read, resolve, count, search, predict, apply, recount, judge, report.

Each step is a function of the resolved job and of the result of the step before it. A plan is resolved once; nothing
changes it while the job runs. The end is a Release, or nothing.
"""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar, cast

from sfumato.atomic_folders import ScratchFolder
from sfumato.engines.engine import Engine, PublishedRows
from sfumato.engines.opening import EngineName, open_engine, publishes_files
from sfumato.errors import InternalError
from sfumato.localization.messages import Message
from sfumato.microdata.counts.frequency_table import FrequencyTable, ValueCounts, typed
from sfumato.microdata.measures.overview import Measures, measure, measure_raw
from sfumato.microdata.methods.lost_columns import heavily_generalized_columns
from sfumato.microdata.methods.search import search
from sfumato.microdata.methods.search_result import Result
from sfumato.microdata.plan.methods import Auto, Local
from sfumato.microdata.plan.model import Plan, RequestedPlan
from sfumato.microdata.plan.read import read_plan
from sfumato.microdata.plan.resolve import resolve
from sfumato.microdata.recoding.expected_counts import ExpectedCounts, expected_counts
from sfumato.microdata.recoding.mapping import SuppressionHandling
from sfumato.microdata.recoding.reference import persons_by_label, weights_by_label
from sfumato.microdata.verdict import Verdict, judge_plan
from sfumato.pipelines.release_folder import ProgressCallback, Release, ReleaseReport
from sfumato.pipelines.release_stages.build_report import ReleaseOutcome, report_of, sensitive_shares, unneeded
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
from sfumato.pipelines.release_stages.missing_hierarchies import with_hierarchies
from sfumato.pipelines.release_stages.published_columns import handling_of, with_limits
from sfumato.pipelines.release_stages.question_answers import analysis_findings, check_libraries, search_by_answers
from sfumato.pipelines.release_stages.release_check import InferenceError, refuse, release_check
from sfumato.schema.paths import PlanPath
from sfumato.values import Value, replace

if TYPE_CHECKING:
    from sfumato.microdata.pseudonyms import PseudonymKey
    from sfumato.pipelines.persons.match_persons import MatchedRelease
    from sfumato.pipelines.release_stages.perturb import PerturbedRows

# Modules that only some plans need are imported in functions: pseudonyms, policies, earlier releases, perturbation.

T = TypeVar("T")
# Larger tables are measured after the engine is done, so that both do not need memory at the same time.
MOST_MEASURED_BESIDE = 2_000_000


class Progress:
    """Report the running step to a callback, and measure the seconds of each."""

    def __init__(self, callback: ProgressCallback | None) -> None:
        self.callback = callback or (lambda _step, _done, _all: None)
        self.begin = perf_counter()
        self.seconds: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        self.callback(name, 0, 1)
        begin = perf_counter()
        yield
        self.seconds[name] = perf_counter() - begin
        self.callback(name, 1, 1)


class Job(Value):
    """A resolved release.

    Attributes:
        plan: The plan as it is carried out; after the search it names the method that found the recoding.
        source: The original rows.
        counts: Counts that several steps share.
        keys: Keys of pseudonyms, by column.
        matched: The persons matched with earlier releases, if the plan names some.
        notes: Remarks on limits of top and bottom coding.
    """

    plan: Plan
    source: Engine
    counts: SharedCounts
    progress: Progress
    keys: "Mapping[str, PseudonymKey]"
    matched: "MatchedRelease | None"
    notes: tuple[Message, ...]


class Draft(Value):
    """The intended result before writing.

    Attributes:
        table: The frequency table that was searched.
        model_table: The same with the columns of privacy models only.
    """

    table: FrequencyTable
    model_table: FrequencyTable
    result: Result
    handling: SuppressionHandling
    prediction: ExpectedCounts


class Written(Value):
    """The published rows, and how they were perturbed."""

    rows: PublishedRows
    perturbation: "PerturbedRows | None"


class Recount(Value):
    """The written rows, counted by the columns of privacy models, and the verdict on them."""

    counts: ValueCounts
    verdict: Verdict


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
    requested: RequestedPlan = read_plan(plan)
    if requested.files:
        from sfumato.pipelines.persons.linked_release import anonymize_files

        return cast("Release", anonymize_files(data, requested, engine=engine, workspace=workspace))
    while True:
        try:
            return _attempt(data, requested, engine, workspace, progress)
        except InferenceError as error:
            if requested.on_inference != "remove" or not error.columns:
                raise
            requested = error.without_columns(requested)


def _attempt(
    data: Any,
    requested: RequestedPlan,
    engine: EngineName | None,
    workspace: Path | None,
    progress: ProgressCallback | None,
) -> Release:
    """Release microdata as a plan requests, with the columns of the plan.

    Raises:
        InferenceError: An attacker who compares columns breaks a guarantee.
    """
    with ExitStack() as failure, ExitStack() as opened:
        folder = ScratchFolder(workspace) if publishes_files(data, engine) else None
        if folder is not None:
            failure.callback(folder.cleanup)
        job = _resolve(data, requested, engine, folder, Progress(progress), opened)
        release = _release(job, folder)
        if release.published is job.source:
            opened.pop_all()
        failure.pop_all()
    return release


def _release(job: Job, folder: ScratchFolder | None) -> Release:
    """Carry out a job, step by step."""
    with ThreadPoolExecutor(1) as background, ExitStack() as failure:
        table = _count(job)
        raw = _in_background(background, table, lambda: measure_raw(table))
        settled, result = _search(job, table, folder)
        draft = _predict(settled, table, result)
        measures = _in_background(background, table, lambda: measure(settled.plan, table, result.recoding, raw()))
        written = _apply(settled, draft, folder, failure)
        recounted = _recount(settled, draft, written.rows)
        findings = _judge(settled, draft, written.rows, recounted)
        report = _report(settled, draft, written, recounted, findings, measures)
        failure.pop_all()
    key = next((job.keys[name] for name, operation in job.plan.pseudonyms.items() if operation.key_file is None), None)
    return Release(
        settled.plan,
        report,
        result.recoding,
        draft.handling,
        written.rows,
        draft.prediction,
        table,
        folder,
        job.progress.callback,
        key,
    )


def _resolve(
    data: Any,
    requested: RequestedPlan,
    engine: EngineName | None,
    folder: ScratchFolder | None,
    progress: Progress,
    opened: ExitStack,
) -> Job:
    """Open the rows and settle everything that the plan leaves to them: policy, columns, earlier releases, limits."""
    place = None if folder is None else folder.path

    def opens(plan: RequestedPlan | Plan) -> Engine:
        rows = open_engine(data, plan, engine, folder=place)
        opened.callback(rows.close)
        return rows

    sourced = _sourced(requested, data)
    source = opens(sourced)
    if sourced.policy is not None:
        from sfumato.pipelines.policy_completion import with_policy

        sourced = with_policy(sourced, source)
    completed = with_hierarchies(sourced.with_others(source.columns), source)
    plan = resolve(completed, source.columns)
    # A policy may choose columns with codes that mean missing in one column.
    if plan.source_data.codes != requested.source_data.codes:
        source = opens(plan)
    check_texts(plan, source)
    check_libraries(plan)
    progress.begin = perf_counter()
    matched: MatchedRelease | None = None
    keys: Mapping[str, PseudonymKey] = {}
    if plan.previous:
        from sfumato.pipelines.persons.match_persons import match_with_earlier

        matched = match_with_earlier(plan, source)
        if matched.source is not source:
            opened.callback(matched.source.close)
        plan, source = matched.plan, matched.source
    if plan.pseudonyms:
        from sfumato.pipelines.persons.pseudonyms import check_single, keys_of

        keys = keys_of(plan)
        check_single(plan, source)
    plan, notes = with_limits(plan, source)
    notes = (*notes, *unneeded(completed))
    return Job(plan, source, SharedCounts(plan, source), progress, keys, matched, notes)


def _sourced(plan: RequestedPlan, data: Any) -> RequestedPlan:
    """Return the plan with the source that is actually read."""
    if not isinstance(data, str | Path):
        return plan
    source = PlanPath(data)
    source = source if source.is_address else PlanPath(Path(data).resolve())
    return replace(plan, data=replace(plan.data, source=source))


def _count(job: Job) -> FrequencyTable:
    with job.progress.step("count"):
        table = frequency_table(job.plan, job.source, job.counts)
    job.counts.rows = table.rows
    return table


def _search(job: Job, table: FrequencyTable, folder: ScratchFolder | None) -> tuple[Job, Result]:
    """Return the recoding that was found, and the job whose plan names the method that found it."""
    progress = job.progress
    plan, method = job.plan, job.plan.method

    def tell(done: int, whole: int) -> None:
        progress.callback("search", done, whole)

    with progress.step("search"):
        if plan.purpose.questions and method.recoding == "best":
            where = None if folder is None else folder.path
            result = search_by_answers(plan, cast("Auto", method), job.source, table, where, tell)
        else:
            result = search(plan, table, tell)
    job = replace(job, plan=replace(job.plan, method=result.method or job.plan.method))
    if lost := heavily_generalized_columns(job.plan, table, result):
        columns = [column.to_dict() for column in lost]
        result = replace(result, details={**result.details, "heavily_generalized_columns": columns})
    if job.plan.method.recoding == "local":
        from sfumato.microdata.methods.local_recoding.search import bounded

        with progress.step("bound"):
            result = bounded(job.plan, cast("Local", job.plan.method), table, result)
    return job, result


def _predict(job: Job, table: FrequencyTable, result: Result) -> Draft:
    """Return what is going to be written, and the counts that it must have."""
    plan, recoding = job.plan, result.recoding
    model_table = table.holding(plan.checked_columns)
    handling = handling_of(plan, model_table, recoding)
    if plan.publishes_keys:
        from sfumato.pipelines.release_stages.column_checks import check_longitudinal_records

        check_longitudinal_records(plan, job.source, model_table, recoding)
    return Draft(table, model_table, result, handling, expected_counts(model_table, recoding, handling, plan))


def _apply(job: Job, draft: Draft, folder: ScratchFolder | None, failure: ExitStack) -> Written:
    """Write the published rows: recoded, perturbed and with bounds, as the plan requests."""
    plan = job.plan
    target = None if folder is None else folder.path / f"data.{plan.output.format}"
    first = target.with_name(f"unperturbed{target.suffix}") if target is not None and plan.perturbations else target
    with job.progress.step("apply"):
        reading = published_reading(plan, job.source)
        rows = job.source.apply(draft.result.recoding, draft.handling, reading, first)
    failure.callback(rows.close)
    perturbation = None
    if plan.perturbations:
        from sfumato.pipelines.release_stages.perturb import perturbed

        with job.progress.step("perturb"):
            perturbation = perturbed(plan, rows, target, job.keys)
        rows = perturbation.engine
        failure.callback(rows.close)
    if plan.bound_columns:
        from sfumato.engines.postprocessing import with_bounds

        rows = with_bounds(rows, plan)
        failure.callback(rows.close)
    return Written(rows, perturbation)


def _recount(job: Job, draft: Draft, published: PublishedRows) -> Recount:
    """Count the written rows and evaluate the models on them.

    Raises:
        InternalError: The counts differ from the expected ones, or a model is violated; nothing is published.
    """
    plan, table, recoding = job.plan, draft.model_table, draft.result.recoding
    with job.progress.step("verify"):
        counts = recount(published, draft.prediction, job.counts)
        verdict = judge_plan(
            typed(counts, plan)[0],
            plan,
            table.whole,
            persons_by_label(table, recoding),
            members=published_persons(plan, published),
            weights=published_weights(plan, published) or weights_by_label(draft.table, recoding),
        )
    if not verdict.satisfied:
        raise InternalError("promise.published_rows")
    return Recount(counts, verdict)


def _judge(job: Job, draft: Draft, published: PublishedRows, recounted: Recount) -> dict[str, Any]:
    """Return further findings on the written rows: of the policy, earlier releases and the release check.

    Raises:
        InternalError: The content of a column differs from the plan.
        UnattainableError: An attacker who compares columns or releases breaks a guarantee.
    """
    plan, findings = job.plan, dict[str, Any]()
    if plan.policy is not None:
        from sfumato.pipelines.policy_completion import judge_published

        verdict = judge_published(plan, published)
        findings |= {} if verdict is None else {"policy": verdict.to_dict()}
    if job.matched is not None:
        from sfumato.pipelines.persons.match_persons import check_together

        findings["previous"] = check_together(job.matched, published, plan)
    with job.progress.step("check"):
        checked = release_check(
            published,
            plan,
            recounted.counts,
            lambda counted, members: judge_plan(counted, plan, draft.model_table.whole, members=members),
            job.counts,
            raw=lambda columns: job.counts.count(job.source, columns, published_reading(plan, job.source)),
        )
    refuse(checked, plan)
    return findings | checked.figures


def _report(
    job: Job,
    draft: Draft,
    written: Written,
    recounted: Recount,
    findings: Mapping[str, Any],
    measures: Callable[[], Measures],
) -> ReleaseReport:
    plan, source, table, result = job.plan, job.source, draft.table, draft.result
    job.progress.callback("measure", 0, 1)
    disclosed = disclosure(written.rows, recounted.counts, plan, source, table, result.recoding, job.counts)
    outcome = ReleaseOutcome(table, result, recounted.verdict, measures(), disclosed, written.perturbation, job.notes)
    seconds = {**job.progress.seconds, "total": perf_counter() - job.progress.begin}
    report = report_of(plan, source, outcome, seconds)
    shares = dict(sensitive_shares(plan, source, written.rows, job.counts, table.rows))
    analyzed = analysis_findings(plan, source, written.rows, draft.model_table, recounted.counts, job.counts)
    details = {**report.details, **({"sensitive_shares": shares} if shares else {}), **findings, **analyzed}
    return replace(report, details=details)


def _in_background(background: Executor, table: FrequencyTable, work: Callable[[], T]) -> Callable[[], T]:
    """Return a function for the result of some work, done in the background for small tables, else on demand.

    Tasks run one after the other, so a task may use the results of earlier ones.
    """
    if len(table.counts) > MOST_MEASURED_BESIDE:
        return cache(work)
    return background.submit(work).result
