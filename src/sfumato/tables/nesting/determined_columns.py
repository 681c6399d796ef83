"""Columns of records of which one determines another: a Gemeinde its Kreis, whatever hierarchies say of either.

A record in which it does not, for somebody mistook a code, ends nothing: as far as nearly all records agree, the codes
of one column are sums of those of the other, and what the odd records hold is the little that these sums are off.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from itertools import combinations

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.batch.variable_cycles import connected
from sfumato.tables.cells.cells import Mask, Numbers, Places
from sfumato.tables.cells.dimensions import Code, Tree
from sfumato.tables.nesting.included_codes import included, mixed
from sfumato.tables.nesting.nested_codes import codes_within

Names = tuple[str, ...]
# One column determines another where so few of the records are off that would be, had they nothing to do with each
# other; and where at least one would be, for else it may be chance.
OFF, LEAST = 0.1, 1.0
# Of columns that only together determine one there are many, and codes of several nearly name a record: so these must
# be fewer, and would be more.
CROSSED_OFF, CROSSED_LEAST = 0.03, 10.0
# So many dimensions of a table are tried together.
MOST_CROSSED = 3
# By so many bits it must be less likely that codes of one column and of another are the same records than there are
# ways to choose such codes.
BITS = 10.0
# Of combinations of codes there are many more, and columns of the same people are never quite unrelated.
INCLUDED_BITS = 20.0


@dataclass(frozen=True, slots=True)
class Chain:
    """Columns from the top down, with the combinations of their codes that there are.

    Attributes:
        columns: The columns.
        rows: The combinations of their codes.
        odd: Those of them in which a code is not within the one that nearly all records put it in.
    """

    columns: Names
    rows: frozenset[Code]
    odd: frozenset[Code] = frozenset()


@dataclass(frozen=True, slots=True)
class RecordCodes:
    """The codes of the columns of records: for each column the code of each row, and how many records a row has."""

    codes: Mapping[str, Sequence[str]]
    counts: Numbers
    _numbers: dict[Names, Places] = field(default_factory=dict)

    def numbers(self, names: Names) -> Places:
        """A number for the codes of some columns in each row, in the order of the codes."""
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
        """The codes of some columns in each row."""
        return list(zip(*(self.codes[name] for name in names), strict=True))


@dataclass(frozen=True, slots=True)
class _Fit:
    """The share of records that may be off of those that would be, and how many would have to be at least."""

    off: float = OFF
    least: float = LEAST


@dataclass(frozen=True, slots=True)
class Link:
    """Columns that determine another one, and the rows in which they do not."""

    columns: frozenset[str]
    odd: Mask
    fine: Names = ()


def determined_chains(
    records: RecordCodes,
    dimensions: Iterable[Names],
    hierarchies: Iterable[tuple[str, Tree]] = (),
    tables: Sequence[frozenset[str]] = (),
) -> tuple[Chain, ...]:
    """The columns that hang together, each set with all combinations of codes that records have.

    Args:
        records: The records.
        dimensions: The columns of each dimension of the tables.
        hierarchies: Columns with a hierarchy above their codes.
        tables: The columns of each table: those that one crosses may determine another together. Of two that one
            crosses its cells tell, as far as neither determines the other.

    >>> records = RecordCodes({"kreis": ("1", "1", "2", "2"), "land": ("N", "N", "S", "S")}, np.full(4, 5.0))
    >>> [sorted(chain.rows) for chain in determined_chains(records, [("kreis",), ("land",)])]
    [[('1', 'N'), ('2', 'S')]]
    """
    distinct, trees = sorted(set(dimensions)), list(hierarchies)
    names = sorted({name for own in distinct for name in own})
    links = [link for fine in distinct for link in _links(records, fine, names, trees)]
    links = _unexplained(with_crossed_links(records, distinct, tables, names, links))
    links += _unions(records, distinct, [link.columns for link in links], tables)
    links += _crossed_inclusions(records, distinct, [link.columns for link in links], tables)
    levels = [frozenset(own) for own in distinct if len(own) > 1]
    chains = []
    for group in connected([*(link.columns for link in links), *levels]):
        own = [link for link in links if link.columns <= group]
        if own:
            chains.append(_chain(records, tuple(sorted(group)), own))
    return tuple(chains)


def _chain(records: RecordCodes, names: Names, links: Sequence[Link]) -> Chain:
    odd = np.logical_or.reduce([link.odd for link in links])
    rows = records.rows(names)
    return Chain(names, frozenset(rows), frozenset(rows[place] for place in np.flatnonzero(odd)))


def _links(
    records: RecordCodes, fine: Names, names: Iterable[str], hierarchies: Sequence[tuple[str, Tree]]
) -> list[Link]:
    """The columns that some others determine."""
    trees = [tree for name, tree in hierarchies if (name,) == fine]
    found = {name: odd_rows(records, fine, name, trees) for name in names if name not in fine}
    return [Link(frozenset((*fine, name)), odd, fine) for name, odd in found.items() if odd is not None]


def with_crossed_links(
    records: RecordCodes,
    dimensions: Sequence[Names],
    tables: Sequence[frozenset[str]],
    names: Sequence[str],
    links: Sequence[Link],
) -> list[Link]:
    """The links with those of columns that determine another one only together, where a table crosses them.

    A type by Land and Kreis, where each Land counts its Kreise anew.

    Args:
        records: The records.
        dimensions: The columns of each dimension of the tables.
        tables: The columns of each table.
        names: The columns that may be determined.
        links: Those of single dimensions: where one of them does, others say no more.
    """
    known, fitting = list(links), _Fit(CROSSED_OFF, CROSSED_LEAST)
    for size in range(2, MOST_CROSSED + 1):
        for own in combinations(dimensions, size):
            fine = tuple(name for part in own for name in part)
            if len(set(fine)) < len(fine) or not any(table.issuperset(fine) for table in tables):
                continue
            told = {name for link in known if set(link.fine) <= set(fine) for name in link.columns}
            for name in (name for name in names if name not in {*fine, *told}):
                odd = odd_rows(records, fine, name, fit=fitting)
                known += [] if odd is None else [Link(frozenset((*fine, name)), odd, fine)]
    return known


def _unexplained(links: Sequence[Link]) -> list[Link]:
    """The links without those of nearly all records between columns that a third determines in all of them.

    A Kreis whose Gemeinden are nearly all towns does not tell what a Gemeinde is, and no record is wrong.
    """
    below: dict[Names, set[str]] = {}
    for link in links:
        if not link.odd.any():
            below.setdefault(link.fine, set()).update(link.columns)
    return [link for link in links if not link.odd.any() or not any(link.columns <= own for own in below.values())]


def _unions(
    records: RecordCodes,
    dimensions: Sequence[Names],
    linked: Sequence[frozenset[str]],
    tables: Sequence[frozenset[str]],
) -> list[Link]:
    """Columns of which neither determines the other, and some codes together are the same records as some of it."""
    none, found = np.zeros(len(records.counts), bool), list[Link]()
    for one, two in combinations(dimensions, 2):
        groups = connected([*linked, *(link.columns for link in found), *map(frozenset, dimensions)])
        first, second = (next(group for group in groups if own[0] in group) for own in (one, two))
        if first == second or any(first & own and second & own for own in tables):
            continue
        if have_unions(records, one, two) or have_inclusions(records, one, two):
            found.append(Link(frozenset((*one, *two)), none))
    return found


def _crossed_inclusions(
    records: RecordCodes,
    dimensions: Sequence[Names],
    linked: Sequence[frozenset[str]],
    tables: Sequence[frozenset[str]],
) -> list[Link]:
    """Columns that a table crosses of which some combination of codes lies wholly within a code of another column."""
    none, found = np.zeros(len(records.counts), bool), list[Link]()
    for one, two in crossed_pairs(dimensions, tables):
        columns = frozenset(name for own in (*one, two) for name in own)
        groups = connected([*linked, *(link.columns for link in found), *map(frozenset, dimensions)])
        if not any(columns <= own for own in (*groups, *tables)) and have_crossed_inclusions(records, one, two):
            found.append(Link(columns, none))
    return found


def have_unions(records: RecordCodes, one: Names, two: Names) -> bool:
    """Whether codes of some columns together are the records of codes of others, and would not be by chance.

    >>> kreis, region = ("1", "1", "2", "2", "3", "3", "4", "4"), ("p", "q", "p", "q", "r", "s", "r", "s")
    >>> have_unions(RecordCodes({"kreis": kreis, "region": region}, np.full(8, 9.0)), ("kreis",), ("region",))
    True
    """
    first, second = records.numbers(one), records.numbers(two)
    units = _components(first, second)
    if not units.any():
        return False
    sizes = np.bincount(units, records.counts).astype(np.float64)
    bits = _ways(sizes)
    for own in (first, second):
        # The unit of each code.
        _, place = np.unique(own, return_index=True)
        bits -= _ways(np.bincount(units[place], minlength=len(sizes)).astype(np.float64))
    return bool(bits.max() >= BITS)


def have_inclusions(records: RecordCodes, one: Names, two: Names) -> bool:
    """Whether a code of some columns lies wholly within one of others, and would not by chance.

    >>> kreis, typ = ("1", "1", "2", "3"), ("x", "y", "y", "x")
    >>> have_inclusions(RecordCodes({"kreis": kreis, "typ": typ}, np.full(4, 30.0)), ("kreis",), ("typ",))
    True
    """
    first, second = records.numbers(one), records.numbers(two)
    return included(first, second, records.counts, INCLUDED_BITS) or included(
        second, first, records.counts, INCLUDED_BITS
    )


def crossed_pairs(
    dimensions: Sequence[Names], tables: Sequence[frozenset[str]]
) -> list[tuple[tuple[Names, ...], Names]]:
    """Dimensions that a table crosses, and each other one."""
    pairs = []
    for size in range(2, MOST_CROSSED + 1):
        for own in combinations(dimensions, size):
            fine = [name for part in own for name in part]
            if len(set(fine)) == len(fine) and any(table.issuperset(fine) for table in tables):
                pairs += [(own, two) for two in dimensions if not set(two) & set(fine)]
    return pairs


def have_crossed_inclusions(records: RecordCodes, one: Sequence[Names], two: Names) -> bool:
    """Whether a combination of codes lies wholly within a code of others, though fewer of its codes do not."""
    coarse = records.numbers(two)
    fewer = [tuple(name for part in own for name in part) for own in combinations(one, len(one) - 1)]
    news = np.logical_and.reduce([mixed(records.numbers(own), coarse) for own in fewer])
    fine = records.numbers(tuple(name for part in one for name in part))
    # A combination that no further column divides is in one place, however many records are there.
    return included(fine, coarse, records.counts, INCLUDED_BITS, news & _divided(records, fine))


def _divided(records: RecordCodes, fine: Places) -> Mask:
    """For each row whether its code is of several of the finest combinations of codes."""
    return mixed(fine, records.numbers(tuple(sorted(records.codes))))


def _ways(sizes: Numbers) -> Numbers:
    """For each of some units the bits of choosing so many out of all."""
    from scipy.special import gammaln

    whole = sizes.sum()
    return np.asarray((gammaln(whole + 1) - gammaln(sizes + 1) - gammaln(whole - sizes + 1)) / np.log(2.0))


def _components(one: Places, two: Places) -> Places:
    """For each row the number of the codes that hang together with its own."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    size = int(one.max(initial=0)) + 1
    nodes = size + int(two.max(initial=0)) + 1
    graph = coo_matrix((np.ones(len(one)), (one, two + size)), (nodes, nodes))
    return np.asarray(connected_components(graph, directed=False)[1][one], np.int64)


