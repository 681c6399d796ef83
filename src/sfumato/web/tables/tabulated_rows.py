"""Tables from rows: count persons, or rows if no column names persons, by two or three columns with totals."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import closing
from itertools import product
from pathlib import Path

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.engine import MissingRules
from sfumato.hierarchies.person_keys import plain_key
from sfumato.localization.messages import Messages
from sfumato.microdata.counts.frequency_table import ValueCounts
from sfumato.microdata.counts.persons import Ints, by_plain_keys
from sfumato.microdata.data_plan import DataPlan
from sfumato.tables.tabulate import check_size

# Maximum number of cells of a table on a page.
MOST_LINES = 50_000
# The name of a missing value.
MISSING = "–"
Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CountedTable:
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
