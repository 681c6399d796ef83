"""A protected table as a report, a frame, a page or a folder."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sfumato.pipelines.tables.folder import write_release
from sfumato.report.tables.page import html
from sfumato.report.tables.report import figures
from sfumato.tables.protected import MaskedTable


@dataclass(frozen=True, repr=False)
class ProtectedTable(MaskedTable):
    """A protected table with the evidence, as a report, a frame, a page or a folder."""

    def __repr__(self) -> str:
        masked = sum(int(part.mask.sum()) for part in self.parts)
        return f"ProtectedTable({len(self.source):,} cells, {masked:,} masked; {'holds' if self.holds else 'LEAKS'})"

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
        write_release(self, self.report, Path(folder))

    def _repr_html_(self) -> str:
        return html(self, self.report)
