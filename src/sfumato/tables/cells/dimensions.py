"""Dimensions: the tree of codes of each column, or chain of level columns, of a table."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from sfumato.delimited.dialect import Dialect
from sfumato.delimited.records import read_lines
from sfumato.errors import DataError, EngineError, PlanError
from sfumato.localization.messages import Message
from sfumato.tables.argus.file_errors import likely_encoding, lines_of, wrong
from sfumato.tables.cells.columns import TextColumns
from sfumato.values import Value


class _Node(Value):
    """A code with its line and column, and the position of its parent; None at the top."""

    line: int
    column: int
    code: str
    above: int | None


def parents_in(lines: Sequence[str], file: str, lead: str = "@") -> dict[str, str]:
    """Return the parent of each code, empty at the top.

    Each finest category has a code of its own, because records and cells refer to it. A code of a total may occur
    twice, as in some lists of regions, if the finest codes below identify it. It is then qualified by its parent:
    `1/11` and `4/11`. τ-ARGUS silently uses the first of such codes; here the unqualified code is refused, because it
    is ambiguous.

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


def unknown_code(code: str, codes: Mapping[tuple[str, ...], object], do: Message) -> Message:
    """Return the hint for a code that a hierarchy does not have: the qualified codes if it is ambiguous."""
    twice = [name for (name, *_) in codes if name.endswith(f"/{code}")]
    return (
        Message("error.part.the_hierarchy_has_it_times_write", count=len(twice), names=" or ".join(twice))
        if twice
        else do
    )


Code = tuple[str, ...]


class CodeTree(Value):
    """The codes of a dimension: the total is the root, every other code has a parent.

    Attributes:
        name: The dimension's name.
        root: The code of the total.
        parents: The parent of every other code.
        levels: The names of the levels, finest first, if the dimension has level columns.
        series: Whether releases add codes; the total of other codes is then another total.
    """

    name: str
    root: Code
    parents: Mapping[Code, Code]
    levels: tuple[str, ...] = ()
    series: bool = False

    def children(self) -> dict[Code, list[Code]]:
        """Return the children of every code that has some."""
        below: dict[Code, list[Code]] = {}
        for code, parent in self.parents.items():
            below.setdefault(parent, []).append(code)
        return below

    def height(self, code: Code) -> int:
        """Return the number of steps from the root."""
        steps = 0
        while code != self.root:
            code, steps = self.parents[code], steps + 1
        return steps

    def describe(self, code: Code) -> str:
        """Return level and unit in words: `Kreis 1`, or `NACE 10`, or the name of the total."""
        if code == self.root:
            return Message("totals.grand") if self.levels else Message("totals.of", name=self.name)
        if not self.levels:
            return f"{self.name} {code[0]}"
        place = self.height(code) - 1
        return f"{self.levels[len(self.levels) - 1 - place]} {code[place]}"


def level_codes(columns: TextColumns, levels: Sequence[str], total: str) -> list[Code]:
    """Return the code of each row of a dimension with level columns, from the top down.

    Raises:
        DataError: A row is a total over a level but names a unit below it.
    """
    codes = list(zip(*(columns.text(level) for level in levels), strict=True))
    wrong = [place + 1 for place, code in enumerate(codes) if _totals_above(code, total)]
    if wrong:
        raise DataError("missing-parent.total_below", number=wrong[0], name=total).about(rows=wrong)
    return codes


def _totals_above(code: Code, total: str) -> bool:
    marks = [part == total for part in code]
    return any(above and not below for above, below in pairwise(marks))


def level_tree(name: str, codes: Iterable[Code], levels: Sequence[str], total: str) -> CodeTree:
    """Build the tree of level columns: a unit's parent is the same unit with its last level set to the total."""
    root = (total,) * len(levels)
    parents: dict[Code, Code] = {}
    for start in dict.fromkeys(codes):
        code = start
        while code != root and code not in parents:
            named = sum(part != total for part in code)
            parents[code] = (*code[: named - 1], *root[named - 1 :])
            code = parents[code]
    return CodeTree(name, root, parents, tuple(reversed(levels)))


def flat_tree(name: str, codes: Iterable[str], total: str) -> CodeTree:
    """Build the tree of a column without a hierarchy: every code is a child of the total."""
    return CodeTree(name, (total,), {(code,): (total,) for code in dict.fromkeys(codes) if code != total})


def file_tree(name: str, path: Path, total: str, codes: Iterable[str], encoding: str | None = None) -> CodeTree:
    """Read a tree from a file: τ-ARGUS `.hrc` (depth as leading @) or one line `child,parent` for each code.

    Raises:
        PlanError: The file cannot be read or is not a tree.
        DataError: The table has a code that the file does not.
    """
    try:
        read = _hrc if path.suffix.lower() == ".hrc" else _child_parent
        parents = read(path, encoding or likely_encoding(path))
    except (DataError, EngineError) as error:
        raise PlanError("hierarchy.hierarchy", hint=error.hint, text=error.message) from None
    below: dict[Code, Code] = {(child,): (parent or total,) for child, parent in parents.items() if child != total}
    below |= {parent: (total,) for parent in below.values() if parent not in below and parent != (total,)}
    _check_tree(below, total, path.name)
    unknown = [code for code in dict.fromkeys(codes) if (code,) not in below and code != total]
    if unknown:
        raise DataError(
            "unknown-code.unknown_codes",
            hint=unknown_code(unknown[0], below, Message("error.part.add_them_to_the_hierarchy")),
            column=name,
            count=len(unknown),
            name=path.name,
        ).about(values=unknown, column=name)
    return CodeTree(name, (total,), below)


def _hrc(path: Path, encoding: str) -> dict[str, str]:
    return parents_in(lines_of(path, encoding), path.name)


def _child_parent(path: Path, encoding: str) -> dict[str, str]:
    rows = [[field.strip() for field in line.fields] for line in read_lines(path, Dialect(encoding=encoding))]
    if rows and [field.lower() for field in rows[0]] == ["child", "parent"]:
        rows = rows[1:]
    if any(len(row) != 2 for row in rows) or len({row[0] for row in rows}) < len(rows):
        raise PlanError("hierarchy.child_parent", name=path.name)
    return dict(rows)


def _check_tree(parents: Mapping[Code, Code], total: str, name: str) -> None:
    for start in parents:
        seen = {start}
        code = start
        while code != (total,):
            code = parents[code]
            if code in seen:
                raise PlanError("hierarchy.ladder_circle", name=name)
            seen.add(code)
