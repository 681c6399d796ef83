"""Columns of records that are a higher level of another column: codes of both cover the same records."""

from collections.abc import Iterable, Mapping

from sfumato.tables.cells.dimensions import Code, CodeTree


def codes_within(tree: CodeTree, pairs: Iterable[tuple[str, str]]) -> dict[str, frozenset[str]]:
    """Return the codes of a column with hierarchy that each code of another column covers; empty if it is not
    a level.

    Args:
        tree: The hierarchy.
        pairs: The occurring pairs of codes, that of the column with hierarchy first.

    >>> tree = CodeTree("kreis", ("T",), {("N",): ("T",), ("N1",): ("N",), ("N2",): ("N",), ("S",): ("T",)})
    >>> sorted(codes_within(tree, [("N1", "north"), ("N2", "north")])["north"])
    ['N1', 'N2']
    >>> codes_within(tree, [("N1", "west"), ("N2", "east")])
    {}
    """
    below, above = dict[str, set[str]](), dict[str, str]()
    for fine, coarse in pairs:
        if above.setdefault(fine, coarse) != coarse:
            return {}
        below.setdefault(coarse, set()).add(fine)
    units = set(_units(tree, above).values())
    parts = {coarse: frozenset(codes) for coarse, codes in below.items()}
    return parts if parts and set(parts.values()) <= units else {}


def _units(tree: CodeTree, there: Mapping[str, str]) -> dict[Code, frozenset[str]]:
    """Return the record codes below each inner code."""
    units: dict[Code, set[str]] = {}
    for text in there:
        code: Code = (text,)
        while (code := tree.parents.get(code, tree.root)) != tree.root:
            units.setdefault(code, set()).add(text)
    return {code: frozenset(codes) for code, codes in units.items()}
