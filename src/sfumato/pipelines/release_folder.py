"""Write a release folder: under a temporary name, recounted, and renamed when it is complete."""

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from datetime import date
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

from sfumato.atomic_folders import ScratchFolder, link, make_private, staged, write_text
from sfumato.dataclass import dataclass
from sfumato.engines.engine import Engine, FrameHolder
from sfumato.engines.keyed_hashes import PERSONS_FILE
from sfumato.engines.postprocessing.formulas import quote_formulas, separator_of
from sfumato.errors import PlanError, did_you_mean
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.methods.full_domain.trade_off import TradeOffPoint, alternatives
from sfumato.microdata.plan.builder import Plan as RequestedPlan
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.plan.write import plan_dict, plan_text
from sfumato.microdata.pseudonyms.key import PseudonymKey
from sfumato.microdata.recoding.expected_counts import ExpectedCounts
from sfumato.microdata.recoding.recoding import Recoding, SuppressionHandling
from sfumato.microdata.recoding.recoding_file import to_dict
from sfumato.microdata.recoding.reference_distribution import reference_dict
from sfumato.microdata.release_report import Report
from sfumato.pipelines.json_format import readable
from sfumato.pipelines.pseudonyms.keys import KEY_FILE, write_key
from sfumato.pipelines.release_stages.checksums import checksums, figures_of
from sfumato.pipelines.release_stages.counting import recount

if TYPE_CHECKING:
    from sfumato.pipelines.release_plots import Plots
    from sfumato.report.release.column_explanation import Explanation

# Called with the stage ("count", "search", "apply", "verify", "trade-off"), the amount done, and the total.
ProgressCallback = Callable[[str, int, int], None]

# Files of a release folder for publication; all others are internal and readable by their owner only.
HANDED_OUT = ("data.csv", "data.parquet", "report-external.html", "report-external.json")


def parts_of(folder: Path) -> tuple[list[str], list[str]]:
    """Return the files of a release folder for publication, and the internal ones."""
    names = sorted(path.name for path in folder.iterdir())
    return [name for name in names if name in HANDED_OUT], [name for name in names if name not in HANDED_OUT]


@dataclass(frozen=True, slots=True, repr=False)
class ReleaseReport(Report):
    """The report of a release, with a representation for notebooks."""

    def __repr__(self) -> str:
        from sfumato.report.release.report import line

        return f"ReleaseReport({line(self)})"

    def _repr_html_(self) -> str:
        from sfumato.report.release.report import fragment

        return fragment(self)


