"""Read earlier releases, whose suppressed cells stay protected, and check that a file shows only what was audited."""

import tempfile
import zipfile
from pathlib import Path, PurePosixPath

import numpy as np

from sfumato.errors import InternalError, PlanError, SfumatoError
from sfumato.schema.paths import PlanPath
from sfumato.tables.build import build
from sfumato.tables.cell_labels import SuppressionReason
from sfumato.tables.cells.columns import TextColumns, read_columns
from sfumato.tables.cells.system import BoolArray, Bounds, Numbers, Places, ProtectionLevels, no_bounds
from sfumato.tables.linked.from_plan import InputTable, LinkedTable, merged
from sfumato.tables.noise.perturbed import PerturbedResult
from sfumato.tables.plan.sections import Dimension
from sfumato.tables.plan.table_plan import TablePlan, read_table_plan
from sfumato.tables.protection_levels.resolve_plan import public_bounds
from sfumato.tables.published_tables.parse_cells import PRINTED, ParsedTable, read_published
from sfumato.tables.suppress_table import SuppressedCells
from sfumato.tables.table_result import SuppressedTable
from sfumato.values import Value, replace

# Limits of a ZIP file: number of tables, and bytes of each unpacked file.
MOST_TABLES, MOST_BYTES = 100, 200_000_000


class EarlierTable(Value):
    """One table of an earlier release, as kept internally, with its published values.

    Attributes:
        sheet: The table with its dimensions.
        reading: Its published values and intervals.
        reach: The protection levels of its sensitive cells; 0 if unknown.
    """

    sheet: InputTable
    reading: ParsedTable
    reach: ProtectionLevels

    @property
    def unsafe(self) -> BoolArray:
        """The primary suppressions; all suppressed rows if the file does not distinguish them from secondary ones."""
        primary = [
            not self.reading.cases or case in (SuppressionReason.PRIMARY, SuppressionReason.SENSITIVE)
            for case in self.reading.case
        ]
        return np.asarray(np.isnan(self.reading.exact) & np.array(primary, bool))


class PublicationHistory(Value):
    """What earlier releases published of each cell of a table.

    Attributes:
        published: Cells whose value an earlier release published.
        masked: Cells that earlier releases contain only as suppressed.
        ranges: The published intervals of these; NaN if there is none.
        unsafe: Which of these were primary suppressions of an earlier release.
        reach: The protection levels of these primary suppressions.
    """

    published: BoolArray
    masked: BoolArray
    ranges: Bounds
    unsafe: BoolArray
    reach: ProtectionLevels


