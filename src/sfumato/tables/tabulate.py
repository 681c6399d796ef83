"""Tabulate microdata with all totals: counts, sums, largest contributions, holdings."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product, zip_longest
from typing import Any

import numpy as np

from sfumato.errors import DataError, PlanError
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.roles import points_to_persons
from sfumato.localization.messages import joined
from sfumato.schema.composite import MapSchema, read
from sfumato.tables.build import tree_of
from sfumato.tables.cells.constraints import ValueUnit, precision_of
from sfumato.tables.cells.dimensions import Code, CodeTree
from sfumato.tables.cells.system import BoolArray, Numbers, Places
from sfumato.tables.plan.rules import YES
from sfumato.tables.plan.sections import DIMENSION, Dimension
from sfumato.values import Value

# Modulus of the sums of record keys, except decimal keys.
WORD = 2**64
# Maximum number of cells of a table, including empty ones.
MOST_CELLS = 1_000_000
# Decimal keys are added in two parts; the lower part is less than this.
HALF = 10**9


class Base(Value):
    """Microdata aggregated by an engine to one row per combination of the finest codes.

    Attributes:
        codes: For each column of the dimensions, the code of each row.
        counts: The number of records in each row.
        sums: The sum of the (weighted) values in each row.
        owners: For each contribution, the row that it belongs to.
        amounts: The contributions; a record of weight w represents w respondents with its value.
        holdings: The holding of each contribution; empty if every record is a respondent of its own.
        keys: The sum of the record keys in each row; empty if records have no keys.
        modulus: The modulus of the sums of keys.
    """

    codes: Mapping[str, tuple[str, ...]]
    counts: Numbers
    sums: Numbers
    owners: Places
    amounts: Numbers
    holdings: tuple[str, ...] = ()
    keys: tuple[int, ...] = ()
    modulus: int = WORD


def by_weight(owners: Places, values: Numbers, weights: Numbers, top: int) -> tuple[Places, Numbers]:
    """Return the contributions of weighted records, at most `top` for each record, or 1 if `top` is 0.

    A record of weight w represents w respondents; a fractional rest is one smaller contribution.

    >>> by_weight(np.array([0]), np.array([10.0]), np.array([2.5]), 4)[1].tolist()
    [10.0, 10.0, 5.0]
    """
    whole = np.minimum(np.floor(weights), max(top, 1)).astype(np.int64)
    rest = np.where(weights <= max(top, 1), weights - whole, 0.0)
    more = rest > 0
    places, amounts = np.repeat(owners, whole), np.repeat(values, whole)
    return np.concatenate([places, owners[more]]), np.concatenate([amounts, (values * rest)[more]])


def shaped(dimensions: Sequence[str] | Mapping[str, Any]) -> dict[str, Dimension]:
    if isinstance(dimensions, Mapping):
        return read(MapSchema(DIMENSION, 1), dimensions, "dimensions")
    return {name: Dimension(column=name) for name in dimensions}


class _Axis(Value):
    """One dimension of the aggregated microdata.

    Attributes:
        columns: The columns of its codes.
        ancestors: By depth, the ancestor of the code of each row; None if the code is less deep.
        unused: By depth, codes without records that have a sibling with records.
    """

    columns: tuple[str, ...]
    ancestors: tuple[tuple[Code | None, ...], ...]
    unused: tuple[frozenset[Code], ...]

    def codes(self, depth: int) -> set[Code]:
        """Return all codes of one depth."""
        return {code for code in self.ancestors[depth] if code is not None} | self.unused[depth]


def _axis(name: str, dimension: Dimension, base: Base) -> _Axis:
    columns = dimension.levels or (dimension.column or "",)
    codes: list[Code] = list(zip(*(base.codes[column] for column in columns), strict=True))
    tree = tree_of(name, dimension, codes)
    _check_codes(codes, tree, columns)
    chains = {code: _chain(tree, code) for code in set(codes)}
    _check_inner(chains, columns)
    depth = max((len(chain) for chain in chains.values()), default=1)
    by_depth = (tuple((*chains[code], *[None] * depth)[place] for code in codes) for place in range(depth))
    return _Axis(tuple(columns), tuple(by_depth), _unused(tree, chains.values(), depth))


def _unused(tree: CodeTree, chains: Iterable[Sequence[Code]], depth: int) -> tuple[frozenset[Code], ...]:
    """Return, by depth, the codes of a tree without records that have a sibling with records."""
    below, used = tree.children(), [{*level} for level in zip_longest(*chains)] or [set[Code | None]()]
    divided = [set[Code](), *({tree.parents[code] for code in level - {None}} for level in used[1:])]
    return tuple(
        frozenset(code for above in divided[place] for code in below[above]) - used[place] for place in range(depth)
    )


def _check_codes(codes: Sequence[Code], tree: CodeTree, columns: Sequence[str]) -> None:
    if any(code == tree.root or "" in code for code in codes):
        raise DataError("no-code.a_record_has_no_code", columns=joined(columns)).about(column=columns[0])


def _check_inner(chains: Mapping[Code, tuple[Code, ...]], columns: Sequence[str]) -> None:
    """Refuse records with an inner code of the hierarchy: its cell would exceed the sum of its parts."""
    above = {code for chain in chains.values() for code in chain[:-1]}
    wrong = sorted(above & set(chains))
    if wrong:
        raise DataError("inner-code", columns=joined(columns)).about(
            values=[" ".join(code) for code in wrong], column=columns[0]
        )


def _chain(tree: CodeTree, code: Code) -> tuple[Code, ...]:
    """Return a code with its ancestors, starting with the total."""
    chain = [code]
    while chain[-1] != tree.root:
        chain.append(tree.parents[chain[-1]])
    return tuple(reversed(chain))


def table_of(
    base: Base,
    dimensions: Mapping[str, Dimension],
    value: str | None,
    top: int,
    with_holdings: bool,
    requests: Sequence[str] = (),
    crossed: bool = True,
) -> dict[str, list[Any]]:
    """Return the cells of a table with all its totals, column by column.

    An omitted combination of codes would disclose that it has no records, and no rule could suppress it.

    Args:
        base: The aggregated microdata.
        dimensions: The dimensions of the table.
        value: The column that is summed; None for counts.
        top: Number of largest contributions kept for each cell.
        with_holdings: Whether to return the holdings of the contributions; in counts, a holding contributes its number
            of records.
        requests: Columns with the respondents' requests for protection; a cell is marked if a largest contributor
            requests it.
        crossed: Whether combinations without records are cells, too, with the value 0.

    Raises:
        PlanError: Requests are combined with counts, there are too many cells, or categories look like persons.
    """
    if requests and value is None:
        raise PlanError("request")
    axes = [_axis(name, dimension, base) for name, dimension in dimensions.items()]
    names = [name for axis in axes for name in axis.columns]
    asked = [_asked(base, column) for column in requests]
    if crossed:
        _check_categories(dimensions, base)
        check_size((sum(len(axis.codes(at)) for at in range(len(axis.ancestors))) for axis in axes), MOST_CELLS)
    depths = product(*(range(len(axis.ancestors)) for axis in axes))
    rows = [row for levels in depths for row in _cells(base, axes, levels, top, asked, crossed)]
    # The last digits of a floating-point sum are rounding errors, and would disclose the order of its terms.
    scale = ValueUnit(precision_of(np.concatenate([base.sums, base.amounts])))
    result: dict[str, list[Any]] = {name: [row[0][place] for row in rows] for place, name in enumerate(names)}
    result["count"] = [row[1] for row in rows]
    if base.keys:
        # Written as text, because some frames have no unsigned 64-bit integers.
        result["key"] = [str(row[5]) for row in rows]
    result |= {column: [str(int(row[6][place])) for row in rows] for place, column in enumerate(requests)}
    if value is None and not with_holdings:
        return result
    if value is not None:
        result[value] = scale.clean([row[2] for row in rows])
    result |= {f"top{place + 1}": scale.clean([row[3][place][0] for row in rows]) for place in range(top)}
    if not with_holdings:
        return result
    result |= {f"top{place + 1}_id": [row[3][place][1] for row in rows] for place in range(top)}
    return result | {"holdings": [row[4] for row in rows]}


_Top = tuple[float, str]
_Row = tuple[tuple[str, ...], int, float, list[_Top], int, int, list[bool]]


def _asked(base: Base, column: str) -> BoolArray:
    """Return for each contribution whether its respondent, or any record of its holding, requests protection."""
    own = np.array([text.lower() in YES for text in base.codes[column]], bool)[base.owners]
    if not base.holdings:
        return own
    asking = {name for name, asks in zip(base.holdings, own, strict=True) if asks}
    return np.array([name in asking for name in base.holdings], bool)


def _check_categories(dimensions: Mapping[str, Dimension], base: Base) -> None:
    """Refuse categories that look like single persons unless the plan confirms them, because labels are published."""
    for name, dimension in dimensions.items():
        for column in () if dimension.confirmed else (*dimension.levels, *filter(None, [dimension.column])):
            counts: Counter[str] = Counter()
            for code, count in zip(base.codes[column], base.counts.tolist(), strict=True):
                counts[code] += int(count)
            if points_to_persons(Profile(column, counts, counts.total())):
                raise PlanError("person-categories", name=column, name_hint=name).about(column=column)


def check_size(codes: Iterable[int], most: int) -> None:
    """Refuse dimensions whose combinations of codes exceed the maximum number of cells."""
    if (cells := math.prod(codes)) > most:
        raise PlanError("too-many-cells", count=cells, most=most)


def _cells(
    base: Base, axes: Sequence[_Axis], depths: Sequence[int], top: int, asked: Sequence[BoolArray], crossed: bool
) -> Iterator[_Row]:
    """Yield the cells at one combination of depths."""
    levels = [axis.ancestors[depth] for axis, depth in zip(axes, depths, strict=True)]
    keys = [None if None in parts else parts for parts in zip(*levels, strict=True)]
    used_keys = {key for key in keys if key is not None}
    if crossed:
        used_keys = {*product(*(axis.codes(depth) for axis, depth in zip(axes, depths, strict=True)))}
    places = {key: place for place, key in enumerate(sorted(used_keys))}
    group = np.array([places[key] if key is not None else -1 for key in keys], np.int64)
    used = group >= 0
    counts = np.bincount(group[used], base.counts[used], len(places))
    sums = np.bincount(group[used], base.sums[used], len(places))
    owners, amounts, names, first = _contributions(base, group)
    marks = [_largest_asked(owners, amounts, mask[first], len(places)) for mask in asked]
    holders = np.bincount(owners, minlength=len(places))
    tops = _largest(owners, amounts, names, len(places), top)
    sums_of_keys = _key_sums(base, group, len(places))
    for key, place in places.items():
        codes = tuple(text for code in key for text in code or ())
        numbers = int(counts[place]), float(sums[place]), tops[place], int(holders[place]), sums_of_keys[place]
        yield codes, *numbers, [bool(mark[place]) for mark in marks]


def _largest_asked(owners: Places, amounts: Numbers, asked: BoolArray, size: int) -> BoolArray:
    """Return for each cell whether its largest contributor, or one of several equal ones, requests protection."""
    sizes, largest, marks = np.abs(amounts), np.zeros(size), np.zeros(size, bool)
    np.maximum.at(largest, owners, sizes)
    marks[owners[asked & (sizes >= largest[owners] * (1 - 1e-12))]] = True
    return marks


def _key_sums(base: Base, group: Places, size: int) -> list[int]:
    """Return the exact sum of keys in each group, reduced by the modulus."""
    if not base.keys:
        return [0] * size
    used = group >= 0
    keys = np.array(base.keys, np.uint64)[used]
    if base.modulus == WORD:
        total = np.zeros(size, np.uint64)
        np.add.at(total, group[used], keys)  # unsigned 64-bit integers are added modulo 2^64
        return [int(entry) for entry in total]
    high, low = np.zeros(size, np.uint64), np.zeros(size, np.uint64)
    np.add.at(high, group[used], keys // np.uint64(HALF))
    np.add.at(low, group[used], keys % np.uint64(HALF))
    return [(int(a) * HALF + int(b)) % base.modulus for a, b in zip(high, low, strict=True)]


def _contributions(base: Base, group: Places) -> tuple[Places, Numbers, Sequence[str], Places]:
    """Return the contributions to each cell, added up by holding.

    Returns: The cell of each contribution, its amount, its holding, and the position of one of its records in the base.
    """
    owners = group[base.owners]
    used = np.flatnonzero(owners >= 0)
    owners, amounts = owners[used], base.amounts[used]
    if not base.holdings:
        return owners, amounts, (), used
    names, holding = np.unique(np.array(base.holdings)[used], return_inverse=True)
    pairs, first, where = np.unique(np.stack([owners, holding]), axis=1, return_index=True, return_inverse=True)
    sums = np.bincount(where.ravel(), amounts, pairs.shape[1]).astype(np.float64)
    return pairs[0], sums, [str(name) for name in names[pairs[1]]], used[first]


def _largest(owners: Places, amounts: Numbers, names: Sequence[str], size: int, top: int) -> list[list[_Top]]:
    """Return the largest contributions to each cell by absolute size, with their holdings, padded with zeros."""
    order = np.lexsort((-amounts, -np.abs(amounts), owners))
    owners = owners[order]
    starts = np.searchsorted(owners, np.arange(size))
    ends = np.searchsorted(owners, np.arange(size), side="right")
    nothing: _Top = (0.0, "")
    largest = [
        [(float(amounts[place]), names[place] if names else "") for place in order[a : min(b, a + top)]]
        for a, b in zip(starts, ends, strict=True)
    ]
    return [part + [nothing] * (top - len(part)) for part in largest]
