"""The pipeline of a microdata release: count, search, apply, recount, compare, judge; then a Release, or nothing."""

from collections.abc import Callable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

from sfumato.engines.engine import Engine, Reading
from sfumato.engines.names import check_header
from sfumato.engines.opening import EngineName, open_engine
from sfumato.errors import DataError, Fault, InternalError, PlanError, did_you_mean
from sfumato.folders import Scratch
from sfumato.microdata.counts.frequencies import Counted, FrequencyTable, Rejected, tabulate, typed
from sfumato.microdata.measures.release import Measured, measure, measure_raw
from sfumato.microdata.methods.full_domain.warming import warm_up
from sfumato.microdata.methods.result import Result
from sfumato.microdata.methods.search import search
from sfumato.microdata.models.k_map import KMap
from sfumato.microdata.models.model import Model
from sfumato.microdata.models.named_values import named
from sfumato.microdata.models.t_closeness import TCloseness
from sfumato.microdata.outcome import ClassFigures, LossFigure, Report, Seconds, figures
from sfumato.microdata.plan.methods import FullDomain
from sfumato.microdata.plan.model import Plan, located
from sfumato.microdata.plan.read import read_plan
from sfumato.microdata.recoding.population import persons_by_label, with_population, with_texts
from sfumato.microdata.recoding.prediction import Prediction, predict, veils
from sfumato.microdata.recoding.recoding import Handling, Recoding
from sfumato.microdata.verdict import Verdict, judge
from sfumato.version import __version__

# Stage ("count", "search", "apply", "verify"), how much of it is done, and how much there is.
Progress = Callable[[str, int, int], None]
T = TypeVar("T")
ROWS_SHOWN = 10
# Larger tables are measured when the engine is done, so that both do not ask for memory at the same time.
MOST_MEASURED_BESIDE = 2_000_000


@dataclass(frozen=True, slots=True)
class ReleaseReport(Report):
    """The outcome of a release, as a notebook shows it."""

    def _repr_html_(self) -> str:
        from sfumato.report.release import fragment

        return fragment(self)


