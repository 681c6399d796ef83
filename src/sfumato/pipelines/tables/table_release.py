"""The result of `protect` for one or several tables: a report, a frame, a page, a folder."""

import hashlib
import re
from abc import abstractmethod
from collections.abc import Mapping
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar

from sfumato.atomic_folders import make_private, staged, write_text
from sfumato.delimited.dialect import Dialect
from sfumato.delimited.records import delimited_text, plain_cell, read_lines
from sfumato.localization.messages import to_json, words_in
from sfumato.report.annex import ANNEX, Annex, markdown
from sfumato.report.html_page import fragment
from sfumato.report.tables.annex import tables_annex
from sfumato.report.tables.internal_report import DocumentContext, ReportWriter, changed_house, masked_house
from sfumato.report.tables.page import DAY, HANDED_OUT, SEAL, html, perturbed_html
from sfumato.report.tables.perturbed import metrics as perturbed_metrics
from sfumato.report.tables.report import metrics
from sfumato.schema.files import written
from sfumato.tables.attack.findings import Audit
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.formats.release_files import changed_files, masked_files
from sfumato.tables.linked.records import Chain
from sfumato.tables.noise.perturbed import PerturbedCells, PerturbedResult
from sfumato.tables.plan.table_plan import TablePlan, read_table_plan, table_plan_dict
from sfumato.tables.published_tables.earlier_releases import check_changed, check_masked
from sfumato.tables.suppress_table import SuppressedCells
from sfumato.tables.table_result import Group_co, SuppressedTable, TableAnswer
from sfumato.values import AbstractValue

# The report to sign.
HOUSE = "report.html"
# Formats derived from a folder later, which are no files of its release.
PRINTED = (".pdf", ".docx")


def annex_of(plan: TablePlan, report: Mapping[str, Any], papers: DocumentContext) -> Annex:
    """Return the annex of a release of tables, in the language of its plan."""
    return tables_annex(ReportWriter(words_in(plan.output.language), plan, report), papers)


def read_annex(folder: Path, report: Mapping[str, Any]) -> Annex:
    """Return the annex of the release of tables in a folder.

    Args:
        report: The content of its report.json.
    """
    day = date.fromisoformat(report[DAY]) if DAY in report else None
    return annex_of(read_table_plan(folder / "plan.yaml"), report, papers_of(folder, folder, day))


def papers_of(folder: Path, home: Path, day: date | None, without: tuple[str, ...] = (HOUSE, ANNEX)) -> DocumentContext:
    """Return the context of internal documents: the files of a folder with checksums, those for publication first.

    Args:
        home: The folder from which paths in plan.yaml are resolved.
        without: The documents that describe the others.
    """
    own = {folder / name for name in without}
    paths = [path for path in folder.rglob("*") if path.is_file() and path not in own and path.suffix not in PRINTED]
    paths.sort(key=lambda path: (path.name != HANDED_OUT, path))
    return DocumentContext(day, home, {path.relative_to(folder).as_posix(): hash_of(path) for path in paths})


def hash_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


# The report published with the table.
EXTERNAL = "report-external.html"
# Files with original values, rule parameters, or the cells that are sensitive by themselves.
_STAYING = ("table.csv", "published.csv", "plan.yaml", "report.json", HOUSE, ANNEX)


