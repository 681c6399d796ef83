"""Columns of records of which one determines another, as a Gemeinde its Kreis, whatever hierarchies say.

A few erroneous records do not matter: as far as nearly all records agree, the codes of one column are sums of those of
the other, and the exceptions are the small difference of these sums.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import numpy as np

from sfumato.tables.batch.variable_cycles import connected
from sfumato.tables.cells.dimensions import CodeTree
from sfumato.tables.column_dependencies.code_unions import have_unions
from sfumato.tables.column_dependencies.column_chain import Chain
from sfumato.tables.column_dependencies.contained_codes import have_crossed_inclusions, have_inclusions
from sfumato.tables.column_dependencies.functional_dependencies import (
    Dimensions,
    Link,
    crossed_dimensions,
    crossed_links,
    single_links,
    unexplained,
)
from sfumato.tables.column_dependencies.recoded_columns import ShownColumn, of_records, ways_of
from sfumato.tables.column_dependencies.record_codes import Names, RecordCodes, names_in


def determined_chains(
    records: RecordCodes,
    dimensions: Iterable[Names],
    hierarchies: Iterable[tuple[str, CodeTree]] = (),
    tables: Sequence[frozenset[str]] = (),
    shown: Sequence[Sequence[ShownColumn]] = (),
) -> tuple[Chain, ...]:
    """Return the sets of dependent columns, each with all combinations of codes that records have.

    Args:
        records: The records.
        dimensions: The columns of each dimension of the tables.
        hierarchies: Columns with a hierarchy above their codes.
        tables: The columns of each table: those it crosses may jointly determine another. A table that crosses two
            columns shows their relation itself, unless one determines the other.
        shown: For each table, the columns that it shows recoded or by upper levels.

    >>> records = RecordCodes({"kreis": ("1", "1", "2", "2"), "land": ("N", "N", "S", "S")}, np.full(4, 5.0))
    >>> [sorted(chain.rows) for chain in determined_chains(records, [("kreis",), ("land",)])]
    [[('1', 'N'), ('2', 'S')]]
    """
    distinct = sorted(set(dimensions))
    return chains_of(records, distinct, column_links(records, distinct, list(hierarchies), tables, shown))


def column_links(
    records: RecordCodes,
    dimensions: Sequence[Names],
    hierarchies: Sequence[tuple[str, CodeTree]],
    tables: Sequence[frozenset[str]],
    shown: Sequence[Sequence[ShownColumn]] = (),
) -> list[Link]:
    """Return the links between columns: by dependency, by some of their codes, or by what tables show."""
    links = _links(records, dimensions, hierarchies, tables)
    ways = ways_of(records, tables, shown)
    if ways is None:
        return links
    more = _links(ways.records, [*dimensions, *((name,) for name in ways.names)], [], ways.tables)
    return [*links, *(link for link in map(of_records, more) if len(link.columns) > 1)]


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
        own = [link for link in links if link.columns <= group]
        if own:
            chains.append(_chain(records, tuple(sorted(group)), own))
    return tuple(chains)


def _chain(records: RecordCodes, names: Names, links: Sequence[Link]) -> Chain:
    odd = np.logical_or.reduce([link.inconsistent for link in links])
    rows = records.rows(names)
    return Chain(names, frozenset(rows), frozenset(rows[place] for place in np.flatnonzero(odd)))


def _code_links(
    records: RecordCodes,
    dimensions: Sequence[Names],
    linked: Sequence[frozenset[str]],
    tables: Sequence[frozenset[str]],
) -> list[frozenset[str]]:
    """Return columns of which some codes, or combinations that a table crosses, are related to codes of another."""
    found = list[frozenset[str]]()
    pairs = [((one,), two) for one, two in combinations(dimensions, 2)]
    for some, last in (*pairs, *_crossed_pairs(dimensions, tables)):
        groups = connected([*linked, *found, *map(frozenset, dimensions)])
        if not _is_told(some, last, groups, tables) and _tell(records, some, last):
            found.append(frozenset((*names_in(some), *last)))
    return found


def _crossed_pairs(dimensions: Sequence[Names], tables: Sequence[frozenset[str]]) -> Iterator[tuple[Dimensions, Names]]:
    """Yield dimensions that a table crosses, with each other dimension."""
    for some in crossed_dimensions(dimensions, tables):
        yield from ((some, last) for last in dimensions if not set(last) & set(names_in(some)))


def _is_told(some: Dimensions, last: Names, groups: Sequence[frozenset[str]], tables: Sequence[frozenset[str]]) -> bool:
    """Return whether columns are linked already, or a table crosses them or columns linked to each of them."""
    if len(some) > 1:
        columns = {*names_in(some), *last}
        return any(own >= columns for own in (*groups, *tables))
    first, second = (next(group for group in groups if own[0] in group) for own in (*some, last))
    return first == second or any(first & own and second & own for own in tables)


def _tell(records: RecordCodes, some: Dimensions, last: Names) -> bool:
    """Return whether codes are contained in codes of the last columns; for single dimensions in either direction."""
    if len(some) > 1:
        return have_crossed_inclusions(records, some, last)
    return have_unions(records, some[0], last) or have_inclusions(records, some[0], last)
