"""Compare methods: the same data and privacy models, a grid of methods, k and suppression limits, counted once.

Every method minimizes the loss metric, and all are compared by the mean information loss of a cell (0: unchanged, 1:
nothing left), so that their figures are comparable. Nothing is published: only the search is run, on the frequency
table.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

from sfumato.atomic_folders import ScratchFolder, staged, write_text
from sfumato.engines.opening import EngineName, open_engine, publishes_files
from sfumato.errors import PlanError, SfumatoError, did_you_mean, issue
from sfumato.localization.messages import Message, to_json
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.losses.additive_losses import aggregated
from sfumato.microdata.measures.overview import published_sizes
from sfumato.microdata.measures.risk import prosecutor
from sfumato.microdata.methods.search import search
from sfumato.microdata.methods.search_result import Result
from sfumato.microdata.models.k_anonymity import KAnonymity
from sfumato.microdata.models.model import requested_class_size
from sfumato.microdata.plan.methods import METHOD, SUPPRESSING, Suppression
from sfumato.microdata.plan.model import Plan, RequestedPlan
from sfumato.microdata.plan.read import read_plan
from sfumato.microdata.plan.resolve import resolve
from sfumato.microdata.plan.write import plan_dict
from sfumato.microdata.questions.verdict import ComparedAnswer
from sfumato.microdata.release_report import COMPARED_LOSS, ComparisonRun, Runs
from sfumato.pipelines.release_folder import Drawing
from sfumato.pipelines.release_stages.counting import frequency_table
from sfumato.pipelines.release_stages.missing_hierarchies import with_hierarchies
from sfumato.pipelines.release_stages.question_answers import answers_of
from sfumato.report.compare import as_csv, comparison_charts, drawn, html
from sfumato.report.html_page import fragment
from sfumato.values import Value, replace

if TYPE_CHECKING:
    from sfumato.report.compare import Chart


class ComparisonPlots(Value):
    """The charts of a comparison, drawn with the extra `charts`."""

    runs: Runs

    def __repr__(self) -> str:
        return "ComparisonPlots(loss_by_k, loss_by_suppression, frontier, seconds)"

    def loss_by_k(self) -> Drawing:
        """Draw the loss of each method for each k."""
        return self._drawn("loss_by_k")

    def loss_by_suppression(self) -> Drawing:
        """Draw the loss of each method for each suppression limit, the trade-off of any method.

        Raises:
            PlanError: Only one suppression limit was compared.
        """
        return self._drawn("loss_by_suppression")

    def frontier(self) -> Drawing:
        """Draw risk against loss, with the Pareto-optimal runs."""
        return self._drawn("frontier")

    def seconds(self) -> Drawing:
        """Draw the running time of each method."""
        return self._drawn("seconds")

    def _drawn(self, name: Literal["loss_by_k", "loss_by_suppression", "frontier", "seconds"]) -> Drawing:
        charts = comparison_charts(self.runs)
        if name not in charts:
            raise PlanError("plot.these_runs_give_nothing")
        return Drawing(drawn(charts[name], name))


# Called with the run (method, k and suppression in words), the number of runs done, and the total.
ProgressCallback = Callable[[str, int, int], None]
# Answers the questions of a plan from the rows that a result would publish.
Asked = Callable[[Plan, Result], Sequence[ComparedAnswer]]
DEFAULT_METHODS = ("samarati", "optimal", "local", "mondrian")
# Names for methods with an option set.
VARIANTS: dict[str, dict[str, Any]] = {
    "mondrian-relaxed": {"name": "mondrian", "mode": "relaxed"},
    "mondrian-loss": {"name": "mondrian", "cut": "loss"},
}


class Comparison(Runs):
    """All runs of a grid, as a frame, charts, a page or a folder."""

    def __repr__(self) -> str:
        return f"Comparison({len(self.cells)} runs of {', '.join(self.methods)}; {self.rows:,} rows)"

    @property
    def data(self) -> Any:
        """The runs as a frame of an installed library.

        Raises:
            EngineError: No library for frames is installed.
        """
        from sfumato.engines.dataframes.sources import frame_of, installed

        cells = [cell.to_dict() for cell in self.cells]
        return frame_of({name: [cell[name] for cell in cells] for name in cells[0]}, installed("pandas", "polars"))

    @property
    def charts(self) -> "dict[str, Chart]":
        """The charts by name, as Altair shows them in a notebook."""
        from sfumato.report.compare import comparison_charts

        return comparison_charts(self)

    @property
    def plot(self) -> "ComparisonPlots":
        """The charts as SVG: `plot.frontier()`, `plot.loss_by_suppression()`, `plot.loss_by_k()`, `plot.seconds()`."""
        return ComparisonPlots(self)

    def save(self, folder: str | Path) -> Path:
        """Write compare.csv, compare.json and compare.html into a new folder."""
        files = {
            "compare.csv": as_csv(self),
            "compare.json": to_json(self.to_dict()) + "\n",
            "compare.html": html(self),
        }
        with staged(Path(folder)) as stage:
            for name, content in files.items():
                write_text(stage / name, content)
        return Path(folder)

    def _repr_html_(self) -> str:
        return fragment(html(self))


def compare(
    data: Any,
    plan: RequestedPlan | Mapping[str, Any] | str | Path,
    *,
    methods: Sequence[str] = DEFAULT_METHODS,
    k: Sequence[int] = (),
    suppression: Sequence[float] = (),
    engine: EngineName | None = None,
    progress: ProgressCallback | None = None,
) -> Comparison:
    """Run a grid of methods, k and suppression limits on the same data.

    Args:
        data: A pandas, Polars or Arrow frame, a path, or None for the source that the plan names.
        plan: A plan; its models apply except for k, and its method's options apply if it is among the methods.
        methods: Names of methods, or `mondrian-relaxed`, `mondrian-loss`.
        k: The values of k; by default that of the plan.
        suppression: Proportions of rows that may be suppressed; by default that of the plan.
        progress: Called before each run, and at the end.

    Raises:
        PlanError: A method does not exist, or a number is out of bounds.
        DataError: The data cannot be counted; errors of a run are in its cell.
        EngineError: The data cannot be read.
    """
    requested = read_plan(plan)
    with ExitStack() as opened:
        folder = ScratchFolder() if publishes_files(data, engine) else None
        workspace = None if folder is None else folder.path
        opened.callback(lambda: None if folder is None else folder.cleanup())
        source = opened.enter_context(closing(open_engine(data, requested, engine, folder=workspace)))
        completed = with_hierarchies(requested.with_others(source.columns), source)
        resolved = resolve(completed, source.columns)
        grid = _Grid(resolved, tuple(dict.fromkeys(methods)), _ks(resolved, k), _budgets(resolved, suppression))
        table = frequency_table(resolved, source)

        def asked(plan: Plan, result: Result) -> tuple[ComparedAnswer, ...]:
            return answers_of(plan, source, table, result.recoding, workspace) if plan.purpose.questions else ()

        cells = tuple(grid.run(table, progress or (lambda _words, _done, _all: None), asked))
    shares = tuple(_share(budget, table.rows) for budget in grid.suppression)
    return Comparison(table.rows, table.columns, grid.methods, grid.k, shares, cells, resolved.language)


def _ks(plan: Plan, asked: Sequence[int]) -> tuple[int, ...]:
    ks = tuple(sorted(set(asked))) or (requested_class_size(plan.privacy, 2),)
    if min(ks) < 1:
        raise PlanError("k.at_least_1")
    return ks


def _budgets(plan: Plan, asked: Sequence[float]) -> tuple[Suppression, ...]:
    if not asked:
        return (getattr(plan.method, "suppression", Suppression()),)
    if not all(0 <= share <= 1 for share in asked):
        raise PlanError("suppression")
    return tuple(Suppression(share=share) for share in sorted(set(asked)))


def _share(budget: Suppression, rows: int) -> float:
    """Return a suppression limit as a proportion of the rows."""
    return budget.share if budget.rows is None else budget.limit(rows) / rows


class _Grid(Value):
    """The requested runs."""

    plan: Plan
    methods: tuple[str, ...]
    k: tuple[int, ...]
    suppression: tuple[Suppression, ...]

    def __post_init__(self) -> None:
        names = [*METHOD.variants, *VARIANTS]
        faults = [
            issue("methods", "there_is_no_method", hint=did_you_mean(name, names), name=name)
            for name in self.methods
            if name not in names
        ]
        if faults:
            raise PlanError.listing(faults, "methods")
        if not self.methods:
            raise PlanError("methods")

    def run(self, table: FrequencyTable, tell: ProgressCallback, asked: Asked) -> Iterator[ComparisonRun]:
        """Yield the runs; a method that ignores suppression is run once for all limits."""
        done, whole = 0, len(self.methods) * len(self.k) * len(self.suppression)
        for method in self.methods:
            for k in self.k:
                cell: ComparisonRun | None = None
                for budget in self.suppression:
                    share = _share(budget, table.rows)
                    tell(
                        Message("reason.comparing_run", method=method, k=k, share=share, runs=whole - done), done, whole
                    )
                    if cell is None or self._suppresses(method):
                        cell = self._cell(table, method, k, budget, asked)
                    yield replace(cell, suppression=share)
                    done += 1
        tell("comparing", done, whole)

    def _suppresses(self, method: str) -> bool:
        return _options(method)["name"] in SUPPRESSING

    def _cell(self, table: FrequencyTable, method: str, k: int, budget: Suppression, asked: Asked) -> ComparisonRun:
        share = _share(budget, table.rows)
        begin = perf_counter()
        try:
            plan = self._planned(method, k, budget)
            result = search(plan, table)
            seconds = perf_counter() - begin
            answers = asked(plan, result)
        except SfumatoError as error:
            return ComparisonRun(method, k, share, seconds=perf_counter() - begin, error=error.text, code=error.code)
        return _measured(ComparisonRun(method, k, share, seconds=seconds), plan, result, answers)

    def _planned(self, method: str, k: int, budget: Suppression) -> Plan:
        """Return the plan of one run."""
        text = plan_dict(self.plan, self.plan.folder)
        text["method"] = self._method(method, budget)
        models = [dict(model) for model in text["privacy"] if model.get("model") != KAnonymity.name]
        text["privacy"] = [{"model": KAnonymity.name, "k": k}, *models]
        return resolve(read_plan(text, self.plan.folder))

    def _method(self, method: str, budget: Suppression) -> dict[str, Any]:
        """Return the method's options: the plan's, those of its name, and those that make methods comparable."""
        options = _options(method)
        keys = METHOD.variants[options["name"]].keys
        own: dict[str, Any] = plan_dict(self.plan)["method"]
        own_options = own if own.get("name") == options["name"] and method not in VARIANTS else {}
        common = COMPARED_LOSS | {"suppression": budget.share if budget.rows is None else {"rows": budget.rows}}
        return own_options | options | {key: value for key, value in common.items() if key in keys}


def _options(method: str) -> dict[str, Any]:
    return dict(VARIANTS.get(method, {"name": method}))


def _measured(cell: ComparisonRun, plan: Plan, result: Result, answers: Sequence[ComparedAnswer]) -> ComparisonRun:
    """Return a run with the metrics of its result."""
    recoding = result.recoding
    kept, _ = published_sizes(plan, recoding)
    # As in the report of a release, a missing value counts as a separate value, which gives the higher risk.
    risk = prosecutor(kept)
    weights = [plan.columns[name].weight for name in result.per_column]
    return replace(
        cell,
        loss=aggregated(list(result.per_column.values()), weights, "mean") if result.per_column else result.loss,
        suppressed_rows=int(recoding.sizes[recoding.suppressed].sum()),
        classes=len(kept),
        smallest=risk.smallest,
        largest=risk.largest,
        highest_risk=risk.highest,
        average_risk=risk.average,
        proved_optimal=result.proved_optimal,
        same_answers=sum(one.verdict == "same" for one in answers) if answers else None,
        different_answers=sum(one.verdict == "different" for one in answers) if answers else None,
    )
