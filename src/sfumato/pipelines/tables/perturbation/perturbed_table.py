"""Perturbed tables, one or several, as a report, a frame, a page or a folder."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from sfumato.dataclass import dataclass
from sfumato.pipelines.tables.table_release import TableRelease, TablesRelease
from sfumato.report.tables.internal_report import DocumentContext, changed_house
from sfumato.report.tables.page import perturbed_html
from sfumato.report.tables.perturbed import metrics
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.formats.release_files import changed_files
from sfumato.tables.perturbation.perturbed import PerturbedCells, PerturbedResult
from sfumato.tables.published_tables.handed_out import check_changed


@dataclass(frozen=True, repr=False)
class PerturbedTable(PerturbedResult, TableRelease[PerturbedCells]):
    """A perturbed table with its audit, as a report, a frame, a page or a folder."""

    def __repr__(self) -> str:
        changed = self.report["noise"]["changed"]
        return f"PerturbedTable({len(self.source):,} cells, {changed:,} changed by {self.report['method']})"

    @cached_property
    def report(self) -> dict[str, Any]:
        return metrics(self)

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


@dataclass(frozen=True, repr=False)
class PerturbedTables(TablesRelease[PerturbedTable]):
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
