"""Protected tables, one or several, as a report, a frame, a page or a folder."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from sfumato.dataclass import dataclass
from sfumato.pipelines.tables.table_release import TableRelease, TablesRelease
from sfumato.report.tables.internal_report import DocumentContext, masked_house
from sfumato.report.tables.page import html
from sfumato.report.tables.report import metrics
from sfumato.tables.attack.findings import Audit
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.formats.release_files import masked_files
from sfumato.tables.linked.records import Chain
from sfumato.tables.published_tables.handed_out import check_masked
from sfumato.tables.suppress_table import SuppressedCells
from sfumato.tables.suppressed_table import SuppressedTable


@dataclass(frozen=True, repr=False)
class ProtectedTable(SuppressedTable, TableRelease[SuppressedCells]):
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


@dataclass(frozen=True, repr=False)
class ProtectedTables(TablesRelease[ProtectedTable]):
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