@dataclass(frozen=True)
class Release:
    """A release: the published rows, the report on them, and the recoding that made them.

    Attributes:
        plan: The plan, resolved.
        report: Numbers as attributes.
        recoding: What each value or combination is published as.
        table: The raw frequency table, from which reports tell what changed.
    """

    plan: Plan
    report: ReleaseReport
    recoding: Recoding
    handling: Handling
    published: Engine
    prediction: Prediction
    workspace: Scratch | None = None
    table: FrequencyTable | None = None

    @property
    def data(self) -> Any:
        """The published rows: the kind of frame that went in, or the path of the file."""
        return self.published.data()

    def close(self) -> None:
        """Let go of what the release holds on disk; what was saved stays."""
        self.published.close()
        if self.workspace is not None:
            self.workspace.cleanup()

    def save(self, folder: str | Path) -> Path:
        """Write the release folder, whole or not at all."""
        from sfumato.pipelines.release_folder import save

        return save(self, Path(folder))

    def _repr_html_(self) -> str:
        return self.report._repr_html_()


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
        data: A pandas, Polars or Arrow frame, a path, or None for the source that the plan names.
        plan: A plan, a mapping of the same form, or the path of a YAML or JSON file.
        engine: Which engine to use; by default the one that fits the data.
        workspace: Where a file is written before it is saved; a temporary folder by default.
        progress: Called with the stage, how much of it is done, and how much there is.

    Raises:
        PlanError, DataError, UnattainableError, EngineError: See each; nothing is published then.
    """
    tell = progress or (lambda _stage, _done, _all: None)
    resolved = _sourced(read_plan(plan), data)
    with ExitStack() as stack:
        source = open_engine(data, resolved, engine)
        stack.callback(source.close)
        release = _Run(resolved, source, tell).release(workspace)
        if release.published is source:
            stack.pop_all()
        return release


def _sourced(plan: Plan, data: Any) -> Plan:
    """The plan with the source that is really read."""
    if not isinstance(data, str | Path):
        return plan
    if "://" in str(data):
        return replace(plan, data=replace(plan.data, source=str(data)))
    return replace(plan, data=replace(plan.data, source=str(Path(data).resolve())))


class _Run:
    """One run of the pipeline, with its clock."""

    def __init__(self, plan: Plan, source: Engine, tell: Progress) -> None:
        self.plan = plan
        self.source = source
        self.tell = tell
        self.seconds: dict[str, float] = {}
        self.reading = reading_of(plan)

    def release(self, workspace: Path | None) -> Release:
        begin = perf_counter()
        with ThreadPoolExecutor(1) as beside, ExitStack() as undo:
            warm = beside.submit(warm_up) if isinstance(self.plan.method, FullDomain) else None
            with self._stage("count"):
                table = frequency_table(self.plan, self.source)
                if warm is not None:
                    warm.result()
            raw = self._beside(beside, table, lambda: measure_raw(table))
            with self._stage("search"):
                result = search(self.plan, table, lambda done, whole: self.tell("search", done, whole))
            judged = table.holding(self.plan.judged)
            handling = handling_of(self.plan, judged, result.recoding)
            target, folder = self._target(workspace)
            if folder is not None:
                undo.callback(folder.cleanup)
            expected = predict(judged, result.recoding, handling, self.plan)
            measured = self._beside(beside, table, lambda: measure(self.plan, table, result.recoding, raw()))
            with self._stage("apply"):
                published = self.source.apply(result.recoding, handling, self.reading, target)
            undo.callback(published.close)
            with self._stage("verify"):
                verdict = self._verified(published, expected, judged, result.recoding)
            if not verdict.holds:
                raise InternalError("the published rows do not keep the promises.", code="promise")
            figures_of = measured()
            self.seconds["total"] = perf_counter() - begin
            report = self._report(table, result, verdict, figures_of)
            undo.pop_all()
        return Release(self.plan, report, result.recoding, handling, published, expected, folder, table)

    @staticmethod
    def _beside(beside: Executor, table: FrequencyTable, work: Callable[[], T]) -> Callable[[], T]:
        """What hands over the outcome of some work: done beside the rest where the table is small, else when asked for.

        One task waits for the one before, so a task may ask for what was made before it.
        """
        if len(table.counts) > MOST_MEASURED_BESIDE:
            return cache(work)
        return beside.submit(work).result

    @contextmanager
    def _stage(self, name: str) -> Any:
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

    def _verified(self, published: Engine, expected: Prediction, table: FrequencyTable, recoding: Recoding) -> Verdict:
        """Recount what was written, compare it with what was predicted, and judge it."""
        recounted = published.count((*expected.columns, *expected.sensitive), Reading())
        wrong = expected.difference(recounted)
        if wrong:
            raise InternalError(f"what was written is not what was meant: {wrong}.", code="recount")
        return judge(
            typed(recounted, self.plan)[0],
            self.plan.quasi_identifiers,
            self.plan.privacy,
            self.plan.data.missing,
            self.plan.data.on_missing == "any",
            table.whole,
            persons_by_label(table, recoding),
            self.plan.output.suppressed == "star",
        )

    def _report(self, table: FrequencyTable, result: Result, verdict: Verdict, measured: Measured) -> ReleaseReport:
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
            risk=figures(measured.risk),
            utility=figures(measured.utility),
            nodes={"total": result.total, "checked": result.checked},
            seconds=Seconds(**self.seconds),
            engine=self.source.name,
            seed=self.plan.seed,
            input_sha256=self.source.fingerprint(),
            candidates=result.nodes,
            remarks=(*result.remarks, *unnamed(self.plan, table)),
            details=result.details,
            starred=self.plan.output.suppressed == "star",
        )


def reading_of(plan: Plan) -> Reading:
    """What a missing value is, as the plan says."""
    names = tuple(name for name, column in plan.columns.items() if column.role != "identifier")
    return Reading(plan.data.missing, names if plan.data.on_missing == "drop" else ())


def handling_of(plan: Plan, table: FrequencyTable, recoding: Recoding) -> Handling:
    """What happens to suppressed rows and other columns, as the plan says."""
    return Handling(
        suppressed=plan.output.suppressed,
        starred=plan.named("identifier"),
        veiled=plan.named("sensitive") if veils(table, recoding, plan) else (),
        class_column=plan.output.class_column,
        shuffle_seed=plan.seed if plan.output.order == "shuffle" else None,
    )


def check_columns(plan: Plan, columns: tuple[str, ...]) -> None:
    """Refuse a plan that names other columns than the data have."""
    check_header(plan.columns, columns)
    faults = [
        Fault(f"columns.{name}", "the data have no such column.", did_you_mean(name, columns))
        for name in plan.columns
        if name not in columns
    ]
    faults += [
        Fault(
            "columns",
            f'the column "{name}" of the data is not mentioned.',
            "Give it a role; insensitive to publish it.",
        )
        for name in columns
        if name not in plan.columns
    ]
    if plan.output.class_column in columns:
        faults.append(Fault("output.class_column", "is the name of a column of the data.", "Choose another name."))
    if faults:
        raise PlanError(faults, code="columns")


def frequency_table(plan: Plan, source: Engine) -> FrequencyTable:
    """Count the rows and code them; refuse data that the plan does not fit."""
    check_columns(plan, source.columns)
    counted = source.count((*plan.quasi_identifiers, *plan.counted), reading_of(plan))
    if not counted.rows:
        raise DataError("the data have no rows.", "A header alone cannot be released.", "no-rows")
    table, rejected = _tabulated(plan, counted)
    if plan.data.on_invalid != "error":
        rejected = tuple(entry for entry in rejected if entry.column not in plan.quasi_identifiers)
    if rejected:
        raise _invalid(source, rejected, plan)
    if not table.rows:
        raise DataError("no row is left.", "Every row has a missing or invalid value that drops it.", "no-rows")
    unnamed(plan, table)
    return table


def unnamed(plan: Plan, table: FrequencyTable) -> tuple[str, ...]:
    """What a reader should know of values that promises name and the data lack; where they lack all, it is an error."""
    lacking = [(model, absent(model, table)) for model in plan.privacy]
    return tuple(
        f'{number} of the values that {model.name} names do not stand in "{model.column}".'
        for model, number in lacking
        if number
    )


def _tabulated(plan: Plan, counted: Counted) -> tuple[FrequencyTable, tuple[Rejected, ...]]:
    """The frequency table, with the population behind the rows where a model asks for it."""
    model = next((model for model in plan.privacy if isinstance(model, KMap)), None)
    if model is None:
        return tabulate(counted, located(plan))
    population, missing = counted_population(model, plan.quasi_identifiers), model.population.missing
    table, rejected = tabulate(with_texts(counted, population, missing), located(plan))
    own = [
        Rejected(entry.column, tuple(text for text in entry.texts if text in counted.values[place]))
        for entry in rejected
        for place in [counted.columns.index(entry.column)]
    ]
    return with_population(table, population, missing), tuple(entry for entry in own if entry.texts)


def counted_population(model: KMap, columns: tuple[str, ...]) -> Counted:
    """The population's combinations of the quasi-identifiers, counted by the engine that fits its file."""
    from sfumato.engines.duckdb.engine import DuckDBEngine

    engine = DuckDBEngine(Path(model.population.source or ""), model.population)
    try:
        absent = [name for name in columns if name not in engine.columns]
        if absent:
            raise PlanError(
                "the table of the population lacks " + ", ".join(f'"{name}"' for name in absent) + ".",
                "It needs every quasi-identifier, under the same name.",
                "population",
            )
        return engine.count(columns, Reading())
    finally:
        engine.close()


