"""Sets of codes of two columns that cover the same records although neither column determines the other."""

import numpy as np

from sfumato.tables.cells.cells import Numbers, Places
from sfumato.tables.nesting.record_codes import Names, RecordCodes

# By so many bits it must be less likely that codes of one column and of another are the same records than there are
# ways to choose such codes.
BITS = 10.0


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
