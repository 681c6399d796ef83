"""Crosstabs: counted from rows with all totals, converted to one line per cell, and cells laid out as a crosstab."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import closing
from html import escape
from itertools import product
from pathlib import Path

import numpy as np

from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.engine import MissingRules
from sfumato.hierarchies.spellings import plain_key
from sfumato.localization.messages import Messages
from sfumato.microdata.counts.frequency_table import ValueCounts
from sfumato.microdata.counts.persons import Ints, by_plain_keys
from sfumato.microdata.data_plan import DataPlan
from sfumato.tables.tabulate import check_size
from sfumato.values import Value
from sfumato.web.projects.loaded_data import is_number

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
    if all(is_number(line[0]) for line in rest) or not all(
        is_number(without_marks(cell)) for line in rest for cell in line[1:]
    ):
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


def without_marks(text: str) -> str:
    """Return a number without thousands and decimal marks."""
    return text.replace(".", "").replace(",", "").replace(" ", "")


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


# Maximum number of cells of a table on a page.
MOST_LINES = 50_000
# The name of a missing value.
MISSING = "–"
Key = tuple[str, ...]


class CountedTable(Value):
    """A counted table.

    Attributes:
        lines: Its lines, the header first.
        persons: The number of persons; 0 without a person column.
        several: Persons in more than one cell. If there are any, persons do not add up to totals: rows are counted, and
            the number of persons of a cell is in a separate column.
    """

    lines: list[list[str]]
    rows: int
    persons: int = 0
    several: int = 0


def count_table(
    path: Path, read: DataPlan, names: Sequence[str], words: Messages, missing: Sequence[str] = (), person: str = ""
) -> CountedTable:
    """Count the combinations of some columns of a file, with all totals; a missing value is a category.

    Args:
        missing: Missing value codes.
        person: The column that names the person of a row; rows without one count as one person.
    """
    total = words["crosstab_total"]
    with closing(DuckDBEngine(path, read)) as engine:
        counted = engine.count((*names, *([person] if person else [])), MissingRules())
    keys, owners = _keys(counted, len(names), missing)
    rows = _added(keys, np.bincount(owners, counted.counts, len(keys)).astype(np.int64), total)
    everyone = (total,) * len(names)
    if not person:
        return CountedTable(_lines(names, total, {words["crosstab_count"]: rows}), rows[everyone])
    persons, several = _persons(keys, owners, _numbered(counted, missing), total)
    beside = {words["crosstab_count"]: rows} if several else {}
    columns = beside | {words["crosstab_persons"]: persons}
    return CountedTable(_lines(names, total, columns), rows[everyone], persons[everyone], several)


def _keys(counted: ValueCounts, size: int, missing: Sequence[str]) -> tuple[list[Key], Ints]:
    """Return the finest cells, and the index of the cell of each entry."""
    texts = [
        [MISSING if text in ("", *missing) else text for text in (value or "" for value in values)]
        for values in counted.values[:size]
    ]
    places: dict[Key, int] = {}
    owners = [
        places.setdefault(tuple(own[code] for own, code in zip(texts, codes, strict=False)), len(places))
        for codes in counted.codes.tolist()
    ]
    return list(places), np.array(owners, np.int64)


def _numbered(counted: ValueCounts, missing: Sequence[str]) -> Ints:
    """Return the index of each entry's person; the names are the last column."""
    plain = by_plain_keys(counted)
    nobody = {"", *map(plain_key, missing)}
    names = [None if name in nobody else name for name in plain.values[-1]]
    numbers = {name: place for place, name in enumerate(dict.fromkeys(names))}
    return np.array([numbers[name] for name in names] or [0], np.int64)[plain.codes[:, -1]]


def _persons(keys: list[Key], owners: Ints, persons: Ints, total: str) -> tuple[Counter[Key], int]:
    """Return the distinct persons of each cell and total, and the number of persons in several finest cells."""
    cells, own = np.unique(np.stack([owners, persons]), axis=1)
    alone = np.bincount(own)[own] == 1
    counts = _added(keys, np.bincount(cells[alone], minlength=len(keys)), total)
    seen: defaultdict[int, set[Key]] = defaultdict(set)
    for cell, one in zip(cells[~alone].tolist(), own[~alone].tolist(), strict=True):
        seen[one].update(_wider(keys[cell], total))
    for places in seen.values():
        counts.update(places)
    return counts, len(seen)


def _added(keys: list[Key], counts: Ints, total: str) -> Counter[Key]:
    """Return the counts of the finest cells with all totals."""
    added: Counter[Key] = Counter({(total,) * len(keys[0]): 0} if keys else {})
    for key, count in zip(keys, counts.tolist(), strict=True):
        for wider in _wider(key, total):
            added[wider] += count
    return added


def _wider(key: Key, total: str) -> list[Key]:
    return list(product(*((text, total) for text in key)))


def _lines(names: Sequence[str], total: str, columns: dict[str, Counter[Key]]) -> list[list[str]]:
    """Return the lines of all combinations, because a missing line would disclose an empty cell."""
    cells = [key for counts in columns.values() for key in counts]
    codes = [{key[place] for key in cells} for place in range(len(names))]
    check_size(map(len, codes), MOST_LINES)
    order = product(*(sorted(own, key=lambda text: (text != total, text)) for own in codes))
    body = ([*key, *(str(counts[key]) for counts in columns.values())] for key in order)
    return [[*names, *columns], *body]
