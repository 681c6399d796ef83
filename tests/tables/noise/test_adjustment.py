"""Controlled tabular adjustment: unsafe cells are moved far enough, everything adds up, and nothing moves less."""

from itertools import product

import numpy as np
import pytest

from refusals import coded
from sfumato.errors import UnattainableError
from sfumato.tables.cells.system import Bounds, CellOrder, CellStatus, ProtectionLevels, make_constraints, make_table
from sfumato.tables.cells.table_part import TablePart
from sfumato.tables.deadline import within
from sfumato.tables.noise.adjustment import adjust_part

RELATIONS = make_constraints(
    [
        ([4, 0, 1], [-1, 1, 1]),
        ([5, 2, 3], [-1, 1, 1]),
        ([6, 0, 2], [-1, 1, 1]),
        ([7, 1, 3], [-1, 1, 1]),
        ([8, 4, 5], [-1, 1, 1]),
    ]
)


def part_of(inner, unsafe, reach, fixed=()):
    a, b, c, d = inner
    values = np.array([a, b, c, d, a + b, c + d, a + c, b + d, a + b + c + d], float)
    status = np.zeros(9, np.int8)
    status[list(unsafe)] = CellStatus.SENSITIVE
    span = np.full(9, float(reach))
    low = np.where(np.isin(np.arange(9), fixed), values, 0.0)
    high = np.where(np.isin(np.arange(9), fixed), values, np.inf)
    table = make_table(
        values,
        RELATIONS,
        status=status,
        costs=np.ones(9),
        bounds=Bounds(low, high),
        protection_levels=ProtectionLevels(span, span),
    )
    return TablePart(np.arange(9), table, table.bounds)


def least_change(part, reach):
    """Every table of small whole numbers is tried."""
    values, unsafe = part.table.values, part.table.sensitive
    a, b, c, d = np.array(list(product(range(10), repeat=4)), float).T
    tried = np.stack([a, b, c, d, a + b, c + d, a + c, b + d, a + b + c + d], axis=1)
    fits = ~((values == 0) & ~unsafe & (tried != 0)).any(axis=1)
    fits &= (np.abs(tried - values)[:, unsafe] >= reach).all(axis=1)
    return float(np.abs(tried - values)[fits].sum(axis=1).min())


@pytest.mark.parametrize(("inner", "unsafe"), [((1, 4, 2, 3), (0,)), ((1, 2, 3, 1), (0, 3)), ((2, 2, 1, 4), (1, 2))])
def test_nothing_moves_less(inner, unsafe):
    part = part_of(inner, unsafe, 2)
    done = adjust_part(part, within(20))
    moved = np.abs(done.published - part.table.values)
    assert (moved[list(unsafe)] >= 2).all()
    assert np.abs(RELATIONS.residuals(done.published)).max() == 0
    assert (done.published >= 0).all()
    assert done.figures["proved_optimal"]
    assert moved.sum() == pytest.approx(least_change(part, 2))


def test_what_cannot_move_is_said():
    with pytest.raises(UnattainableError, check=coded("unattainable.adjustment-infeasible")):
        adjust_part(part_of((1, 4, 2, 3), (0,), 2, fixed=(1, 2, 3, 4, 6)), within(20))


def test_a_reader_who_is_told_the_largest_move_knows_more():
    part = part_of((1, 4, 2, 3), (0,), 2)
    reader = adjust_part(part, within(20)).figures["informed_reader"]
    assert reader["largest_move"] == 2
    assert reader["computed"] == 9
    # The unsafe cell of 1 was moved to 3, by as much as any: it lies between 1 and 5, and should be anything from 0 on.
    assert reader["unsafe_too_narrow"] == 1


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_rows_does_not_matter(seed):
    part = part_of((3, 3, 3, 3), (0, 3), 2)
    order = CellOrder(np.random.default_rng(seed).permutation(9))
    mixed = adjust_part(TablePart(np.arange(9), order.table(part.table), part.public), within(20)).published
    assert order.back(mixed).tolist() == adjust_part(part, within(20)).published.tolist()
