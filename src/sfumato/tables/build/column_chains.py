"""Columns whose codes are nested in those of others, such as level columns, and the combinations of their codes.

Level columns [Land, Kreis] have (N, Total) where the column Land has N, and (N, N1) where [Land, Kreis, Gemeinde] has
(N, N1, Total): it is one cell, whatever a table calls it. Cells are identified by the combinations that a code covers.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from sfumato.dataclass import dataclass
from sfumato.errors import UnattainableError
from sfumato.tables.batch.code_coverage import Cover
from sfumato.tables.batch.variable_cycles import connected
from sfumato.tables.cells.dimensions import Code, CodeTree
from sfumato.tables.column_dependencies.column_chain import Chain

# Maximum number of code combinations.
MOST = 500_000
# Separator between the codes of a combination; no code contains it.
BETWEEN = "\x1f"
# The codes of some columns of a combination; a column without information is left out.
Combination = Mapping[str, str]


@dataclass(frozen=True)
class LinkedColumns:
    """Columns linked by chains, and which combinations each code of some of them covers.

    Attributes:
        inconsistent: The combinations of the few inconsistent records.
    """

    columns: tuple[str, ...]
    combinations: tuple[Combination, ...]
    inconsistent: Cover = frozenset()
    _covers: dict[tuple[str, ...], dict[Code, Cover]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The columns' name as one variable."""
        return "/".join(self.columns)

    def cover(self, columns: tuple[str, ...], code: Code) -> Cover:
        """Return the combinations that a code of some columns covers."""
        if columns not in self._covers:
            self._covers[columns] = self._covers_of(columns)
        return self._covers[columns].get(code, frozenset())

    def add(self, columns: tuple[str, ...], code: Code, cover: Cover) -> None:
        """Set what a code covers that occurs in no combination."""
        if not self.cover(columns, code):
            self._covers[columns][code] = cover

    def _covers_of(self, columns: tuple[str, ...]) -> dict[Code, Cover]:
        covers: dict[Code, set[str]] = {}
        for one in self.combinations:
            if all(column in one for column in columns):
                text = _text(self.columns, one)
                covers.setdefault(tuple(one[column] for column in columns), set()).add(text)
        return {code: frozenset(cover) for code, cover in covers.items()}


def _text(columns: Sequence[str], one: Combination) -> str:
    return BETWEEN.join(one.get(column, "") for column in columns)


def columns_of(tree: CodeTree) -> tuple[str, ...]:
    """Return the columns of a dimension, from the top down."""
    return tuple(reversed(tree.levels)) or (tree.name,)


def path_of(tree: CodeTree, code: Code) -> Code:
    """Return the codes of a level from the top down, without totals; for a single column, its code."""
    return code[: tree.height(code)] if tree.levels else code


def linked_columns(trees: Sequence[CodeTree], known: Iterable[Chain] = ()) -> list[LinkedColumns]:
    """Return the linked columns, if dimensions use them in different ways.

    Args:
        known: Chains found in the records.

    Raises:
        UnattainableError: There are too many combinations of codes.
    """
    chains = [*known, *_chains(trees)]
    linked = []
    for columns in connected(frozenset(chain.columns) for chain in chains):
        own = [tree for tree in trees if columns_of(tree)[0] in columns]
        if len({columns_of(tree) for tree in own}) > 1:
            linked.append(_linked([chain for chain in chains if chain.columns[0] in columns], own))
    return linked


def _chains(trees: Iterable[CodeTree]) -> list[Chain]:
    """Return the level columns of dimensions, those with most levels first."""
    rows: dict[tuple[str, ...], set[Code]] = {}
    for tree in trees:
        if tree.levels:
            below = set(tree.parents.values())
            own = rows.setdefault(columns_of(tree), set())
            own.update(code for code in tree.parents if code not in below and len(path_of(tree, code)) == len(code))
    ordered = sorted(rows.items(), key=lambda entry: (-len(entry[0]), entry[0]))
    return [Chain(columns, frozenset(codes)) for columns, codes in ordered]


def _linked(chains: Sequence[Chain], trees: Sequence[CodeTree]) -> LinkedColumns:
    """Join chains on their common columns into combinations of linked columns."""
    waiting, columns, combinations = list(chains), list[str](), list[Combination]()
    while waiting:
        chain = next((one for one in waiting if set(one.columns) & set(columns)), waiting[0])
        waiting.remove(chain)
        combinations = _joined(combinations, columns, chain)
        columns += [name for name in chain.columns if name not in columns]
    odd = _odd(chains, columns, combinations)
    linked = LinkedColumns(tuple(columns), tuple(combinations), odd)
    _add_hierarchies(linked, trees)
    alone = {tuple(one.items()): one for tree in trees for one in _alone(tree, linked)}
    if not alone:
        return linked
    linked = LinkedColumns(linked.columns, (*combinations, *alone.values()), odd)
    _add_hierarchies(linked, trees)
    return linked


def _odd(chains: Iterable[Chain], columns: Sequence[str], combinations: Sequence[Combination]) -> Cover:
    """Return the combinations that a chain marks as inconsistent."""
    return frozenset(
        _text(columns, one)
        for chain in chains
        for one in (combinations if chain.inconsistent else ())
        if tuple(one.get(column, "") for column in chain.columns) in chain.inconsistent
    )


def _add_hierarchies(linked: LinkedColumns, trees: Iterable[CodeTree]) -> None:
    """Set what the inner codes of hierarchies cover: another table may have them as its finest codes."""
    for tree in trees:
        for code, cover in covers_of(tree, linked).items() if not tree.levels else ():
            if cover:
                linked.add((tree.name,), code, cover)


def covers_of(tree: CodeTree, linked: LinkedColumns) -> dict[Code, Cover]:
    """Return what each code of a dimension covers, by its level columns or by the children in its hierarchy."""
    columns, parts = columns_of(tree), tree.children()

    def cover(code: Code) -> Cover:
        if code in parts and not tree.levels:
            return frozenset().union(*map(cover, parts[code]))
        path = path_of(tree, code)
        return linked.cover(columns[: len(path)], path)

    return {code: cover(code) for code in tree.parents}


def _joined(combinations: Sequence[Combination], columns: Sequence[str], chain: Chain) -> list[Combination]:
    shared = tuple(name for name in chain.columns if name in columns)
    rows: dict[Code, list[Combination]] = {}
    for code in sorted(chain.rows):
        own = dict(zip(chain.columns, code, strict=True))
        rows.setdefault(tuple(own[name] for name in shared), []).append(own)
    joined, met = list[Combination](), set[Code]()
    for one in combinations:
        key = tuple(one.get(name, "") for name in shared)
        met.add(key)
        joined += [{**one, **own} for own in rows.get(key, [{}])]
        if len(joined) > MOST:
            raise UnattainableError("joint-size.the_codes_of_go_together", columns=" and ".join(chain.columns))
    return joined + [own for key, some in rows.items() if key not in met for own in some]


def _alone(tree: CodeTree, linked: LinkedColumns) -> list[Combination]:
    """Return finest codes that are in no chain; each covers only itself."""
    columns, totals = columns_of(tree), set(tree.parents.values())
    paths = [path_of(tree, code) for code in tree.parents if code not in totals]
    return [dict(zip(columns, path, strict=False)) for path in paths if not linked.cover(columns[: len(path)], path)]
