"""Combine several tables into one: shared cells are identified, and the relations of all tables hold together.

A cell is identified by its codes without totals; so the margin of one table is the margin of another that crosses the
same column with something else, and a column may have several hierarchies. A code of level columns is resolved to the
codes of the single columns.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, permutations
from pathlib import Path

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.errors import DataError
from sfumato.tables.batch.unshown_cells import Row
from sfumato.tables.build.build import dimensions_of, heights_of
from sfumato.tables.build.common_codes import Axis, axes_of
from sfumato.tables.build.joint_ties import loose_ties, ties_between
from sfumato.tables.build.sections import Section
from sfumato.tables.cells.cells import Numbers, Places, Relations, make_relations
from sfumato.tables.cells.columns import Columns
from sfumato.tables.cells.dimensions import Tree
from sfumato.tables.cells.relations import Key, derive, describe
from sfumato.tables.nesting.chain import Chain
from sfumato.tables.plan.crossing import Dimension

Identity = frozenset[tuple[str, tuple[str, ...]]]


@dataclass(frozen=True, slots=True)
class Sheet:
    """One of several tables as it comes.

    Attributes:
        name: Its name.
        dimensions: Its dimensions.
        columns: Its columns.
        chains: The columns that determine each other, as its records tell.
        recorded: The columns of which these tell.
    """

    name: str
    dimensions: Mapping[str, Dimension]
    columns: Columns
    chains: tuple[Chain, ...] = ()
    recorded: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Joint:
    """Several tables as one.

    Attributes:
        sections: The tables.
        columns: The columns that all tables have, one row for each joint cell, of the first table that has it.
        relations: The relations of all tables.
        names: A name for each joint cell.
        heights: How many levels above the finest each joint cell stands.
        loose: Relations that hold but for the few records whose codes do not fit the others.
        sums: Sums of cells that are the same in two tables, though neither shows them.
    """

    sections: tuple[Section, ...]
    columns: Columns
    relations: Relations
    names: tuple[str, ...]
    heights: Numbers
    loose: tuple[Row, ...] = ()
    sums: tuple[Row, ...] = ()


def join(sheets: Sequence[Sheet], folder: Path) -> Joint:
    """Several tables as one.

    Raises:
        DataError: In one of them cells stand twice, or parents are missing.
    """
    places: dict[Identity, int] = {}
    sections, rows, names, heights = [], list[tuple[list[int], list[float]]](), list[str](), list[float]()
    spaces = [dimensions_of(sheet.dimensions, sheet.columns, folder) for sheet in sheets]
    known = dict.fromkeys(chain for sheet in sheets for chain in sheet.chains)
    axes = axes_of([trees for trees, _ in spaces], tuple(known), [keys for _, keys in spaces])
    for sheet, (trees, keys), own in zip(sheets, spaces, axes, strict=True):
        try:
            relations = derive(trees, keys)
        except DataError as error:
            raise in_table(error, sheet.name) from None
        cells = np.array([places.setdefault(_identity(trees, own, key), len(places)) for key in keys], np.int64)
        new = _first_rows(cells, len(names))
        names += [describe(trees, keys[row]) for row in new]
        heights += heights_of(trees, keys)[new].tolist()
        rows += [
            (cells[relations.row(place)[0]].tolist(), relations.row(place)[1].tolist())
            for place in range(len(relations))
        ]
        sections.append(Section(sheet.name, sheet.columns, trees, tuple(keys), cells, own))
    rows += ties_between(sections) + _doubles(sections, places)
    every = _unique(rows)
    unique, sums = _apart(every.values())
    loose = tuple(row for key, row in _unique(loose_ties(sections)).items() if key not in every)
    named = [names[cells[0]] for cells, _ in unique]
    return Joint(
        tuple(sections),
        _columns(sections, len(places)),
        make_relations(unique, named),
        tuple(names),
        np.array(heights),
        loose,
        tuple(sums),
    )


def _first_rows(cells: Places, known: int) -> Places:
    """The first row of each cell that no table before has: one table may have a cell twice, by codes of two columns."""
    numbers, rows = np.unique(cells, return_index=True)
    return rows[numbers >= known]


def settled(joint: Joint, values: Numbers, step: float) -> Joint:
    """The tables where relations that may be off are relations like others, as far as they are not."""
    sums = [abs(float(np.array(coefs) @ values[cells])) for cells, coefs in joint.loose]
    holding = [row for row, off in zip(joint.loose, sums, strict=True) if off < step / 2]
    if not holding:
        return joint
    loose = tuple(row for row, off in zip(joint.loose, sums, strict=True) if off >= step / 2)
    totals, both = _apart(holding)
    relations = joint.relations.with_rows(totals, "codes within others")
    return replace(joint, relations=relations, loose=loose, sums=(*joint.sums, *both))


def _apart(rows: Iterable[Row]) -> tuple[list[Row], list[Row]]:
    """Relations of one total at most, or of two cells that are the same, and those of sums on both sides."""
    plain, sums = list[Row](), list[Row]()
    for row in rows:
        (plain if sum(coef < 0 for coef in row[1]) < 2 else sums).append(row)
    return plain, sums


def _unique(rows: Iterable[Row]) -> dict[frozenset[tuple[int, float]], Row]:
    """Relations, each once."""
    gathered = (row for row in map(_gathered, rows) if row[0])
    return {frozenset(zip(cells, coefs, strict=True)): (cells, coefs) for cells, coefs in gathered}


def _gathered(row: Row) -> Row:
    """A relation with each cell once; none of those are left that stand on both sides, for they are one cell."""
    if len(set(row[0])) == len(row[0]):
        return row
    coefs: dict[int, float] = {}
    for cell, coef in zip(*row, strict=True):
        coefs[cell] = coefs.get(cell, 0.0) + coef
    kept = {cell: coef for cell, coef in coefs.items() if coef}
    return list(kept), list(kept.values())


def _doubles(sections: Sequence[Section], places: Mapping[Identity, int]) -> list[Row]:
    """Cells of tables that cross linked columns with one another: a code beside one that it lies in says all."""
    rows: list[Row] = []
    for section in sections:
        for cell, key in zip(section.cells.tolist(), section.keys, strict=True):
            narrow = _narrowed(section, key)
            first = cell if narrow == key else places.get(_identity(section.trees, section.axes, narrow), cell)
            if first != cell:
                rows.append(([first, cell], [-1.0, 1.0]))
    return rows


def _narrowed(section: Section, key: Key) -> Key:
    """The codes of a cell without those that another of the same linked columns lies in."""
    narrow = list(key)
    for one, two in permutations(range(len(key)), 2):
        wide, inside = section.axes[one], section.axes[two]
        if wide.variable and wide.variable == inside.variable and section.trees[one].root != narrow[one]:
            cover = inside.covers.get(narrow[two], frozenset())
            if cover and cover <= wide.covers[narrow[one]]:
                narrow[one] = section.trees[one].root
    return tuple(narrow)


def _identity(trees: Sequence[Tree], axes: Sequence[Axis], key: Key) -> Identity:
    """What a cell is, whichever table it stands in: its codes, totals left out, save those of a series.

    Where two dimensions have codes of one column, a Land beside the Land of a Gemeinde, it is told whose is which.
    """
    own = [
        (tree, axis.names[code] if code != tree.root else (_name_of(tree), _total_of(tree)))
        for tree, axis, code in zip(trees, axes, key, strict=True)
        if code != tree.root or tree.series
    ]
    several = {one for (_, (one, code)), (_, (two, other)) in combinations(own, 2) if one == two and code != other}
    return frozenset(
        (f"{_name_of(tree)}/{name}" if name in several and name != _name_of(tree) else name, code)
        for tree, (name, code) in own
    )


def _name_of(tree: Tree) -> str:
    return "/".join(tree.levels) or tree.name


def _total_of(tree: Tree) -> tuple[str, ...]:
    """The total of a series, by the codes that it is of: of one code it is still not that code."""
    return ("", *sorted("/".join(code) for code in tree.parents))


def _columns(sections: Sequence[Section], size: int) -> Columns:
    shared = [name for name in sections[0].columns.texts if all(name in section.columns for section in sections)]
    texts: dict[str, list[str]] = {name: [""] * size for name in shared}
    for section in reversed(sections):
        for name in shared:
            for cell, text in zip(section.cells.tolist(), section.columns.texts[name], strict=True):
                texts[name][cell] = text
    return Columns({name: tuple(column) for name, column in texts.items()})


def merged(joint: Joint, numbers: Iterable[Numbers], step: float, tolerance: float = 0.0) -> Numbers:
    """Numbers of the rows of all tables as numbers of joint cells; not a number where none is one.

    Raises:
        DataError: Two tables say different things of the same cell.
    """
    together = np.full(len(joint.names), np.nan)
    for section, own in zip(joint.sections, numbers, strict=True):
        before = together[section.cells]
        difference = np.abs(before - own)
        wrong = np.flatnonzero(difference > max(step / 2, tolerance))
        if len(wrong):
            raise DataError(
                f"{joint.names[section.cells[wrong[0]]]}: table {section.name} differs from another one that has the "
                f"same cell, by {difference[wrong[0]]:g}.",
                "The same cell must have the same value in every table: give all of them the same values and decimals. "
                "Tables of different records are protected and audited one by one. Of numbers that were revised since, "
                "those that stayed the same tell of both tables: mask the very cells that were masked then, by the "
                "rule status.",
                "tables-differ",
                rows=[int(row) + 1 for row in wrong],
            )
        together[section.cells] = np.where(np.isnan(before), own, before)
    return together


def in_table(error: DataError, name: str) -> DataError:
    """The same error, naming the table."""
    code = error.code.partition(".")[2]
    return DataError(
        f"table {name}: {error.what}", error.do, code, values=error.values, column=error.column, rows=error.rows
    )
