"""Columns of records that determine another one, alone or together, except for a few erroneous records."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from sfumato.tables.cells.dimensions import Code, CodeTree
from sfumato.tables.cells.system import BoolArray, Numbers, Places
from sfumato.values import Value, field

Names = tuple[str, ...]


class RecordCodes(Value):
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


class Chain(Value):
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


class _Fit(Value):
    """Limits for a dependency: the share of exceptions among those expected, and the minimum number expected.

    Without exceptions more than `certain` must be expected: with few records the dependency may be coincidence, but
    data users may know that it is not.
    """

    off: float = OFF
    least: float = LEAST
    certain: float = 0.0


class Link(Value):
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
        determined = {name for link in known if set(link.fine) <= set(fine) for name in link.columns}
        for name in (name for name in names if name not in {*fine, *determined}):
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

    A district whose municipalities are nearly all towns does not determine the type of a municipality; no record is
    wrong.
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
        # A district with one large municipality nearly determines it, but the opposite dependency is stronger.
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


def connected(sets: Iterable[frozenset[str]]) -> list[frozenset[str]]:
    """Merge sets that share an element.

    >>> [sorted(own) for own in connected([frozenset("ab"), frozenset("cd"), frozenset("be")])]
    [['a', 'b', 'e'], ['c', 'd']]
    """
    above: dict[str, str] = {}

    def top(name: str) -> str:
        while above.setdefault(name, name) != name:
            above[name] = above[above[name]]
            name = above[name]
        return name

    for own in sets:
        for name in own:
            above[top(name)] = top(next(iter(own)))
    groups: dict[str, set[str]] = {}
    for name in list(above):
        groups.setdefault(top(name), set()).add(name)
    return sorted(map(frozenset, groups.values()), key=sorted)
