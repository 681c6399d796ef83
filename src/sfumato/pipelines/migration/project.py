"""An imported project: a plan, its files, and what could not be converted."""

import os
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from sfumato.atomic_folders import staged, write_text
from sfumato.dataclass import dataclass
from sfumato.microdata.plan.builder import Plan
from sfumato.microdata.plan.read import read_plan

LEFT_OUT = "left-out.txt"


@dataclass(frozen=True, slots=True)
class ImportedProject:
    """The converted project of another tool.

    Attributes:
        plan: The plan in plain values, with paths relative to it.
        files: Its files, by their paths relative to the plan.
        left_out: What could not be converted, in sentences.
        beside: The folder of the rows that the plan names, if they are not among its files.
    """

    plan: dict[str, Any]
    files: Mapping[str, bytes] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    beside: Path | None = None

    def save(self, folder: str | Path) -> Plan:
        """Write plan.yaml, its files and the list of omissions to a new folder atomically.

        Raises:
            PlanError: The folder exists, or the converted plan is invalid.
        """
        import yaml

        target = Path(folder)
        with staged(target) as stage:
            for name, content in self.files.items():
                (stage / name).parent.mkdir(parents=True, exist_ok=True)
                (stage / name).write_bytes(content)
            plan = self._plan_in(target)
            write_text(stage / "plan.yaml", yaml.safe_dump(plan, sort_keys=False, allow_unicode=True, width=120))
            write_text(stage / LEFT_OUT, "".join(f"{line}\n" for line in self.left_out) or "Nothing was left out.\n")
            read_plan(stage / "plan.yaml")
        return read_plan(target / "plan.yaml")

    def _plan_in(self, target: Path) -> dict[str, Any]:
        """Return the plan with the path of external rows relative to the plan's new folder."""
        source = self.plan.get("data", {}).get("source")
        if self.beside is None or source is None or source in self.files or Path(source).is_absolute():
            return self.plan
        moved = Path(os.path.relpath(self.beside / source, target)).as_posix()
        return self.plan | {"data": self.plan["data"] | {"source": moved}}
