"""Write a release folder: under a temporary name, recounted, and renamed when it is complete."""

import json
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import date
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

from sfumato.atomic_folders import ScratchFolder, link, make_private, staged, write_bytes, write_text
from sfumato.engines.engine import Engine, FrameHolder
from sfumato.engines.join_keys import PERSONS_FILE
from sfumato.errors import PlanError, did_you_mean, extra_part
from sfumato.formats import PUBLISHED
from sfumato.localization.messages import Messages, words_in
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.methods.full_domain.search import TradeOffPoint, alternatives
from sfumato.microdata.plan.builder import Plan as RequestedPlan
from sfumato.microdata.plan.methods import FullDomain
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.plan.write import plan_dict, plan_text
from sfumato.microdata.recoding.expected_counts import ExpectedCounts
from sfumato.microdata.recoding.mapping import Recoding, SuppressionHandling
from sfumato.microdata.recoding.recoding_file import to_dict
from sfumato.microdata.recoding.reference import reference_dict
from sfumato.microdata.release_report import Report
from sfumato.pipelines.release_stages.checksums import checksums, figures_of
from sfumato.pipelines.release_stages.counting import recount
from sfumato.report.plots import alone, bars, histogram
from sfumato.report.release.column_evidence import class_sizes
from sfumato.report.release.sections import SHARES
from sfumato.values import Value, replace

if TYPE_CHECKING:
    from sfumato.report.release.report import Explanation


KINDS = (".svg", ".png", ".pdf")


class Drawing(Value):
    """A chart as SVG."""

    svg: str

    def save(self, path: str | Path) -> Path:
        """Write the chart to a file by its extension: .svg; .png and .pdf with the extra `charts`.

        Raises:
            PlanError: The extension is not supported.
            EngineError: The extra is not installed, or the file cannot be written.
        """
        target = Path(path)
        if target.suffix.lower() not in KINDS:
            raise PlanError("chart", name=target.name, names=", ".join(KINDS))
        if target.suffix.lower() == ".svg":
            write_text(target, self.svg + "\n")
        else:
            write_bytes(target, self._converted(target.suffix.lower()))
        return target

    def _converted(self, kind: str) -> bytes:
        with extra_part("vl-convert-python", "charts"):
            import vl_convert
        converted: bytes = (
            vl_convert.svg_to_png(self.svg, scale=2) if kind == ".png" else vl_convert.svg_to_pdf(self.svg)
        )
        return converted

    def __repr__(self) -> str:
        return f"Drawing({len(self.svg):,} characters of SVG; save(path) writes it)"

    def _repr_html_(self) -> str:
        return f"<figure>{self.svg}</figure>"


class Plots(Value):
    """The charts of a release."""

    report: Report
    plan: Plan
    table: FrequencyTable
    recoding: Recoding

    def __repr__(self) -> str:
        return "Plots(risk, columns, tradeoff)"

    @property
    def _words(self) -> Messages:
        return words_in(self.plan.language)

    def risk(self) -> Drawing:
        """Draw the distribution of rows by class size, before and after."""
        words = self._words
        sizes = class_sizes(self.table.counts, self.recoding.sizes[~self.recoding.suppressed])
        small = sum(pair.before or 0.0 for pair in sizes[:2])
        about = words["report.sizes"].format(share=words.percent(small))
        return Drawing(alone(histogram(words, sizes, words["report.sizes_axis"], about), words))

    def columns(self) -> Drawing:
        """Draw the loss of each column, or the preserved values if the loss is no proportion."""
        words, loss = self._words, self.report.loss
        shares, title = dict(loss.per_column), words["plot.loss"].format(name=loss.name)
        if not shares or loss.name not in SHARES:
            left = self.report.utility.get("values_left", {})
            shares, title = {name: entry["share"] for name, entry in left.items()}, words["plot.left"]
        pairs = [(name, share, words.percent(share)) for name, share in shares.items()]
        return Drawing(alone(bars(pairs, title, title)))

    def tradeoff(self) -> Drawing:
        """Draw the minimal loss for other suppression limits.

        Raises:
            PlanError: The method is no full-domain recoding, so there is nothing to search.
        """
        words, method = self._words, cast("FullDomain", self.plan.method)
        others = [
            one for one in alternatives(self.plan, self.table, self.recoding) if one.suppression_limit is not None
        ]
        if not others:
            raise PlanError("plot.there_is_no_trade_off", name=method.name)
        own = method.suppression.limit(self.report.rows) / max(self.report.rows, 1)
        asked = (own, self.report.loss.value, words["plot.asked"].format(share=words.percent(own)))
        steps = sorted(
            [
                asked,
                *(
                    (one.suppression_limit or 0.0, one.loss, words.percent(one.suppression_limit or 0.0))
                    for one in others
                ),
            ]
        )
        pairs = [(name, loss, words.amount(loss)) for _, loss, name in steps]
        return Drawing(alone(bars(pairs, words["plot.budgets"], words["plot.budgets_about"])))


