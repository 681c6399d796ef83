"""Convert crosstabs to one line per cell, and lay cells out as a crosstab."""

import re
from collections.abc import Sequence
from html import escape

from sfumato.web.forms import is_number

COUNT = "count"
# Codes that often denote a total, the likeliest first.
TOTALS = ("Total", "total", "TOTAL", "All", "Insgesamt", "Gesamt", "Summe", "Sum", "0")
# Separators in the corner of a crosstab between the names of rows and of columns.
CORNER = re.compile(r"[\\\\/×|]")
MOST_CATEGORIES = 60


def unfolded(lines: Sequence[Sequence[str]], named: str) -> list[list[str]] | None:
    """Return a crosstab as one line per cell, the header first; None if it is not a crosstab.

    It has a category column followed by at least two columns of numbers, whose headings are categories, too.

    Args:
        named: The name of the categories in the headings, if the corner does not have it (`area \\ sex`).

    >>> unfolded([["area \\\\ sex", "m", "f"], ["north", "2", "24"], ["south", "18", "23"]], "column")
    [['area', 'sex', 'count'], ['north', 'm', '2'], ['north', 'f', '24'], ['south', 'm', '18'], ['south', 'f', '23']]
    >>> unfolded([["area", "count"], ["north", "2"]], "column") is None
    True
    """
    if len(lines) < 2 or len(lines[0]) < 3 or any(len(line) != len(lines[0]) for line in lines):
        return None
    head, *rest = lines
    if all(is_number(line[0]) for line in rest) or not all(_is_cell(cell) for line in rest for cell in line[1:]):
        return None
    if len(set(head[1:])) < len(head) - 1 or not all(head[1:]):
        return None
    corner = [part.strip() for part in CORNER.split(head[0]) if part.strip()]
    names = corner if len(corner) == 2 else [head[0].strip() or "row", named]
    heads = _one_total(head[1:], [line[0] for line in rest])
    cells = ([line[0], name, cell] for line in rest for name, cell in zip(heads, line[1:], strict=True))
    return [[*names, COUNT], *cells]


def _one_total(heads: Sequence[str], rows: Sequence[str]) -> list[str]:
    """Return the headings, with the name of their total replaced by that of the rows, so that it is recognized.

    >>> _one_total(["m", "f", "Gesamt"], ["Insgesamt", "north"])
    ['m', 'f', 'Insgesamt']
    """
    total = next((name for name in rows if name in TOTALS), None)
    sums = [name for name in heads if name in TOTALS]
    return [total if total and [name] == sums else name for name in heads]


def _is_cell(text: str) -> bool:
    """Return whether a text is a number, with any thousands and decimal marks."""
    return is_number(text.replace(".", "").replace(",", "").replace(" ", ""))


def crosswise(head: Sequence[str], lines: Sequence[Sequence[str]], case: int, reason: int) -> str | None:
    """Return a published table of two dimensions as a crosstab, or None if it has others.

    Args:
        head: The columns of the table; the first two are its dimensions, the third is the published value.
        case: The index of the column that says whether a cell is suppressed.
        reason: The index of the column with the reason.
    """
    if len({(line[0], line[1]) for line in lines}) != len(lines) or len(head) != 7:
        return None
    rows, columns = (list(dict.fromkeys(line[place] for line in lines)) for place in (0, 1))
    if len(columns) > MOST_CATEGORIES:
        return None
    cells = {(line[0], line[1]): line for line in lines}
    first = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    body = "".join(
        f'<tr><th scope="row">{escape(row)}</th>'
        + "".join(_cell(cells.get((row, column)), case, reason) for column in columns)
        + "</tr>"
        for row in rows
    )
    corner = escape(f"{head[0]} × {head[1]}")
    return f"<table><thead><tr><th>{corner}</th>{first}</tr></thead><tbody>{body}</tbody></table>"


def _cell(line: Sequence[str] | None, case: int, reason: int) -> str:
    if line is None:
        return "<td></td>"
    shown = escape(line[case - 3])
    if not line[case]:
        return f'<td class="number">{shown}</td>'
    ends = " – ".join(end for end in (line[case - 2], line[case - 1]) if end)
    about = escape(f"{line[reason]} {f'({ends})' if ends else ''}".strip())
    return f'<td class="number masked" title="{about}" tabindex="0" aria-label="{shown}: {about}">{shown}</td>'
