"""Local recoding by clusters of neighbors, for lattices too large to enumerate and any number of columns.

The rows are cut into blocks as Mondrian cuts them (by loss). In each block a class begins with one combination and
takes the one that adds least loss, until it has k rows (similar to Byun, J.-W. et al. (2007). Efficient k-anonymization
using clustering techniques, https://doi.org/10.1007/978-3-540-71703-4_18). Models beyond k-anonymity are satisfied by
Mondrian's own classes, which are evaluated as they are cut. No node of the lattice is ever listed.
"""

from collections.abc import Iterator

import numpy as np

from sfumato.microdata.methods.local_recoding import cluster_kernels
from sfumato.microdata.methods.local_recoding.sweep import Ints, Sweep
from sfumato.microdata.methods.mondrian.search import partition
from sfumato.microdata.plan.model import Plan

# Minimum rows of a block: more rows mean less loss and more time.
BLOCK_ROWS = 256


def neighborhoods(sweep: Sweep, plan: Plan) -> Iterator[Ints]:
    """Yield classes by neighborhood, as the class of each combination: Mondrian's own, and clusters within blocks."""
    problem = sweep.problem
    yield partition(plan, sweep.table, problem.k, problem.deadline)
    if problem.sizes_alone:
        least = min(max(BLOCK_ROWS, 4 * problem.k), sweep.table.rows)
        yield _clustered(sweep, partition(plan, sweep.table, least, problem.deadline))


def _clustered(sweep: Sweep, blocks: Ints) -> Ints:
    """Return the clusters of neighbors in each block."""
    table, problem = sweep.table, sweep.problem
    order = np.argsort(blocks, kind="stable")
    edges = np.searchsorted(blocks[order], np.arange(int(blocks.max()) + 2))
    owners = np.full(len(table.counts), -1, np.int64)
    levels = np.array(problem.lowest, np.int64), np.array(problem.highest, np.int64)
    number = 0
    with problem.deadline.flag() as stop:
        for block in range(len(edges) - 1):
            rows = order[edges[block] : edges[block + 1]]
            number = cluster_kernels.cluster_block(
                table.codes, table.counts, rows, problem.k, *levels, sweep.prices, owners, number, stop
            )
            sweep.tell(block + 1, len(edges) - 1)
    return owners
