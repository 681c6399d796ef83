"""Columns of records that determine another one, alone or together, except for a few erroneous records."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import combinations

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.cells.dimensions import Code, CodeTree
from sfumato.tables.cells.system import BoolArray, Bounds, Numbers, Places, ProtectionLevels, Table
from sfumato.tables.cells.table_part import TablePart

Names = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecordCodes:
    """The codes of records: for each column the code of each row, and the number of records per row."""

    codes: Mapping[str, Sequence[str]]
    counts: Numbers
    _numbers: dict[Names, Places] = field(default_factory=dict)

    def numbers(self, names: Names) -> Places:
        """Return a number for the codes of some columns in each row, in the order of the codes."""
        if names not in self._numbers:
            self._numbers[names] = self._numbered(names)
        return self._numbers[names]

    def _numbered(self, names: Names) -> Places:
        if len(names) == 1:
            order = {code: place for place, code in enumerate(sorted(set(self.codes[names[0]])))}
            return np.array([order[code] for code in self.codes[names[0]]], np.int64)
        last = self.numbers(names[-1:])
        _, numbers = np.unique(self.numbers(names[:-1]) * (last.max(initial=0) + 1) + last, return_inverse=True)
        return numbers

    def rows(self, names: Names) -> list[Code]:
        """Return the codes of some columns in each row."""
        return list(zip(*(self.codes[name] for name in names), strict=True))


def names_in(dimensions: Iterable[Names]) -> Names:
    """Return the columns of some dimensions."""
    return tuple(name for own in dimensions for name in own)


@dataclass(frozen=True, slots=True)
class Chain:
    """Columns from the top down, with the occurring combinations of their codes.

    Attributes:
        rows: The combinations of their codes.
        inconsistent: Inconsistent combinations: a code is not within the one that nearly all records put it in.
    """

    columns: Names
    rows: frozenset[Code]
    inconsistent: frozenset[Code] = frozenset()


# The columns of each of some dimensions.
Dimensions = tuple[Names, ...]
# One column determines another if the share of exceptions, among those expected for unrelated columns, is at most OFF,
# and at least LEAST exceptions would be expected.
OFF, LEAST = 0.1, 1.0
# There are many sets of columns that jointly determine another, and several codes nearly identify a record: limits are
# stricter.
CROSSED_OFF, CROSSED_LEAST = 0.03, 10.0
# Maximum number of dimensions that are tried jointly.
MOST_CROSSED = 3


@dataclass(frozen=True, slots=True)
class _Fit:
    """Limits for a dependency: the share of exceptions among those expected, and the minimum number expected.

    Without exceptions more than `certain` must be expected: with few records the dependency may be coincidence, but
    data users may know that it is not.
    """

    off: float = OFF
    least: float = LEAST
    certain: float = 0.0


@dataclass(frozen=True, slots=True)
class Link:
    """Columns that are dependent.

    Attributes:
        inconsistent: The rows that violate the dependency.
        fine: The columns that determine the other one; empty if only some of their codes are dependent.
    """

    columns: frozenset[str]
    inconsistent: BoolArray
    fine: Names = ()


def single_links(
    records: RecordCodes, dimensions: Iterable[Names], names: Sequence[str], hierarchies: Sequence[tuple[str, CodeTree]]
) -> list[Link]:
    """Return the links of columns that a single dimension determines.

    Args:
        dimensions: The columns of each dimension of the tables.
        names: The columns that may be determined.
        hierarchies: Columns with a hierarchy above their codes.
    """
    links = []
    for fine in dimensions:
        trees = [tree for name, tree in hierarchies if (name,) == fine]
        found = {name: odd_rows(records, fine, name, trees) for name in names if name not in fine}
        links += [Link(frozenset((*fine, name)), odd, fine) for name, odd in found.items() if odd is not None]
    return links


def crossed_links(
    records: RecordCodes,
    dimensions: Sequence[Names],
    tables: Sequence[frozenset[str]],
    names: Sequence[str],
    links: Sequence[Link],
) -> list[Link]:
    """Return the links of columns that are determined only jointly, by dimensions that a table crosses.

    Example: a type by Land and Kreis, where Kreise are numbered within each Land.

    Args:
        dimensions: The columns of each dimension of the tables.
        names: The columns that may be determined.
        links: Links of single dimensions; columns that one of them determines are skipped.
    """
    known, fitting = list(links), _Fit(CROSSED_OFF, CROSSED_LEAST, certain=CROSSED_LEAST)
    for own in crossed_dimensions(dimensions, tables):
        fine = names_in(own)
        told = {name for link in known if set(link.fine) <= set(fine) for name in link.columns}
        for name in (name for name in names if name not in {*fine, *told}):
            odd = odd_rows(records, fine, name, fit=fitting)
            known += [] if odd is None else [Link(frozenset((*fine, name)), odd, fine)]
    return known[len(links) :]


def crossed_dimensions(dimensions: Sequence[Names], tables: Sequence[frozenset[str]]) -> Iterator[Dimensions]:
    """Yield sets of at least two dimensions that a table crosses, smaller sets first."""
    for size in range(2, MOST_CROSSED + 1):
        for own in combinations(dimensions, size):
            fine = names_in(own)
            if len(set(fine)) == len(fine) and any(table.issuperset(fine) for table in tables):
                yield own


def unexplained(links: Sequence[Link]) -> list[Link]:
    """Remove links with exceptions between columns that a third column determines without exceptions.

    A Kreis whose Gemeinden are nearly all towns does not determine the type of a Gemeinde; no record is wrong.
    """
    below: dict[Names, set[str]] = {}
    for link in links:
        if not link.inconsistent.any():
            below.setdefault(link.fine, set()).update(link.columns)
    return [
        link for link in links if not link.inconsistent.any() or not any(link.columns <= own for own in below.values())
    ]


def odd_rows(
    records: RecordCodes, fine: Names, name: str, trees: Iterable[CodeTree] = (), fit: _Fit | None = None
) -> BoolArray | None:
    """Return the rows that violate a dependency that nearly all records satisfy; None if there is no
    dependency.

    Args:
        fine: The columns that may determine the other one.
        name: The other column.
        trees: Hierarchies above the codes of the single fine column.
        fit: Limits of exceptions.
    """
    odd, off, near = _off(records, fine, (name,), fit or _Fit())
    if off and near:
        # A Kreis with one large Gemeinde nearly determines it, but the Gemeinde determines its Kreis better.
        _, back, nearer = _off(records, (name,), fine, _Fit())
        return None if back < off and (nearer or not back) else odd
    if near:
        return odd
    if off:
        return None
    pairs = set(zip(records.codes[fine[0]], records.codes[name], strict=True))
    return odd if any(codes_within(tree, pairs) for tree in trees) else None


def _off(records: RecordCodes, fine: Names, coarse: Names, fit: _Fit) -> tuple[BoolArray, float, bool]:
    """Return the rows that violate a dependency, the number of their records, and whether these are few enough."""
    odd, expected = _odd(records.numbers(fine), records.numbers(coarse), records.counts)
    off = float(records.counts[odd].sum())
    few = expected >= fit.least and off <= fit.off * expected
    return odd, off, few if off else expected > fit.certain


def _odd(fine: Places, coarse: Places, counts: Numbers) -> tuple[BoolArray, float]:
    """Return the rows whose coarse code is not the most frequent one of their fine code, and the number of records that
    would be so if the columns were independent.
    """
    size = int(coarse.max(initial=0)) + 1
    pairs, places = np.unique(fine * size + coarse, return_inverse=True)
    records = np.bincount(places, counts, len(pairs))
    order = np.lexsort((-records, pairs // size))
    first = np.append(True, np.diff(pairs[order] // size) > 0)
    main = np.zeros(len(pairs), bool)
    main[order[first]] = True
    shares = np.bincount(coarse, counts) / max(float(counts.sum()), 1.0)
    repeated = np.maximum(np.bincount(fine, counts) - 1.0, 0.0).sum()
    return ~main[places], float(repeated * (1.0 - shares @ shares))


def codes_within(tree: CodeTree, pairs: Iterable[tuple[str, str]]) -> dict[str, frozenset[str]]:
    """Return the codes of a column with hierarchy that each code of another column covers; empty if it is not
    a level.

    Args:
        pairs: The occurring pairs of codes, that of the column with hierarchy first.

    >>> tree = CodeTree("kreis", ("T",), {("N",): ("T",), ("N1",): ("N",), ("N2",): ("N",), ("S",): ("T",)})
    >>> sorted(codes_within(tree, [("N1", "north"), ("N2", "north")])["north"])
    ['N1', 'N2']
    >>> codes_within(tree, [("N1", "west"), ("N2", "east")])
    {}
    """
    below, above = dict[str, set[str]](), dict[str, str]()
    for fine, coarse in pairs:
        if above.setdefault(fine, coarse) != coarse:
            return {}
        below.setdefault(coarse, set()).add(fine)
    units = set(_units(tree, above).values())
    parts = {coarse: frozenset(codes) for coarse, codes in below.items()}
    return parts if parts and set(parts.values()) <= units else {}


def _units(tree: CodeTree, there: Mapping[str, str]) -> dict[Code, frozenset[str]]:
    """Return the record codes below each inner code."""
    units: dict[Code, set[str]] = {}
    for text in there:
        code: Code = (text,)
        while (code := tree.parents.get(code, tree.root)) != tree.root:
            units.setdefault(code, set()).add(text)
    return {code: frozenset(codes) for code, codes in units.items()}


Row = tuple[list[int], list[float]]
# Name of such a cell in messages.
ODD = "records whose codes do not fit the others"


def with_inconsistent_records(part: TablePart, rows: Sequence[Row]) -> TablePart:
    """Add constraints that inconsistent records violate, each with a further cell for its residual if it is
    not 0.
    """
    if not rows:
        return part
    size, step, values = len(part.table), part.knowledge.precision, part.table.values
    made, off = list[Row](), list[float]()
    for cells, coefs in rows:
        amount = float(np.round(np.array(coefs) @ values[cells] / step)) * step
        more = ([size + len(off)], [-1.0 if amount > 0 else 1.0]) if amount else ([], [])
        made.append(([*cells, *more[0]], [*coefs, *more[1]]))
        off += [abs(amount)] * len(more[0])
    return _behind(part, made, np.array(off))


def _behind(part: TablePart, rows: Sequence[Row], amounts: Numbers) -> TablePart:
    table, more, none = part.table, len(amounts), np.zeros(len(amounts))
    own = Table(
        np.append(table.values, amounts),
        np.append(table.status, np.zeros(more, np.int8)),
        np.append(table.costs, none),
        _open(table.bounds, amounts),
        ProtectionLevels(
            np.append(table.protection_levels.lower, none), np.append(table.protection_levels.upper, none)
        ),
        table.constraints.with_rows(rows, ODD),
        (*table.names, *([ODD] * more)),
    )
    before = np.zeros(len(table), bool) if part.suppressed_before is None else part.suppressed_before
    return replace(
        part,
        rows=np.arange(len(own)),
        table=own,
        public=_open(part.public, amounts),
        suppressed_before=np.append(before, np.ones(more, bool)),
    )


def _open(bounds: Bounds, amounts: Numbers) -> Bounds:
    return Bounds(np.append(bounds.low, np.zeros(len(amounts))), np.append(bounds.high, 2 * amounts))


Variables = frozenset[str]


def variable_cycles(tables: Iterable[Variables]) -> list[Variables]:
    """Return the variables of cycles, one set per connected group of cycles. Variables in no cycle are removed
    repeatedly until none is left (Graham 1979; Yu and Ozsoyoglu 1979).

    >>> [sorted(own) for own in variable_cycles([frozenset("ab"), frozenset("bc"), frozenset("acd")])]
    [['a', 'b', 'c']]
    >>> variable_cycles([frozenset("ab"), frozenset("bc"), frozenset("ac"), frozenset("abc")])
    []
    """
    left, before = _maximal(tables), list[Variables]()
    while left != before:
        before = left
        left = _maximal(own & _shared(left) for own in left)
    return connected(left)


def _maximal(sets: Iterable[Variables]) -> list[Variables]:
    """Return the distinct sets that are not contained in another."""
    distinct = sorted({own for own in sets if own}, key=sorted)
    return [own for own in distinct if not any(own < other for other in distinct)]


def _shared(sets: Sequence[Variables]) -> Variables:
    """Return the variables that are in more than one set."""
    return frozenset(name for own in sets for name in own if sum(name in other for other in sets) > 1)


def connected(sets: Iterable[Variables]) -> list[Variables]:
    """Merge sets that share a variable."""
    groups: list[Variables] = []
    for own in sets:
        near = [group for group in groups if group & own]
        groups = [group for group in groups if not group & own] + [own.union(*near)]
    return sorted(groups, key=sorted)
