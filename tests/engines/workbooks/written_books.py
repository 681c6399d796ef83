"""Workbooks as other programs write them, for the tests of this folder."""

import struct
import zipfile

ODS = (
    '<?xml version="1.0" encoding="UTF-8"?><office:document-content '
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:calcext="urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet>{tables}'
    "</office:spreadsheet></office:body></office:document-content>"
)


def rewritten(path, part, *changes):
    """The workbook with a part changed, as another program would have written it."""
    with zipfile.ZipFile(path) as old:
        parts = {name: old.read(name).decode() for name in old.namelist()}
    for before, after in changes:
        assert before in parts[part]
        parts[part] = parts[part].replace(before, after)
    with zipfile.ZipFile(path, "w") as new:
        for name, content in parts.items():
            new.writestr(name, content)
    return path


def sheet_of(folder, *rows, name="rows", before=""):
    """An .ods file: each row the XML of its cells."""
    path = folder / "rows.ods"
    table = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        file.writestr("META-INF/manifest.xml", "<manifest/>")
        content = f'{before}<table:table table:name="{name}">{table}</table:table>'
        file.writestr("content.xml", ODS.format(tables=content))
    return path


def text(value, more=""):
    return f'<table:table-cell office:value-type="string"{more}><text:p>{value}</text:p></table:table-cell>'


def number(value, shown=None, more=""):
    return (
        f'<table:table-cell office:value-type="float" office:value="{value}"{more}><text:p>{shown or value}</text:p>'
        "</table:table-cell>"
    )


RELATIONS = (
    '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" '
    'Target="worksheets/sheet1.bin"/></Relationships>'
)


def binary_book(path, cells):
    """An .xlsb file of texts and numbers by row and column."""
    sheet, above = _record(0x81) + _record(0x94, struct.pack("<IIII", 0, 9, 0, 9)) + _record(0x91), -1
    for (row, column), value in cells.items():
        sheet += _record(0, struct.pack("<I", row) + bytes(13)) if row != above else b""
        head, above = struct.pack("<II", column, 0), row
        sheet += (
            _record(6, head + _wide(value)) if isinstance(value, str) else _record(5, head + struct.pack("<d", value))
        )
    bundle = _record(0x9C, struct.pack("<II", 0, 1) + _wide("rId1") + _wide("rows"))
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("xl/_rels/workbook.bin.rels", RELATIONS)
        file.writestr("xl/workbook.bin", _record(0x83) + _record(0x8F) + bundle + _record(0x90) + _record(0x84))
        file.writestr("xl/worksheets/sheet1.bin", sheet + _record(0x92) + _record(0x82))
    return path


def _record(kind, content=b""):
    return _varying(kind) + _varying(len(content)) + content


def _varying(number):
    return bytes([number]) if number < 0x80 else bytes([number & 0x7F | 0x80]) + _varying(number >> 7)


def _wide(text):
    return struct.pack("<I", len(text)) + text.encode("utf-16-le")
