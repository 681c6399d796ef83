"""Compute the widths of ranges from public information alone: the plan, the published cells, and what they allow.

A width computed from hidden values would reveal them. So it is the most that the rules of the plan can require for any
cell in the same component, sensitive or not, with the largest value that the rule allows a sensitive cell, or else the
largest that a reader considers possible.
"""

import math

import numpy as np

from sfumato.tables.cells.system import BoolArray, Bounds, Places, no_bounds
from sfumato.tables.cells.table_part import PublicRuleInfo, TablePart
from sfumato.tables.deadline import Deadline
from sfumato.tables.interval_publication.interval_grid import (
    IntervalReader,
    Span,
    ValueClasses,
    clusters,
    draw,
    free_cells,
    rounded_up,
)


def class_ranges(part: TablePart, masked: BoolArray, deadline: Deadline | None = None) -> Bounds:
    """The ranges of some masked cells; not a number where the reader is left with what he computes.

    Cells that hang together get ranges together or, where the time is over, not at all.
    """
    end = deadline or Deadline()
    cluster = clusters(part.table.constraints, masked)
    ranges = no_bounds(len(masked))
    for number in range(cluster.max(initial=-1) + 1):
        for cell, span in _together(part, np.flatnonzero(cluster == number), end).items():
            ranges.low[cell], ranges.high[cell] = span
    return ranges


def _together(part: TablePart, cells: Places, deadline: Deadline) -> dict[int, Span]:
    """The ranges of cells that hang together; none where one who knows the method would narrow any of them too far."""
    table = part.table
    reader = IntervalReader(table.constraints, table.values, cells, part.public)
    step = part.knowledge.precision
    before = _spans(reader, cells, deadline)
    if before is None:
        return {}
    reach = _reach(part.terms, max(max(abs(low), abs(high)) for low, high in before), step)
    if not math.isfinite(reach):
        return {}
    grid = ValueClasses(reach, step, part.terms.zone)
    ranges = draw(reader, table.values, free_cells(table.constraints, cells), grid, deadline)
    if ranges is None:
        return {}
    after = _spans(reader, cells, deadline)
    narrow = after is None or any(
        _width(new) < min(2 * reach, _width(old)) - step / 2 for new, old in zip(after, before, strict=True)
    )
    return {} if narrow else {cell: span for cell, (span, _) in ranges.items()}


def _spans(reader: IntervalReader, cells: Places, deadline: Deadline) -> list[Span] | None:
    """What a reader holds possible of cells; None when the time is over."""
    spans: list[Span] = []
    for cell in cells.tolist():
        if deadline.over:
            return None
        spans.append(reader.span(cell))
    return spans


def _reach(terms: PublicRuleInfo, size: float, step: float) -> float:
    """The most that any of some cells can need, in round numbers."""
    most = max((margin.of(size) for margin in terms.margins), default=0.0)
    return rounded_up(max(most, step), 1) if math.isfinite(most) else math.inf


def _width(span: Span) -> float:
    return span[1] - span[0]
