"""Hierarchies: `.hrc` files, in which a lead string gives the depth; digits of codes; tables of levels; JSON.

The total is not written in a `.hrc` file; it is above all codes of depth 0.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sfumato.errors import DataError
from sfumato.tables.argus.file_errors import lines_of, wrong
from sfumato.tables.cells.dimensions import Code, CodeTree, parents_in


def read_hrc(path: Path, name: str, total: str, lead: str = "@", encoding: str | None = None) -> CodeTree:
    """Read the tree of a `.hrc` file.

    Raises:
        DataError: A line is more than one level deeper than the one before, has no code, or a duplicate one.
    """
    return parse_hrc(lines_of(path, encoding), path.name, name, total, lead)


def parse_hrc(lines: Sequence[str], file: str, name: str, total: str, lead: str = "@") -> CodeTree:
    """Parse the tree in the lines of a `.hrc` file."""
    parents = parents_in(lines, file, lead)
    if total in parents:
        number = next(place for place, line in enumerate(lines, start=1) if line.strip().lstrip(lead).strip() == total)
        raise wrong(file, number, 1, "hierarchy.the_code_is_that_of_the")
    return CodeTree(name, (total,), {(code,): (above or total,) for code, above in parents.items()})


def hrc_text(tree: CodeTree, lead: str = "@") -> str:
    """Return a tree as the lines of a `.hrc` file."""
    children = tree.children()
    lines: list[str] = []

    def write(code: Code, depth: int) -> None:
        for child in children.get(code, []):
            lines.append(lead * depth + child[0])
            write(child, depth + 1)

    write(tree.root, 0)
    return "\n".join(lines) + "\n"


def digits_tree(name: str, codes: Iterable[str], widths: Sequence[int], total: str) -> CodeTree:
    """Build the tree of codes whose leading digits are codes of a higher level: widths of 3, 1, 1 for five
    digits.

    >>> digits_tree("n", ["011", "012"], [2, 1], "T").parents
    {('01',): ('T',), ('011',): ('01',), ('012',): ('01',)}
    """
    parents: dict[Code, Code] = {}
    ends = [sum(widths[: place + 1]) for place, width in enumerate(widths) if width > 0]
    for code in dict.fromkeys(codes):
        if code == total:
            continue
        above = total
        for end in ends:
            part = code[:end]
            if part != above:
                parents.setdefault((part,), (above,))
            above = part
    return CodeTree(name, (total,), parents)


def frame_rows(tree: CodeTree) -> list[tuple[str, str]]:
    """Return the tree as rows of depth marks and names, the total first, as in data frames of sdcHierarchies."""
    children = tree.children()
    rows: list[tuple[str, str]] = []

    def add(code: Code, depth: int) -> None:
        rows.append(("@" * depth, code[0]))
        for child in children.get(code, []):
            add(child, depth + 1)

    add(tree.root, 1)
    return rows


def tree_of_rows(rows: Sequence[tuple[str, str]], name: str) -> CodeTree:
    """Build the tree of such rows.

    Raises:
        DataError: The first row is not the total, or a row is too deep.
    """
    if not rows or len(rows[0][0]) != 1:
        raise DataError("hierarchy.the_rows_of_a_hierarchy")
    total = rows[0][1]
    lines = ["@" * (len(marks) - 2) + code for marks, code in rows[1:]]
    if any(len(marks) < 2 for marks, _ in rows[1:]):
        raise DataError("hierarchy.the_rows_of_a_hierarchy_have")
    return parse_hrc(lines, "rows", name, total)


def json_text(tree: CodeTree) -> str:
    """Return the tree as nested JSON objects, each with a name and children."""
    children = tree.children()

    def node(code: Code) -> dict[str, Any]:
        below = [node(child) for child in children.get(code, [])]
        return {"name": code[0], **({"children": below} if below else {})}

    return json.dumps(node(tree.root), ensure_ascii=False, indent=2) + "\n"


def tree_of_json(text: str, name: str) -> CodeTree:
    """Parse the tree of nested JSON objects.

    Raises:
        DataError: The text is invalid.
    """
    try:
        whole = json.loads(text)
    except json.JSONDecodeError as error:
        raise wrong("the hierarchy", error.lineno, error.colno, "hierarchy.this_is_no_json") from None
    parents: dict[Code, Code] = {}

    def add(node: Mapping[str, Any], above: Code | None) -> None:
        if not isinstance(node, Mapping) or "name" not in node:
            raise DataError("hierarchy.a_node_of_the")
        code = (str(node["name"]),)
        if above is not None:
            parents[code] = above
        for child in node.get("children", []):
            add(child, code)

    add(whole, None)
    return CodeTree(name, (str(whole["name"]),), parents)
