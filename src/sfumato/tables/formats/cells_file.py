"""Read and write `.tab` files: tables as lists of cells, with metadata (`.rda`) and hierarchies (`.hrc`)."""

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from sfumato.errors import DataError, Hint, PlanError
from sfumato.localization.messages import Message
from sfumato.tables.argus.file_errors import fields_in, lines_of, number_in, office_field, wrong
from sfumato.tables.argus.office_table import LETTERS, ArgusStatus, ArgusTable, check_codes, status_in
from sfumato.tables.cells.constraints import Key, check, precision_of
from sfumato.tables.cells.dimensions import Code, CodeTree, flat_tree
from sfumato.tables.cells.system import BoolArray, Numbers
from sfumato.tables.formats.hierarchy_files import digits_tree, hrc_text, read_hrc
from sfumato.tables.formats.metadata import Metadata, Variable, metadata_text
from sfumato.tables.formats.solver_file import plain


def read_labels(path: Path, codes: set[str] | None = None, encoding: str | None = None) -> dict[str, str]:
    """Read the labels of codes.

    Args:
        codes: The valid codes; None if any code may occur.
        encoding: Encoding of the file; detected if None.

    Raises:
        DataError: A line has no label, or its code is unknown or duplicate.
    """
    labels: dict[str, str] = {}
    for number, line in enumerate(lines_of(path, encoding), start=1):
        if not line.strip():
            continue
        code, comma, label = (part.strip().strip('"') for part in line.partition(","))
        if not comma:
            raise wrong(path.name, number, len(line) + 1, "labels.the_label_is_missing")
        if code in labels:
            raise wrong(path.name, number, 1, "labels.the_code_stands_twice")
        if codes is not None and code not in codes:
            raise wrong(path.name, number, 1, "unknown-code.the_code_is_unknown")
        labels[code] = label
    return labels


_Line = tuple[int, list[tuple[str, int]]]
# Tags of columns that must not be negative.
_NOT_NEGATIVE = ("FREQUENCY", "LOWERPL", "UPPERPL", "COSTVAR")


def read_cells(
    path: Path, metadata: Metadata, value: str | None = None, spanning: list[str] | None = None
) -> ArgusTable:
    """Read the table of a `.tab` file.

    Args:
        metadata: Description of its columns.
        value: The variable that the cells hold; by default the only numeric one, otherwise the frequency.
        spanning: The spanning variables; all by default.

    Raises:
        DataError: A line has a wrong number of fields, an unknown code, no number, or no status.
    """
    lines = _lines(path, metadata)
    response = response_of(metadata, value)
    wanted = None if spanning is None else {metadata.named(name).name for name in spanning}
    chosen = [one for one in metadata.variables if one.spanning and (wanted is None or one.name in wanted)]
    trees = tuple(_tree(lines, metadata, one, path) for one in chosen)
    keys = tuple(_key(line, metadata, chosen, trees, path.name) for line in lines)

    statuses = _statuses(lines, metadata, path.name)
    empty = np.isin(statuses, (ArgusStatus.EMPTY, ArgusStatus.EMPTY_NON_STRUCTURAL))

    def numbers(flag: str) -> Numbers | None:
        own = metadata.flagged(flag)
        return column(own[0], flag in ("LOWERPL", "UPPERPL")) if own else None

    def column(one: Variable, optional: bool = False) -> Numbers:
        # An empty cell, and one without protection level, may have no text; elsewhere an empty text is not 0.
        numbers = _numbers(lines, metadata, one, path.name, empty | optional)
        _check_range(numbers, lines, metadata, one, path.name)
        return numbers

    return ArgusTable(
        value=response.name,
        trees=trees,
        keys=keys,
        values=column(response),
        statuses=statuses,
        frequency=numbers("FREQUENCY"),
        largest=tuple(column(one, place > 0) for place, one in enumerate(metadata.flagged("MAXSCORE"))),
        lower=numbers("LOWERPL"),
        upper=numbers("UPPERPL"),
        costs=numbers("COSTVAR"),
        labels=labels_of(chosen, path.parent, metadata.encoding),
        decimals=int(response.option("DECIMALS", "0")),
        lines=tuple(number for number, _ in lines),
    )


def response_of(metadata: Metadata, value: str | None) -> Variable:
    """Return the variable that cells hold.

    Raises:
        DataError: There is no such variable, or none is numeric.
    """
    special = ("LOWERPL", "UPPERPL", "SHADOW", "COSTVAR", "FREQUENCY", "MAXSCORE", "WEIGHT")
    plain_ones = [one for one in metadata.flagged("NUMERIC") if not any(one.has(flag) for flag in special)]
    candidates = plain_ones or list(metadata.flagged("FREQUENCY"))
    one = metadata.find(value) if value is not None else next(iter(candidates), None)
    if one is None:
        if value is None:
            raise wrong(metadata.name, 1, 1, "metadata.no_numeric_variable")
        raise wrong(metadata.name, 1, 1, "metadata.not_numeric", name=value)
    return one


