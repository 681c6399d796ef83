"""Variables of one file of records that are a level of another's hierarchy: cells of both are the same cells."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sfumato.tables.batch.coverage import variable_of
from sfumato.tables.formats.cells_file import tree_of
from sfumato.tables.formats.metadata import Metadata
from sfumato.tables.formats.records_file import Records
from sfumato.tables.nesting.nested_codes import codes_within
from sfumato.tables.office.office_table import OfficeTable

# The codes of a finer variable that lie in each code.
Parts = Mapping[str, frozenset[str]]
# For each variable, and each finer one, the codes of the finer that lie in each of its codes.
Within = Mapping[str, Mapping[str, Parts]]


def variables_within(records: Records, metadata: Metadata, names: Iterable[str], folder: Path) -> Within:
    """Which variables are a level of the hierarchy of another one.

    Args:
        records: The records.
        metadata: What their columns are.
        names: The variables of all tables.
        folder: Where hierarchies lie.
    """
    within: dict[str, dict[str, Mapping[str, frozenset[str]]]] = {}
    variables = {one.name.lower(): one for one in map(metadata.named, names)}
    for fine, one in variables.items():
        own = records.text(one.name)
        tree = tree_of(one, list(own), folder, metadata.encoding)
        if all(parent == tree.root for parent in tree.parents.values()):
            continue
        for coarse in variables.keys() - {fine}:
            pairs = set(zip(own, records.text(variables[coarse].name), strict=True))
            if parts := codes_within(tree, pairs):
                within.setdefault(coarse, {})[fine] = parts
    return within


def in_finest_variables(tables: Sequence[OfficeTable]) -> list[OfficeTable]:
    """The tables by their finest variables: one that is a level of another's hierarchy is a recoding of that.

    Where a table has both, it ties them by itself.
    """
    names = [frozenset(map(variable_of, table.trees)) for table in tables]
    used, within = frozenset().union(*names), dict[str, Mapping[str, Parts]]()
    for table in tables:
        within |= table.within
    targets = {
        name: finest[0]
        for name in within
        if (finest := sorted(own for own in within[name] if own in used and not used & within.get(own, {}).keys()))
        and not any({name, finest[0]} <= own for own in names)
    }
    return [_renamed(table, {name: (own, within[name][own]) for name, own in targets.items()}) for table in tables]


def _renamed(table: OfficeTable, targets: Mapping[str, tuple[str, Parts]]) -> OfficeTable:
    own = {tree.name: targets[variable_of(tree)] for tree in table.trees if variable_of(tree) in targets}
    if not own or len({name for name, _ in own.values()}) < len(own):
        return table
    trees = tuple(replace(tree, name=own[tree.name][0]) if tree.name in own else tree for tree in table.trees)
    origins = {name: codes for name, codes in table.origins.items() if name not in own}
    more = {target: _recoded(parts, table.origins.get(name)) for name, (target, parts) in own.items()}
    return table.with_columns(trees=trees, origins={**origins, **more})


def _recoded(parts: Parts, origins: Parts | None) -> Parts:
    if origins is None:
        return parts
    return {new: frozenset().union(*(parts.get(code, ()) for code in codes)) for new, codes in origins.items()}
