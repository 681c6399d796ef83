"""Erase a person from the internal record: the key of the person's rows is replaced by a random one."""

import json
from collections.abc import Sequence
from pathlib import Path
from secrets import token_hex
from typing import Any

from sfumato.atomic_folders import write_text
from sfumato.dataclass import dataclass
from sfumato.engines.keyed_hashes import PERSONS_FILE, record_key
from sfumato.engines.postprocessing.person_record import record_of, write_record
from sfumato.errors import PlanError
from sfumato.microdata.plan.resolve import released_plan
from sfumato.pipelines.release_stages import checksums
from sfumato.pipelines.sequential_releases.earlier_releases import ERASED, ERASED_TOO, Contents, Values, read_release

STAY = "The published rows stay as they are: whoever has the file keeps them, and nothing in it says whose they are."


@dataclass(frozen=True, slots=True)
class PersonErasure:
    """The result of erasing a person: by folder, the rows that are still published."""

    rows: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        return {"erased": dict(self.rows), "remark": STAY}

    def text(self) -> str:
        """Return what each folder still contains."""
        lines = [
            f"{name}: erased from the record; {_rows(rows)} still contained in the published file"
            if rows
            else f"{name}: nothing of this person"
            for name, rows in self.rows.items()
        ]
        return "\n".join([*lines, STAY]) + "\n"


def _rows(rows: int) -> str:
    return f"{rows:,} row{'s are' if rows > 1 else ' is'}"


def erase(person: str, folders: Sequence[str | Path]) -> PersonErasure:
    """Erase a person from the records of release folders.

    Raises:
        PlanError: A folder keeps no record of persons.
    """
    return PersonErasure({Path(folder).name: _erased(person, Path(folder)) for folder in folders})


def _erased(person: str, folder: Path) -> int:
    if not (folder / "plan.yaml").exists():
        raise PlanError("previous.is_no_release_folder_2", name=folder.name)
    plan = released_plan(folder)
    if plan.files:
        raise PlanError("files.is_a_release_of_several_files", name=folder.name)
    release = read_release(folder, plan.quasi_identifiers, ())
    key = record_key(person, f"{release.secret}:person:")
    data = checksums.data_of(folder)
    keys = record_of(data)
    rows = keys.count(key)
    if rows:
        fresh = iter(_keys(release.contents[key]))
        write_record(data, [next(fresh) if entry == key else entry for entry in keys])
        _seal(folder)
    return rows


def _keys(rows: Contents) -> list[str]:
    """Return a random key for each row, so that nothing links the rows of the person.

    The prefix marks the first row of each class, so that counts of persons do not become counts of rows.
    """
    seen: set[Values] = set()
    keys = []
    for labels, _ in rows:
        keys.append(f"{ERASED_TOO if labels in seen else ERASED}{token_hex(8)}")
        seen.add(labels)
    return keys


def _seal(folder: Path) -> None:
    """Write the checksum of the changed record into the report."""
    path = folder / checksums.REPORT
    report = checksums.read_mapping(path)
    if report is not None:
        sealed = {**report, "persons_sha256": checksums.digest(folder / PERSONS_FILE)}
        write_text(path, json.dumps(sealed, indent=2, ensure_ascii=False) + "\n")
