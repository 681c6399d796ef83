"""Round one table as its plan says, and compute what a reader can infer."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sfumato.errors import PlanError
from sfumato.tables.cells.cell_order import order_of
from sfumato.tables.cells.cells import BoolArray, Bounds, Numbers, Places
from sfumato.tables.cells.finest_cells import inner_sums
from sfumato.tables.cells.precision import ValueUnit
from sfumato.tables.cells.table_part import TablePart
from sfumato.tables.deadline import Deadline
from sfumato.tables.perturbation.feasibility_intervals import feasibility_intervals
from sfumato.tables.perturbation.perturbed import PerturbedCells
from sfumato.tables.plan.perturbation import Rounding
from sfumato.tables.rounding.controlled import Rounded, round_controlled
from sfumato.tables.rounding.independent import round_nearest, round_randomly
from sfumato.tables.rounding.small_counts import round_small_counts

# The share of the time that is for the search; the rest is for what readers compute.
SEARCH = 0.7


def round_part(
    part: TablePart, rounding: Rounding, bases: Numbers, chances: Numbers, deadline: Deadline
) -> PerturbedCells:
    """Round one table.

    Args:
        bases: The base of each cell.
        chances: A number from 0 to 1 for each cell, for random rounding.

    Raises:
        PlanError: The base is finer than the table.
        UnattainableError: Nothing adds up, or the time was over.
    """
    step = part.knowledge.precision
    if (bases < step * (1 - 1e-9)).any():
        raise PlanError(
            f"the base of rounding lies below the table's own precision, {step:g}.", "Take a larger one.", "base"
        )
    shown = np.ones(len(part.table), bool) if rounding.inner else ~part.finest
    rounded = _rounded(part, rounding, bases, chances, shown, deadline.share(SEARCH))
    start = known_ranges(rounding, rounded.published, bases, step, part, rounded.steps)
    reader = feasibility_intervals(
        start, part.table.constraints, part.table.sensitive, step, deadline, part.table.values
    )
    published = np.array(ValueUnit(step).clean(rounded.published.tolist()))
    return PerturbedCells(part, published, shown, reader.ranges, reader.attained, _figures(rounding, rounded))


def _rounded(
    part: TablePart, rounding: Rounding, bases: Numbers, chances: Numbers, shown: BoolArray, deadline: Deadline
) -> Rounded:
    values, order = part.table.values, order_of(part.table)
    own, relations = values[order.cells], order.relations(part.table.constraints)
    if rounding.kind == "controlled":
        rounded = round_controlled(own, bases[order.cells], relations, rounding.steps, deadline)
        return replace(rounded, published=order.back(rounded.published))
    if rounding.kind == "small-count":
        rounded = round_small_counts(own, float(bases.max(initial=0.0)), relations, shown[order.cells], deadline)
        return replace(rounded, published=order.back(rounded.published))
    random = rounding.kind == "random"
    published = round_randomly(values, bases, chances) if random else round_nearest(values, bases)
    change = float(np.abs(published - values).sum())
    return Rounded(published, 0, change, change)


def known_ranges(
    rounding: Rounding, published: Numbers, bases: Numbers, step: float, part: TablePart, steps: int = 0
) -> Bounds:
    """Between which values each cell lies by its published number alone, to one who knows kind and base."""
    if rounding.kind == "small-count":
        return _around_small(published, bases, step, part, rounding.inner)
    if rounding.kind == "deterministic":
        down, up = bases / 2, bases / 2 - step * _even(bases, step)
    else:
        down = up = bases * (1 + steps) - step
    low = np.maximum(published - down, part.table.bounds.low)
    return Bounds(low, np.maximum(published + up, low))


def _even(bases: Numbers, step: float) -> Numbers:
    """1 where half a base is a number of the table, which is rounded up; else 0: ends are put on the grid later."""
    halves = bases / 2 / step
    return np.where(np.abs(halves - np.round(halves)) < 1e-6, 1.0, 0.0)


def _around_small(published: Numbers, bases: Numbers, step: float, part: TablePart, inner: bool) -> Bounds:
    """Small inner cells became 0 or the base, all others are themselves; totals are known by their parts.

    Where inner cells are not published, a total is off by less than a base for each of them.
    """
    finest = part.finest
    many = np.asarray(inner_sums(part.table.constraints, len(published)).matrix.sum(axis=1)).ravel()
    reach = many * (bases - step)
    low, high = np.maximum(published - reach, 0.0), published + reach
    if inner:
        low = np.where(finest, np.where(published == bases, step, published), low)
        high = np.where(finest, np.where(published == 0, bases - step, published), high)
    else:
        high = np.where(finest, published.max(initial=0.0) + reach.max(initial=0.0), high)
        low = np.where(finest, 0.0, low)
    return Bounds(low, high)


def bases_of(base: float, size: int, cells: Sequence[tuple[float | None, Places]] = ()) -> Numbers:
    """The base of each cell; one that stands in several tables has a base that is a multiple of all of theirs.

    >>> bases_of(5, 3, [(None, np.array([0, 1])), (3, np.array([1, 2]))]).tolist()
    [5.0, 15.0, 3.0]
    """
    bases = np.zeros(size)
    for own, places in cells:
        for place in places:
            bases[place] = _common(bases[place], own or base)
    return np.where(bases == 0, base, bases)


def _common(one: float, other: float) -> float:
    if not one:
        return other
    # Bases of up to six decimals as whole numbers.
    return math.lcm(round(one * 10**6), round(other * 10**6)) / 10**6


def _figures(rounding: Rounding, rounded: Rounded) -> dict[str, object]:
    figures: dict[str, object] = {"kind": rounding.kind, "base": rounding.base}
    if rounding.kind == "controlled":
        figures["further_steps"] = rounded.steps
    if rounding.kind in ("controlled", "small-count"):
        figures |= {"proved_optimal": rounded.proved, "bound": round(rounded.bound, 6)}
    return figures
