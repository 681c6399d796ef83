"""Tables from rows: count persons, or rows if no column names persons, by two or three columns with totals."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import closing
from itertools import product
from pathlib import Path

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.engine import Reading
from sfumato.hierarchies.person_keys import plain_key
from sfumato.localization.messages import Words
from sfumato.microdata.counts.frequency_table import TextCounts
from sfumato.microdata.counts.persons import Ints, by_plain_keys
from sfumato.microdata.data_plan import DataPlan
from sfumato.tables.tabulate import check_size

# Cells of a table that a page shows.
MOST_LINES = 50_000
# What a missing value is called.
MISSING = "–"
Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CountedTable:
    """A table that was counted.

    Attributes:
        lines: Its lines, the header first.
        rows, persons: How many rows and persons there are; no persons where nothing names them.
        several: Persons who stand in more than one cell. Where there are some, persons do not add up to totals: rows
            are counted, and how many persons are behind a cell stands in a column beside.
    """

    lines: list[list[str]]
    rows: int
    persons: int = 0
    several: int = 0


def count_table(
    path: Path, read: DataPlan, names: Sequence[str], words: Words, missing: Sequence[str] = (), person: str = ""
) -> CountedTable:
    """What some columns of a file count, every total included; a missing value is a category.

    Args:
        missing: Texts that mean "missing".
        person: The column that names the person of a row; rows that name none count as one person.
    """
    total = words["crosstab_total"]
    with closing(DuckDBEngine(path, read)) as engine:
        counted = engine.count((*names, *([person] if person else [])), Reading())
    keys, owners = _keys(counted, len(names), missing)
    rows = _added(keys, np.bincount(owners, counted.counts, len(keys)).astype(np.int64), total)
    everyone = (total,) * len(names)
    if not person:
        return CountedTable(_lines(names, total, {words["crosstab_count"]: rows}), rows[everyone])
    persons, several = _persons(keys, owners, _numbered(counted, missing), total)
    beside = {words["crosstab_count"]: rows} if several else {}
    columns = beside | {words["crosstab_persons"]: persons}
    return CountedTable(_lines(names, total, columns), rows[everyone], persons[everyone], several)


def _keys(counted: TextCounts, size: int, missing: Sequence[str]) -> tuple[list[Key], Ints]:
    """The finest cells, and the one of each entry."""
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


def _numbered(counted: TextCounts, missing: Sequence[str]) -> Ints:
    """The number of each entry's person, whose names stand last."""
    plain = by_plain_keys(counted)
    nobody = {"", *map(plain_key, missing)}
    names = [None if name in nobody else name for name in plain.values[-1]]
    numbers = {name: place for place, name in enumerate(dict.fromkeys(names))}
    return np.array([numbers[name] for name in names] or [0], np.int64)[plain.codes[:, -1]]


def _persons(keys: list[Key], owners: Ints, persons: Ints, total: str) -> tuple[Counter[Key], int]:
    """The persons behind each cell and total, each once, and how many of them stand in several finest cells."""
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
    """Counts of the finest cells, with every total."""
    added: Counter[Key] = Counter({(total,) * len(keys[0]): 0} if keys else {})
    for key, count in zip(keys, counts.tolist(), strict=True):
        for wider in _wider(key, total):
            added[wider] += count
    return added


def _wider(key: Key, total: str) -> list[Key]:
    return list(product(*((text, total) for text in key)))


def _lines(names: Sequence[str], total: str, columns: dict[str, Counter[Key]]) -> list[list[str]]:
    """The lines of all crossings: one that is left out would disclose that it is empty."""
    cells = [key for counts in columns.values() for key in counts]
    codes = [{key[place] for key in cells} for place in range(len(names))]
    check_size(map(len, codes), MOST_LINES)
    order = product(*(sorted(own, key=lambda text: (text != total, text)) for own in codes))
    body = ([*key, *(str(counts[key]) for counts in columns.values())] for key in order)
    return [[*names, *columns], *body]