# Longer lists are written on one line.
MANY_ENTRIES = 10_000


def readable(value: Any, ensure_ascii: bool = False) -> str:
    """Return a value as JSON, with each entry on its own line except for long lists and tables.

    >>> print(readable({"a": [1, 2], "b": {}}))
    {
     "a": [
      1,
      2
     ],
     "b": {}
    }
    >>> readable([0] * MANY_ENTRIES).count("\\n")
    0
    """
    if isinstance(value, dict | list) and len(value) >= MANY_ENTRIES:
        return json.dumps(value, ensure_ascii=ensure_ascii)
    if not isinstance(value, dict) or not value or not all(isinstance(key, str) for key in value):
        return json.dumps(value, indent=1, ensure_ascii=ensure_ascii)
    entries = (
        f"{json.dumps(key, ensure_ascii=ensure_ascii)}: {readable(entry, ensure_ascii)}" for key, entry in value.items()
    )
    # JSON texts contain no line breaks, so nested lines can be indented by replacement.
    return "{\n " + ",\n".join(entries).replace("\n", "\n ") + "\n}"


# Called with the stage ("count", "search", "apply", "verify", "trade-off"), the amount done, and the total.
ProgressCallback = Callable[[str, int, int], None]

# Files of a release folder for publication; all others are internal and readable by their owner only.
HANDED_OUT = (*PUBLISHED, "report-external.html", "report-external.json")


def parts_of(folder: Path) -> tuple[list[str], list[str]]:
    """Return the files of a release folder for publication, and the internal ones."""
    names = sorted(path.name for path in folder.iterdir())
    return [name for name in names if name in HANDED_OUT], [name for name in names if name not in HANDED_OUT]


class ReleaseReport(Report):
    """The report of a release, with a representation for notebooks."""

    def __repr__(self) -> str:
        from sfumato.report.release.report import line

        return f"ReleaseReport({line(self)})"

    def _repr_html_(self) -> str:
        from sfumato.report.release.report import fragment

        return fragment(self)


class Release(Value):
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
    pseudonym_key: Any = None  # its type is loaded only where pseudonyms are

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
        return Plots(self.report, self.resolved, self.table, self.recoding)

    def explain(self, column: str) -> "Explanation":
        """Explain what happened to a column, and why.

        Raises:
            PlanError: The plan has no such column.
        """
        from sfumato.report.release.column_evidence import ReportData, gather
        from sfumato.report.release.report import explain

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
                from sfumato.engines.postprocessing import quote_formulas, separator_of

                separator = separator_of(self.published, self.resolved.data.separator)
                quote_formulas(stage / "data.csv", self.published.columns, separator)
            write_text(stage / "plan.yaml", plan_text(self.resolved, home))
            write_text(stage / "recoding.json", readable(self._recoding(home)) + "\n")
            if self.pseudonym_key is not None:
                from sfumato.pipelines.persons.pseudonyms import KEY_FILE, write_key

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
        from sfumato.report.release.column_evidence import ReportData, gather
        from sfumato.report.release.report import files

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
        from sfumato.engines.postprocessing import separator_of

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
