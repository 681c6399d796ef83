"""Find columns of records that determine another, as a municipality determines its district, without hierarchies.

The search allows a few erroneous records: if nearly all records agree, the codes of one column are sums of those of
the other, and the exceptions are the small residual of these sums.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations, product

import numpy as np

from sfumato.tables.cells.dimensions import Code, CodeTree
from sfumato.tables.cells.system import BoolArray, Numbers, Places
from sfumato.tables.linked.records import (
    Chain,
    Dimensions,
    Link,
    Names,
    RecordCodes,
    connected,
    crossed_dimensions,
    crossed_links,
    names_in,
    single_links,
    unexplained,
)
from sfumato.values import Value

# Separator between the name of a column and the number of its view; no column name contains it.
WAY = "\x1e"


class ShownColumn(Value):
    """A column of records as a table shows it.

    Dependencies are searched among the codes that a table shows, which cover many records. Raw codes may cover one
    record each, so that a dependency between them proves nothing.

    Attributes:
        codes: The code that the table shows for each row.
        instead: Whether the table does not show the original codes.
    """

    column: str
    codes: tuple[str, ...]
    instead: bool = False


def _with_views(
    records: RecordCodes, tables: Sequence[frozenset[str]], shown: Sequence[Sequence[ShownColumn]]
) -> tuple[RecordCodes, Names, list[frozenset[str]]]:
    """Return the records with a column for each view of tables, these columns, and those of each table once per choice
    of views.

    Args:
        shown: For each table, the columns that it shows recoded.
    """
    ways = dict.fromkeys((one.column, one.codes) for own in shown for one in own)
    names = {way: f"{way[0]}{WAY}{place}" for place, way in enumerate(ways)}
    codes = RecordCodes({**records.codes, **{name: own for (_, own), name in names.items()}}, records.counts)
    choices = [
        choice
        for columns, own in zip(tables, shown, strict=True)
        for choice in _choices(columns, own, [names[one.column, one.codes] for one in own])
    ]
    return codes, tuple(names.values()), choices


def _choices(columns: Iterable[str], shown: Sequence[ShownColumn], names: Sequence[str]) -> list[frozenset[str]]:
    """Return the columns of a table for each choice among their views."""
    ways = {column: [column] for column in columns}
    for one in shown:
        ways[one.column] = [] if one.instead else ways[one.column]
    for one, name in zip(shown, names, strict=True):
        ways[one.column].append(name)
    return list(map(frozenset, product(*ways.values())))


def _of_records(link: Link) -> Link:
    """Return a link with the original column names."""
    fine = tuple(name.partition(WAY)[0] for name in link.fine)
    return Link(frozenset(name.partition(WAY)[0] for name in link.columns), link.inconsistent, fine)


def upper_levels(column: str, tree: CodeTree, codes: Sequence[str]) -> list[ShownColumn]:
    """Return a column by each hierarchy level above its finest codes; a code on a higher level stays itself.

    >>> tree = CodeTree("gem", ("T",), {("N",): ("T",), ("S",): ("T",), ("a",): ("N",)})
    >>> [one.codes for one in upper_levels("gem", tree, ["a", "S", "a"])]
    [('N', 'S', 'N')]
    """
    paths = {code: _path(tree, (code,)) for code in set(codes)}
    deepest = max(map(len, paths.values()), default=0)
    return [
        ShownColumn(column, tuple(paths[code][min(level, len(paths[code])) - 1] for code in codes))
        for level in range(1, deepest)
    ]


def _path(tree: CodeTree, code: Code) -> list[str]:
    """Return a code and its ancestors without the total, from the top down."""
    path = [code[0]]
    while code in tree.parents and tree.parents[code] != tree.root:
        code = tree.parents[code]
        path.insert(0, code[0])
    return path


# Bits of evidence needed that a code is contained in another beyond chance: there are many combinations of codes, and
# columns about the same people are never independent.
INCLUDED_BITS = 20.0
# Records that no further column distinguishes may have one common cause, so each proves less.
UNDIVIDED_BITS = 60.0
# Bits by which coinciding sets of records must be less likely than the number of ways to choose such codes.
BITS = 10.0


def determined_chains(
    records: RecordCodes,
    dimensions: Iterable[Names],
    hierarchies: Iterable[tuple[str, CodeTree]] = (),
    tables: Sequence[frozenset[str]] = (),
) -> tuple[Chain, ...]:
    """Return the sets of dependent columns, each with all combinations of codes that records have.

    Args:
        dimensions: The columns of each dimension of the tables.
        hierarchies: Columns with a hierarchy above their codes.
        tables: The columns of each table: those it crosses may jointly determine another. A table that crosses two
            columns shows their relation itself, unless one determines the other.

    >>> records = RecordCodes({"kreis": ("1", "1", "2", "2"), "land": ("N", "N", "S", "S")}, np.full(4, 5.0))
    >>> [sorted(chain.rows) for chain in determined_chains(records, [("kreis",), ("land",)])]
    [[('1', 'N'), ('2', 'S')]]
    """
    distinct = sorted(set(dimensions))
    return chains_of(records, distinct, column_links(records, distinct, list(hierarchies), tables))


def column_links(
    records: RecordCodes,
    dimensions: Sequence[Names],
    hierarchies: Sequence[tuple[str, CodeTree]],
    tables: Sequence[frozenset[str]],
    shown: Sequence[Sequence[ShownColumn]] = (),
) -> list[Link]:
    """Return the links between columns: by dependency, by some of their codes, or by what tables show."""
    links = _links(records, dimensions, hierarchies, tables)
    if not any(shown):
        return links
    viewed, names, choices = _with_views(records, tables, shown)
    more = _links(viewed, [*dimensions, *((name,) for name in names)], [], choices)
    return [*links, *(link for link in map(_of_records, more) if len(link.columns) > 1)]


def _links(
    records: RecordCodes,
    dimensions: Sequence[Names],
    hierarchies: Sequence[tuple[str, CodeTree]],
    tables: Sequence[frozenset[str]],
) -> list[Link]:
    names = sorted({name for own in dimensions for name in own})
    links = single_links(records, dimensions, names, hierarchies)
    links = unexplained([*links, *crossed_links(records, dimensions, tables, names, links)])
    none = np.zeros(len(records.counts), bool)
    for columns in _code_links(records, dimensions, [link.columns for link in links], tables):
        links.append(Link(columns, none))
    return links


def chains_of(records: RecordCodes, dimensions: Sequence[Names], links: Sequence[Link]) -> tuple[Chain, ...]:
    """Return the connected groups of columns, with all combinations of their codes."""
    levels = [frozenset(own) for own in dimensions if len(own) > 1]
    chains = []
    for group in connected([*(link.columns for link in links), *levels]):
        own = [link.inconsistent for link in links if link.columns <= group]
        if own:
            rows = records.rows(tuple(sorted(group)))
            odd = np.flatnonzero(np.logical_or.reduce(own))
            chains.append(Chain(tuple(sorted(group)), frozenset(rows), frozenset(rows[place] for place in odd)))
    return tuple(chains)


def _code_links(
    records: RecordCodes,
    dimensions: Sequence[Names],
    linked: Sequence[frozenset[str]],
    tables: Sequence[frozenset[str]],
) -> list[frozenset[str]]:
    """Return columns of which some codes, or combinations that a table crosses, are related to codes of another."""
    found = list[frozenset[str]]()
    pairs = [((one,), two) for one, two in combinations(dimensions, 2)]
    crossed = [
        (some, last)
        for some in crossed_dimensions(dimensions, tables)
        for last in dimensions
        if not set(last) & set(names_in(some))
    ]
    for some, last in (*pairs, *crossed):
        groups = connected([*linked, *found, *map(frozenset, dimensions)])
        if not _is_shown(some, last, groups, tables) and _is_related(records, some, last):
            found.append(frozenset((*names_in(some), *last)))
    return found


def _is_shown(
    some: Dimensions, last: Names, groups: Sequence[frozenset[str]], tables: Sequence[frozenset[str]]
) -> bool:
    """Return whether columns are linked already, or a table crosses them or columns linked to each of them."""
    if len(some) > 1:
        columns = {*names_in(some), *last}
        return any(own >= columns for own in (*groups, *tables))
    first, second = (next(group for group in groups if own[0] in group) for own in (*some, last))
    return first == second or any(first & own and second & own for own in tables)


def _is_related(records: RecordCodes, some: Dimensions, last: Names) -> bool:
    """Return whether codes are contained in codes of the last columns; for single dimensions in either direction."""
    if len(some) > 1:
        return have_crossed_inclusions(records, some, last)
    return have_unions(records, some[0], last) or have_inclusions(records, some[0], last)


def have_unions(records: RecordCodes, one: Names, two: Names) -> bool:
    """Return whether several codes of one dimension cover exactly the records of codes of another, beyond
    chance.

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


