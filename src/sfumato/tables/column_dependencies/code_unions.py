"""Sets of codes of two columns that cover the same records although neither column determines the other."""

import numpy as np

from sfumato.tables.cells.cells import Numbers, Places
from sfumato.tables.column_dependencies.record_codes import Names, RecordCodes

# Bits by which coinciding sets of records must be less likely than the number of ways to choose such codes.
BITS = 10.0


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
