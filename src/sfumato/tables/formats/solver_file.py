"""`.jj` files: cells and relations as solvers read them.

Line `0`; the number of cells; for each cell `id value cost status lb ub lpl upl spl` (ids from 0; status s, u or z);
the number of relations; for each `rhs k : id (coef) …`, with k terms, total -1, parts 1, rhs 0.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sfumato.tables.argus.argus_table import ArgusTable
from sfumato.tables.argus.file_errors import fields_in, lines_of, number_in, truncated, wrong
from sfumato.tables.argus.statuses import MARKS, ArgusStatus, choices_of, secondary_of
from sfumato.tables.cells.cells import CellStatus, LinearConstraints, make_constraints
from sfumato.tables.cells.precision import tidied

WIDTH = 9
_TERM = re.compile(r"(\d+)\s*\(\s*(-?[0-9.]+)\s*\)")
_LETTERS = ("s", "u", "z")


def read_jj(path: Path, encoding: str | None = None) -> ArgusTable:
    """Read the table of a `.jj` file.

    Raises:
        DataError: The file is truncated, a line has a wrong length, or an entry is invalid.
    """
    return parse_jj(lines_of(path, encoding), path.name)


def parse_jj(lines: Sequence[str], name: str = "the text") -> ArgusTable:
    """Parse the lines of a `.jj` file."""
    if not lines or lines[0].strip() != "0":
        raise wrong(name, 1, 1, "the first line is not 0", "A file of this format begins with a line 0.")
    many = _count(lines, 2, name, "the number of cells")
    if len(lines) < 2 + many + 1:
        raise truncated(name, len(lines) + 1, f"cell {len(lines) - 2} of {many}")
    cells = [_cell(lines[2 + place], 3 + place, place, name) for place in range(many)]
    relations = _relations(lines, 3 + many, many, name)
    columns = np.array([numbers for numbers, _ in cells], np.float64).reshape(many, 7).T
    statuses = np.array([int(status) for _, status in cells], np.int64)
    return ArgusTable(
        value="value",
        trees=(),
        keys=(),
        values=columns[0],
        statuses=statuses,
        costs=columns[1],
        low=columns[2],
        high=columns[3],
        lower=columns[4],
        upper=columns[5],
        given=relations,
    )


def _count(lines: Sequence[str], number: int, name: str, what: str) -> int:
    if len(lines) < number:
        raise truncated(name, number, what)
    text = lines[number - 1].strip()
    if not text.isdigit():
        raise wrong(name, number, 1, f"{what} is expected", "Write it as a whole number.")
    return int(text)


def _cell(line: str, number: int, place: int, name: str) -> tuple[list[float], ArgusStatus]:
    fields = fields_in(line, None)
    if len(fields) != WIDTH:
        do = "A cell is id value cost status lb ub lpl upl spl."
        raise wrong(name, number, 1, f"a cell has {WIDTH} fields, this line has {len(fields)}", do, "length")
    if fields[0][0] != str(place):
        raise wrong(name, number, 1, f"the id is not {place}", "Ids count from 0 in the order of the lines.")
    mark, column = fields[3]
    if mark.lower() not in MARKS:
        raise wrong(name, number, column, "the status is none of s, u, m, z", "Write one of these.", "status")
    numbers = [number_in(text, name, number, start) for text, start in (fields[1:3] + fields[4:])]
    value, _, low, high, *levels = numbers
    if not low <= value <= high:
        do = "Correct the value, or lb and ub: absolute bounds that everyone knows."
        raise wrong(name, number, fields[1][1], "the value does not lie within its bounds", do, "bounds")
    if min(levels) < 0:
        raise wrong(name, number, fields[6][1], "a protection level is negative", "Write an amount from 0 on.", "level")
    return numbers, MARKS[mark.lower()]


def _relations(lines: Sequence[str], number: int, many: int, name: str) -> LinearConstraints:
    count = _count(lines, number, name, "the number of relations")
    if len(lines) < number + count:
        raise truncated(name, len(lines) + 1, f"relation {len(lines) - number + 1} of {count}")
    if more := [place for place, line in enumerate(lines[number + count :], start=1) if line.strip()]:
        what = f"{count} relations are announced, but there are more"
        raise wrong(name, number + count + more[0], 1, what, "Correct the number, or leave the line out.", "length")
    rows = [_relation(lines[number + place], number + place + 1, many, name) for place in range(count)]
    return make_constraints(
        rows, [f"relation {place} in line {number + place + 1} of {name}" for place in range(count)]
    )


def _relation(line: str, number: int, many: int, name: str) -> tuple[list[int], list[float]]:
    head, colon, tail = line.partition(":")
    start = head.split()
    if not colon or len(start) != 2 or not start[1].isdigit():
        raise wrong(name, number, 1, "this is no relation", "A relation is rhs k : id (coef) id (coef) …")
    if number_in(start[0], name, number, 1) != 0:
        raise wrong(name, number, 1, "the right side is not 0", "Parts minus their total must be 0.")
    terms = _TERM.findall(tail)
    if len(terms) != int(start[1]):
        what = f"{start[1]} terms are announced, and {len(terms)} are there"
        raise wrong(name, number, len(head) + 2, what, "Correct the number, or the terms.", "length")
    if rest := _TERM.sub("", tail).strip():
        what = "unexpected text between the terms"
        raise wrong(name, number, line.rindex(rest.split()[0]) + 1, what, "Write each as id (coef).", "format")
    for cell, _ in terms:
        if int(cell) >= many:
            raise wrong(name, number, len(head) + 2, f"there is no cell {cell}", "Ids lie below the number of cells.")
    return [int(cell) for cell, _ in terms], [
        number_in(coef, name, number, len(head) + 2, "a coefficient") for _, coef in terms
    ]


def jj_text(table: ArgusTable) -> str:
    """Return a table as the text of a `.jj` file.

    The format has only safe, sensitive and protected cells. Secondary cells are written as sensitive ones without
    protection level, so that the pattern is kept.
    """
    none = np.zeros(len(table))
    relations = table.relations()
    least = min(float(table.values.min(initial=0.0)), 0.0) * 1.5
    low = tidied(np.full(len(table), least)) if table.low is None else table.low
    most = np.abs(table.values).max(initial=0.0) * 1.5
    high = tidied(np.full(len(table), most)) if table.high is None else table.high
    costs = np.abs(table.values) if table.costs is None else table.costs
    levels = (table.lower if table.lower is not None else none, table.upper if table.upper is not None else none)
    choices = np.where(secondary_of(table.statuses), CellStatus.SENSITIVE, choices_of(table.statuses))
    lines = ["0", str(len(table))]
    for cell in range(len(table)):
        numbers = (low[cell], high[cell], levels[0][cell], levels[1][cell], 0.0)
        tail = " ".join(plain(number) for number in numbers)
        head = f"{cell} {plain(table.values[cell])} {plain(costs[cell])} {_LETTERS[choices[cell]]}"
        lines.append(f"{head} {tail}")
    lines.append(str(len(relations)))
    for place in range(len(relations)):
        cells, coefs = relations.row(place)
        terms = " ".join(f"{cell} ({plain(coef)})" for cell, coef in zip(cells, coefs, strict=True))
        lines.append(f"0 {len(cells)} : {terms}")
    return "\n".join(lines) + "\n"


def plain(number: float) -> str:
    """Return a number as text that is read back exactly, integers without a point.

    >>> plain(3.0), plain(0.1 + 0.2)
    ('3', '0.30000000000000004')
    """
    value = float(number)
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
