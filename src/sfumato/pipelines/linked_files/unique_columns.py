"""Columns of several files that single out persons although no privacy model covers them; the report lists them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from sfumato.engines.engine import MissingRules, PublishedRows
from sfumato.localization.messages import Message
from sfumato.microdata.measures.attribute_disclosure import unique_rows
from sfumato.microdata.plan.files import key_columns, parents_first
from sfumato.microdata.plan.model import Plan
from sfumato.pipelines.linked_files.read_files import OpenFile

# Minimum proportion of rows made unique by another column that causes a warning.
MOST_UNIQUE = 0.5


def unique_rows_of_files(
    plan: Plan, opened: Sequence[OpenFile], published: Mapping[str, PublishedRows]
) -> dict[str, int]:
    """Return for each published column that is no quasi-identifier the rows whose value belongs to one person only."""
    persons = _persons(plan, published)
    return {
        f"{file.name}.{column}": _rows_of_one(plan, file.name, column, published[file.name], persons)
        for file in opened
        for column in file.names
        if file.plan.columns[column].role in ("sensitive", "insensitive")
    }


def telling(unique: Mapping[str, int], rows: Mapping[str, int]) -> list[str]:
    """Return warnings on columns that make most rows of their file unique."""
    return [
        Message("note.files_telling", name=name, number=number, rows=rows[name.split(".")[0]])
        for name, number in unique.items()
        if number > MOST_UNIQUE * max(rows[name.split(".")[0]], 1)
    ]


Persons = dict[str, dict[str | None, str | None]]


def _persons(plan: Plan, published: Mapping[str, PublishedRows]) -> Persons:
    """Return for each file with keys the person of each key: the key of the ancestor row in the first file."""
    persons: Persons = {}
    for name in parents_first(plan.files):
        if plan.files[name].key is None:
            continue
        counts = published[name].count(key_columns(plan.files, name), MissingRules())
        texts = [
            [values[code] for code in codes]
            for values, codes in zip(counts.values, counts.codes.T.tolist(), strict=True)
        ]
        parent = plan.files[name].parent
        above = texts[0] if parent is None else [persons[parent][key] for key in texts[-1]]
        persons[name] = dict(zip(texts[0], above, strict=True))
    return persons


def _rows_of_one(plan: Plan, name: str, column: str, published: PublishedRows, persons: Persons) -> int:
    parent = plan.files[name].parent
    key = key_columns(plan.files, name)[-1]
    counts = published.count((column, key), MissingRules())
    numbers: dict[str | None, int] = {}
    known = persons[name if parent is None else parent]
    codes = np.array([numbers.setdefault(known[text], len(numbers)) for text in counts.values[1]], np.int32)
    by_person = replace(
        counts,
        values=(counts.values[0], tuple(numbers)),
        codes=np.column_stack([counts.codes[:, 0], codes[counts.codes[:, 1]]]),
    )
    return unique_rows(by_person, (column,), plan.data.missing, person=key).rows
