"""The cell key method: noise that depends on the records in a cell, the same in every table."""

import hashlib
import hmac
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from sfumato.errors import DataError, PlanError
from sfumato.localization.messages import Message
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.constraints import ValueUnit, finest_of
from sfumato.tables.cells.dimensions import Code
from sfumato.tables.cells.system import BoolArray, Bounds, Numbers
from sfumato.tables.cells.table_part import TablePart
from sfumato.tables.deadline import Deadline
from sfumato.tables.linked.codes import Name, code_names
from sfumato.tables.noise.feasibility_intervals import (
    SURE,
    FeasibilityIntervals,
    feasibility_intervals,
    possible_counts,
    reader_counts,
)
from sfumato.tables.noise.perturbed import PerturbedCells
from sfumato.tables.noise.ptable import Ptable, remarks
from sfumato.tables.plan.sections import CellKey
from sfumato.tables.tabulate import WORD
from sfumato.values import Value

# The probability that one test rejects uniform keys; those for records and cells together stay below 1e-9.
CHANCE = 1e-10
# Number of equal parts into which the range is divided.
BINS = 64
# Up to this many keys are examined individually.
FEW = 64
# Keys that are multiples of one number need at least this many possible values.
POINTS = 32
# Maximum average number of records that share a key.
REPEATS = 50


class KeySpread(Value):
    """The distribution of keys over their range.

    Each test fails for uniform keys with probability at most `CHANCE`. One bounds the largest distance from the uniform
    distribution (Dvoretzky, Kiefer and Wolfowitz with Massart's constant, doi:10.1214/aop/1176990746). Others detect
    few keys at the beginning of the range, in few parts of it, or on few equidistant points. Uniform keys that an
    attacker knows, such as hashes without a secret, are not detected.

    Attributes:
        bins: Number of different keys in each part of the range, by its position; empty parts may be missing.
        records: Number of records, or cells, that have a key.
        few: All different keys if there are few.
    """

    bins: dict[int, int]
    largest: int
    modulus: int
    records: int = 0
    few: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """The number of different keys."""
        return sum(self.bins.values())

    @property
    def sound(self) -> bool:
        """Whether the keys may come from a uniform distribution."""
        if not self.size:
            return True
        # An integer represents all fractions up to the next one.
        slack = 1 / self.modulus
        widest = math.sqrt(math.log(2 / CHANCE) / (2 * self.size)) + slack
        low = (self.largest / self.modulus + slack) ** self.size < CHANCE
        return self.distance <= widest and not (low or self._clustered or self.scarce)

    @property
    def scarce(self) -> bool:
        """Whether too few different keys occur, or are possible."""
        return self._coarse or self._repeated

    @property
    def fault(self) -> Message:
        """What is wrong with keys that are not sound."""
        if self.scarce:
            return Message("phrase.keys_scarce", count=self.size, places=self.records)
        return Message("phrase.keys_clustered", modulus=str(self.modulus))

    @property
    def _clustered(self) -> bool:
        """Whether keys lie in fewer parts of the range than by chance."""
        parts = sum(many > 0 for many in self.bins.values())
        return math.log(math.comb(BINS, parts)) + self.size * math.log(parts / BINS) < math.log(CHANCE)

    @property
    def _coarse(self) -> bool:
        """Whether all keys are multiples of one number that has few multiples."""
        unit = math.gcd(self.modulus, *self.few) if self.few else 1
        return unit > 1 and self.modulus < POINTS * unit and -self.size * math.log(unit) < math.log(CHANCE)

    @property
    def _repeated(self) -> bool:
        """Whether more records share a key than those of one person would, or all records share one."""
        different = (
            -self.modulus * math.expm1(self.records * math.log1p(-1 / self.modulus)) if self.modulus > 1 else 1.0
        )
        same = self.size == 1 and (1 - self.records) * math.log(self.modulus) < math.log(CHANCE)
        return same or self.size * REPEATS < different * (1 - 1e-9)

    @property
    def distance(self) -> float:
        """The largest distance between the distribution of the keys and the uniform one, at the borders of parts."""
        below, distance = 0, 0.0
        for place in range(BINS):
            below += self.bins.get(place, 0)
            distance = max(distance, abs(below / self.size - (place + 1) / BINS))
        return distance


