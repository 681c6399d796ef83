"""Which tables are of the same records and so must be attacked together, and what they give away."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

from sfumato.errors import UnattainableError
from sfumato.tables.argus.office_table import ArgusTable
from sfumato.tables.cells.dimensions import CodeTree
from sfumato.tables.cells.system import make_constraints
from sfumato.tables.deadline import within
from sfumato.tables.formats.argus_outputs import Protected
from sfumato.tables.linked.audit import audit_together
from sfumato.tables.linked.cells import same_records
from sfumato.tables.linked.ties import possible_values

TOTAL = ("T",)


def line(cells, origins=None):
    tree = CodeTree("x", TOTAL, {(code,): TOTAL for code in cells})
    keys = (((TOTAL),), *(((code,),) for code in cells))
    values = np.array([sum(cells.values()), *cells.values()], float)
    statuses = np.ones(len(values), np.int64)
    return ArgusTable("v", (tree,), keys, values, statuses, origins={"x": origins} if origins else {})


def test_a_new_code_that_is_called_like_an_old_one_is_not_taken_for_it():
    fine = line({"1": 901, "2": 365, "3": 290, "4": 372})
    coarse = line({"1": 1266, "2": 662}, {"1": frozenset("12"), "2": frozenset("34")})
    assert same_records([fine, coarse]) == [[0, 1]]


@pytest.mark.parametrize(("other", "groups"), [(0.0, [[0, 1]]), (1.0, [[0], [1]])])
def test_a_common_total_of_0_tells_as_much_as_another(other, groups):
    origins = {"ad": frozenset("ad"), "bc": frozenset("bc")}
    coarse = line({"ad": 709, "bc": -709 + other}, origins)
    assert same_records([line({"a": 1000, "b": 285, "c": -994, "d": -291}), coarse]) == groups


def test_tables_of_one_source_are_of_the_same_records():
    tables = [line({"a": 5, "b": 6}), line({"a": 7, "b": 9})]
    assert same_records(tables) == same_records(tables, [None, None]) == same_records(tables, ["m", "n"]) == [[0], [1]]
    assert same_records(tables, ["m", "m"]) == [[0, 1]]


GROUPS = {"A": ["a1", "a2", "a3"], "B": ["b1", "b2"]}
COUNTS = {
    "a1yv": 12, "a1yw": 1, "a1zu": 1, "a1zv": 6, "a2xw": 12, "a2yv": 3, "a2zv": 2, "a3zu": 6, "a3zw": 1,
    "b1xu": 3, "b1yu": 12, "b2xu": 12, "b2yu": 3,
}  # fmt: skip
# Masks that withstand every reader but one of all three tables.
MASKS = {
    "ab": "a1T a1y a1z a2T a2y a2z a3T a3z",
    "bc": "xu xw yu yw zu zw",
    "ac": "a1T a1u a1w a2T a2w a3T a3u a3w",
}


def crossed(names, more=None, unit=1):
    """A table of the counts with its masks; some may be more, and all are rounded to a unit."""
    parents = {(code,): (group,) for group, codes in GROUPS.items() for code in codes}
    trees = {
        "a": CodeTree("a", TOTAL, {**dict.fromkeys([("A",), ("B",)], TOTAL), **parents}),
        "b": CodeTree("b", TOTAL, {(code,): TOTAL for code in "xyz"}),
        "c": CodeTree("c", TOTAL, {(code,): TOTAL for code in "uvw"}),
    }
    values = Counter()
    for codes, count in (Counter(COUNTS) + Counter(more or {})).items():
        record = {"a": (codes[:2],), "b": (codes[2],), "c": (codes[3],)}
        chains = [{record[name], trees[name].parents[record[name]], TOTAL} for name in names]
        for key in product(*chains):
            values[key] += unit * round(count / unit)
    hidden = [bool({"".join(code for (code,) in key)} & {*MASKS[names].split()}) for key in values]
    unsafe = np.array([hit and count < 3 for hit, count in zip(hidden, values.values(), strict=True)])
    statuses = np.where(unsafe, 3, np.where(hidden, 11, 1))
    own = tuple(trees[name] for name in names)
    return Protected(ArgusTable("v", own, tuple(values), np.array([*values.values()], float), statuses), "masks")


def test_tables_are_attacked_by_the_cross_that_none_of_them_shows():
    assert audit_together([crossed(names) for names in MASKS], within(20)).leaks == 4
    for left_out in MASKS:
        assert not audit_together([crossed(names) for names in MASKS if names != left_out], within(20)).leaks


def test_cells_that_were_revised_do_not_keep_the_cross_from_being_attacked():
    revised = [crossed("ab", {"a1yv": 1}), crossed("bc"), crossed("ac")]
    audit = audit_together(revised, within(20))
    assert audit.differing and audit.leaks == 4 and not audit.not_audited


def test_a_cross_of_tables_that_differ_everywhere_is_said_to_be_unattacked():
    audit = audit_together([crossed("ab"), crossed("bc"), crossed("ac", unit=10)], within(20))
    assert audit.differing and audit.not_audited == ("a by b by c",)


# A total of three parts, of which two make a part of another table.
TIES = make_constraints([([0, 1, 2, 3], [-1, 1, 1, 1]), ([4, 1, 2], [-1, 1, 1])])


def test_values_that_are_all_shown_are_handed_back():
    values = np.array([6.0, 1, 2, 3, 3])
    assert possible_values(values, np.ones(5, bool), TIES, 1.0, 0.0) is values


@pytest.mark.parametrize("step", [1.0, 0.01])
def test_unshown_cells_get_whole_steps_that_add_up(step):
    values = np.array([600, np.nan, 200, 300, np.nan]) * step
    filled = possible_values(values, ~np.isnan(values), TIES, step, 0.0)
    assert filled == pytest.approx(np.array([600, 100, 200, 300, 300]) * step)
    assert np.isnan(values).sum() == 2, "what was handed over is left as it was"


def test_below_nothing_is_possible_only_where_something_shown_is():
    free = np.array([5.0, np.nan, 0, 9, np.nan])
    with pytest.raises(UnattainableError) as caught:
        possible_values(free, ~np.isnan(free), TIES, 1.0, 0.0)
    assert caught.value.code.endswith("joint-size")
    below = np.array([5.0, np.nan, -1, 9, np.nan])
    assert possible_values(below, ~np.isnan(below), TIES, 1.0, 0.0)[[1, 4]].tolist() == [-3, -4]


def test_totals_may_be_rounded_as_far_as_is_said():
    rounded = np.array([11.0, np.nan, 6, 6, np.nan])
    with pytest.raises(UnattainableError):
        possible_values(rounded, ~np.isnan(rounded), TIES, 1.0, 0.5)
    assert possible_values(rounded, ~np.isnan(rounded), TIES, 1.0, 1.0)[1] == 0
