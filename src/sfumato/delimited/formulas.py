r"""Cells that a spreadsheet would compute: quoted in files that people open, and read back.

A cell that begins with `=`, `+`, `-` or `@` and is no number is a formula to a spreadsheet that opens the file. An
apostrophe before it makes it a text. A cell that already begins with apostrophes before such a sign gets a further one,
so that the original text can always be restored, and different values stay different. Names of columns are cells, too.
"""

import re

# White space is included, because spreadsheets ignore some of it. Fullwidth forms of the signs are formulas in some
# languages.
SIGNS = r"[=+\-@\t\r\n＝＋－＠]"
FORMULA, QUOTED = f"^'*{SIGNS}", f"^'+{SIGNS}"
# The first characters of cells that need a closer test.
_FIRST = frozenset("'=+-@\t\r\n＝＋－＠")
# Numbers with or without separators of thousands, and a single sign, which marks a suppressed cell.
NUMBER = r"[+-]?[0-9]+([.,][0-9]+)*([eE][+-]?[0-9]+)?|[+-]"


def quoted_cell(text: str) -> str:
    """Return a text as written to a file that people open in spreadsheets.

    >>> quoted_cell("=cmd|' /C calc'!A0"), quoted_cell("-5"), quoted_cell("'=x"), quoted_cell("age"), quoted_cell("-")
    ("'=cmd|' /C calc'!A0", '-5', "''=x", 'age', '-')
    """
    if text[:1] not in _FIRST:
        return text
    return f"'{text}" if re.match(FORMULA, text) and not re.fullmatch(NUMBER, text) else text


def plain_cell(text: str) -> str:
    """Return the original of a text in such a file.

    >>> plain_cell("'=x"), plain_cell("'x")
    ('=x', "'x")
    """
    return text[1:] if text[:1] == "'" and re.match(QUOTED, text) else text