@dataclass(frozen=True, repr=False)
class Release:
    """A release: the published rows, the report on them, and the recoding.

    Attributes:
        resolved: The plan as it was carried out.
        report: Numbers as attributes.
        recoding: The published label of each value or combination.
        table: The raw frequency table, for comparisons in reports.
        progress: Receives the progress of saving.
    """

    resolved: Plan
    report: ReleaseReport
    recoding: Recoding
    handling: SuppressionHandling
    published: Engine
    prediction: ExpectedCounts
    table: FrequencyTable
    workspace: ScratchFolder | None
    progress: ProgressCallback
    pseudonym_key: PseudonymKey | None = None

    @property
    def plan(self) -> RequestedPlan:
        """The plan as it was carried out, as a start for new plans."""
        return RequestedPlan.of(self.resolved)

    @property
    def data(self) -> Any:
        """The published rows: the kind of frame that was passed in, or the path of the file."""
        return self.published.data()

    @property
    def plot(self) -> "Plots":
        """Charts: `plot.risk()`, `plot.columns()`, `plot.tradeoff()`."""
        from sfumato.pipelines.release_plots import Plots

        return Plots(self.report, self.resolved, self.table, self.recoding)

    def explain(self, column: str) -> "Explanation":
        """Explain what happened to a column, and why.

        Raises:
            PlanError: The plan has no such column.
        """
        from sfumato.report.release.column_explanation import explain
        from sfumato.report.release.report_data import ReportData
        from sfumato.report.release.sections.column_evidence import gather

        if column not in self.resolved.columns:
            raise PlanError(
                "columns.there_is_no_column", hint=did_you_mean(column, self.resolved.columns), column=column
            )
        return explain(ReportData(self.report, self.resolved, gather(self.resolved, self.table, self.recoding)), column)

    def __repr__(self) -> str:
        from sfumato.report.release.report import line

        return f"Release({line(self.report)})"

    def close(self) -> None:
        """Delete the temporary files of the release; saved files remain."""
        self.published.close()
        if self.workspace is not None:
            self.workspace.cleanup()

    def save(self, folder: str | Path, home: Path | None = None) -> Path:
        """Write the release folder atomically.

        Args:
            home: The folder from which paths of the plan are resolved; the release folder by default.

        Raises:
            PlanError: The folder exists.
            EngineError: The folder cannot be written.
        """
        folder = Path(folder)
        home = folder if home is None else home
        with staged(folder) as stage:
            self._write_data(stage)
            if self.resolved.output.quotes_formulas:
                separator = separator_of(self.published, self.resolved.data.separator)
                quote_formulas(stage / "data.csv", self.published.columns, separator)
            write_text(stage / "plan.yaml", plan_text(self.resolved, home))
            write_text(stage / "recoding.json", readable(self._recoding(home)) + "\n")
            if self.pseudonym_key is not None:
                write_key(stage / KEY_FILE, self.pseudonym_key)
            if self.report.method == "exhaustive":
                write_text(stage / "nodes.csv", _nodes(self.report))
            stays = sorted({*parts_of(stage)[1], "report.json"})
            for name, text in self.reports(checksums(stage), home, tuple(stays)).items():
                write_text(stage / name, text)
            # The staging folder itself is private, so nothing was readable by others until now.
            for name in parts_of(stage)[1]:
                make_private(stage / name)
        return folder

    def reports(
        self,
        checksums: Mapping[str, str] | None = None,
        home: Path | None = None,
        house: tuple[str, ...] = (),
    ) -> dict[str, str]:
        """Return the reports by their file names.

        Args:
            checksums: The checksums of the other files in the folder.
            home: The folder from which paths in the printed plan are resolved; by default as they were read.
            house: The internal files of the folder.
        """
        from sfumato.report.release.report import files
        from sfumato.report.release.report_data import ReportData
        from sfumato.report.release.sections.column_evidence import gather

        report, others = self._with_trade_off()
        evidence = gather(self.resolved, self.table, self.recoding)
        dossier = ReportData(report, self.resolved, evidence, others, checksums or {}, date.today(), home=home)
        return files(replace(dossier, house=house) if house else dossier)

    def _with_trade_off(self) -> tuple[Report, tuple[TradeOffPoint, ...]]:
        """Return the report with the time of the trade-off search, and the costs of other limits and levels."""
        self.progress("trade-off", 0, 1)
        begin = perf_counter()
        others = alternatives(self.resolved, self.table, self.recoding)
        elapsed, seconds = perf_counter() - begin, self.report.seconds
        self.progress("trade-off", 1, 1)
        return replace(self.report, seconds=replace(seconds, trade_off=elapsed, total=seconds.total + elapsed)), others

    def _recoding(self, folder: Path) -> dict[str, Any]:
        """Return the content of recoding.json: the recoding, the plan, and the reference for the models."""
        reference = reference_dict(self.resolved, self.table, self.recoding) | figures_of(self.report)
        # The path of the source is useless for other rows, and the recoding must not depend on it.
        plan = replace(self.resolved, data=replace(self.resolved.data, source=None, temp_folder=None))
        # With a seed in the plan, the secret can be derived from it.
        secret = {"secret": self.resolved.secret} if self.resolved.seed is None else {}
        # Later releases of the same persons use the same keys.
        secret |= {"person_secret": self.resolved.person_secret} if self.resolved.person_secret else {}
        return to_dict(self.recoding) | {"plan": plan_dict(plan, folder), "reference": reference} | secret

    def _write_data(self, stage: Path) -> None:
        """Write the published rows to the folder; a frame is written to a file, which is recounted."""
        target = stage / f"data.{self.resolved.output.format}"
        if isinstance(self.data, Path):
            link(self.data, target)
            if self.resolved.person is not None:
                link(self.data.with_name(PERSONS_FILE), stage / PERSONS_FILE)
            return
        # Without a file, the rows are a frame.
        published = cast("FrameHolder", self.published)
        with closing(published.write(target, separator_of(published, self.resolved.data.separator))) as engine:
            recount(engine, self.prediction)
        if self.resolved.person is None:
            # Keys of swapped households are not needed any more.
            (stage / PERSONS_FILE).unlink(missing_ok=True)

    def _repr_html_(self) -> str:
        return self.report._repr_html_()


def _nodes(report: Report) -> str:
    """Return the table of all nodes as CSV: classes and k of all rows, and the classes left by suppression."""
    head = [*report.levels, "loss", "classes", "k", "largest", "suppressed_rows", "kept_classes", "kept_k", "satisfied"]
    lines = [";".join('"' + name.replace('"', '""') + '"' for name in head)]
    for node in report.candidates:
        before, kept = node.before, (node.suppressed_rows, node.classes, node.smallest)
        figures = (f"{node.loss:.10g}", before.classes, before.smallest, before.largest, *kept)
        lines.append(";".join(map(str, (*node.node, *figures, str(node.satisfied).lower()))))
    return "\n".join(lines) + "\n"
