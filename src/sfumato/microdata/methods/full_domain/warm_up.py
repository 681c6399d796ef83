"""Load the compiled loops of a full-domain search while an engine is still counting.

Loading them from the cache takes about a second in a new process, as long as a search over a million combinations.
"""

import numpy as np

from sfumato.hierarchies.any import AnyValue
from sfumato.microdata.counts.frequencies import Coding, FrequencyTable
from sfumato.microdata.losses.registry import prepare
from sfumato.microdata.methods.full_domain import optimal
from sfumato.microdata.methods.full_domain.lattice.problem import Problem
from sfumato.microdata.models.k_anonymity import KAnonymity
from sfumato.microdata.recoding.recoding import at_node


def warm_up() -> None:
    """Search a table of three rows."""
    coding = Coding(("a", "b"), np.arange(2, dtype=np.int32), AnyValue().bind(["a", "b"]).ladder)
    codes, counts = np.array([[0, 0], [1, 1]], np.int32), np.array([2, 1], np.int64)
    table = FrequencyTable(("a", "b"), (coding, coding), codes, counts, {}, {})
    problem = Problem(table, (KAnonymity(2),), prepare("loss-metric", table, (1.0, 1.0)), 1, (0, 0), (1, 1))
    grouped, owners = problem.grouper.rolled_with_owners(optimal.search(problem).best.node)
    at_node(table, problem.grouper, grouped, owners, problem.failing(grouped))
