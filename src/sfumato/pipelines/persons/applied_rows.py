"""Compare new rows that a recoding is applied to with its release: a difference of few persons singles them out."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import combinations, product, zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.atomic_folders import make_private, write_text
from sfumato.engines.engine import PublishedRows
from sfumato.engines.join_keys import PERSON, recorded, text_hash
from sfumato.errors import UnattainableError
from sfumato.hierarchies.spellings import plain_text
from sfumato.hierarchies.types import canonical
from sfumato.localization.messages import Message
from sfumato.microdata.plan.model import Plan
from sfumato.pipelines.persons.earlier_releases import opened_release
from sfumato.pipelines.release_stages.checksums import read_mapping
from sfumato.values import Value

# The record of all applications of a recoding, in the folder of its release; internal.
APPLIED = "applied.json"
# How many other files new rows are compared with together.
MOST_TOGETHER = 3


class Differences(Value):
    """How new rows differ from the release, with the record of all earlier applications.

    Attributes:
        added: Persons, or rows without a person column, that are new.
        removed: Persons, or rows, of the release that are missing in the new rows.
        path: The record in the release folder; None if nothing is published.
        records: For each application of the recoding, the keyed hashes of its persons or rows.
    """

    added: int = 0
    removed: int = 0
    path: Path | None = None
    records: tuple[tuple[str, ...], ...] = ()

    def record(self) -> None:
        """Write the record, so that the next application is compared with this one."""
        if self.path is not None:
            write_text(self.path, json.dumps({"applied": self.records}) + "\n")
            make_private(self.path)


def differences_from(plan: Plan, published: PublishedRows) -> Differences:
    """Compare the rows with the release, with those before it, and with all rows to which their recodings were applied.

    Raises:
        UnattainableError: They differ by fewer than k persons, so anyone with the files learns about those.
    """
    before, now = _released_units(plan.folder, published, plan), _units(published, _columns(published, plan), plan)
    folders = [entry.within(plan.folder) for entry in plan.previous]
    earlier = [_released_units(folder, published, plan) for folder in folders if folder.exists()]
    own = applied_units([plan.folder])
    check_apart([before, *own, *earlier, *applied_units(folders)], now, plan)
    records = tuple(tuple(sorted(one.elements())) for one in (*own, now))
    return Differences((now - before).total(), (before - now).total(), plan.folder / APPLIED, records)


def check_beside_applied(published: PublishedRows, plan: Plan, folders: Sequence[Path]) -> None:
    """Compare a release with the rows to which the recodings of earlier ones were applied.

    Raises:
        UnattainableError: They differ by fewer than k persons.
    """
    if applied := applied_units(folders):
        now = _units(published, _columns(published, plan), plan)
        releases = [_released_units(folder, published, plan) for folder in folders]
        check_apart([*applied, *releases], now, plan, len(applied))


def applied_units(folders: Sequence[Path]) -> list[Counter[str]]:
    """Return the units of all rows to which the recodings of some releases were applied."""
    records = (read_mapping(folder / APPLIED) or {} for folder in folders)
    return [Counter(one) for record in records for one in record.get("applied", ())]


def _released_units(folder: Path, published: PublishedRows, plan: Plan) -> Counter[str]:
    """Return the units of an earlier release; none if it lacks columns."""
    with closing(opened_release(folder, plan.output.quotes_formulas)) as earlier:
        columns = _columns(published, plan)
        return _units(earlier, columns, plan) if {*columns} <= {*earlier.columns} else Counter()


def _columns(published: PublishedRows, plan: Plan) -> list[str]:
    return [name for name in published.columns if name != plan.output.class_column]


def check_apart(others: Sequence[Counter[str]], now: Counter[str], plan: Plan, telling: int | None = None) -> None:
    """Refuse rows that differ by fewer than k from others, or from what up to three of them add up to.

    Of the rows of January, of February, and of both with one more person, the third without the first two is that
    person.

    Args:
        others: The units of each of the other files.
        telling: How many of these, from the first on, are compared; further ones only together with them.

    Raises:
        UnattainableError: They do.
    """
    k, unit = plan.minimum_class_size, Message("phrase.rows" if plan.person is None else "phrase.persons")
    for views in _views(now, *others):
        patterns = Counter(tuple(view[one] for view in views) for one in set().union(*views))
        counts, numbers = np.array([*patterns], np.int64), np.array([*patterns.values()], np.int64)
        for places, signs in _combinations(len(others), len(others) if telling is None else telling):
            rest = counts[:, 0] + counts[:, places] @ np.array(signs)
            added, removed = (int(numbers @ np.maximum(rest, 0)), int(numbers @ np.maximum(-rest, 0)))
            # Together, others rarely leave so little by chance; either part alone they often do.
            if 0 < added + removed < k or (len(places) == 1 and (0 < added < k or 0 < removed < k)):
                single = places == [1] and telling is None
                code = "several" if len(places) > 1 else "release" if single else "rows"
                raise UnattainableError(f"reapply-difference.{code}", added=added, unit=unit, removed=removed, k=k)


def _combinations(others: int, telling: int) -> Iterator[tuple[list[int], tuple[int, ...]]]:
    """Yield places of up to three other files, from 1 on, each with the sign by which it is added."""
    for number in range(1, MOST_TOGETHER + 1):
        for places in combinations(range(1, others + 1), number):
            if places[0] <= telling:
                yield from (([*places], signs) for signs in product((-1, 1), repeat=number) if -1 in signs)


def _units(rows: PublishedRows, columns: Sequence[str], plan: Plan) -> Counter[str]:
    """Return keyed hashes of the published rows of each person, or else of each row, with how often they occur.

    Values are compared as a reader understands them: once by their texts, where `1200.0` and ` 1200` are one number,
    and once by the numbers that they may be, where `01200` and `1,200` are. A person is also compared without rows,
    because persons whose rows have all changed may still be followed.
    """
    texts = [rows.texts(name) for name in columns]
    readings = ([_read(entries, plain_text) for entries in texts], [_read(entries, _amount) for entries in texts])
    key = f"{plan.chain_secret}:applied:"
    if plan.person is None:
        contents = zip(*(zip(*reading, strict=True) for reading in readings), strict=True)
        return Counter(_hashes(content, key) for content in contents)
    by_person: dict[str | None, tuple[list[Any], ...]] = {}
    for person, *contents in zip(
        recorded(rows.texts(PERSON)), *(zip(*reading, strict=True) for reading in readings), strict=True
    ):
        for entries, content in zip(by_person.setdefault(person, ([], [])), contents, strict=True):
            entries.append(content)
    units = ((person, *((person, sorted(one, key=repr)) for one in both)) for person, both in by_person.items())
    return Counter(_hashes(unit, key) for unit in units)


def _hashes(parts: Sequence[Any], key: str) -> str:
    return " ".join(text_hash(repr(part), key) for part in parts)


def _views(*files: Counter[str]) -> Iterator[tuple[Counter[str], ...]]:
    """Yield the units of files by each of their hashes alone."""
    parts = [list(zip(*(unit.split() for unit in units.elements()), strict=True)) for units in files]
    for views in zip_longest(*parts, fillvalue=()):  # a file without rows has no hashes
        yield tuple(map(Counter, views))


def _read(texts: Sequence[str | None], reading: Callable[[str], str]) -> list[str | None]:
    read = {text: None if text is None else reading(text) for text in {*texts}}
    return [read[text] for text in texts]


def _amount(text: str) -> str:
    """Return the number that a text may be, or else the text as it is understood."""
    (number,), _ = canonical([text], "amount")
    return plain_text(text) if number is None else number