def read_releases(plan: TablePlan) -> list[EarlierTable]:
    """Read the tables of the release folders or ZIP files that a plan names.

    Raises:
        PlanError: A folder is not a release of a table.
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
    """Read the tables in a ZIP file of a release folder.

    Hierarchies are read from the folder of the ZIP file only, because its plan may come from an untrusted source.
    """
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
    """Return the content of a file in an archive; refuse large ones, since a small archive may unpack to any size."""
    with packed.open(file) as stream:
        content = stream.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise PlanError("no-release.is_too_large", name=name)
    return content


def _release(folder: Path, beside: Path | None = None) -> EarlierTable:
    """Read the table of a release; if `beside` is given, its hierarchies are read from that folder by file name."""
    plan = read_table_plan(folder / "plan.yaml")
    dimensions = {
        key: _placed(dimension, beside) if beside else dimension.placed(plan.folder)
        for key, dimension in plan.dimensions.items()
    }
    columns = read_columns(folder / "table.csv", published=True)
    reach = _reach(replace(plan, dimensions=dimensions), columns)
    return EarlierTable(InputTable(folder.name, dimensions, columns), read_published(columns, plan), reach)


def _reach(plan: TablePlan, columns: TextColumns) -> ProtectionLevels:
    """Return the protection levels by the rules of a release; 0 if they cannot be computed from its table."""
    reach = ProtectionLevels(np.zeros(len(columns)), np.zeros(len(columns)))
    try:
        # Files of linear constraints are not read, because a plan in a ZIP file may name any file.
        for part in build(plan, columns) if plan.table.cells is None else ():
            own = part.table.protection_levels.at(part.table.sensitive)
            reach.lower[part.rows], reach.upper[part.rows] = own.lower, own.upper
    except SfumatoError:
        # Without protection levels, the audit still prevents exact disclosure of these cells.
        return ProtectionLevels(np.zeros(len(columns)), np.zeros(len(columns)))
    return reach


def _placed(dimension: Dimension, beside: Path) -> Dimension:
    if dimension.hierarchy is None:
        return dimension
    name = PurePosixPath(dimension.hierarchy.replace("\\", "/")).name
    return replace(dimension, hierarchy=PlanPath(beside / name))


def history_of(joint: LinkedTable, releases: list[EarlierTable], step: float) -> PublicationHistory | None:
    """Return what earlier releases published of each cell; None without releases. Their tables come last in `joint`."""
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


def check_masked(table: SuppressedTable, external: TextColumns) -> None:
    """Compare a file for publication with what was audited.

    The audit covered cells, intervals and what can be inferred from them. If the file shows the same of each cell and
    implies no more, the audit applies to the file; otherwise nothing is published.

    Raises:
        InternalError: It shows other cells, values or intervals, or discloses more about suppressed cells than was
            audited.
    """
    reading = _read(table, external)
    places = _places(table, external)
    if reading.marked.any():
        raise _other("marks")
    for answer in table.parts:
        rows = places[answer.part.rows]
        if (rows < 0).any() or not _says(answer, reading, rows):
            raise _other("cells, values or ranges")
        if len(answer.part.table.constraints):
            check_inferred(table.plan, answer, reading.exact[rows])


def check_changed(table: PerturbedResult, external: TextColumns) -> None:
    """Compare a file of perturbed numbers with what was audited.

    Raises:
        InternalError: It shows other cells or numbers.
    """
    reading = _read(table, external)
    places = _places(table, external)
    for answer in table.parts:
        rows = places[answer.part.rows]
        if ((rows >= 0) != answer.shown).any():
            raise _other("cells")
        if not _near(reading.exact[rows[answer.shown]], answer.published[answer.shown]).all():
            raise _other("numbers")


def check_inferred(plan: TablePlan, answer: SuppressedCells, exact: Numbers) -> None:
    """Refuse a table from which anyone correctly infers higher lower bounds of suppressed cells than the audit
    assumed.
    """
    if not answer.part.inferred:
        return
    hidden = np.isnan(exact) if answer.part.hidden is None else np.isnan(exact) & ~answer.part.hidden
    table, inferred = answer.part.table, public_bounds(plan, exact, hidden)
    right = (table.values >= inferred.low) | ~hidden
    if right.all() and (hidden & (inferred.low > table.bounds.low + PRINTED)).any():
        raise InternalError("handed-out.readers_table_hand_out")


def _read(table: SuppressedTable | PerturbedResult, external: TextColumns) -> ParsedTable:
    try:
        return read_published(external, table.plan)
    except SfumatoError:
        raise _other("texts") from None


def _places(table: SuppressedTable | PerturbedResult, external: TextColumns) -> Places:
    """Return the row of each cell in the file; -1 for cells that are not in it."""
    codes = table.codes()
    if not all(name in external for name in codes):
        raise _other("columns")
    rows = {key: row for row, key in enumerate(zip(*(external.texts[name] for name in codes), strict=True))}
    found = [rows.get(key, -1) for key in zip(*codes.values(), strict=True)]
    if len(rows) != len(external) or sum(row >= 0 for row in found) != len(external):
        raise _other("cells")
    return np.array(found, np.int64)


def _says(answer: SuppressedCells, reading: ParsedTable, rows: Places) -> bool:
    """Return whether the file shows each cell as audited, and no interval narrower than the feasibility interval."""
    exact, ranges, values = reading.exact[rows], reading.ranges.rows(rows), answer.part.table.values
    hidden = np.isnan(exact)
    known, told = np.isnan(answer.ends.low), ~(np.isnan(ranges.low) & np.isnan(ranges.high))
    narrower = _above(ranges.low, answer.ends.low) | _above(answer.ends.high, ranges.high) | (known & told)
    same = np.array_equal(hidden, answer.suppressed) and _near(exact[~hidden], values[~hidden]).all()
    return bool(same and not (hidden & narrower).any())


def _above(one: Numbers, other: Numbers) -> BoolArray:
    """Return which ends exceed the others; a missing end never does."""
    return np.asarray(one > other + _slack(one))


def _near(one: Numbers, other: Numbers) -> BoolArray:
    return np.asarray(np.abs(one - other) <= _slack(other))


def _slack(numbers: Numbers) -> Numbers:
    return np.asarray(PRINTED + 1e-9 * np.abs(np.nan_to_num(numbers, posinf=0.0, neginf=0.0)))


def _other(what: str) -> InternalError:
    return InternalError("handed-out.table_hand_out_shows", what=what)