class TableRelease(TableAnswer[Group_co], dict=True):
    """The result for one table as a report, a frame, a page or a folder."""

    @cached_property
    @abstractmethod
    def report(self) -> dict[str, Any]:
        """The metrics of report.json."""

    @abstractmethod
    def page(self, report: Mapping[str, Any]) -> str:
        """Return the report page on this table for publication."""

    @abstractmethod
    def house(self, report: Mapping[str, Any], papers: DocumentContext) -> str:
        """Return the internal page, to be signed."""

    @abstractmethod
    def check(self, external: TextColumns) -> None:
        """Compare a file for publication with what the audit assumed.

        Raises:
            InternalError: It shows something else, or more.
        """

    @abstractmethod
    def sheets(self) -> dict[str, TextColumns]:
        """Return the CSV files of the release folder, by name."""

    @abstractmethod
    def office_files(self, group: Any, columns: TextColumns) -> dict[str, bytes]:
        """Return the τ-ARGUS and other files of one group, by name."""

    def further_files(self) -> dict[str, bytes]:
        """Return the further files that the plan requests, one set for each group."""
        files: dict[str, bytes] = {}
        for group in self.parts if self.plan.output.files and self.passed else ():
            own = self.office_files(group, self.source.rows(group.part.rows))
            files |= {_marked(name, "-".join(group.part.group)): data for name, data in own.items()}
        return files

    @property
    def data(self) -> Any:
        """The table with its new columns, as the kind of frame that came in, or as an installed one."""
        from sfumato.engines.tabulation import frame_of, with_columns

        if self.like is None or isinstance(self.like, str | Path):
            return frame_of("", {name: list(texts) for name, texts in self.columns.texts.items()})
        return with_columns(self.like, self.new_columns())

    def save(self, folder: str | Path, home: Path | None = None) -> None:
        """Write the release folder atomically.

        Args:
            folder: The folder to write.
            home: The folder from which paths in plan.yaml are resolved; by default the release folder.

        Raises:
            PlanError: The folder exists already.
            EngineError: The disk refuses.
        """
        target = Path(folder)
        with staged(target) as stage:
            self.fill(self.report, stage, home or target)
            _write_house(self, self.report, stage, home or target)

    def fill(self, report: Mapping[str, Any], stage: Path, home: Path) -> None:
        """Write the files of a release and the plan with paths relative to `home`, without the internal documents."""
        for name, columns in self.sheets().items():
            write_text(stage / name, delimited_text([columns.texts, *zip(*columns.texts.values(), strict=True)]))
        if self.passed:
            # The check reads the written file, which is the published one.
            self.check(_on_disk(stage / HANDED_OUT))
            dated = {**report, DAY: date.today(), SEAL: hash_of(stage / HANDED_OUT)}
            write_text(stage / EXTERNAL, self.page(dated))
        _write_evidence(report, self.plan, stage, home)
        for name, data in self.further_files().items():
            (stage / name).parent.mkdir(exist_ok=True)
            (stage / name).write_bytes(data)

    def _repr_html_(self) -> str:
        return fragment(self.page(self.report))


def _write_house(release: TableRelease[Any], report: Mapping[str, Any], stage: Path, home: Path) -> None:
    """Write the internal documents: the annex, and the report to sign, which also lists the annex.

    The staging folder itself is private; internal files remain private in the final folder.
    """
    write_text(stage / ANNEX, markdown(annex_of(release.plan, report, papers_of(stage, home, date.today()))))
    write_text(stage / HOUSE, release.house(report, papers_of(stage, home, date.today(), (HOUSE,))))
    for name in parts_of(stage)[1]:
        make_private(stage / name)


def _on_disk(path: Path) -> TextColumns:
    """Return a table as it was written; texts that spreadsheets would evaluate are quoted in it."""
    header, *rows = [[*map(plain_cell, line.fields)] for line in read_lines(path, Dialect(","))]
    return TextColumns(dict(zip(header, zip(*rows, strict=True), strict=True)))


def parts_of(folder: Path) -> tuple[list[str], list[str]]:
    """Return the files of a release folder for publication, and the internal ones; others are undecided."""
    files = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    staying = [path for path in files if path.name in _STAYING or "internal" in path.parts[:-1]]
    return [str(path) for path in files if path.name in (HANDED_OUT, EXTERNAL)], [str(path) for path in staying]


def _marked(name: str, mark: str) -> str:
    """Return the file name of a group, without characters that file names may not have."""
    if not mark:
        return name
    folder, slash, file = name.rpartition("/")
    return f"{folder}{slash}{re.sub(r'[^0-9A-Za-z_-]', '_', mark)}-{file}"


Release_co = TypeVar("Release_co", bound=TableRelease[Any], covariant=True)


class TablesRelease(AbstractValue, Generic[Release_co], dict=True):
    """The result for several tables.

    Attributes:
        joint: All of them as one, with earlier releases.
    """

    joint: Release_co
    tables: Mapping[str, Release_co]

    @property
    def passed(self) -> bool:
        """Whether the joint audit of all tables passed."""
        return self.joint.passed

    @cached_property
    @abstractmethod
    def report(self) -> dict[str, Any]:
        """The metrics of report.json."""

    @property
    def reports(self) -> dict[str, dict[str, Any]]:
        """The metrics in each table's folder: by default the joint ones, because each is safe only with the others."""
        return dict.fromkeys(self.tables, self.report)

    def save(self, folder: str | Path, home: Path | None = None) -> None:
        """Write the release folder with one folder for each table atomically.

        Args:
            folder: The folder to write.
            home: The folder from which paths of all plans are resolved; by default the folder of each table.

        Raises:
            PlanError: The folder exists already.
        """
        target = Path(folder)
        with staged(target) as stage:
            for name, table in self.tables.items():
                (stage / name).mkdir()
                table.fill(self.reports[name], stage / name, home or target / name)
            _write_evidence(self.report, self.joint.plan, stage, home or target)
            _write_house(self.joint, self.report, stage, home or target)


