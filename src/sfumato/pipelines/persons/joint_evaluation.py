"""Evaluate published files together, joined by their keys as an attacker would.

No code of the search is used here: the rows of each person are taken from the files as they are.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.engine import Engine, MissingRules, PublishedRows
from sfumato.engines.postprocessing import open_published
from sfumato.localization.messages import Message
from sfumato.microdata.counts.frequency_table import meaning_of
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.measures.attribute_disclosure import unique_rows
from sfumato.microdata.models.equivalence_classes import EquivalenceClasses, histogram
from sfumato.microdata.models.model import evaluate
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.plan.parts import key_columns, parents_first
from sfumato.microdata.verdict import Guarantee, Verdict
from sfumato.pipelines.persons.linked_files import OpenFile
from sfumato.pipelines.release_stages.checksums import read_mapping
from sfumato.pipelines.release_stages.column_checks import column_promises, unplanned
from sfumato.pipelines.release_stages.release_check import ReleaseCheck
from sfumato.values import Value, replace

RANDOM_KEY = re.compile("[0-9a-f]{32}")


class LinkedFilesVerdict(Value):
    """The joint verdict on published files.

    Attributes:
        rows: The number of rows of each file.
        groups: The number of groups of persons with identical rows.
        smallest: The persons of the smallest group.
        largest: The persons of the largest group.
        reached: The parameter that the worst group achieves, for each model.
        faults: Violated models and other issues.
        integrity: Whether every row belongs to a row of the parent file, and every key identifies one row.
        checked: The release check of the columns.
    """

    rows: Mapping[str, int]
    persons: int
    groups: int
    smallest: int
    largest: int
    reached: tuple[float, ...]
    faults: tuple[str, ...]
    integrity: bool
    checked: ReleaseCheck

    @property
    def satisfied(self) -> bool:
        return self.persons > 0 and self.integrity and not self.faults and self.checked.satisfied


class _Row(Value):
    """A published row: its labels, keys and sensitive values."""

    labels: tuple[str | None, ...]
    key: str | None
    parent: str | None
    values: tuple[tuple[str, str | None], ...]


def judge_joined(plan: Plan, published: Mapping[str, Engine]) -> LinkedFilesVerdict:
    """Evaluate published files together."""
    names = parents_first(plan.files)
    rows = {name: _rows(plan, name, published[name]) for name in names}
    faults = [*_integrity(plan, rows)]
    integrity = not faults
    persons = _persons(plan, names, rows) if integrity else []
    classes = _classes(plan, persons)
    whole = _classes(plan, [("", values) for _, values in persons])
    reached = []
    for model in plan.privacy:
        satisfied, figure = evaluate(model, classes, whole) if persons else (False, 0.0)
        failing = model.violating(classes, whole) if persons else np.ones(1, bool)
        if failing.any() or not satisfied:
            faults.append(f"{model.name}: {max(int(failing.sum()), 1)} groups of persons do not keep it.")
        reached.append(figure)
    sizes = classes.sizes
    return LinkedFilesVerdict(
        {name: len(entries) for name, entries in rows.items()},
        len(persons),
        len(sizes),
        int(sizes.min()) if len(sizes) else 0,
        int(sizes.max(initial=0)),
        tuple(reached),
        tuple(faults),
        integrity,
        _check_columns(plan, published),
    )


def _rows(plan: Plan, name: str, engine: Engine) -> list[_Row]:
    keys = key_columns(plan.files, name)
    own, file = plan.files[name].key, plan.files[name]
    above = None if file.parent is None else plan.files[file.parent].key
    called = {column: _called(plan, name, column) for column in engine.columns if column not in keys}
    quasi = [column for column, known in called.items() if known in plan.named("quasi-identifier")]
    promised = {model.column for model in plan.privacy if model.column}
    promise_columns = [column for column, known in called.items() if known in promised]
    text_counts = engine.count((*quasi, *promise_columns, *keys), MissingRules())
    places = {column: at for at, column in enumerate(text_counts.columns)}
    meant = {
        column: {text: meaning_of(text, called[column], plan) for text in text_counts.values[places[column]]}
        for column in promise_columns
    }
    rows = []
    for codes, number in zip(text_counts.codes.tolist(), text_counts.counts.tolist(), strict=True):
        text = {column: text_counts.values[at][codes[at]] for column, at in places.items()}
        values = tuple((called[column], meant[column][text[column]]) for column in promise_columns)
        row = _Row(tuple(text[column] for column in quasi), text.get(own or ""), text.get(above or ""), values)
        rows += [row] * number
    return rows


def _called(plan: Plan, file: str, column: str) -> str:
    return f"{file}.{column}" if f"{file}.{column}" in plan.columns else column


def _integrity(plan: Plan, rows: Mapping[str, list[_Row]]) -> list[str]:
    """Return problems of the keys that join the files."""
    faults = []
    for name, file in plan.files.items():
        keys = [row.key for row in rows[name]]
        if file.key is not None and (len(set(keys)) != len(keys) or not all(map(_is_random, keys))):
            faults.append(f"{name}: its keys are not random, or stand in several rows.")
        if file.parent is not None:
            known = {row.key for row in rows[file.parent]}
            orphans = sum(row.parent not in known for row in rows[name])
            if orphans:
                faults.append(f"{name}: {orphans} rows belong to no row of {file.parent}.")
    return faults


def _is_random(key: str | None) -> bool:
    return key is not None and RANDOM_KEY.fullmatch(key) is not None


def _persons(
    plan: Plan, names: tuple[str, ...], rows: Mapping[str, list[_Row]]
) -> list[tuple[Any, frozenset[tuple[str, str | None]]]]:
    """Return for each person all their published rows and their sensitive values."""
    prints: dict[str, dict[str | None, list[Any]]] = {name: {} for name in names}
    values: dict[str, dict[str | None, set[tuple[str, str | None]]]] = {name: {} for name in names}
    people: list[tuple[Any, frozenset[tuple[str, str | None]]]] = []
    for name in reversed(names):
        children = [child for child in names if plan.files[child].parent == name]
        for row in rows[name]:
            below = tuple(
                tuple(sorted(Counter(prints[child].get(row.key, ())).items(), key=repr)) for child in children
            )
            held = set(row.values).union(*(values[child].get(row.key, set()) for child in children))
            if plan.files[name].parent is None:
                people.append(((row.labels, below), frozenset(held)))
            else:
                prints[name].setdefault(row.parent, []).append((row.labels, below))
                values[name].setdefault(row.parent, set()).update(held)
    return people


def _classes(plan: Plan, persons: list[tuple[Any, frozenset[tuple[str, str | None]]]]) -> EquivalenceClasses:
    """Return persons with identical rows as classes, with the persons of each sensitive value."""
    numbers: dict[Any, int] = {}
    groups = [numbers.setdefault(fingerprint, len(numbers)) for fingerprint, _ in persons]
    sizes = np.bincount(np.array(groups, np.int64), minlength=len(numbers)).astype(np.int64)
    contents = {}
    for column in dict.fromkeys(model.column for model in plan.privacy if model.column):
        texts: dict[str | None, int] = {}
        pairs = [
            (group, texts.setdefault(value, len(texts)))
            for group, (_, held) in zip(groups, persons, strict=True)
            for name, value in held
            if name == column
        ]
        array = np.array(pairs, np.int64).reshape(-1, 2)
        contents[column] = histogram(
            array[:, 0], array[:, 1].astype(np.int32), np.ones(len(array), np.int64), len(numbers), max(len(texts), 1)
        )
    return EquivalenceClasses(sizes, contents, counts_persons=True)


def _check_columns(plan: Plan, published: Mapping[str, Engine]) -> ReleaseCheck:
    """Run the release check on the columns of all files; keys are checked with the rows that they join.

    Persons are suppressed entirely and each column has one level, so no label reveals a suppressed one.
    """
    promises, further = list[Guarantee](), list[str]()
    for file, engine in published.items():
        keys = key_columns(plan.files, file)
        called = {column: _called(plan, file, column) for column in engine.columns if column not in keys}
        columns = {column: plan.columns[name] for column, name in called.items() if name in plan.columns}
        own = replace(plan, columns=columns, files={}, privacy=())
        found = column_promises(engine, own)
        promises += [replace(promise, column=f"{file}.{promise.column}") for promise in found]
        further += unplanned([name for name in engine.columns if name not in keys], own)
    return ReleaseCheck(columns=tuple(promises), unplanned=tuple(further))


# Minimum proportion of rows made unique by another column that causes a warning.
MOST_UNIQUE = 0.5


def unique_rows_of_files(
    plan: Plan, opened: Sequence[OpenFile], published: Mapping[str, PublishedRows]
) -> dict[str, int]:
    """Return for each published column that is no quasi-identifier the rows whose value belongs to one person only."""
    persons = _person_codes(plan, published)
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


def _person_codes(plan: Plan, published: Mapping[str, PublishedRows]) -> Persons:
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


def verify_files(folder: Path, plan: Plan) -> Verdict:
    """Verify that the files of a release folder jointly satisfy their models for persons with all their rows."""
    joined = _joined(folder, plan)
    broken = {fault.split(":")[0] for fault in joined.faults}
    promises = tuple(
        Guarantee(model.name, model.requested, reached, model.name not in broken, model.column)
        for model, reached in zip(plan.privacy, joined.reached, strict=True)
    )
    rows = sum(joined.rows.values())
    faults = (*joined.faults, *joined.checked.faults, *_broken_checksums(folder, plan))
    judged = (*promises, *joined.checked.columns)
    return Verdict(rows, 0, joined.groups, joined.smallest, joined.largest, judged, faults)


def _broken_checksums(folder: Path, plan: Plan) -> list[str]:
    """Return sentences on files that differ from those in the report."""
    report = read_mapping(folder / "report.json") or {}
    checksums = report.get("sha256", {})
    names = [f"{name}.{plan.output.format}" for name in plan.files]
    return [
        f"{name} is not the file that the report was written for."
        for name, path in zip(names, map(folder.joinpath, names), strict=True)
        if checksums.get(path.stem) != sha256(path.read_bytes()).hexdigest()
    ]


def _joined(folder: Path, plan: Plan) -> LinkedFilesVerdict:
    with ExitStack() as stack:
        published: dict[str, DuckDBEngine] = {}
        for name in plan.files:
            path = folder / f"{name}.{plan.output.format}"
            published[name] = engine = open_published(path, _as_written(plan), plan.output.quotes_formulas)
            stack.callback(engine.close)
        return judge_joined(plan, published)


def _as_written(plan: Plan) -> DataPlan:
    """Return how to read the files of a release; its separator is used, whatever the raw files were."""
    return DataPlan(separator=plan.data.separator, header=True, missing=plan.data.missing)
