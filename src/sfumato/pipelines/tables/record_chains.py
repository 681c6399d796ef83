"""Which columns of microdata determine others, for tables that are published together."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from sfumato.tables.build.code_trees import tree_of
from sfumato.tables.cells.dimensions import CodeTree
from sfumato.tables.column_dependencies.column_chain import Chain
from sfumato.tables.column_dependencies.determined_columns import determined_chains
from sfumato.tables.column_dependencies.record_codes import Names, RecordCodes
from sfumato.tables.plan.crossing import Dimension


def columns_in(dimensions: Iterable[Mapping[str, Dimension]]) -> list[str]:
    """Return the columns of the dimensions of some tables, each once."""
    return list(dict.fromkeys(name for own in dimensions for one in own.values() for name in _names(one)))


def record_chains(tables: Sequence[Mapping[str, Dimension]], records: RecordCodes) -> tuple[Chain, ...]:
    """Return the functional dependencies between the columns of tables in the records, with their codes.

    Args:
        tables: The dimensions of each table.
        records: The records, with those of the columns that exist.
    """
    own = [one for dimensions in tables for one in dimensions.values() if records.codes.keys() >= set(_names(one))]
    crossed = [frozenset(columns_in([dimensions])) for dimensions in tables]
    return determined_chains(records, map(_names, own), _hierarchies(own, records), crossed)


def _names(dimension: Dimension) -> Names:
    return tuple(dimension.levels) or (dimension.column or "",)


def _hierarchies(dimensions: Iterable[Dimension], records: RecordCodes) -> Iterator[tuple[str, CodeTree]]:
    for one in dimensions:
        if one.column is not None and one.hierarchy is not None:
            codes = sorted(set(records.codes[one.column]))
            yield one.column, tree_of(one.column, one, [(code,) for code in codes])