def odd_rows(
    records: RecordCodes, fine: Names, name: str, trees: Iterable[Tree] = (), fit: _Fit | None = None
) -> Mask | None:
    """The rows in which some columns do not determine another one, though they do in nearly all; None if they do not.

    Args:
        records: The records.
        fine: The columns that may determine it.
        name: The other column.
        trees: Hierarchies above the codes of the one fine column.
        fit: How few may be off.
    """
    odd, off, near = _off(records, fine, (name,), fit or _Fit())
    if off and near:
        # A Kreis of one large Gemeinde nearly tells it, but each Gemeinde tells its Kreis better.
        _, back, nearer = _off(records, (name,), fine, _Fit())
        return None if back < off and (nearer or not back) else odd
    if near:
        return odd
    if off:
        return None
    pairs = set(zip(records.codes[fine[0]], records.codes[name], strict=True))
    return odd if any(codes_within(tree, pairs) for tree in trees) else None


def _off(records: RecordCodes, fine: Names, coarse: Names, fit: _Fit) -> tuple[Mask, float, bool]:
    """The rows in which some columns do not determine others, how many records these are, and whether these are few."""
    odd, expected = _odd(records.numbers(fine), records.numbers(coarse), records.counts)
    off = float(records.counts[odd].sum())
    return odd, off, expected >= fit.least and off <= fit.off * expected


def _odd(fine: Places, coarse: Places, counts: Numbers) -> tuple[Mask, float]:
    """The rows whose coarse code is not that of most records of the fine one, and about how many records these were if
    both had nothing to do with each other."""
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
