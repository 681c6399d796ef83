"""Write a protected table in τ-ARGUS and other formats; separate files for publication from internal ones."""

import io
import re
import zipfile
from collections.abc import Callable, Sequence
from functools import partial
from html import escape

import numpy as np

from sfumato.errors import PlanError
from sfumato.tables.argus.office_table import ArgusStatus, ArgusTable, masked_of, status_in
from sfumato.tables.build import lines_of
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.constraints import precision_of, tidied
from sfumato.tables.cells.system import BoolArray, Numbers, Places
from sfumato.tables.cells.table_part import TablePart
from sfumato.tables.formats import BY_NAME
from sfumato.tables.formats.apriori_file import apriori_text
from sfumato.tables.formats.argus_outputs import Protected, output_text, shown, written_without_hidden
from sfumato.tables.formats.cells_file import written_cells
from sfumato.tables.formats.delimited_cells import sdmx_text
from sfumato.tables.formats.px import px_text
from sfumato.tables.formats.solver_file import jj_text
from sfumato.tables.noise.perturbed import PerturbedCells
from sfumato.tables.plan.rules import RuleInputs, SensitivityRule, StatusColumn
from sfumato.tables.plan.table_plan import TablePlan
from sfumato.tables.protection_levels.resolve_plan import facts_of
from sfumato.tables.suppress_table import SuppressedCells
from sfumato.values import replace

MASKED, PLAIN, HEAD = 2, 0, 1
_NUMBER = re.compile(r"^-?[0-9]+(\.[0-9]+)?$")
_CONTENT = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
# A fixed date, so that the same table gives the same file.
_DAY = (1980, 1, 1, 0, 0, 0)
# The status of a sensitive cell by the rule that classifies it; by any other rule it is manual.
OF_RULE = {
    **{"p-percent": ArgusStatus.UNSAFE, "dominance": ArgusStatus.UNSAFE},
    **{"frequency": ArgusStatus.UNSAFE_FREQUENCY, "holdings": ArgusStatus.UNSAFE_FREQUENCY},
    **{"request": ArgusStatus.UNSAFE_REQUEST, "zero": ArgusStatus.UNSAFE_ZERO},
}


def masked_files(masked: SuppressedCells, plan: TablePlan, columns: TextColumns) -> dict[str, bytes]:
    """Return the files of a suppressed table by their names; internal ones are in a folder `internal`.

    Args:
        masked: The result for the table.
        plan: The plan of the table, which names the files.
        columns: The columns of the table, row by row.

    Raises:
        PlanError: The table has no dimensions of one column each.
    """
    done = Protected(argus_table(masked.part, plan, columns, masked.suppressed), "masks")
    return _files(done, replace(done, table=_alike(done.table)), plan)


def changed_files(changed: PerturbedCells, plan: TablePlan, columns: TextColumns) -> dict[str, bytes]:
    """Return the files of a perturbed table; cells that are not published are suppressed in them."""
    method = "" if plan.perturbation is None else plan.perturbation.name
    table = argus_table(changed.part, plan, columns, np.zeros(len(columns), bool))
    hidden = np.where(changed.shown, int(ArgusStatus.SAFE), int(ArgusStatus.UNSAFE_MANUAL)).astype(np.int64)
    # The file shows the decimals of published values, not those of the true ones.
    handed_out = replace(
        table.with_columns(values=changed.published, statuses=hidden),
        decimals=_decimals(changed.published[changed.shown]),
    )
    published = np.where(changed.shown, changed.published, np.nan)
    return _files(Protected(table, method, published), Protected(handed_out), plan)


def _files(house: Protected, handed_out: Protected, plan: TablePlan) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    house, handed_out = house.in_order(), handed_out.in_order()
    for kind in plan.output.files:
        if BY_NAME[kind].internal:
            files |= {f"internal/{name}": data for name, data in _written(house, kind).items()}
        else:
            files |= written_without_hidden(handed_out, partial(_written, kind=kind))
    if "sdmx" in plan.output.files and house.published is None:
        # The internal file has a flag for each reason, respondents, and suppressed values, as offices exchange them.
        files["internal/table-sdmx.csv"] = sdmx_text(house.table, house=True).encode()
    return files


def argus_table(part: TablePart, plan: TablePlan, columns: TextColumns, mask: BoolArray) -> ArgusTable:
    """Return the result for a table as an ArgusTable: reasons for suppression, respondents, protection levels."""
    table, trees = part.table, part.trees
    if not trees or any(tree.levels for tree in trees):
        raise PlanError("files.files_of_offices_need")
    lines = dict(zip(plan.dimensions, lines_of(trees, part.keys), strict=True))
    facts = facts_of(plan.table, columns, table.values, table.constraints, lines)
    statuses = np.where(table.sensitive, _reasons(plan, facts), int(ArgusStatus.SAFE))
    return ArgusTable(
        plan.table.value,
        trees,
        part.keys,
        table.values,
        np.where(mask & ~table.sensitive, int(ArgusStatus.SECONDARY), statuses).astype(np.int64),
        frequency=facts.frequency,
        largest=tuple(np.nan_to_num(column) for column in facts.contributions),
        holdings=facts.holdings,
        lower=tidied(table.protection_levels.lower),
        upper=tidied(table.protection_levels.upper),
        costs=tidied(table.costs),
        decimals=_decimals(table.values),
    )