def _write_evidence(report: Mapping[str, Any], plan: TablePlan, stage: Path, folder: Path) -> None:
    """Write report.json, and the plan for its final folder."""
    dated = {**report, DAY: date.today().isoformat()}
    write_text(stage / "report.json", to_json(dated) + "\n")
    write_text(stage / "plan.yaml", written(table_plan_dict(plan, folder), width=80))


class ProtectedTable(SuppressedTable, TableRelease[SuppressedCells], dict=True):
    """A protected table with its audit, as a report, a frame, a page or a folder."""

    def __repr__(self) -> str:
        masked = sum(int(part.suppressed.sum()) for part in self.parts)
        return f"ProtectedTable({len(self.source):,} cells, {masked:,} masked; {'holds' if self.passed else 'LEAKS'})"

    @cached_property
    def report(self) -> dict[str, Any]:
        return metrics(self)

    def page(self, report: Mapping[str, Any]) -> str:
        return html(self, report)

    def house(self, report: Mapping[str, Any], papers: DocumentContext) -> str:
        return masked_house(self, report, papers)

    def check(self, external: TextColumns) -> None:
        if self.passed:
            check_masked(self, external)

    def sheets(self) -> dict[str, TextColumns]:
        """Return the internal file, the published columns, and the file for publication if the audit passed."""
        handed_out = {"table-external.csv": self.external} if self.passed else {}
        return {"table.csv": self.columns, "published.csv": self.public, **handed_out}

    def office_files(self, group: SuppressedCells, columns: TextColumns) -> dict[str, bytes]:
        return masked_files(group, self.plan, columns)


class ProtectedTables(TablesRelease[ProtectedTable], dict=True):
    """Several tables that were protected together.

    Attributes:
        chains: Functional dependencies found in the records.
        recorded: The columns checked for dependencies.
    """

    chains: tuple[Chain, ...] = ()
    recorded: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return f"ProtectedTables({', '.join(self.tables)}; {'holds' if self.passed else 'LEAKS'})"

    @property
    def audit(self) -> Audit:
        """The result of the joint audit of all tables."""
        return self.joint.audit

    @cached_property
    def report(self) -> dict[str, Any]:
        own = {
            name: {"cells": len(table.source), "masked": int(table.parts[0].suppressed.sum())}
            for name, table in self.tables.items()
        }
        return self.joint.report | {"tables": own}


class PerturbedTable(PerturbedResult, TableRelease[PerturbedCells], dict=True):
    """A perturbed table with its audit, as a report, a frame, a page or a folder."""

    def __repr__(self) -> str:
        changed = self.report["noise"]["changed"]
        return f"PerturbedTable({len(self.source):,} cells, {changed:,} changed by {self.report['method']})"

    @cached_property
    def report(self) -> dict[str, Any]:
        return perturbed_metrics(self)

    def page(self, report: Mapping[str, Any]) -> str:
        return perturbed_html(self, report)

    def house(self, report: Mapping[str, Any], papers: DocumentContext) -> str:
        return changed_house(self, report, papers)

    def check(self, external: TextColumns) -> None:
        check_changed(self, external)

    def sheets(self) -> dict[str, TextColumns]:
        """Return the internal file with all columns, and the one for publication."""
        return {"table.csv": self.columns, "table-external.csv": self.external}

    def office_files(self, group: PerturbedCells, columns: TextColumns) -> dict[str, bytes]:
        return changed_files(group, self.plan, columns)


class PerturbedTables(TablesRelease[PerturbedTable], dict=True):
    """Several tables perturbed together; common cells are published identically."""

    def __repr__(self) -> str:
        return f"PerturbedTables({', '.join(self.tables)}; {self.joint.report['method']})"

    @cached_property
    def report(self) -> dict[str, Any]:
        return self.joint.report | {"tables": {name: {"cells": len(own.source)} for name, own in self.tables.items()}}

    @property
    def reports(self) -> dict[str, dict[str, Any]]:
        """The metrics of each table, because noise is reported table by table."""
        return {name: table.report for name, table in self.tables.items()}
