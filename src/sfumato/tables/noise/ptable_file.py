"""Read and write perturbation tables in the format of τ-ARGUS and the ptable package.

Columns `i` (count), `j` (target), `p` (probability), `v` (noise), `p_int_lb`, `p_int_ub` (cumulated probabilities) and
`type`; `i` and `p` with `j` or `v` are sufficient. A row of the count 0 is allowed; zeros remain zeros.
"""

from pathlib import Path

import numpy as np

from sfumato.delimited.records import Line, parse_lines, read_lines
from sfumato.localization.messages import Message
from sfumato.tables.argus.file_errors import wrong
from sfumato.tables.cells.columns import finite
from sfumato.tables.noise.ptable import Ptable, PtableRow, make_ptable
from sfumato.tables.plan.sections import CellKey

COLUMNS = ("i", "j", "p", "v", "p_int_lb", "p_int_ub", "type")
# Tolerance for the sum of probabilities in a file, whose numbers are rounded.
ROUNDED = 1e-6
# Tolerance for floating-point errors of that sum.
EXACT = 1e-12


def ptable_text(table: Ptable) -> str:
    """Return a perturbation table as text with semicolons."""
    lines = [";".join(COLUMNS), "0;0;1;0;0;1;all"]
    for row in table.rows:
        end = 0.0
        for target, chance in zip(row.targets.tolist(), row.chances.tolist(), strict=True):
            start, end = end, min(end + chance, 1.0)
            numbers = (row.count, target, repr(chance), target - row.count, repr(start), repr(end))
            lines.append(";".join(str(number) for number in (*numbers, "all")))
    return "\n".join(lines) + "\n"


def read_ptable(path: Path) -> Ptable:
    """Read a perturbation table from a file.

    Raises:
        DataError: Something is missing or invalid; the message names line and column.
    """
    return _ptable(read_lines(path), path.name)


def ptable_of(method: CellKey, folder: Path) -> Ptable:
    """Return the perturbation table of a method: from its file, or computed from its parameters."""
    return make_ptable(method) if method.ptable is None else read_ptable(method.ptable.within(folder))


def parse_ptable(text: str) -> Ptable:
    """Parse a perturbation table from text."""
    return _ptable(parse_lines(text), "the text")


def _ptable(lines: list[Line], name: str) -> Ptable:
    if len(lines) < 2:
        raise wrong(name, 1, 1, "ptable.there_is_no_row", hint=Message("error.part.it_needs_a_header_and_one"))
    header = [field.strip().strip('"') for field in lines[0].fields]
    for needed in ("i", "p"):
        if needed not in header:
            raise wrong(
                name,
                lines[0].number,
                1,
                "ptable.column_is_missing",
                hint=Message("error.part.name_the_columns", names=", ".join(COLUMNS)),
                column=needed,
            )
    if "j" not in header and "v" not in header:
        raise wrong(
            name,
            lines[0].number,
            1,
            "ptable.no_target_and_no_noise",
            hint=Message("error.part.name_target_or_noise"),
        )
    rows: dict[int, dict[int, float]] = {}
    starts: dict[int, int] = {}
    for line in lines[1:]:
        count, target, chance = _entry(line, header, name)
        row, _ = rows.setdefault(count, {}), starts.setdefault(count, line.number)
        if target in row:
            raise wrong(
                name,
                line.number,
                header.index("i") + 1,
                "ptable.count_and_target_stand_twice",
                hint=Message("error.part.leave_one_out"),
            )
        row[target] = chance
    if not max(rows):
        raise wrong(
            name, lines[-1].number, 1, "ptable.no_positive_count", hint=Message("error.part.give_one_for_each_count")
        )
    return Ptable(tuple(_row(count, rows, starts, name) for count in range(1, max(rows) + 1)))


def _entry(line: Line, header: list[str], name: str) -> tuple[int, int, float]:
    def number(column: str) -> float:
        place = header.index(column)
        value = finite(line.fields[place].strip().strip('"').replace(",", "."))
        if value is None:
            raise wrong(
                name,
                line.number,
                place + 1,
                "ptable.no_number",
                hint=Message("error.part.write_finite_number"),
                column=column,
            )
        return value

    count, chance = number("i"), number("p")
    target = number("j") if "j" in header else count + number("v")
    if "v" in header and number("v") != target - count:
        raise wrong(name, line.number, header.index("v") + 1, "ptable.noise")
    if not 0 <= chance <= 1 or count < 0 or target < 0 or count != int(count) or target != int(target):
        raise wrong(
            name,
            line.number,
            header.index("p") + 1,
            "ptable.count_target_or_probability_is_none",
            hint=Message("error.part.counts_are_whole_numbers"),
        )
    return int(count), int(target), chance


def _row(count: int, rows: dict[int, dict[int, float]], starts: dict[int, int], name: str) -> PtableRow:
    if count not in rows:
        later = min(start for other, start in starts.items() if other > count)
        raise wrong(
            name,
            later,
            1,
            "ptable.missing_count",
            hint=Message("error.part.give_one_for_each_count"),
            count=count,
        )
    targets = np.array(sorted(rows[count]), np.int64)
    chances = np.array([rows[count][target] for target in targets.tolist()])
    if abs(chances.sum() - 1.0) > ROUNDED:
        raise wrong(
            name,
            starts[count],
            1,
            "ptable.the_probabilities_of_the_count_add",
            hint=Message("error.part.they_must_be_1"),
            count=count,
            total=chances.sum(),
        )
    # Probabilities that sum to 1 stay as read, so that writing them gives the same file.
    exact = abs(chances.sum() - 1.0) <= EXACT
    return PtableRow(count, targets, chances if exact else chances / chances.sum())