def _reasons(plan: TablePlan, facts: RuleInputs) -> Places:
    """Return the status of each cell that a rule classifies as sensitive; the first of several rules applies."""
    reasons = np.full(len(facts.values), int(ArgusStatus.UNSAFE_MANUAL), np.int64)
    for rule in reversed(plan.primary):
        reasons = np.where(rule.apply(facts).unsafe, _statuses(rule, facts), reasons)
    return reasons


def _statuses(rule: SensitivityRule, facts: RuleInputs) -> Places:
    """Return the statuses by a rule; if a column gives them, those of the column."""
    if not isinstance(rule, StatusColumn):
        return np.full(len(facts.values), int(OF_RULE.get(rule.name, ArgusStatus.UNSAFE_MANUAL)), np.int64)
    marks = (status_in(text, {}) for text in facts.columns.text(rule.column))
    return np.array([int(mark or ArgusStatus.UNSAFE_MANUAL) for mark in marks], np.int64)


def _written(done: Protected, kind: str) -> dict[str, bytes]:
    table = done.table
    if kind == "xlsx":
        head = [*(tree.name for tree in table.trees), table.value]
        rows = [[*table.codes(cell), shown(done, cell)] for cell in range(len(table))]
        return {BY_NAME[kind].written: workbook(head, rows, masked_of(table.statuses).tolist())}
    if kind == "tab":
        return {name: text.encode() for name, text in written_cells(table, "table").items()}
    texts: dict[str, Callable[[], str]] = {
        "px": lambda: px_text(table),
        "sdmx": lambda: sdmx_text(table),
        "pivot": lambda: output_text(done, 2, {}),
        "code-value": lambda: output_text(done, 3, {"AS": True, "FL": True}),
        "sbs": lambda: output_text(done, 4, {}),
        "jj": lambda: jj_text(table),
        "hst": lambda: apriori_text(table),
    }
    return {BY_NAME[kind].written: texts[kind]().encode()}


def _alike(table: ArgusTable) -> ArgusTable:
    """Give all suppressed cells one flag, and the table the decimals of the other cells, so that neither the primary
    cells nor their decimals are disclosed.
    """
    hidden = masked_of(table.statuses)
    alike = table.with_columns(statuses=np.where(hidden, int(ArgusStatus.UNSAFE_MANUAL), table.statuses))
    return replace(alike, decimals=_decimals(table.values[~hidden]))


def _decimals(values: Numbers) -> int:
    return max(0, round(-float(np.log10(precision_of(values)))))


def workbook(head: Sequence[str], rows: Sequence[Sequence[str]], masked: Sequence[bool]) -> bytes:
    """Build a workbook with one sheet.

    Args:
        rows: The rows; texts that are numbers are written as such in the last columns, codes as texts.
        masked: Which rows are marked.
    """
    lines = [_row(1, head, [HEAD] * len(head), numbers=False)]
    for number, (row, mark) in enumerate(zip(rows, masked, strict=True), start=2):
        style = MASKED if mark else PLAIN
        lines.append(_row(number, row, [PLAIN] * (len(row) - 1) + [style], numbers=True))
    sheet = f'<worksheet xmlns="{_MAIN}"><sheetData>{"".join(lines)}</sheetData></worksheet>'
    return _packed(sheet)


def _row(number: int, texts: Sequence[str], styles: Sequence[int], numbers: bool) -> str:
    cells = []
    for place, (text, style) in enumerate(zip(texts, styles, strict=True)):
        where = f'r="{_letters(place)}{number}" s="{style}"'
        if numbers and place == len(texts) - 1 and _NUMBER.match(text):
            cells.append(f"<c {where}><v>{text}</v></c>")
        else:
            cells.append(f'<c {where} t="inlineStr"><is><t xml:space="preserve">{escape(text)}</t></is></c>')
    return f'<row r="{number}">{"".join(cells)}</row>'


def _letters(place: int) -> str:
    """Return the letters of a column.

    >>> _letters(0), _letters(27)
    ('A', 'AB')
    """
    letters = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def _packed(sheet: str) -> bytes:
    fills = "".join(
        f'<fill><patternFill patternType="{kind}">{color}</patternFill></fill>'
        for kind, color in (("none", ""), ("gray125", ""), ("solid", '<fgColor rgb="FFF2B8B5"/>'))
    )
    styles = (
        f'<styleSheet xmlns="{_MAIN}"><fonts count="2"><font/><font><b/></font></fonts><fills count="3">{fills}</fills>'
        '<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="3">'
        '<xf fontId="0" fillId="0"/><xf fontId="1" fillId="0" applyFont="1"/><xf fontId="0" fillId="2" applyFill="1"/>'
        '</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
    )
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_CONTENT}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_CONTENT}.worksheet+xml"/>'
        f'<Override PartName="/xl/styles.xml" ContentType="{_CONTENT}.styles+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
        f'Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>'
        '<sheet name="table" sheetId="1" r:id="rId1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="rId1" Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
        f'<Relationship Id="rId2" Type="{_OFFICE}/styles" Target="styles.xml"/></Relationships>',
        "xl/styles.xml": styles,
        "xl/worksheets/sheet1.xml": sheet,
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            entry = zipfile.ZipInfo(name, _DAY)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, '<?xml version="1.0" encoding="UTF-8"?>' + text)
    return packed.getvalue()
