"""Excel workbooks: one sheet, codes and numbers, suppressed cells marked by color."""

import io
import re
import zipfile
from collections.abc import Sequence
from html import escape

MASKED, PLAIN, HEAD = 2, 0, 1
_NUMBER = re.compile(r"^-?[0-9]+(\.[0-9]+)?$")
_CONTENT = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
# A fixed date, so that the same table gives the same file.
_DAY = (1980, 1, 1, 0, 0, 0)


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
