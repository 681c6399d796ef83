"""File paths in plans: a string type of their own, which is resolved from the plan's folder and can be restricted."""

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from sfumato.schema.issues import PlanIssues, Refused
from sfumato.schema.scalar import JsonSchema, Schema, Text
from sfumato.values import Value

# Names without path components.
PLAIN_NAME = re.compile(r"(?!\.)[\w .()+×-]{1,100}(?<![ .])")


class PlanPath(str):
    """The path of a file or folder in a plan, relative to the plan's folder unless it is absolute.

    Files named in a plan can only be opened through `within`. Other texts of a plan have no such method.

    >>> PlanPath("zips.csv").within(Path("plans")).as_posix()
    'plans/zips.csv'
    """

    __slots__ = ()

    def within(self, folder: Path) -> Path:
        """Return the path resolved from a folder."""
        return folder / self

    def located(self, folder: Path) -> "PlanPath":
        """Return the path joined to its base folder; the address of a database table stays unchanged."""
        return self if self.is_address else PlanPath(folder / self)

    @property
    def is_address(self) -> bool:
        """Whether this is the address of a database table instead of a path."""
        return "://" in self

    def moved(self, old: Path, new: Path) -> str:
        """Return the path for a plan in another folder.

        An address and a path on another drive stay unchanged.
        """
        if self.is_address:
            return str(self)
        whole = old.resolve() / self
        try:
            return Path(os.path.relpath(whole, new.resolve())).as_posix()
        except ValueError:
            return str(whole)


class FilePath(Value):
    """The schema of a path; each path that is read is recorded, so that a plan can be confined to its files."""

    about: str = ""

    def read(self, value: object, at: str, faults: PlanIssues) -> PlanPath:
        path = PlanPath(Text().read(value, at, faults))
        faults.paths.append((at, path))
        return path

    def schema(self) -> JsonSchema:
        return Text(self.about).schema()


def paths_in(shape: Schema[Any], value: object, at: str = "") -> list[tuple[str, PlanPath]]:
    """Return every path in a plan, or in a part of one, with its plan path.

    Args:
        shape: The schema of the plan or the part.
        value: The plan or the part, as plain values.
    """
    faults = PlanIssues()
    with suppress(Refused):  # an invalid plan is reported when it is used
        shape.read(value, at, faults)
    return [(at, PlanPath(path)) for at, path in faults.paths]


def with_moved_paths(shape: Schema[Any], value: Any, old: Path, new: Path) -> Any:
    """Return a plan in plain values for another folder: its relative paths lead to the same files from there.

    Args:
        shape: The schema of the plan.
        value: The plan in plain values.
        old: The current base folder.
        new: The new base folder.
    """
    paths = dict(paths_in(shape, value))

    def moved(entry: Any, at: str) -> Any:
        if isinstance(entry, Mapping):
            return {key: moved(part, f"{at}.{key}" if at else str(key)) for key, part in entry.items()}
        if isinstance(entry, list | tuple):
            return [moved(part, f"{at}[{place}]") for place, part in enumerate(entry)]
        return paths[at].moved(old, new) if at in paths else entry

    return moved(value, "")
