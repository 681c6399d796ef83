"""A table whose numbers were changed, as a report, a frame, a page or a folder."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sfumato.delimited.lines import delimited_text
from sfumato.folders import staged, write_text
from sfumato.pipelines.tables.folder import plan_text
from sfumato.report.tables.perturbed import figures
from sfumato.report.tables.perturbed_page import html
from sfumato.tables.cells.columns import Columns
from sfumato.tables.perturbed.perturbed import ChangedTable


@dataclass(frozen=True, repr=False)
class PerturbedTable(ChangedTable):
    """A table whose numbers were changed, with the evidence, as a report, a frame, a page or a folder."""

    def __repr__(self) -> str:
        changed = self.report["noise"]["changed"]
        return f"PerturbedTable({len(self.source):,} cells, {changed:,} changed by {self.report['method']})"

    @cached_property
    def report(self) -> dict[str, Any]:
        """The figures of report.json."""
        return figures(self)

    @property
    def data(self) -> Any:
        """The table with its new columns, as the kind of frame that came in, or as one of those installed."""
        from sfumato.engines.tables.tabulation import frame_of, with_columns

        if self.like is None or isinstance(self.like, str | Path):
            return frame_of("", {name: list(texts) for name, texts in self.columns.texts.items()})
        return with_columns(self.like, self.new_columns())

    def save(self, folder: str | Path) -> None:
        """Write the release folder, whole or not at all.

        Raises:
            PlanError: The folder is there already.
        """
        target = Path(folder)
        with staged(target) as stage:
            fill(self, self.report, stage, target)

    def _repr_html_(self) -> str:
        return html(self, self.report)


def fill(table: ChangedTable, report: Mapping[str, Any], stage: Path, folder: Path) -> None:
    """Write the files of a release into a folder that will be called otherwise."""
    files = {
        "table.csv": _csv(table.columns),
        "table-external.csv": _csv(table.external),
        "report.json": json.dumps(report, indent=2, ensure_ascii=False) + "\n",
        "report.html": html(table, report),
        "plan.yaml": plan_text(table.plan, folder),
    }
    for name, text in files.items():
        write_text(stage / name, text)


def _csv(columns: Columns) -> str:
    return delimited_text([columns.texts, *zip(*columns.texts.values(), strict=True)])


@dataclass(frozen=True, repr=False)
class PerturbedTables:
    """Several tables whose numbers were changed together: cells that they share are published alike.

    Attributes:
        joint: All of them as one.
        tables: Each of them, by its name.
    """

    joint: PerturbedTable
    tables: Mapping[str, PerturbedTable]

    def __repr__(self) -> str:
        return f"PerturbedTables({', '.join(self.tables)}; {self.joint.report['method']})"

    @property
    def holds(self) -> bool:
        """Whether no reader of all tables knows more of an unsafe cell than the rules allow."""
        return self.joint.holds

    @cached_property
    def report(self) -> dict[str, Any]:
        """The figures of report.json."""
        return self.joint.report | {"tables": {name: {"cells": len(own.source)} for name, own in self.tables.items()}}

    def save(self, folder: str | Path) -> None:
        """Write the release folder, one folder in it for each table, whole or not at all."""
        target = Path(folder)
        with staged(target) as stage:
            for name, own in self.tables.items():
                (stage / name).mkdir()
                fill(own, own.report, stage / name, target / name)
            write_text(stage / "report.json", json.dumps(self.report, indent=2, ensure_ascii=False) + "\n")
            write_text(stage / "plan.yaml", plan_text(self.joint.plan, target))
