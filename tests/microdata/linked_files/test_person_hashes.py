"""Persons have one fingerprint where all that is published of them is the same, and only there."""

from itertools import product

import numpy as np

from sfumato.hierarchies.hierarchy import make_hierarchy
from sfumato.microdata.linked_files import FileRows, LinkedFiles, groups_of

VALUES = ("x", "y", "z")


def file(name: str, parent: str | None, rows: list[tuple[int, tuple[int, ...]]], columns: int) -> FileRows:
    ladder = make_hierarchy(VALUES, [])
    codes = np.array([row for _, row in rows], np.int32).reshape(len(rows), columns)
    above = np.array([owner for owner, _ in rows], np.int64)
    return FileRows(name, parent, tuple(f"{name}{at}" for at in range(columns)), (ladder,) * columns, codes, above)


def test_no_two_families_of_rows_have_one_fingerprint() -> None:
    """Every person with up to two rows in each of two files: no label stands for a row, or for one of another file."""
    for columns in ((1, 0, 0), (1, 1, 1), (2, 1, 0), (0, 1, 1)):
        own = list(product(range(3), repeat=columns[0]))
        families = [
            [(), *((row,) for row in product(range(3), repeat=number)), (next(product(range(3), repeat=number)),) * 2]
            for number in columns[1:]
        ]
        persons = list(product(own, *families))
        files = [file("p", None, [(place, one[0]) for place, one in enumerate(persons)], columns[0])]
        for at, name in enumerate("ab", 1):
            rows = [(place, row) for place, one in enumerate(persons) for row in one[at]]
            files.append(file(name, "p", rows, columns[at]))
        groups, number = groups_of(LinkedFiles(tuple(files), {}), [0] * sum(columns))
        assert number == len(persons) == len(set(groups.tolist()))
