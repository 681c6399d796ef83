"""From a plan and its columns to tables: codes, relations, primary cells, promises, costs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sfumato.errors import DataError, PlanError
from sfumato.plan.tables import Dimension, Protection, TablePlan
from sfumato.tables.cells import Mask, Numbers, Places, Relations, Status, Table, make_relations, make_table
from sfumato.tables.dimensions import Code, Tree, file_tree, flat_tree, level_codes, level_tree
from sfumato.tables.primary import Facts, Judgment, Range, combine
from sfumato.tables.relations import Key, check, derive, describe
from sfumato.tables.source import Columns, read_columns


@dataclass(frozen=True, slots=True)
class Part:
    """One independent table: the rows of a group.

    Attributes:
        rows: The rows of the source that are its cells.
        table: The cells with their promises.
        trees: The dimensions; empty for a table given by cells and relations.
        keys: The codes of each cell.
        group: The group's values, for messages.
    """

    rows: Places
    table: Table
    trees: tuple[Tree, ...] = ()
    keys: tuple[Key, ...] = ()
    group: tuple[str, ...] = ()

    @property
    def finest(self) -> Mask:
        """Cells that are no total of others."""
        return finest_of(self.table.relations, len(self.table))


def finest_of(relations: Relations, size: int) -> Mask:
    """Cells that are no total in any relation."""
    finest = np.ones(size, bool)
    finest[relations.cells[relations.coefs < 0]] = False
    return finest


def read_source(plan: TablePlan) -> Columns:
    """The columns that the plan names.

    Raises:
        PlanError: The plan names no file.
    """
    name = plan.table.source or plan.table.cells
    if name is None:
        raise PlanError("table.source is missing.", "Name the file with the cells.", "no-source")
    return read_columns(plan.folder / name, plan.table.separator)


def build(plan: TablePlan, columns: Columns) -> list[Part]:
    """The tables of a plan, checked: nothing is masked in a table that does not add up.

    Raises:
        PlanError: A column that the plan names is not there.
        DataError: Cells stand twice, parents are missing, values are no numbers, totals do not add up.
    """
    if plan.table.cells is not None:
        from sfumato.tables.given import given_part

        return [given_part(plan, columns)]
    trees, codes = _dimensions(plan, columns)
    groups = list(zip(*(columns.text(name) for name in plan.table.group_by), strict=True)) or [()] * len(columns)
    parts = [_part(plan, columns, (trees, codes), rows, group) for group, rows in _grouped(groups)]
    _check_groups(plan, parts)
    return parts


def build_unvalued(plan: TablePlan, columns: Columns, exact: Numbers) -> list[Part]:
    """The tables of a publication whose true values are not known: bounds and relations, no rules applied.

    Raises:
        DataError: Cells stand twice, parents are missing, or published totals do not add up.
    """
    trees, codes = _dimensions(plan, columns)
    groups = list(zip(*(columns.text(name) for name in plan.table.group_by), strict=True)) or [()] * len(columns)
    return [_unvalued(plan, (trees, codes), exact[rows], rows, group) for group, rows in _grouped(groups)]


def _unvalued(
    plan: TablePlan,
    space: tuple[tuple[Tree, ...], Sequence[Key]],
    exact: Numbers,
    rows: Places,
    group: tuple[str, ...],
) -> Part:
    trees, codes = space
    keys = tuple(codes[row] for row in rows)
    shown = np.nan_to_num(exact)
    floor, ceiling = _bounds(plan, shown)
    try:
        relations = derive(trees, keys)
        check(_published(relations, exact), shown, plan.table.tolerance)
    except DataError as error:
        raise _in_group(error, group, rows) from None
    names = tuple(describe(trees, key) for key in keys)
    table = make_table(shown, relations, lower=floor, upper=ceiling, names=names)
    return Part(rows, table, trees, keys, group)


def _published(relations: Relations, exact: Numbers) -> Relations:
    """The relations whose cells are all published."""
    whole = [place for place in range(len(relations)) if not np.isnan(exact[relations.row(place)[0]]).any()]
    rows = [tuple(part.tolist() for part in relations.row(place)) for place in whole]
    return make_relations([(cells, coefs) for cells, coefs in rows], [relations.names[place] for place in whole])


def _grouped(groups: Sequence[tuple[str, ...]]) -> Iterator[tuple[tuple[str, ...], Places]]:
    places: dict[tuple[str, ...], list[int]] = {}
    for place, group in enumerate(groups):
        places.setdefault(group, []).append(place)
    for group, rows in places.items():
        yield group, np.array(rows, np.int64)


def _dimensions(plan: TablePlan, columns: Columns) -> tuple[tuple[Tree, ...], list[Key]]:
    made = [_dimension(name, dimension, columns, plan.folder) for name, dimension in plan.dimensions.items()]
    return tuple(tree for tree, _ in made), list(zip(*(codes for _, codes in made), strict=True))


def _dimension(name: str, dimension: Dimension, columns: Columns, folder: Path) -> tuple[Tree, list[Code]]:
    if dimension.levels:
        codes = level_codes(columns, dimension.levels, dimension.total)
        return level_tree(name, codes, dimension.levels, dimension.total), codes
    texts = columns.text(dimension.column or "")
    if dimension.hierarchy is None:
        return flat_tree(dimension.column or name, texts, dimension.total), [(text,) for text in texts]
    tree = file_tree(dimension.column or name, folder / dimension.hierarchy, dimension.total, texts)
    return tree, [(text,) for text in texts]


def _part(
    plan: TablePlan,
    columns: Columns,
    space: tuple[tuple[Tree, ...], Sequence[Key]],
    rows: Places,
    group: tuple[str, ...],
) -> Part:
    trees, codes = space
    own = Columns({name: tuple(texts[row] for row in rows) for name, texts in columns.texts.items()})
    keys = tuple(codes[row] for row in rows)
    try:
        values = own.numbers(plan.table.value)
        relations = derive(trees, keys)
        check(relations, values, plan.table.tolerance)
    except DataError as error:
        raise _in_group(error, group, rows) from None
    facts = facts_of(plan, own, values, relations)
    table = _table(plan, facts, relations, tuple(describe(trees, key) for key in keys), _heights(trees, keys))
    return Part(rows, table, trees, keys, group)


def _in_group(error: DataError, group: tuple[str, ...], rows: Places) -> DataError:
    """The same error with the rows of the source, naming the group."""
    where = f" (group {', '.join(group)})" if group else ""
    name = error.code.partition(".")[2]
    numbers = [int(rows[row - 1]) + 1 for row in error.rows]
    return DataError(error.what + where, error.do, name, values=error.values, column=error.column, rows=numbers)


def _heights(trees: Sequence[Tree], keys: Sequence[Key]) -> Numbers:
    """How many levels above the finest each cell stands, over all dimensions."""
    depths = np.array([[tree.height(code) for tree, code in zip(trees, key, strict=True)] for key in keys], np.float64)
    return np.asarray((depths.max(axis=0) - depths).sum(axis=1))


def _table(plan: TablePlan, facts: Facts, relations: Relations, names: tuple[str, ...], heights: Numbers) -> Table:
    values = facts.values
    found = combine([rule.apply(facts) for rule in plan.primary], len(values))
    if plan.protection is not None:
        found = overruled(found, values, plan.protection)
    floor, ceiling = _bounds(plan, values)
    if plan.attacker.rule:
        floor = np.maximum(floor, _above_ranges(plan, facts, found.unsafe))
    lower, upper = np.maximum(floor, found.floor), np.minimum(ceiling, found.ceiling)
    return Table(
        values=values,
        status=_status(found, facts, plan.method.zeros),
        costs=costs_of(plan, facts) * plan.method.level_factor**heights,
        lower=lower,
        upper=upper,
        need_down=np.clip(found.down, 0.0, np.maximum(values - lower, 0.0)),
        need_up=np.clip(found.up, 0.0, np.maximum(upper - values, 0.0)),
        relations=relations,
        names=names,
        alone=alone_in(facts),
    )


def facts_of(plan: TablePlan, columns: Columns, values: Numbers, relations: Relations) -> Facts:
    source = plan.table
    return Facts(
        values=values,
        frequency=columns.numbers(source.frequency) if source.frequency else _as_counts(values, source.contributions),
        holdings=columns.numbers(source.holdings) if source.holdings else None,
        contributions=tuple(columns.optional(name) for name in source.contributions),
        finest=finest_of(relations, len(values)),
        counts=source.frequency is None and not source.contributions,
        columns=columns,
    )


def _as_counts(values: Numbers, contributions: Sequence[str]) -> Numbers | None:
    """A table without contributions or respondents is one of counts: its values are the respondents."""
    return None if contributions or (values < 0).any() else values


def _bounds(plan: TablePlan, values: Numbers) -> tuple[Numbers, Numbers]:
    """What anyone assumes: nothing negative, unless something is."""
    given = plan.attacker
    floor = given.lower if given.lower is not None else (0.0 if (values >= 0).all() else -np.inf)
    ceiling = np.inf if given.upper is None else given.upper
    if (values < floor).any() or (values > ceiling).any():
        raise DataError(
            "a value lies outside the bounds of the attacker.", "Correct attacker.lower or upper.", "bounds"
        )
    return np.full(len(values), floor), np.full(len(values), ceiling)


def _above_ranges(plan: TablePlan, facts: Facts, unsafe: Mask) -> Numbers:
    """What one who knows the range rules concludes of finest cells that are masked but not primary."""
    floor = np.full(len(facts.values), -np.inf)
    step = 1.0 if (facts.values == np.round(facts.values)).all() else 0.0
    for rule in plan.primary:
        if isinstance(rule, Range):
            floor[facts.finest & ~unsafe & (facts.values > rule.max)] = rule.max + step
    return floor


def overruled(found: Judgment, values: Numbers, protection: Protection) -> Judgment:
    """The judgment with the plan's own reach instead of what the rules imply."""
    if protection.percent is not None:
        down = up = np.abs(values) * protection.percent / 100.0
    else:
        down = np.full(len(values), protection.lower or 0.0)
        up = np.full(len(values), protection.upper or 0.0)
    unsafe = found.unsafe
    reach = np.where(unsafe, down, 0.0), np.where(unsafe, up, 0.0)
    return Judgment(unsafe, *reach, found.floor, found.ceiling, found.waived, found.published)


