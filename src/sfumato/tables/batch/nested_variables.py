"""Variables of one file of records of which one determines another: cells of one are made of cells of the other."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from itertools import combinations, permutations
from pathlib import Path

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.batch.coverage import variable_of
from sfumato.tables.formats.cells_file import tree_of
from sfumato.tables.formats.metadata import Metadata
from sfumato.tables.formats.records_file import Records
from sfumato.tables.nesting.determined_columns import (
    Link,
    RecordCodes,
    crossed_pairs,
    have_crossed_inclusions,
    have_inclusions,
    have_unions,
    odd_rows,
    with_crossed_links,
)
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
        unions: Those of which neither does, but some codes together are the same records as some of the other.
        crossed: Those that determine another one only together, which comes last.
        inclusions: Those of which some code, or combination of codes, lies wholly within one of the last.
    """

    within: Within = field(default_factory=dict)
    odd: tuple[tuple[str, str, int], ...] = ()
    unions: tuple[tuple[str, str], ...] = ()
    crossed: tuple[tuple[str, ...], ...] = ()
    inclusions: tuple[tuple[str, ...], ...] = ()


def nested_variables(
    records: Records, metadata: Metadata, tables: Sequence[frozenset[str]], folder: Path
) -> NestedVariables:
    """Which variables determine others: each code of these is made of codes of those.

    Args:
        records: The records.
        metadata: What their columns are.
        tables: The variables of each table.
        folder: Where hierarchies lie.
    """
    variables = {one.name.lower(): one for one in map(metadata.named, frozenset().union(*tables))}
    texts = {name: records.text(one.name) for name, one in variables.items()}
    codes = RecordCodes(texts, np.ones(len(records.lines)))
    within, odd, links = dict[str, dict[str, Parts]](), list[tuple[str, str, int]](), list[Link]()
    for fine, coarse in permutations(sorted(variables), 2):
        tree = tree_of(variables[fine], list(texts[fine]), folder, metadata.encoding)
        off = odd_rows(codes, (fine,), coarse, [tree])
        links += [] if off is None else [Link(frozenset((fine, coarse)), off, (fine,))]
        # Of two that are the same but for the names of codes, one is taken for the finer.
        if off is None or coarse in within.get(fine, {}):
            continue
        if off.any():
            odd.append((variables[fine].name, variables[coarse].name, int(off.sum())))
        else:
            within.setdefault(coarse, {})[fine] = _parts(texts[fine], texts[coarse])
    near = {frozenset((one.lower(), two.lower())) for one, two, _ in odd}
    # Where a third determines both in all records, none of these is wrong.
    odd = [own for own in odd if not within.get(own[0].lower(), {}).keys() & within.get(own[1].lower(), {}).keys()]
    near |= {frozenset((coarse, fine)) for coarse, finer in within.items() for fine in finer}
    # Both may be made of the codes of one that tables have.
    apart = [
        own
        for own in combinations(sorted(variables), 2)
        if frozenset(own) not in near and not within.get(own[0], {}).keys() & within.get(own[1], {}).keys()
    ]
    unions = [own for own in apart if have_unions(codes, own[:1], own[1:])]
    inclusions = [own for own in apart if own not in unions and have_inclusions(codes, own[:1], own[1:])]
    crossed = [
        tuple(variables[name].name for name in (*link.fine, *(link.columns - set(link.fine))))
        for link in _crossed(codes, tables, links)
    ]
    told = [*(frozenset(own) for own in unions), *(link.columns for link in links), *near]
    more = _crossed_inclusions(codes, tables, [*told, *map(frozenset, inclusions), *_common(within)])
    named = [tuple(variables[name].name for name in own) for own in (*unions, *inclusions, *more)]
    return NestedVariables(
        within,
        tuple(odd),
        tuple((one, two) for one, two in named[: len(unions)]),
        tuple(crossed),
        tuple(named[len(unions) :]),
    )


def _common(within: Within) -> list[frozenset[str]]:
    """Variables that are made of the codes of one and the same."""
    pairs = combinations(sorted(within), 2)
    return [frozenset(own) for own in pairs if within[own[0]].keys() & within[own[1]].keys()]


def _crossed_inclusions(
    codes: RecordCodes, tables: Sequence[frozenset[str]], told: Sequence[frozenset[str]]
) -> list[tuple[str, ...]]:
    """Variables that a table crosses of which a combination of codes lies wholly within one of another, which comes
    last; not where some of them tell of it by themselves."""
    lower = [frozenset(map(str.lower, own)) for own in tables]
    found = []
    for one, two in crossed_pairs([(name,) for name in sorted(codes.codes)], lower):
        names = (*(name for own in one for name in own), *two)
        known = any(own <= set(names) and two[0] in own for own in told)
        if not known and not any(own.issuperset(names) for own in lower) and have_crossed_inclusions(codes, one, two):
            found.append(names)
    return found


