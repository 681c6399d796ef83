"""Which columns of microdata are levels of a hierarchy above another column, in tables that are published together."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sfumato.tables.build.column_chains import Chain
from sfumato.tables.build.nested_codes import codes_within
from sfumato.tables.build.trees import tree_of
from sfumato.tables.cells.columns import Columns
from sfumato.tables.cells.dimensions import Tree
from sfumato.tables.plan.plan import Dimension

# The codes of two columns that records have together.
Pairs = Callable[[str, str], list[tuple[str, str]]]


@dataclass(frozen=True, slots=True)
class _Margin:
    """A column of a table by itself: how many records its codes have, and the hierarchy above it."""

    column: str
    counts: Mapping[str, str]
    tree: Tree | None


def record_chains(tables: Sequence[tuple[Mapping[str, Dimension], Columns]], pairs: Pairs) -> tuple[Chain, ...]:
    """Columns that are a level of another's hierarchy, with their codes.

    Args:
        tables: Dimensions and cells of each table.
        pairs: Looks into the records.
    """
    margins = [margin for dimensions, columns in tables for margin in _margins(dimensions, columns)]
    chains: dict[tuple[str, str], Chain] = {}
    for fine in (one for one in margins if one.tree is not None):
        for coarse in margins:
            columns = coarse.column, fine.column
            if fine.tree is not None and columns not in chains and _may_be_level(coarse, fine, fine.tree):
                within = codes_within(fine.tree, pairs(fine.column, coarse.column))
                if within:
                    rows = frozenset((code, part) for code, parts in within.items() for part in parts)
                    chains[columns] = Chain(columns, rows)
    return tuple(chains.values())


def _may_be_level(coarse: _Margin, fine: _Margin, tree: Tree) -> bool:
    """Whether each code has as many records as one of the hierarchy: only then the records are looked into."""
    units = {fine.counts.get(code[0]) for code in set(tree.parents.values()) - {tree.root}}
    return coarse.column != fine.column and bool(coarse.counts) and set(coarse.counts.values()) <= units


def _margins(dimensions: Mapping[str, Dimension], columns: Columns) -> Iterator[_Margin]:
    totals = {name: own.total for own in dimensions.values() for name in own.levels or (own.column or "",)}
    for key, own in dimensions.items():
        column = own.column or own.levels[0]
        others = [(columns.text(name), total) for name, total in totals.items() if name != column]
        rows = [row for row in range(len(columns)) if all(texts[row] == total for texts, total in others)]
        codes, counts = columns.text(column), columns.text("count")
        margin = {codes[row]: counts[row] for row in rows if codes[row] != own.total}
        tree = tree_of(key, own, [(code,) for code in margin]) if own.hierarchy is not None else None
        yield _Margin(column, margin, tree)
