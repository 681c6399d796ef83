"""Parse the lines of `.hrc` files, in which a lead string gives the depth of a code.

A code of a finest category occurs once, because records and cells name it. A code of a total may occur twice, as in
some lists of regions, if the finest codes below identify it; it is then qualified by its parent: `1/11` and `4/11`.
τ-ARGUS silently takes the first of such codes; a cell of a table could mean either, and is refused here.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from sfumato.dataclass import dataclass
from sfumato.localization.messages import Message
from sfumato.tables.argus.file_errors import wrong


@dataclass(frozen=True, slots=True)
class _Node:
    """A code with its line and column, and the position of its parent; None at the top."""

    line: int
    column: int
    code: str
    above: int | None


def parents_in(lines: Sequence[str], file: str, lead: str = "@") -> dict[str, str]:
    """Return the parent of each code, empty at the top.

    Raises:
        DataError: A line is more than one level deeper than the one before, has no code, or a duplicate one.

    >>> parents_in(["A", "@x", "@@1", "B", "@x", "@@2"], "t.hrc")
    {'A': '', 'A/x': 'A', '1': 'A/x', 'B': '', 'B/x': 'B', '2': 'B/x'}
    """
    nodes = _nodes(lines, file, lead)
    if not nodes:
        raise wrong(file, 1, 1, "truncated.there_is_no_code")
    names = _names(nodes, file)
    return {name: "" if node.above is None else names[node.above] for name, node in zip(names, nodes, strict=True)}


def _nodes(lines: Sequence[str], file: str, lead: str) -> list[_Node]:
    nodes: list[_Node] = []
    above: list[int] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        depth, rest = 0, line.lstrip() if line.lstrip().startswith(lead) else line
        while lead and rest.startswith(lead):
            depth, rest = depth + 1, rest[len(lead) :]
        code, column = rest.strip(), depth * len(lead) + 1
        if not code:
            raise wrong(file, number, column, "hierarchy.there_is_no_code")
        if depth > len(above):
            raise wrong(file, number, column, "hierarchy.the_code_lies_too_deep", name=lead, count=depth)
        nodes.append(_Node(number, column, code, above[depth - 1] if depth else None))
        above = [*above[:depth], len(nodes) - 1]
    return nodes


def _names(nodes: Sequence[_Node], file: str) -> list[str]:
    """Return the codes; inner codes that occur twice are qualified by their parents."""
    inner = {node.above for node in nodes}
    many = Counter(node.code for node in nodes)
    names: list[str] = []
    lines: dict[str, int] = {}
    for place, node in enumerate(nodes):
        below = nodes[node.above].code if many[node.code] > 1 and place in inner and node.above is not None else ""
        name = f"{below}/{node.code}" if below else node.code
        if name in lines:
            raise wrong(file, node.line, node.column, "twice.the_code_stands_in_line_already", line=lines[name])
        lines[name] = node.line
        names.append(name)
    return names


def unknown_code(code: str, codes: Mapping[tuple[str, ...], object], do: str) -> str:
    """Return the hint for a code that a hierarchy does not have: the qualified codes if it is ambiguous."""
    twice = [name for (name, *_) in codes if name.endswith(f"/{code}")]
    return (
        Message("error.part.the_hierarchy_has_it_times_write", count=len(twice), names=" or ".join(twice))
        if twice
        else do
    )
