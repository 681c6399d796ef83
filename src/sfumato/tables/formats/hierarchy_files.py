"""Read and write hierarchies (`.hrc`, levels, JSON), and read global recodings of their codes (`.grc`)."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from sfumato.errors import DataError
from sfumato.tables.argus.file_errors import lines_of, wrong
from sfumato.tables.cells.dimensions import Code, CodeTree, parents_in
from sfumato.values import Value


def read_hrc(path: Path, name: str, total: str, lead: str = "@", encoding: str | None = None) -> CodeTree:
    """Read the tree of a `.hrc` file.

    A `.hrc` file does not contain the total, which is the parent of all codes of depth 0.

    Raises:
        DataError: A line is more than one level deeper than the one before, has no code, or a duplicate one.
    """
    return parse_hrc(lines_of(path, encoding), path.name, name, total, lead)


def parse_hrc(lines: Sequence[str], file: str, name: str, total: str, lead: str = "@") -> CodeTree:
    """Parse the tree in the lines of a `.hrc` file."""
    parents = parents_in(lines, file, lead)
    if total in parents:
        number = next(place for place, line in enumerate(lines, start=1) if line.strip().lstrip(lead).strip() == total)
        raise wrong(file, number, 1, "hierarchy.code_of_total")
    return CodeTree(name, (total,), {(code,): (above or total,) for code, above in parents.items()})


def hrc_text(tree: CodeTree) -> str:
    """Return a tree as the lines of a `.hrc` file."""
    children = tree.children()
    lines: list[str] = []

    def write(code: Code, depth: int) -> None:
        for child in children.get(code, []):
            lines.append("@" * depth + child[0])
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
    """Build the tree from rows of depth marks and names.

    Raises:
        DataError: The first row is not the total, or a row is too deep.
    """
    if not rows or len(rows[0][0]) != 1:
        raise DataError("hierarchy.the_rows_of_a_hierarchy")
    total = rows[0][1]
    lines = ["@" * (len(marks) - 2) + code for marks, code in rows[1:]]
    if any(len(marks) < 2 for marks, _ in rows[1:]):
        raise DataError("hierarchy.two_totals")
    return parse_hrc(lines, "rows", name, total)


def json_text(tree: CodeTree) -> str:
    """Return the tree as nested JSON objects, each with a name and children."""
    children = tree.children()

    def node(code: Code) -> dict[str, Any]:
        below = [node(child) for child in children.get(code, [])]
        return {"name": code[0], **({"children": below} if below else {})}

    return json.dumps(node(tree.root), ensure_ascii=False, indent=2) + "\n"


def tree_of_json(text: str, name: str) -> CodeTree:
    """Parse a tree from nested JSON objects.

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
            raise DataError("hierarchy.node_without_name")
        code = (str(node["name"]),)
        if above is not None:
            parents[code] = above
        for child in node.get("children", []):
            add(child, code)

    add(whole, None)
    return CodeTree(name, (str(whole["name"]),), parents)


TREE = "<TREERECODE>"


class Recoding(Value):
    """A global recoding.

    A line `new: old, old, from-to` of its file merges several codes into one. An interval without a start (`-12`) or an
    end (`40-`) includes all codes before or after.

    Attributes:
        codes: The new code of each old one.
        closed: Codes of a hierarchy whose children are no longer shown.
    """

    codes: dict[str, str]
    closed: tuple[str, ...] = ()

    def of(self, tree: CodeTree) -> CodeTree:
        """Return a hierarchy without the descendants of closed codes."""
        shut: set[Code] = {(code,) for code in self.closed}
        kept = {code: parent for code, parent in tree.parents.items() if not _below(code, tree, shut)}
        return CodeTree(tree.name, tree.root, kept)


def _below(code: Code, tree: CodeTree, shut: set[Code]) -> bool:
    while code != tree.root:
        code = tree.parents[code]
        if code in shut:
            return True
    return False


def read_recoding(path: Path, codes: Iterable[str], encoding: str | None = None) -> Recoding:
    """Read a recoding file, for the existing codes.

    Raises:
        DataError: A line is invalid, names an unknown code, or one of another line.
    """
    order = list(dict.fromkeys(codes))
    lines = [(number, line.strip()) for number, line in enumerate(lines_of(path, encoding), start=1) if line.strip()]
    if not lines:
        raise wrong(path.name, 1, 1, "recoding.there_is_nothing_to_recode")
    if lines[0][1].upper() == TREE:
        return Recoding({}, tuple(_closed(path.name, number, text, order) for number, text in lines[1:]))
    recoded: dict[str, str] = {}
    for number, text in lines:
        if text.startswith("<"):
            continue
        new, colon, olds = text.partition(":")
        if colon and not new.strip():
            raise wrong(path.name, number, 1, "recoding.there_is_no_new_code")
        if not colon:
            raise wrong(path.name, number, 1, "recoding.there_is_no_colon")
        for old in _chosen(path.name, number, olds, order, len(new) + 2):
            if recoded.get(old, new.strip()) != new.strip():
                raise wrong(path.name, number, 1, "recoding.a_code_is_recoded_twice")
            recoded[old] = new.strip()
    return Recoding(recoded)


def _closed(name: str, number: int, text: str, codes: list[str]) -> str:
    if text not in codes:
        raise wrong(name, number, 1, "unknown-code.not_in_hierarchy")
    return text


def _chosen(name: str, number: int, text: str, codes: list[str], column: int) -> list[str]:
    """Return the codes that a list of codes and intervals names."""
    chosen: list[str] = []
    for part in text.split(","):
        entry = part.strip()
        if entry in codes:
            chosen.append(entry)
        elif "-" in entry:
            first, last = (end.strip() for end in entry.split("-", 1))
            chosen += _between(first, last, codes) or _none(name, number, column)
        elif entry:
            raise wrong(name, number, column, "unknown-code.no_such_codes")
        column += len(part) + 1
    if not chosen:
        raise wrong(name, number, 1, "recoding.no_code_is_recoded")
    return chosen


def _between(first: str, last: str, codes: Iterable[str]) -> list[str]:
    return [code for code in codes if (not first or _at_least(code, first)) and (not last or _at_least(last, code))]


def _none(name: str, number: int, column: int) -> NoReturn:
    """Refuse an interval without a code; its ends may be swapped."""
    raise wrong(name, number, column, "unknown-code.no_code_lies_in_this_range")


def _at_least(one: str, other: str) -> bool:
    numbers = one.strip().isdigit() and other.strip().isdigit()
    return int(one) >= int(other) if numbers else one >= other
