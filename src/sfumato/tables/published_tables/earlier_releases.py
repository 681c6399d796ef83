"""Earlier releases: what they published is known, and what they suppressed stays suppressed."""

import tempfile
import zipfile
from dataclasses import replace
from pathlib import Path, PurePosixPath

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.errors import PlanError, SfumatoError
from sfumato.schema.paths import PlanPath
from sfumato.tables.build import build
from sfumato.tables.cell_labels import SuppressionReason
from sfumato.tables.cells.columns import TextColumns, read_columns
from sfumato.tables.cells.system import BoolArray, Bounds, ProtectionLevels, no_bounds
from sfumato.tables.linked.from_plan import InputTable, LinkedTable, merged
from sfumato.tables.plan.sections import Dimension
from sfumato.tables.plan.table_plan import TablePlan, read_table_plan
from sfumato.tables.published_tables.parse_cells import ParsedTable, read_published

# What is unpacked of a ZIP file at most: tables, and bytes of each file.
MOST_TABLES, MOST_BYTES = 100, 200_000_000


@dataclass(frozen=True, slots=True)
class EarlierTable:
    """One table of a release of before, as the house keeps it, and what was published of it.

    Attributes:
        sheet: The table.
        reading: What was published of it.
        reach: How far its rules wanted the ranges of unsafe cells to reach; 0 where that is not known.
    """

    sheet: InputTable
    reading: ParsedTable
    reach: ProtectionLevels

    @property
    def unsafe(self) -> BoolArray:
        """The rows that were masked because a rule said so; all masked ones where the file does not tell."""
        primary = [
            not self.reading.cases or case in (SuppressionReason.PRIMARY, SuppressionReason.SENSITIVE)
            for case in self.reading.case
        ]
        return np.asarray(np.isnan(self.reading.exact) & np.array(primary, bool))


@dataclass(frozen=True, slots=True)
class PublicationHistory:
    """What was published before of the cells of a table.

    Attributes:
        published: Cells whose value is known for good.
        masked: Cells that were masked.
        ranges: The ranges that were published of those.
        unsafe: Which of them were masked because a rule of before said so.
        reach: How far those rules wanted their ranges to reach.
    """

    published: BoolArray
    masked: BoolArray
    ranges: Bounds
    unsafe: BoolArray
    reach: ProtectionLevels


def read_releases(plan: TablePlan) -> list[EarlierTable]:
    """The tables of the release folders that a plan names, or of their ZIP files.

    Raises:
        PlanError: A folder is no release of a table.
    """
    releases = []
    for name in plan.previous:
        folder = name.within(plan.folder)
        if folder.suffix.lower() == ".zip" and folder.is_file():
            releases += _packed(folder, name)
            continue
        folders = (
            [folder] if (folder / "table.csv").exists() else sorted(path.parent for path in folder.glob("*/table.csv"))
        )
        if not folders:
            raise _no_release(name)
        releases += [_release(own) for own in folders]
    return releases


def _no_release(name: str) -> PlanError:
    return PlanError("no-release.is_no_release_folder", name=name)


def _packed(archive: Path, name: str) -> list[EarlierTable]:
    """The tables in a ZIP file of a release folder; their hierarchies lie beside it, for anyone may have packed it."""
    try:
        with zipfile.ZipFile(archive) as packed, tempfile.TemporaryDirectory(prefix="sfumato-") as place:
            tables = sorted(PurePosixPath(own) for own in packed.namelist() if PurePosixPath(own).name == "table.csv")
            if not 0 < len(tables) <= MOST_TABLES:
                raise _no_release(name)
            folders = [Path(place) / str(number) for number in range(len(tables))]
            for folder, own in zip(folders, tables, strict=True):
                folder.mkdir()
                for file in ("table.csv", "plan.yaml"):
                    (folder / file).write_bytes(_unpacked(packed, str(own.with_name(file)), name))
            return [_release(folder, archive.parent) for folder in folders]
    except (zipfile.BadZipFile, KeyError, NotImplementedError, RuntimeError):
        raise _no_release(name) from None


def _unpacked(packed: zipfile.ZipFile, file: str, name: str) -> bytes:
    """A file of an archive, up to a size: what little can be packed to may be endless."""
    with packed.open(file) as stream:
        content = stream.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise PlanError("no-release.is_too_large", name=name)
    return content


def _release(folder: Path, beside: Path | None = None) -> EarlierTable:
    """A table of a release; with `beside`, its hierarchies are looked for there by their names alone."""
    plan = read_table_plan(folder / "plan.yaml")
    dimensions = {
        key: _placed(dimension, beside) if beside else dimension.placed(plan.folder)
        for key, dimension in plan.dimensions.items()
    }
    columns = read_columns(folder / "table.csv", published=True)
    reach = _reach(replace(plan, dimensions=dimensions), columns)
    return EarlierTable(InputTable(folder.name, dimensions, columns), read_published(columns, plan), reach)


def _reach(plan: TablePlan, columns: TextColumns) -> ProtectionLevels:
    """How far the rules of a release want the ranges of unsafe cells to reach, as far as its table still tells."""
    reach = ProtectionLevels(np.zeros(len(columns)), np.zeros(len(columns)))
    try:
        # Relations in a file of their own are not looked for: a plan in a ZIP file may name any file.
        for part in build(plan, columns) if plan.table.cells is None else ():
            own = part.table.protection_levels.at(part.table.sensitive)
            reach.lower[part.rows], reach.upper[part.rows] = own.lower, own.upper
    except SfumatoError:
        # A cell that was unsafe is still never computed exactly.
        return ProtectionLevels(np.zeros(len(columns)), np.zeros(len(columns)))
    return reach


def _placed(dimension: Dimension, beside: Path) -> Dimension:
    if dimension.hierarchy is None:
        return dimension
    name = PurePosixPath(dimension.hierarchy.replace("\\", "/")).name
    return replace(dimension, hierarchy=PlanPath(beside / name))


def history_of(joint: LinkedTable, releases: list[EarlierTable], step: float) -> PublicationHistory | None:
    """What releases, whose tables stand last among the joint ones, published of each cell."""
    if not releases:
        return None
    size = len(joint.names)
    own = joint.sections[-len(releases) :]
    earlier = LinkedTable(own, joint.columns, joint.relations, joint.names, joint.heights)
    exact = merged(earlier, [release.reading.exact for release in releases], step)
    masked, unsafe, ranges = np.zeros(size, bool), np.zeros(size, bool), no_bounds(size)
    reach = ProtectionLevels(np.zeros(size), np.zeros(size))
    for section, release in zip(own, releases, strict=True):
        masked[section.cells] = True
        unsafe[section.cells[release.unsafe]] = True
        np.maximum.at(reach.lower, section.cells, release.reach.lower)
        np.maximum.at(reach.upper, section.cells, release.reach.upper)
        ranges.low[section.cells] = np.fmax(ranges.low[section.cells], release.reading.ranges.low)
        ranges.high[section.cells] = np.fmin(ranges.high[section.cells], release.reading.ranges.high)
    published = ~np.isnan(exact)
    unsafe &= ~published
    return PublicationHistory(published, masked & ~published, ranges.only(~published), unsafe, reach.at(unsafe))
