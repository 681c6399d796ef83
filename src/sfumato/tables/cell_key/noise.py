"""Add noise to one table by the keys of its cells: counts by a perturbation table, sums by largest contributions.

The same set of records has the same key, and so the same noise, in every table (Fraser and Wooton 2005). Zeros remain
zeros unless the plan says otherwise. The noise is bounded, but not additive: a reader who adds cells up learns more
than from one cell, which `differences` measures.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.errors import DataError, PlanError
from sfumato.localization.messages import Message
from sfumato.tables.cell_key.key_distribution import check_spread, distribution_of
from sfumato.tables.cell_key.possible_counts import SURE, possible_counts, reader_counts
from sfumato.tables.cell_key.ptable import Ptable, remarks
from sfumato.tables.cells.constraints import ValueUnit, finest_of
from sfumato.tables.cells.system import BoolArray, Bounds, Numbers
from sfumato.tables.cells.table_part import TablePart
from sfumato.tables.deadline import Deadline
from sfumato.tables.perturbation.cell_uniforms import chances_of, key_of, keys_by_codes
from sfumato.tables.perturbation.feasibility_intervals import FeasibilityIntervals, feasibility_intervals
from sfumato.tables.perturbation.perturbed import PerturbedCells
from sfumato.tables.plan.sections import CellKey

# Largest true count that is attacked.
SMALL = 3
KEYS = (
    "Make keys of records from their names and a secret (record and secret), or draw them at random; decimal keys "
    "need their number of digits (digits, in metadata <DECIMALS>)."
)
STILL = "{cells} cells have noise below the table's precision, and are published as they are."


@dataclass(frozen=True, slots=True)
class Contents:
    """The inputs of noise other than the plan.

    Attributes:
        modulus: The modulus of the keys.
        counts: The number of records in each cell; None in a table of counts.
        largest: The largest contributions of each cell, in a table of sums.
        structural: The cells that must be empty.
        secret: The secret from which keys of empty cells are derived.
    """

    keys: tuple[int, ...]
    modulus: int
    counts: Numbers | None
    largest: tuple[Numbers, ...]
    structural: BoolArray
    secret: str


def noisy_part(
    part: TablePart, method: CellKey, table: Ptable, contents: Contents, deadline: Deadline
) -> PerturbedCells:
    """Add noise to one table.

    Raises:
        DataError: A table of counts holds other values, or keys are not uniformly distributed.
        PlanError: The noise of sums is so small that no number would change.
    """
    check_cell_keys(part, contents.keys, contents.modulus, _empty(part, contents))
    sums = contents.counts is not None
    still = _still(part, method, table, contents)
    noise = _noise_of_sums(part, method, table, contents) if sums else _noise_of_counts(part, method, table, contents)
    published = np.array(ValueUnit(part.knowledge.precision).clean((part.table.values + noise).tolist()))
    if sums:
        reader = _reader_of_sums(published, part, method, table, contents, deadline)
    else:
        possible = possible_counts(table, published, method.zeros, part.table.values)
        reader = reader_counts(possible, part, deadline)
    figures = {
        "D": table.deviation,
        "js": table.js,
        "V": table.variance,
        "rows": [
            {"count": row.count, "variance": round(row.variance, 9), "bias": round(row.mean, 9)} for row in table.rows
        ],
        "remarks": [
            *remarks(table),
            *([Message("reason.noised_still", cells=int(still.sum()))] if still.any() else []),
        ],
        "differences": difference_figures(part, published),
    }
    return PerturbedCells(part, published, np.ones(len(part.table), bool), reader.ranges, reader.attained, figures)


def check_cell_keys(part: TablePart, keys: Sequence[int], modulus: int, empty: BoolArray) -> None:
    """Refuse cell keys that are not uniformly distributed.

    The finest cells of one table share no records, so their keys are independent. Cells of several tables may share
    records, so only keys that a single cell could not have are refused.
    """
    finest = np.flatnonzero(finest_of(part.table.constraints, len(part.table)) & ~empty)
    own = [keys[cell] for cell in finest.tolist()]
    if not part.trees and own:
        own = [max(own)]
    check_spread(distribution_of(own, modulus), Message("phrase.keys_of_cells"), KEYS)


def _still(part: TablePart, method: CellKey, table: Ptable, contents: Contents) -> BoolArray:
    """Return the nonempty cells that cannot change, because even their largest noise is rounded off.

    Raises:
        PlanError: No cell can change.
    """
    if contents.counts is None:
        return np.zeros(len(part.table), bool)
    there = ~_empty(part, contents)
    noise = sum_noise(_largest(method, contents), len(part.table), method, table)
    most = np.maximum(np.abs(noise.low), np.abs(noise.high))
    still = np.asarray(there & (most < part.knowledge.precision / 2))
    if there.any() and (still == there).all():
        raise PlanError("no-noise")
    return still


def _noise_of_counts(part: TablePart, method: CellKey, table: Ptable, contents: Contents) -> Numbers:
    values = part.table.values
    if (values < 0).any() or (values != np.round(values)).any():
        raise DataError("counts.counts")
    noise = table.noise(values.astype(np.int64), chances_of(contents.keys, contents.modulus)).astype(np.float64)
    if not method.zeros:
        return noise
    empty = (values == 0) & ~contents.structural
    chances = chances_of(keys_by_codes(contents.secret, part))
    return np.where(empty & (chances < method.zeros), float(table.js + 1), noise)


def _noise_of_sums(part: TablePart, method: CellKey, table: Ptable, contents: Contents) -> Numbers:
    """Draw noise proportional to the largest contributions, each with its own number derived from the cell key."""
    last = table.row(len(table.rows))
    total = np.zeros(len(part.table))
    counts = np.full(len(part.table), last.count)
    for place, amounts in enumerate(_largest(method, contents)):
        keys = contents.keys if place == 0 else [key_of(str(place), str(key)) for key in contents.keys]
        modulus = contents.modulus if place == 0 else 2**64
        drawn = table.noise(counts, chances_of(keys, modulus))
        total += method.share * np.abs(amounts) * drawn / max(table.deviation, 1)
    steps = np.round(total / part.knowledge.precision) * part.knowledge.precision
    return np.where(_empty(part, contents), 0.0, steps)


def _largest(method: CellKey, contents: Contents) -> tuple[Numbers, ...]:
    return tuple(np.nan_to_num(amounts) for amounts in contents.largest[: method.largest])


def _empty(part: TablePart, contents: Contents) -> BoolArray:
    return np.asarray(part.table.values == 0 if contents.counts is None else contents.counts == 0)


def sum_noise(largest: Sequence[Numbers], size: int, method: CellKey, table: Ptable) -> Bounds:
    """Return the minimum and maximum noise of each sum, by the last row of the perturbation table."""
    total = sum((np.abs(np.nan_to_num(amounts)) for amounts in largest), np.zeros(size))
    moves = _moves(table) / max(table.deviation, 1) * method.share
    return Bounds(total * min(float(moves.min()), 0.0), total * max(float(moves.max()), 0.0))


def _moves(table: Ptable) -> Numbers:
    """Return the possible noise of sums, in units of the perturbation table."""
    last = table.rows[-1]
    return np.asarray((last.targets - last.count)[last.chances > 0], np.float64)


def known_sums(
    published: Numbers, largest: Sequence[Numbers], part: TablePart, method: CellKey, table: Ptable, values: Numbers
) -> Bounds:
    """Return the bounds of each sum implied by its published number, given the perturbation table.

    If sums are almost never changed, a data user takes unchanged ones for true.
    """
    own, half = largest[: method.largest], part.knowledge.precision / 2
    noise = sum_noise(own, len(published), method, table)
    last = table.rows[-1]
    sure = float(last.chances[last.targets == last.count].sum()) ** max(len(own), 1) >= SURE
    stays = sure & (np.abs(published - values) < half)
    low = np.where(stays, published, published - noise.high - half)
    high = np.where(stays, published, published - noise.low + half)
    low = np.maximum(low, part.table.bounds.low)
    return Bounds(low, np.maximum(high, low))


def _reader_of_sums(
    published: Numbers, part: TablePart, method: CellKey, table: Ptable, contents: Contents, deadline: Deadline
) -> FeasibilityIntervals:
    values, step = part.table.values, part.knowledge.precision
    start = known_sums(published, _largest(method, contents), part, method, table, values)
    start = Bounds(np.minimum(start.low, values), np.maximum(start.high, values))
    return feasibility_intervals(start, part.table.constraints, part.table.sensitive, step, deadline, values)


def difference_figures(part: TablePart, published: Numbers) -> dict[str, Any]:
    """Count how often subtracting published numbers reveals a small count, and how often the published count itself
    does.

    If subtraction is right no more often than the published number alone, differencing discloses nothing more.
    """
    values, relations = part.table.values, part.table.constraints
    attacks = right = direct = 0
    errors = []
    for relation in range(len(relations)):
        cells, coefs = relations.row(relation)
        small = (values[cells] > 0) & (values[cells] <= SMALL) & (coefs > 0)
        residual = float(coefs @ published[cells])
        for cell in cells[small]:
            attacks += 1
            error = published[cell] - residual - values[cell]
            errors.append(float(error))
            right += abs(error) < 0.5
            direct += abs(published[cell] - values[cell]) < 0.5
    variance = float(np.var(errors)) if errors else 0.0
    return {"attacks": attacks, "right": int(right), "right_without": int(direct), "variance": round(variance, 6)}