def _lines(path: Path, metadata: Metadata) -> list[_Line]:
    separator = metadata.separator or ";"
    lines = [
        (number, fields_in(line, separator))
        for number, line in enumerate(lines_of(path, metadata.encoding), start=1)
        if line.strip()
    ]
    if not lines:
        raise wrong(path.name, 1, 1, "truncated.there_is_no_cell")
    for number, fields in lines:
        if len(fields) != len(metadata.variables):
            raise wrong(
                path.name,
                number,
                fields[-1][1],
                "length.a_cell_has_fields_this_line",
                count=len(metadata.variables),
                number=len(fields),
            )
    return lines


def _texts(lines: list[_Line], metadata: Metadata, one: Variable) -> list[str]:
    place = metadata.variables.index(one)
    return [fields[place][0] for _, fields in lines]


def _tree(lines: list[_Line], metadata: Metadata, one: Variable, path: Path) -> CodeTree:
    """Return the hierarchy of a variable; the error for an unknown code names its position."""
    try:
        return tree_of(one, _texts(lines, metadata, one), path.parent, metadata.encoding)
    except DataError as error:
        if not error.rows or error.code != "data.unknown-code":
            raise
        number, fields = lines[error.rows[0] - 1]
        column = fields[metadata.variables.index(one)][1]
        raise wrong(path.name, number, column, "unknown-code", message=error.message, hint=error.hint) from None


def tree_of(one: Variable, codes: list[str], folder: Path, encoding: str | None = None) -> CodeTree:
    """Return the hierarchy of a variable: from a file, by digits, or flat."""
    if "HIERCODELIST" in one.options:
        lead = one.option("HIERLEADSTRING", "@")
        return read_hrc(folder / one.option("HIERCODELIST"), one.name, one.total, lead, encoding)
    if "HIERLEVELS" in one.options:
        widths = [int(text) for text in one.options["HIERLEVELS"]]
        _check_digits(one, codes, widths)
        return digits_tree(one.name, codes, widths, one.total)
    return flat_tree(one.name, codes, one.total)


def _check_digits(one: Variable, codes: list[str], widths: list[int]) -> None:
    """Refuse codes that end between two levels: the level widths do not fit them."""
    ends = {sum(widths[: place + 1]) for place in range(len(widths))}
    none = ("", one.total, *one.missing)
    row = next((row for row, code in enumerate(codes, 1) if code not in none and len(code) not in ends), 0)
    if row:
        listed = ", ".join(map(str, sorted(ends)))
        raise DataError(
            "unknown-code.the_levels_of_end_at_digits", name=one.name, count=listed, number=len(codes[row - 1])
        ).about(values=[codes[row - 1]], column=one.name, rows=[row])


def labels_of(variables: list[Variable], folder: Path, encoding: str | None = None) -> Mapping[str, Mapping[str, str]]:
    """Return the labels of codes, by variable."""
    named = [one for one in variables if "CODELIST" in one.options]
    return {one.name: read_labels(folder / one.option("CODELIST"), None, encoding) for one in named}


def _key(line: _Line, metadata: Metadata, chosen: list[Variable], trees: tuple[CodeTree, ...], name: str) -> Key:
    number, fields = line
    key: list[Code] = []
    for one, tree in zip(chosen, trees, strict=True):
        text, column = fields[metadata.variables.index(one)]
        code = (text or one.total,)
        check_codes(tree, code, name, number, column)
        key.append(code)
    return tuple(key)


def _numbers(lines: list[_Line], metadata: Metadata, one: Variable, name: str, empty: BoolArray) -> Numbers:
    """Return a column as numbers; 0 if the text is empty where that is allowed."""
    place = metadata.variables.index(one)
    numbers = []
    for (number, fields), optional in zip(lines, empty, strict=True):
        text, start = fields[place]
        numbers.append(
            number_in(
                text or ("0" if optional else ""), name, number, start, Message("phrase.number_for", column=one.name)
            )
        )
    return np.array(numbers, np.float64)


def _check_range(numbers: Numbers, lines: list[_Line], metadata: Metadata, one: Variable, name: str) -> None:
    """Refuse invalid numbers of respondents, protection levels or costs.

    Raises:
        DataError: A number is negative, or respondents are not integers and no <DECIMALS> marks them as weighted.
    """
    place = metadata.variables.index(one)
    whole = one.has("FREQUENCY") and one.option("DECIMALS", "0") == "0"
    wrongs = (numbers < 0) & any(map(one.has, _NOT_NEGATIVE))
    wrongs |= whole & (numbers != np.round(numbers))
    for row in np.flatnonzero(wrongs).tolist():
        code = "range.negative" if numbers[row] < 0 else "range.not_whole"
        raise wrong(name, lines[row][0], lines[row][1][place][1], code, column=one.name)