def _ways(sizes: Numbers) -> Numbers:
    """Return the information, in bits, of choosing each unit's number of elements out of all."""
    from scipy.special import gammaln

    whole = sizes.sum()
    return np.asarray((gammaln(whole + 1) - gammaln(sizes + 1) - gammaln(whole - sizes + 1)) / np.log(2.0))


def _components(one: Places, two: Places) -> Places:
    """Return for each row the number of the connected component of its codes."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    size = int(one.max(initial=0)) + 1
    nodes = size + int(two.max(initial=0)) + 1
    graph = coo_matrix((np.ones(len(one)), (one, two + size)), (nodes, nodes))
    return np.asarray(connected_components(graph, directed=False)[1][one], np.int64)


# A Kreis of towns alone is a subset of the towns, while others are mixed: no sum follows, but its cells are never
# larger than those of the towns. A code of few records may be included by chance, which proves nothing.
def included(fine: Places, coarse: Places, counts: Numbers, bits: float, news: BoolArray | None = None) -> bool:
    """Return whether a code is contained in one of another column, with at least the given bits of evidence.

    Args:
        fine: The number of the code in each row.
        coarse: That of the other column.
        counts: The number of records of each row.
        bits: The evidence needed.
        news: The rows whose codes are tested; all by default.

    >>> fine, coarse = np.array([0, 0, 1]), np.array([0, 1, 1])
    >>> included(fine, coarse, np.full(3, 50.0), 10.0), included(fine, coarse, np.full(3, 2.0), 10.0)
    (True, False)
    """
    whole = ~mixed(fine, coarse) if news is None else ~mixed(fine, coarse) & news
    sizes, shares = np.bincount(fine, counts), np.bincount(coarse, counts) / max(float(counts.sum()), 1.0)
    # The first record of a code determines its container; the others provide the evidence.
    evidence = (sizes[fine] - 1.0) * -np.log2(shares[coarse]) - np.log2(len(sizes))
    return bool((evidence[whole] >= bits).any())


def mixed(fine: Places, coarse: Places) -> BoolArray:
    """Return for each row whether its code occurs with several codes of the other column.

    >>> mixed(np.array([0, 0, 1]), np.array([0, 1, 1])).tolist()
    [True, True, False]
    """
    other = np.zeros(int(fine.max(initial=0)) + 1, np.int64)
    other[fine] = coarse
    return np.asarray(np.bincount(fine, other[fine] != coarse) > 0)[fine]


def have_inclusions(records: RecordCodes, one: Names, two: Names) -> bool:
    """Return whether a code of one dimension is contained in one of the other, beyond chance.

    >>> kreis, typ = ("1", "1", "2", "3"), ("x", "y", "y", "x")
    >>> have_inclusions(RecordCodes({"kreis": kreis, "typ": typ}, np.full(4, 30.0)), ("kreis",), ("typ",))
    True
    """
    first, second = records.numbers(one), records.numbers(two)
    return included(first, second, records.counts, INCLUDED_BITS) or included(
        second, first, records.counts, INCLUDED_BITS
    )


def have_crossed_inclusions(records: RecordCodes, one: Sequence[Names], two: Names) -> bool:
    """Return whether a combination of codes is contained in a code of others, although fewer of its codes are not."""
    coarse = records.numbers(two)
    fewer = [names_in(own) for own in combinations(one, len(one) - 1)]
    news = np.logical_and.reduce([mixed(records.numbers(own), coarse) for own in fewer])
    fine = records.numbers(names_in(one))
    divided = mixed(fine, records.numbers(tuple(sorted(records.codes))))
    return included(fine, coarse, records.counts, INCLUDED_BITS, news & divided) or included(
        fine, coarse, records.counts, UNDIVIDED_BITS, news
    )