def _status(found: Judgment, facts: Facts, zeros: bool) -> np.ndarray[tuple[int], np.dtype[np.int8]]:
    """Empty cells are published unless the plan allows otherwise: that nobody is there is often known anyway."""
    empty = facts.values == 0 if facts.frequency is None else (facts.frequency == 0) & (facts.values == 0)
    status = np.where(found.published | (empty & (not zeros)), Status.PUBLISH, Status.SAFE)
    return np.where(found.unsafe, Status.UNSAFE, status).astype(np.int8)


def costs_of(plan: TablePlan, facts: Facts) -> Numbers:
    size = np.abs(facts.values)
    if plan.method.cost == "frequency":
        return facts.respondents("cost: frequency")
    known = {"unit": np.ones(len(size)), "value": size, "log": np.log1p(size)}
    costs = known.get(plan.method.cost)
    if costs is None:
        costs = facts.columns.numbers(plan.method.cost)
    if (costs < 0).any():
        raise DataError("a cost is negative.", "Costs must be at least 0.", "costs", column=plan.method.cost)
    return costs


def alone_in(facts: Facts) -> Mask:
    """Cells with one holding, or one respondent where holdings are not given."""
    if facts.holdings is not None:
        return np.asarray(facts.holdings == 1)
    return np.zeros(len(facts.values), bool) if facts.frequency is None else np.asarray(facts.frequency == 1)


def _check_groups(plan: TablePlan, parts: Sequence[Part]) -> None:
    """Refuse groups of which one is the total of the others: as independent tables they give one another away."""
    for place, column in enumerate(plan.table.group_by):
        others: dict[tuple[str, ...], list[Part]] = {}
        for part in parts:
            others.setdefault((*part.group[:place], *part.group[place + 1 :]), []).append(part)
        if any(_has_total(siblings) for siblings in others.values()):
            raise DataError(
                f'one group of column "{column}" is the total of the others.',
                f"Make {column} a dimension: as independent tables the groups give one another away.",
                "group-is-total",
                column=column,
            )


def _has_total(parts: Sequence[Part]) -> bool:
    if len(parts) < 3 or len({part.keys for part in parts}) > 1:
        return False
    values = np.stack([part.table.values for part in parts])
    largest = int(values.sum(axis=1).argmax())
    return bool(values.any() and np.allclose(values.sum(axis=0), 2 * values[largest], rtol=1e-9, atol=_slack(values)))


def _slack(values: Numbers) -> float:
    """Rounding of sums."""
    return 1e-9 * float(np.abs(values).max(initial=1.0))
