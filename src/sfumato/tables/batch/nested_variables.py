"""Variables of one file of records of which one determines another: cells of one are made of cells of the other."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from pathlib import Path

import numpy as np

from sfumato.tables.batch.coverage import variable_of
from sfumato.tables.formats.cells_file import tree_of
from sfumato.tables.formats.metadata import Metadata
from sfumato.tables.formats.records_file import Records
from sfumato.tables.nesting.determined_columns import RecordCodes, odd_rows
from sfumato.tables.office.office_table import OfficeTable

# The codes of a finer variable that lie in each code.
Parts = Mapping[str, frozenset[str]]
# For each variable, and each finer one, the codes of the finer that lie in each of its codes.
Within = Mapping[str, Mapping[str, Parts]]


@dataclass(frozen=True, slots=True)
class NestedVariables:
    """Which variables of records determine others.

    Attributes:
        within: Those that do in all records.
        odd: Those that do in nearly all, the finer one first, with how many records are off.
    """

    within: Within = field(default_factory=dict)
    odd: tuple[tuple[str, str, int], ...] = ()


def nested_variables(records: Records, metadata: Metadata, names: Iterable[str], folder: Path) -> NestedVariables:
    """Which variables determine others: each code of these is made of codes of those.

    Args:
        records: The records.
        metadata: What their columns are.
        names: The variables of all tables.
        folder: Where hierarchies lie.
    """
    variables = {one.name.lower(): one for one in map(metadata.named, names)}
    texts = {name: records.text(one.name) for name, one in variables.items()}
    codes = RecordCodes(texts, np.ones(len(records.lines)))
    within, odd = dict[str, dict[str, Parts]](), list[tuple[str, str, int]]()
    for fine, coarse in permutations(sorted(variables), 2):
        tree = tree_of(variables[fine], list(texts[fine]), folder, metadata.encoding)
        off = odd_rows(codes, (fine,), coarse, [tree])
        # Of two that are the same but for the names of codes, one is taken for the finer.
        if off is None or coarse in within.get(fine, {}):
            continue
        if off.any():
            odd.append((variables[fine].name, variables[coarse].name, int(off.sum())))
        else:
            within.setdefault(coarse, {})[fine] = _parts(texts[fine], texts[coarse])
    return NestedVariables(within, tuple(odd))


def _parts(fine: Iterable[str], coarse: Iterable[str]) -> Parts:
    parts: dict[str, set[str]] = {}
    for code, above in set(zip(fine, coarse, strict=True)):
        parts.setdefault(above, set()).add(code)
    return {above: frozenset(codes) for above, codes in parts.items()}


def in_finest_variables(tables: Sequence[OfficeTable]) -> list[OfficeTable]:
    """The tables by their finest variables: one that another determines is a recoding of that.

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
