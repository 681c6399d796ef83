"""An office's table with masks: what is said of it, and the protection levels that are kept with it."""

import numpy as np

from sfumato.tables.argus.office_table import ArgusTable
from sfumato.tables.argus.safety_rules import mask_office
from sfumato.tables.cells.system import make_constraints
from sfumato.tables.deadline import Deadline


def test_protection_levels_are_those_that_are_promised():
    """Beside an empty cell the unsafe one is its total, which is no less than a part that is known to be 1."""
    names = ("all", "others", "total", "unsafe", "empty", "one", "two")
    table = ArgusTable(
        "n",
        (),
        (),
        np.array([22.0, 20.0, 2.0, 2.0, 0.0, 1.0, 1.0]),
        np.array([1, 1, 1, 9, 14, 1, 1]),
        lower=np.array([0.0, 0, 0, 2, 0, 0, 0]),
        upper=np.array([0.0, 0, 0, 2, 0, 0, 0]),
        low=np.array([0.0, 0, 0, 0, 0, 1, 0]),
        given=make_constraints([([0, 1, 2], [-1, 1, 1]), ([2, 3, 4], [-1, 1, 1]), ([2, 5, 6], [-1, 1, 1])]),
        cell_names=names,
    )
    done = mask_office(table, "optimal", Deadline())
    assert done.table.lower is not None and done.table.upper is not None
    assert (done.table.lower[3], done.table.upper[3]) == (1, 2)
    assert (table.lower[3], table.upper[3]) == (2, 2)
    assert any(remark.endswith("unsafe (lower end, to everyone).") for remark in done.notes)
    assert not done.warnings