def distribution_of(keys: Iterable[int], modulus: int) -> KeySpread:
    """Return the distribution of keys from 0 to below the modulus; repeated keys count once.

    Records of one person in several years share a key and say nothing about how keys were drawn.

    >>> distribution_of([3, 2**63, 2**63 + 2**62], 2**64).sound, distribution_of([1, 2, 3], 2**64).sound
    (True, False)
    """
    listed = list(keys)
    own = set(listed)
    bins = dict(Counter(key * BINS // modulus for key in own))
    few = tuple(sorted(own)) if len(own) <= FEW else ()
    return KeySpread(bins, max(own, default=0), modulus, len(listed), few)


def check_spread(spread: KeySpread, where: Message, do: Message) -> None:
    """Refuse keys that are not uniformly distributed.

    Args:
        spread: The distribution of the keys.
        where: What has the keys, for the message.
        do: The hint.
    """
    if spread.sound:
        return
    raise DataError("key-spread", hint=do, where=where, fault=spread.fault)


def key_of(secret: str, *texts: str) -> int:
    """Return the key of texts, from 0 to 2^64 - 1.

    >>> key_of("s", "a", "b") == key_of("s", "a", "b") != key_of("s", "ab", "")
    True
    """
    message = b"".join(len(part).to_bytes(4, "big") + part for part in (text.encode() for text in texts))
    return int.from_bytes(hmac.digest(secret.encode(), message, hashlib.sha256)[:8], "big")


def chances_of(keys: Iterable[int], modulus: int = WORD) -> Numbers:
    """Return keys as numbers from 0 to below 1.

    >>> chances_of([0, 2**63, 2**64 - 1]).tolist()[:2]
    [0.0, 0.5]
    """
    # The largest keys would be rounded up to 1.
    return np.minimum(np.array([key / modulus for key in keys], np.float64), np.nextafter(1.0, 0.0))


def cell_keys(columns: TextColumns, name: str, modulus: int = WORD) -> list[int]:
    """Return the keys of cells in a column, integers or decimal fractions.

    Raises:
        DataError: A text is not a key.
    """
    texts = columns.text(name)
    keys = [_key(text, modulus) for text in texts]
    wrong = [place + 1 for place, key in enumerate(keys) if key is None]
    if wrong:
        raise DataError("key.not_a_key", column=name, row=wrong[0], count=modulus).about(column=name, rows=wrong)
    return [key for key in keys if key is not None]


def _key(text: str, modulus: int) -> int | None:
    """Return a key as an integer: 0.25 with 4 digits is 2500."""
    digits = len(str(modulus)) - 1
    if text.isascii() and text.isdigit():
        return int(text) if int(text) < modulus else None
    whole, point, rest = text.partition(".")
    decimal = modulus != WORD and point and whole in ("", "0") and rest.isascii() and rest.isdigit()
    return int(rest.ljust(digits, "0")) if decimal and len(rest) <= digits else None


def keys_by_codes(secret: str, part: TablePart) -> list[int]:
    """Return a key for each cell from a secret and its codes without totals; equal in every table with the cell."""
    if not part.trees:
        return [key_of(secret, name) for name in part.table.names]
    named = [code_names(tree) for tree in part.trees]
    return [key_of(secret, *_codes(part, named, key)) for key in part.keys]


def _codes(part: TablePart, named: Sequence[Mapping[Code, Name]], key: Sequence[Code]) -> list[str]:
    """Return the column names and codes of a cell; units of level columns by the lowest column if unique."""
    names = [own[code] for tree, own, code in zip(part.trees, named, key, strict=True) if code != tree.root]
    return [text for column, code in sorted(names) for text in (column, *code)]


# Largest true count that is attacked.
SMALL = 3


class Contents(Value):
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

    The same records have the same key, hence the same noise, in every table (Fraser and Wooton 2005). Zeros stay zeros
    by default. Noise is bounded but not additive: sums of cells may disclose more, as `difference_figures` measures.

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
    check_spread(distribution_of(own, modulus), Message("phrase.keys_of_cells"), Message("hint.keys_of_records"))


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
    """Count how often subtracting published numbers reveals a small count, and how often the number itself does.

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
