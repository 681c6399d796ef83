"""Read and write PC-Axis `.px` files: all codes combined, suppressed cells as dots, statuses as cell notes."""

import re
from itertools import product
from pathlib import Path

import numpy as np

from sfumato.tables.argus.file_errors import check_text, lines_of, wrong
from sfumato.tables.argus.office_table import ArgusStatus, ArgusTable, masked_of, status_in
from sfumato.tables.cells.columns import finite
from sfumato.tables.cells.constraints import Key
from sfumato.tables.cells.dimensions import Code, CodeTree
from sfumato.tables.formats.solver_file import plain

DOTS = '".."'
# Placeholder for a combination that the table does not have.
NOTHING = '"-"'
_KEYWORD = re.compile(r'^([A-Z0-9-]+)(?:\[[a-z]+\])?(?:\(((?:"[^"]*",?\s*)+)\))?$')
_TEXT = re.compile(r'"([^"]*)"')
# A datum with its line and column.
Datum = tuple[str, int, int]
_DATUM = re.compile(r'"[^"]*"|[^\s,]+')
# The keyword before the data, and the sign between a keyword and its texts; both are outside quotes.
_DATA = re.compile(r"^[ \t]*DATA[ \t]*=", re.MULTILINE)
_EQUALS = re.compile(r'((?:"[^"]*"|[^"=])*)=')
# Keywords that may occur only once.
ONCE = ("STUB", "HEADING", "VALUES", "CODES", "HIERARCHIES", "CELLNOTE", "CONTENTS", "DECIMALS")
Entries = dict[tuple[str, ...], tuple[str, int]]


def px_text(table: ArgusTable, masked: bool = True, statuses: bool = False) -> str:
    """Return a table as the text of a `.px` file.

    Args:
        masked: Whether suppressed cells are written as dots.
        statuses: Whether statuses other than 1 are written as notes; internal.
    """
    _check_texts(table)
    codes = [_codes(tree) for tree in table.trees]
    names = [tree.name for tree in table.trees]
    lines = ['CHARSET="ANSI";', 'AXIS-VERSION="2010";', 'CODEPAGE="utf-8";', f'MATRIX="{table.value}";']
    lines += [f"DECIMALS={table.decimals};", f'TITLE="{table.value}";', f'CONTENTS="{table.value}";', 'UNITS="";']
    stub, heading = names[:-1], names[-1:]
    lines += ([f"STUB={_listed(stub)};"] if stub else []) + [f"HEADING={_listed(heading)};"]
    for tree, own in zip(table.trees, codes, strict=True):
        labels = table.labels.get(tree.name, {})
        lines.append(f'VALUES("{tree.name}")={_listed([labels.get(code[0], code[0]) for code in own])};')
        lines.append(f'CODES("{tree.name}")={_listed([code[0] for code in own])};')
        pairs = ",".join(f'"{parent[0]}":"{code[0]}"' for code, parent in tree.parents.items())
        lines.append(f'HIERARCHIES("{tree.name}")="{tree.root[0]}"{"," + pairs if pairs else ""};')
    if statuses:
        lines += [
            f'CELLNOTE({_listed(table.codes(int(cell)))})="status {table.statuses[cell]}";'
            for cell in np.flatnonzero(table.statuses != ArgusStatus.SAFE)
        ]
    places = {key: place for place, key in enumerate(table.keys)}
    hidden = masked_of(table.statuses) & masked
    shown = [_shown(table, places.get(key), hidden) for key in product(*codes)]
    width = len(codes[-1])
    rows = (" ".join(shown[start : start + width]) for start in range(0, len(shown), width))
    return "\n".join([*lines, "DATA=", *rows]) + ";\n"


def _codes(tree: CodeTree) -> list[Code]:
    return [tree.root, *tree.parents]


def _check_texts(table: ArgusTable) -> None:
    """Refuse names, codes and labels with quotes, which these files cannot represent."""
    check_text(table.value, "table.value")
    for tree in table.trees:
        labels = table.labels.get(tree.name, {})
        for text in (tree.name, *(code[0] for code in _codes(tree)), *labels.values()):
            check_text(text, tree.name)


