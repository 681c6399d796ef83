"""Attacker knowledge that a suppression pattern implies: suppressed cells are not 0; cells of single respondents."""

from typing import Any

import numpy as np

from sfumato.tables.cells.system import BoolArray, Bounds, CellStatus, Insider, Numbers, Places, ProtectionLevels
from sfumato.tables.cells.table_part import TablePart
from sfumato.tables.protection_levels.insiders import thickened
from sfumato.tables.protection_levels.resolve_plan import with_parts
from sfumato.values import replace


def with_own_contributions(part: TablePart) -> TablePart:
    """Give insiders who are alone in a cell their contribution to all cells that must contain them.

    A table does not show which cells contain the contribution of a respondent; two cases follow from the implicit
    cells. If all implicit cells below a cell are below the cell of the respondent, the respondent is its only
    contributor. If all implicit cells below the cell of the respondent are below another cell, that cell contains the
    contribution.
    """
    if part.hidden is None or not part.knowledge.attackers:
        return part
    below = _with_totals(part, _below(part, part.hidden), part.hidden)
    attackers = tuple(_with_own(part, below, attacker) for attacker in part.knowledge.attackers)
    return replace(part, knowledge=replace(part.knowledge, attackers=attackers))


def _below(part: TablePart, unshown: BoolArray) -> Any:
    """Return which implicit cells are below each finest cell of a table, as a sparse matrix of ones."""
    from scipy.sparse import csr_matrix

    relations, size = part.table.constraints, len(part.table)
    owners = np.repeat(np.arange(len(relations)), np.diff(relations.starts))
    totals = np.zeros(len(relations), np.int64)
    totals[owners[relations.coefs < 0]] = relations.cells[relations.coefs < 0]
    crossed = unshown[relations.cells]
    entries = (totals[owners[crossed]], relations.cells[crossed])
    return _ones(csr_matrix((np.ones(int(crossed.sum())), entries), shape=(size, size)))


def _with_totals(part: TablePart, below: Any, unshown: BoolArray) -> Any:
    """Return which implicit cells are below totals, too, if all parts of the total are empty or consist of them."""
    relations = part.table.constraints.without(unshown)
    empty = (part.table.values == 0) & (part.table.status == CellStatus.PUBLISH)
    matrix = relations.matrix(len(part.table))
    totals, parts = (matrix < 0).astype(np.float64), (matrix > 0).astype(np.float64)
    before = -1
    while below.nnz != before:
        before = below.nnz
        there = (np.diff(below.indptr) > 0) | empty
        whole = np.flatnonzero(parts @ (~there).astype(np.float64) == 0)
        below = _ones(below + totals[whole].T @ (parts[whole] @ below))
    return below


def _ones(matrix: Any) -> Any:
    matrix = matrix.tocsr()
    matrix.data[:] = 1.0
    return matrix


def _with_own(part: TablePart, below: Any, attacker: Insider) -> Insider:
    counts = np.diff(below.indptr)
    alone = attacker.cells[attacker.bounds.low == attacker.bounds.high]
    alone = alone[counts[alone] > 0]
    if not len(alone):
        return attacker
    his = np.asarray(below[alone].sum(axis=0)).ravel() > 0
    nobody_else = (counts > 0) & (below @ his.astype(np.float64) == counts)
    around = ((below @ below[alone].T).toarray() == counts[alone]).any(axis=1)
    own = np.setdiff1d(np.flatnonzero(nobody_else | around), attacker.cells)
    least = np.where(around[own], np.abs(part.table.values[alone]).min(), 0.0)
    return _with_cells(part, attacker, own, np.where(nobody_else[own], part.table.values[own], least), around[own])


def _with_cells(part: TablePart, attacker: Insider, own: Places, amounts: Numbers, sure: BoolArray) -> Insider:
    """Add further cells to an attacker; only contributions of others are protected against them."""
    table, cells = part.table, np.concatenate([attacker.cells, own])
    others, order = np.maximum(table.values[own] - amounts, 0.0), np.argsort(cells)
    low = np.where(sure, np.maximum(table.bounds.low[own], amounts), table.bounds.low[own])
    down = np.minimum(table.protection_levels.lower[own], others)
    up = np.where(others > 0, table.protection_levels.upper[own], 0.0)
    return Insider(
        attacker.name,
        attacker.kind,
        cells[order],
        Bounds(np.append(attacker.bounds.low, low), np.append(attacker.bounds.high, table.bounds.high[own])).rows(
            order
        ),
        ProtectionLevels(np.append(attacker.reach.lower, down)[order], np.append(attacker.reach.upper, up)[order]),
    )


def as_shown(part: TablePart, mask: BoolArray) -> TablePart:
    """Return the table with the bounds of attackers who see its zeros and infer that no suppressed cell is 0.

    Returns:
        The part itself if this narrows no bounds, or if a suppressed cell is 0, so that the inference would be wrong.
    """
    shown = np.ones(len(mask), bool) if part.hidden is None else ~part.hidden
    zeros, mask = (part.table.values == 0) & shown, mask & shown
    least = np.where(mask, part.knowledge.precision, -np.inf)
    narrower = (least > part.table.bounds.low) | (least > part.public.low)
    if not part.inferred or (part.table.bounds.low[shown] < 0).any() or not narrower.any():
        return part
    if (zeros & mask).any() or not (zeros & ~mask).any():
        return part
    table = part.table
    bounds, public = (
        with_parts(Bounds(np.maximum(one.low, least), one.high), table.constraints, table.values)
        for one in (table.bounds, part.public)
    )
    reach = thickened(table.values, table.sensitive, bounds, table.protection_levels, part.knowledge.precision)
    return replace(part, table=table.with_columns(bounds=bounds, protection_levels=reach), public=public)


def with_zeros_published(part: TablePart) -> TablePart:
    """Return the part with the restriction that no safe cell of value 0 may be suppressed."""
    safe = (part.table.values == 0) & (part.table.status == CellStatus.SAFE)
    if part.suppressed_before is not None:
        safe &= ~part.suppressed_before
    status = np.where(safe, CellStatus.PUBLISH, part.table.status).astype(np.int8)
    return replace(part, table=part.table.with_columns(status=status))