def _invalid(source: Engine, rejected: tuple[Rejected, ...], plan: Plan) -> DataError:
    """The error for values that a type or hierarchy does not accept: where they are, and in attributes which.

    A judged column is published as it is, so its invalid values are neither made missing nor dropped.
    """
    judged = any(entry.column in plan.judged for entry in rejected)
    parts: list[str] = []
    rows: list[int] = []
    values: list[str] = []
    for column in rejected:
        found = source.locate(column.column, column.texts, ROWS_SHOWN)
        shown = ", ".join(map(str, found)) + (", …" if len(found) == ROWS_SHOWN else "")
        parts.append(
            f'column "{column.column}": {len(column.texts)} values do not fit its type or hierarchy (row {shown})'
        )
        rows.extend(found)
        values.extend(column.texts)
    return DataError(
        "; ".join(parts) + ".",
        "Mend the data, or take the type off that column: it is published as it is, whatever data.on_invalid says."
        if judged
        else "Mend the data or the hierarchy, or set data.on_invalid to missing or drop.",
        "invalid-value",
        values=values,
        rows=rows,
        column=rejected[0].column,
    )


def absent(model: Model, table: "FrequencyTable") -> int:
    """How many of the values that a model makes a promise about do not stand in the data.

    Raises:
        PlanError: None of them does: the promise would be empty.
    """
    if isinstance(model, TCloseness) or not named(model) or model.column is None:
        return 0
    texts = set(table.sensitive_values[model.column])
    lacking = [text for text in named(model) if text not in texts]
    if len(lacking) == len(named(model)):
        raise PlanError(
            f'privacy: {model.name} names no value that "{model.column}" has: the promise would be empty.',
            "Check how the values are written, or leave the promise out.",
            "named-values",
            values=lacking,
        )
    return len(lacking)
