"""Read and write `.jj` files: cells and linear constraints in the format of solvers.

Line `0`; the number of cells; for each cell `id value cost status lb ub lpl upl spl` (ids from 0; status s, u or z);
the number of constraints; for each `rhs k : id (coef) …`, with k terms, total -1, parts 1, rhs 0.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sfumato.localization.messages import Message
from sfumato.tables.argus.file_errors import fields_in, lines_of, number_in, wrong
from sfumato.tables.argus.office_table import MARKS, ArgusStatus, ArgusTable, choices_of, secondary_of
from sfumato.tables.cells.constraints import tidied
from sfumato.tables.cells.system import CellStatus, LinearConstraints, make_constraints

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
        raise wrong(name, 1, 1, "format.the_first_line_is_not_0")
    many = _count(lines, 2, name, Message("phrase.number_of_cells"))
    if len(lines) < 2 + many + 1:
        raise wrong(name, len(lines) + 1, 1, "truncated.cell", number=len(lines) - 2, count=many)
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
        raise wrong(name, number, 1, "truncated", what=what)
    text = lines[number - 1].strip()
    if not text.isdigit():
        raise wrong(name, number, 1, "format.expected", what=what)
    return int(text)


def _cell(line: str, number: int, place: int, name: str) -> tuple[list[float], ArgusStatus]:
    fields = fields_in(line, None)
    if len(fields) != WIDTH:
        do = Message("error.part.a_cell_is_id_value_cost")
        raise wrong(name, number, 1, "length.number_of_fields", hint=do, count=WIDTH, number=len(fields))
    if fields[0][0] != str(place):
        raise wrong(name, number, 1, "format.wrong_id", number=place)
    mark, column = fields[3]
    if mark.lower() not in MARKS:
        raise wrong(name, number, column, "status.the_status_is_none_of_s")
    numbers = [number_in(text, name, number, start) for text, start in (fields[1:3] + fields[4:])]
    value, _, low, high, *levels = numbers
    if not low <= value <= high:
        do = Message("error.part.correct_value_or_bounds")
        raise wrong(name, number, fields[1][1], "bounds.the_value_does_not_lie_within", hint=do)
    if min(levels) < 0:
        raise wrong(name, number, fields[6][1], "level.a_protection_level_is_negative")
    return numbers, MARKS[mark.lower()]


def _relations(lines: Sequence[str], number: int, many: int, name: str) -> LinearConstraints:
    count = _count(lines, number, name, Message("phrase.number_of_relations"))
    if len(lines) < number + count:
        raise wrong(name, len(lines) + 1, 1, "truncated.relation", number=len(lines) - number + 1, count=count)
    if more := [place for place, line in enumerate(lines[number + count :], start=1) if line.strip()]:
        raise wrong(name, number + count + more[0], 1, "length.relations_are_announced_and_here_stands", count=count)
    rows = [_relation(lines[number + place], number + place + 1, many, name) for place in range(count)]
    return make_constraints(
        rows, [f"relation {place} in line {number + place + 1} of {name}" for place in range(count)]
    )


def _relation(line: str, number: int, many: int, name: str) -> tuple[list[int], list[float]]:
    head, colon, tail = line.partition(":")
    start = head.split()
    if not colon or len(start) != 2 or not start[1].isdigit():
        raise wrong(name, number, 1, "format.this_is_no_relation")
    if number_in(start[0], name, number, 1) != 0:
        raise wrong(name, number, 1, "format.the_right_side_is_not_0")
    terms = _TERM.findall(tail)
    if len(terms) != int(start[1]):
        raise wrong(name, number, len(head) + 2, "length.terms", count=start[1], number=len(terms))
    if rest := _TERM.sub("", tail).strip():
        raise wrong(name, number, line.rindex(rest.split()[0]) + 1, "format.terms")
    for cell, _ in terms:
        if int(cell) >= many:
            raise wrong(name, number, len(head) + 2, "format.no_such_cell", number=cell)
    return [int(cell) for cell, _ in terms], [
        number_in(coef, name, number, len(head) + 2, Message("phrase.coefficient")) for _, coef in terms
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