def _listed(texts: list[str]) -> str:
    return ",".join(f'"{text}"' for text in texts)


def _shown(table: ArgusTable, cell: int | None, hidden: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> str:
    if cell is None:
        return NOTHING
    return DOTS if hidden[cell] else plain(table.values[cell])


def read_px(path: Path, encoding: str | None = None) -> ArgusTable:
    """Read the table of a `.px` file; suppressed cells are NaN, with status 3 unless a note gives another.

    Raises:
        DataError: The file is truncated, lacks a keyword, or has too few or too many data.
    """
    return parse_px("\n".join(lines_of(path, encoding)), path.name)


def parse_px(text: str, name: str = "the text") -> ArgusTable:
    """Parse the text of a `.px` file."""
    entries, data, line = _parsed(text, name)
    variables = [*_texts(entries, ("STUB",)), *_texts(entries, ("HEADING",))]
    if not variables:
        raise wrong(name, 1, 1, "px.no_stub_and_no_heading")
    trees, codes = [], []
    for variable in variables:
        own = _texts(entries, ("CODES", variable)) or _texts(entries, ("VALUES", variable))
        if not own:
            raise wrong(name, 1, 1, "px.values_of_are_missing", column=variable)
        labels = _texts(entries, ("VALUES", variable))
        if labels and len(labels) != len(own):
            line = entries["VALUES", variable][1]
            raise wrong(name, line, 1, "length.codes", column=variable, count=len(own), number=len(labels))
        if len(set(own)) < len(own):
            line = entries.get(("CODES", variable), entries.get(("VALUES", variable), ("", 1)))[1]
            raise wrong(name, line, 1, "twice.a_code_of_stands_twice", column=variable)
        trees.append(_tree(variable, own, entries, name))
        codes.append([(code,) for code in own])
    size = int(np.prod([len(own) for own in codes]))
    if len(data) != size:
        if len(data) < size:
            raise wrong(name, data[-1][1] if data else line, 1, "truncated.datum", count=size, number=len(data))
        raise wrong(name, data[size][1], data[size][2], "length.data", count=size, number=len(data))
    return _table(entries, variables, tuple(trees), list(product(*codes)), data, name)


def _table(
    entries: Entries,
    variables: list[str],
    trees: tuple[CodeTree, ...],
    keys: list[Key],
    data: list[Datum],
    name: str,
) -> ArgusTable:
    notes = _notes(entries, set(keys), name)
    there = [place for place, (text, *_) in enumerate(data) if text.strip('"') != "-"]
    values, statuses = [], []
    for place in there:
        text, line, column = data[place]
        dots = set(text.strip('"')) == {"."}
        number = np.nan if dots else finite(text)
        if number is None:
            raise wrong(name, line, column, "px.datum_is_no_number", number=place + 1)
        values.append(number)
        statuses.append(notes.get(keys[place], int(ArgusStatus.UNSAFE if dots else ArgusStatus.SAFE)))
    labels = {
        variable: dict(zip(_texts(entries, ("CODES", variable)), _texts(entries, ("VALUES", variable)), strict=False))
        for variable in variables
    }
    value = (_texts(entries, ("CONTENTS",)) or _texts(entries, ("MATRIX",)) or ["value"])[0]
    text, number = entries.get(("DECIMALS",), ("0", 1))
    if not text.isdigit():
        raise wrong(name, number, 1, "px.decimals_is_no_number")
    kept = tuple(keys[place] for place in there)
    return ArgusTable(
        value, trees, kept, np.array(values), np.array(statuses, np.int64), labels=labels, decimals=int(text)
    )


def _notes(entries: Entries, cells: set[Key], name: str) -> dict[Key, int]:
    """Return the statuses in cell notes; a note for an unknown cell is refused, as it may be that of a
    sensitive one.
    """
    notes: dict[Key, int] = {}
    for key, (text, line) in entries.items():
        note = text.strip('"')
        if key[0] != "CELLNOTE" or not note.startswith("status "):
            continue
        status = status_in(note.removeprefix("status ").strip(), {})
        if status is None:
            raise wrong(name, line, 1, "status.the_note_tells_no_status")
        cell = tuple((code,) for code in key[1:])
        if cell not in cells:
            raise wrong(name, line, 1, "unknown-code.the_note_with_a_status_names")
        notes[cell] = int(status)
    return notes


def _parsed(text: str, name: str) -> tuple[Entries, list[Datum], int]:
    """Return the keywords with their texts and lines, the data with lines and columns, and the first line of data."""
    data = _DATA.search(text)
    head, tail = (text[: data.start()], text[data.end() :]) if data else (text, "")
    line = head.count("\n") + 1
    if not data:
        raise wrong(name, line, 1, "truncated", what="DATA=")
    end = tail.rfind(";")
    if end < 0:
        raise wrong(name, text.count("\n") + 1, 1, "truncated.semicolon")
    entries: Entries = {}
    for number, statement in _statements(head):
        equals = _EQUALS.match(statement)
        left, right = (equals.group(1), statement[equals.end() :]) if equals else ("", "")
        found = _KEYWORD.match(left.strip())
        if not found:
            raise wrong(name, number, 1, "px.this_is_no_keyword")
        key = (found.group(1), *_TEXT.findall(found.group(2) or ""))
        if key in entries and key[0] in ONCE:
            raise wrong(name, number, 1, "twice.occurs_twice", key=key[0], line=entries[key][1])
        entries[key] = (right.strip(), number)
    return (
        entries,
        [(datum.group(), *_place(tail, datum.start(), line)) for datum in _DATUM.finditer(tail, 0, end)],
        line,
    )


def data_places(text: str, name: str = "the text") -> list[tuple[int, int]]:
    """Return the line and column of each cell of a text."""
    return [(line, column) for datum, line, column in _parsed(text, name)[1] if datum.strip('"') != "-"]


def _place(tail: str, start: int, line: int) -> tuple[int, int]:
    """Return the line and column of a datum."""
    return line + tail.count("\n", 0, start), start - tail.rfind("\n", 0, start)


def _statements(head: str) -> list[tuple[int, str]]:
    statements, start, line, quoted = list[tuple[int, str]](), 0, 1, False
    first = 1
    for place, sign in enumerate(head):
        quoted ^= sign == '"'
        if sign == ";" and not quoted:
            statements.append((first, head[start:place].strip().replace("\n", "")))
            start = place + 1
            first = line
        elif sign == "\n":
            line += 1
            if not head[start:place].strip():
                first = line
    return [(number, text) for number, text in statements if text]


def _texts(entries: Entries, key: tuple[str, ...]) -> list[str]:
    return _TEXT.findall(entries.get(key, ("", 0))[0])


def _tree(variable: str, codes: list[str], entries: Entries, name: str) -> CodeTree:
    """Return the hierarchy in the file; otherwise the first code is the total of all others."""
    text, line = entries.get(("HIERARCHIES", variable), ("", 1))
    pairs = re.findall(r'"([^"]*)":"([^"]*)"', text)
    if not text:
        return CodeTree(variable, (codes[0],), {(code,): (codes[0],) for code in codes[1:]})
    unknown = [code for pair in pairs for code in pair if code not in codes]
    if unknown:
        raise wrong(name, line, 1, "unknown-code.code_only_in_hierarchy", column=variable)
    _check_tree(variable, pairs, name, line)
    total = next(iter(_TEXT.findall(text)), "")
    if left := set(codes) - {total} - {child for _, child in pairs}:
        raise wrong(name, line, 1, "unknown-code.codes_without_hierarchy", column=variable, count=len(left))
    return CodeTree(variable, (total,), {(child,): (parent,) for parent, child in pairs})


def _check_tree(variable: str, pairs: list[tuple[str, str]], name: str, line: int) -> None:
    """Refuse a hierarchy with a code that has two parents, or is its own ancestor."""
    above = {child: parent for parent, child in pairs}
    twice = len(above) < len(pairs)
    for child in above:
        code, passed = child, set[str]()
        while code in above and code not in passed:
            passed.add(code)
            code = above[code]
        twice |= code in passed
    if twice:
        raise wrong(name, line, 1, "hierarchy.hierarchies_of_put_a_code_below", column=variable)