def _crossed(codes: RecordCodes, tables: Sequence[frozenset[str]], links: Sequence[Link]) -> list[Link]:
    """Variables that determine another one only together, where a table crosses them."""
    names = sorted(codes.codes)
    lower = [frozenset(map(str.lower, own)) for own in tables]
    return with_crossed_links(codes, [(name,) for name in names], lower, names, links)[len(links) :]


def _parts(fine: Iterable[str], coarse: Iterable[str]) -> Parts:
    parts: dict[str, set[str]] = {}
    for code, above in set(zip(fine, coarse, strict=True)):
        parts.setdefault(above, set()).add(code)
    return {above: frozenset(codes) for above, codes in parts.items()}


def in_finest_variables(tables: Sequence[OfficeTable]) -> list[OfficeTable]:
    """The tables by their finest variables: one that another determines is a recoding of that.

    Where a table has both, it ties them by itself.
    """
    within = _within(tables)
    targets = {name: (own, within[name][own]) for name, own in _targets(_variables(tables), within).items()}
    return [_renamed(table, targets) for table in tables]


def _targets(names: Sequence[frozenset[str]], within: Within) -> dict[str, str]:
    """The variables that are recodings of others: those that no table has beside these."""
    finest = {name: own[0] for name, own in _finest(names, within).items()}
    return {name: own for name, own in finest.items() if not any({name, own} <= one for one in names)}


def untied_variables(tables: Sequence[OfficeTable]) -> list[tuple[str, str]]:
    """Variables that tables have apart, the finer one first, where nothing ties them.

    Those that have both may do so by codes that are coarser than those that the one determines the other by; where none
    has both, the coarser one may be a recoding of a third, or stand beside another recoding of the same.
    """
    names, within = _variables(tables), _within(tables)
    targets = _targets(names, within)
    recoded = {name for one in names for name in _beside(one, targets)}
    untied = []
    for name, finest in _finest(names, within).items():
        for own in finest:
            both = [table for table, one in zip(tables, names, strict=True) if {name, own} <= one]
            apart = any(len({name, own} & one) == 1 for one in names)
            tied = any(_ties(table, own, name, within[name][own]) for table in both)
            if apart and not tied and (both or targets.get(name) != own or name in recoded):
                untied.append((own, name))
    return untied


def _beside(names: frozenset[str], targets: Mapping[str, str]) -> list[str]:
    """The variables of a table that it keeps, though they are recodings: two of them are recodings of the same one."""
    own = [targets[name] for name in names if name in targets]
    return [name for name in names if name in targets and len(set(own)) < len(own)]


def _ties(table: OfficeTable, fine: str, coarse: str, parts: Parts) -> bool:
    """Whether the cells of a table of two variables tell which codes of one lie in which of the other."""
    origins = {name.lower(): codes for name, codes in table.origins.items()}
    whole = (any(codes <= part for part in parts.values()) for codes in origins.get(fine, {}).values())
    return coarse not in origins and all(whole)


def _variables(tables: Iterable[OfficeTable]) -> list[frozenset[str]]:
    return [frozenset(map(variable_of, table.trees)) for table in tables]


def _within(tables: Iterable[OfficeTable]) -> Within:
    return {name: finer for table in tables for name, finer in table.within.items()}


def _finest(names: Sequence[frozenset[str]], within: Within) -> dict[str, list[str]]:
    """For each variable that others determine the finest of these that tables have."""
    used = frozenset().union(*names)
    finest = {
        name: sorted(own for own in within[name] if own in used and not used & within.get(own, {}).keys())
        for name in within
        if name in used
    }
    return {name: own for name, own in finest.items() if own}


def _renamed(table: OfficeTable, targets: Mapping[str, tuple[str, Parts]]) -> OfficeTable:
    own = {tree.name: targets[variable_of(tree)] for tree in table.trees if variable_of(tree) in targets}
    if not own or _beside(frozenset(map(str.lower, own)), {name: target for name, (target, _) in targets.items()}):
        return table
    trees = tuple(replace(tree, name=own[tree.name][0]) if tree.name in own else tree for tree in table.trees)
    origins = {name: codes for name, codes in table.origins.items() if name not in own}
    more = {target: _recoded(parts, table.origins.get(name)) for name, (target, parts) in own.items()}
    return table.with_columns(trees=trees, origins={**origins, **more})


def _recoded(parts: Parts, origins: Parts | None) -> Parts:
    if origins is None:
        return parts
    return {new: frozenset().union(*(parts.get(code, ()) for code in codes)) for new, codes in origins.items()}