def _statuses(lines: list[_Line], metadata: Metadata, name: str) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    own = metadata.flagged("STATUS")
    if not own:
        return np.full(len(lines), int(ArgusStatus.SAFE), np.int64)
    kinds = {"SAFE": ArgusStatus.SAFE, "UNSAFE": ArgusStatus.UNSAFE, "PROTECT": ArgusStatus.PROTECTED}
    letters = LETTERS | {mark: kinds[tag] for tag, mark in metadata.marks.items() if mark}
    place = metadata.variables.index(own[0])
    statuses = []
    for number, fields in lines:
        status = status_in(fields[place][0], letters)
        if status is None:
            raise wrong(name, number, fields[place][1], "status.this_is_no_status", names=", ".join(letters))
        statuses.append(int(status))
    return np.array(statuses, np.int64)


def check_totals(table: ArgusTable, name: str, do: Hint = "", tolerance: float = math.inf) -> None:
    """Refuse a table whose totals are missing or do not add up, with the line of a cell.

    Raises:
        DataError: A total is missing or wrong, or a cell is duplicate.
    """
    try:
        check(table.relations(), table.values, tolerance, precision_of(table.values))
    except DataError as error:
        # The tolerance is an option of plans; callers with their own hint have none.
        own = Message("error.part.correct_the_table") if do and error.code == "data.totals" else error.hint
        more, row = Message("sentences", parts=(own, do)), error.rows[0]
        line = table.lines[row - 1] if table.lines else row
        raise wrong(name, line, 1, error.code.partition(".")[2], message=error.message, hint=more) from None


def written_cells(table: ArgusTable, stem: str) -> dict[str, str]:
    """Return the texts of `.tab`, `.rda` and `.hrc` files, by file name."""
    variables = [_spanning(tree, stem) for tree in table.trees]
    decimals: dict[str, tuple[str, ...]] = {"DECIMALS": (str(max(table.decimals, _decimals(table.values))),)}
    variables.append(Variable(table.value, 0, flags=frozenset({"NUMERIC"}), options=decimals))
    columns: list[list[str]] = [[plain(number) for number in table.values]]
    for flag, name, numbers in _further(table):
        flags = {flag} if flag in ("FREQUENCY", "MAXSCORE") else {"NUMERIC", flag}
        digits = _decimals(numbers) if flag == "FREQUENCY" else 0
        more: dict[str, tuple[str, ...]] = {"DECIMALS": (str(digits),)} if digits else {}
        variables.append(Variable(name, 0, flags=frozenset(flags), options=more))
        columns.append([plain(number) for number in numbers])
    variables.append(Variable("Status", 0, flags=frozenset({"STATUS"})))
    columns.append([str(status) for status in table.statuses])
    _check_leads(table)
    codes = ([office_field(code, ";", table.value) for code in table.codes(cell)] for cell in range(len(table)))
    rows = (";".join([*own, *(column[cell] for column in columns)]) for cell, own in enumerate(codes))
    files = {f"{stem}.tab": "".join(row + "\n" for row in rows)}
    files[f"{stem}.rda"] = metadata_text(Metadata(f"{stem}.rda", tuple(variables), ";"))
    return files | {f"{stem}_{tree.name}.hrc": hrc_text(tree) for tree in table.trees if _is_deep(tree)}


def _check_leads(table: ArgusTable) -> None:
    """Refuse codes whose first character would be read as hierarchy depth."""
    deep = [tree for tree in table.trees if _is_deep(tree)]
    for tree in deep:
        if any(code[0].startswith("@") or code[0] != code[0].strip() for code in tree.parents):
            raise PlanError("unwritable.code_in_hrc_file", name=tree.name)


def _further(table: ArgusTable) -> list[tuple[str, str, Numbers]]:
    named = [("FREQUENCY", "Freq", table.frequency)]
    named += [("MAXSCORE", f"Top{place}", one) for place, one in enumerate(table.largest, start=1)]
    named += [
        ("COSTVAR", "Cost", table.costs),
        ("LOWERPL", "LowerPL", table.lower),
        ("UPPERPL", "UpperPL", table.upper),
    ]
    return [(flag, name, numbers) for flag, name, numbers in named if numbers is not None]


def _spanning(tree: CodeTree, stem: str) -> Variable:
    options: dict[str, tuple[str, ...]] = {"TOTCODE": (tree.root[0],)}
    flags = {"RECODEABLE"}
    if _is_deep(tree):
        flags.add("HIERARCHICAL")
        options |= {"HIERCODELIST": (f"{stem}_{tree.name}.hrc",), "HIERLEADSTRING": ("@",)}
    return Variable(tree.name, 0, flags=frozenset(flags), options=options)


def _is_deep(tree: CodeTree) -> bool:
    return any(parent != tree.root for parent in tree.parents.values())


def _decimals(values: Numbers) -> int:
    return max(0, round(-math.log10(precision_of(values))))
