"""Evaluate published files together, joined by their keys as an attacker would.

No code of the search is used here: the rows of each person are taken from the files as they are.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.engines.engine import Engine, MissingRules
from sfumato.microdata.counts.frequency_table import meaning_of
from sfumato.microdata.models.equivalence_classes import EquivalenceClasses, histogram
from sfumato.microdata.models.model import evaluate
from sfumato.microdata.plan.files import key_columns, parents_first
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.verdict import Guarantee
from sfumato.pipelines.release_check import ReleaseCheck
from sfumato.pipelines.release_stages.column_checks import column_promises, unplanned

RANDOM_KEY = re.compile("[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class LinkedFilesVerdict:
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


@dataclass(frozen=True, slots=True)
class _Row:
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
