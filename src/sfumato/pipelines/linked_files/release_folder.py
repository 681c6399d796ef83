"""A release of several files, and its folder: written whole or not at all."""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from sfumato.atomic_folders import ScratchFolder, link, staged
from sfumato.dataclass import dataclass
from sfumato.engines.engine import FrameHolder, PublishedRows
from sfumato.engines.postprocessing.formulas import quote_formulas, separator_of
from sfumato.microdata.plan.builder import Plan as RequestedPlan
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.plan.write import plan_dict, plan_text
from sfumato.pipelines.json_format import readable
from sfumato.pipelines.pseudonyms.keys import write_private
from sfumato.report.files import html

# The published replacement of each key; internal.
KEYS_FILE = "keys.json"


@dataclass
class FilesRelease:
    """The published rows of several files, with metrics."""

    resolved: Plan
    published: Mapping[str, PublishedRows]
    figures: Mapping[str, Any]
    keys: Mapping[str, Mapping[str, str]]
    workspace: ScratchFolder | None = None

    @property
    def plan(self) -> RequestedPlan:
        """The plan as it was carried out, as a start for new plans."""
        return RequestedPlan.of(self.resolved)

    @property
    def data(self) -> dict[str, Any]:
        """The published rows of each file: the kind of frame that was passed in, or the path of a file."""
        return {name: rows.data() for name, rows in self.published.items()}

    def __repr__(self) -> str:
        return f"FilesRelease({', '.join(self.published)}; {self.figures['persons']:,} persons)"

    def close(self) -> None:
        """Delete the temporary files of the release; saved files remain."""
        for rows in self.published.values():
            rows.close()
        if self.workspace is not None:
            self.workspace.cleanup()

    def save(self, folder: str | Path, home: Path | None = None) -> Path:
        """Write the release folder atomically.

        Args:
            home: The folder from which paths of the plan are resolved; the release folder by default.

        Raises:
            PlanError: The folder exists.
            EngineError: It cannot be written.
        """
        place = Path(folder)
        with staged(place) as stage:
            checksums = {}
            for name, rows in self.published.items():
                target = stage / f"{name}.{self.resolved.output.format}"
                _write(rows, target, self.resolved)
                if self.resolved.output.quotes_formulas:
                    quote_formulas(target, rows.columns, separator_of(rows, self.resolved.data.separator))
                checksums[name] = sha256(target.read_bytes()).hexdigest()
            write_private(stage / "plan.yaml", plan_text(self.resolved, home or place))
            write_private(stage / "report.json", json.dumps({**self.figures, "sha256": checksums}, indent=2) + "\n")
            write_private(stage / "report.html", html(self.resolved, self.figures))
            write_private(stage / "recoding.json", readable(self._recoding(home or place), ensure_ascii=True) + "\n")
            write_private(stage / KEYS_FILE, readable(self.keys) + "\n")
        return place

    def _recoding(self, folder: Path) -> dict[str, Any]:
        secret = {"secret": self.resolved.secret} if self.resolved.seed is None else {}
        return {"kind": "files", "levels": self.figures["levels"], "plan": plan_dict(self.resolved, folder)} | secret


def _write(rows: Any, target: Path, plan: Plan) -> None:
    data = rows.data()
    if isinstance(data, Path):
        link(data, target)
        return
    cast("FrameHolder", rows).write(target, separator_of(rows, plan.data.separator)).close()
