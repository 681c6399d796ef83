"""Keys of pseudonyms, stored or named by the plan; reversing pseudonyms; erasing a person from the internal record."""

import json
import os
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import Any

from sfumato.atomic_folders import check_free, write_text
from sfumato.engines.engine import Engine, MissingRules
from sfumato.engines.join_keys import PERSONS_FILE, record_key
from sfumato.engines.person_rows import record_of, write_record
from sfumato.engines.postprocessing import open_published
from sfumato.errors import DataError, PlanError, did_you_mean
from sfumato.localization.messages import Message
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.plan.read import released_plan
from sfumato.microdata.pseudonyms import PseudonymKey, pseudonyms_of
from sfumato.pipelines.persons.earlier_releases import ERASED, ERASED_TOO, Contents, Values, read_release
from sfumato.pipelines.release_stages import checksums
from sfumato.values import Value

# The key in a release folder, readable by its owner only and never published.
KEY_FILE = "pseudonyms.key"
PRIVATE = 0o600


def new_key(path: Path, domain: str) -> PseudonymKey:
    """Generate a key and write its file.

    Raises:
        PlanError: The file exists.
    """
    check_free(path)
    key = PseudonymKey.drawn(domain)
    write_key(path, key)
    return key


def write_key(path: Path, key: PseudonymKey) -> None:
    """Write the file of a key, readable by its owner only."""
    write_private(path, json.dumps(key.to_dict(), indent=1) + "\n")


def write_private(path: Path, text: str) -> None:
    """Write a new file readable by its owner only."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE), "w", encoding="utf-8") as file:
        file.write(text)


def read_key(path: Path) -> PseudonymKey:
    """Read the key in a file.

    Raises:
        PlanError: There is no such file, or it contains no key.
    """
    try:
        return PseudonymKey.of_dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, ValueError):
        raise PlanError("key.not_a_key_file", name=path.name) from None


def exposed_keys(plan: Plan) -> tuple[Message, ...]:
    """Return a warning if key files of the plan are readable by others than their owner."""
    named = [operation.key_file for operation in plan.pseudonyms.values()]
    named += [file.key_file for file in plan.files.values()]
    paths = {name.within(plan.folder) for name in named if name is not None}
    # Permissions are meaningful on POSIX systems only.
    exposed = sorted(path.name for path in paths if os.name == "posix" and path.stat().st_mode & 0o077)
    return (Message("note.exposed_keys", names=", ".join(exposed)),) if exposed else ()


def keys_of(plan: Plan, folder: Path | None = None) -> dict[str, PseudonymKey]:
    """Return the key of each pseudonymized column.

    Args:
        folder: A release folder whose key is used again if the plan names none.

    Raises:
        PlanError: A key file is invalid or for another domain, or the plan has a seed and no key.
    """
    drawn: dict[str, PseudonymKey] = {}
    keys = {}
    for name, operation in plan.pseudonyms.items():
        if operation.key_file is not None:
            key = read_key(operation.key_file.within(plan.folder))
            if operation.domain not in ("release", key.domain):
                raise PlanError("key.columns_publish_pseudonym_key", name=name, domain=key.domain)
            keys[name] = key
        elif folder is not None:
            keys[name] = read_key(folder / KEY_FILE)
        elif plan.seed is not None:
            raise PlanError("key.columns_publish_pseudonym_a_plan", name=name)
        else:
            keys[name] = drawn.setdefault("", PseudonymKey.drawn(operation.domain))
    return keys


def check_single(plan: Plan, source: Engine) -> None:
    """Refuse pseudonyms of an identifier that repeats: they would link rows, but models would count rows."""
    for name in plan.pseudonyms:
        if plan.columns[name].role == "identifier":
            text_counts = source.count((name,), MissingRules())
            texts = [text_counts.values[0][code] for code in text_counts.codes[:, 0].tolist()]
            pairs = zip(texts, text_counts.counts.tolist(), strict=True)
            if any(rows > 1 for text, rows in pairs if text is not None and text not in plan.data.missing):
                raise DataError("repeats", column=name).about(column=name)


LOG_SUFFIX = ".log"


def reveal(
    release: str | Path,
    pseudonyms: Sequence[str],
    *,
    by: str,
    reason: str,
    column: str | None = None,
    key: str | Path | None = None,
) -> list[str]:
    """Return the identifiers behind pseudonyms of a release.

    Args:
        release: The release folder.
        pseudonyms: The pseudonyms to reverse.
        by: Who requests it, for the log next to the key.
        reason: Why, for the log; the log contains no values.
        column: The column of the pseudonyms, if several columns have some.
        key: The key file; by default that of the plan, or of the folder.

    Raises:
        PlanError: The release has no such pseudonyms, or its key is another one.
        DataError: A text is no pseudonym.
    """
    folder = Path(release)
    plan = released_plan(folder)
    name = _column(list(plan.pseudonyms), column)
    operation = plan.pseudonyms[name]
    own = folder / KEY_FILE if operation.key_file is None else operation.key_file.within(plan.folder)
    path = own if key is None else Path(key)
    secret_key = read_key(path)
    if secret_key.fingerprint != _fingerprint(folder, name):
        raise PlanError("key.this_is_the_key")
    if not by.strip() or not reason.strip():
        raise PlanError("reason")
    if operation.kind == "format":
        _check_published(folder, name, pseudonyms, plan.output.quotes_formulas)
    cipher = pseudonyms_of(secret_key, operation.kind)
    identifiers = [cipher.reveal(text) for text in pseudonyms]
    _log(path, secret_key, folder, name, len(identifiers), by, reason)
    return identifiers


def _check_published(folder: Path, column: str, pseudonyms: Sequence[str], quotes: bool) -> None:
    """Refuse texts that are in no published row, because format-preserving pseudonyms map any text to some value."""
    with closing(open_published(checksums.data_of(folder), DataPlan(header=True), quotes)) as engine:
        texts = {*engine.count((column,), MissingRules()).values[0]}
    if not texts.issuperset(pseudonyms):
        raise DataError("pseudonym.not_published")


def _column(names: Sequence[str], column: str | None) -> str:
    if not names:
        raise PlanError("pseudonym.none_in_release")
    if column is None and len(names) > 1:
        raise PlanError("column.several_columns_have_pseudonyms", names=", ".join(names))
    if column is not None and column not in names:
        raise PlanError("column.the_column_has_no_pseudonyms", hint=did_you_mean(column, names), column=column)
    return column or names[0]


def _fingerprint(folder: Path, column: str) -> Any:
    """Return the fingerprint of the key with which a column was pseudonymized."""
    try:
        report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        operations = report["perturbation"]["operations"]
        return next(part["key"] for part in operations if part["columns"] == [column])
    except (OSError, ValueError, KeyError, TypeError, StopIteration):
        raise PlanError("key.not_in_report") from None


def _log(path: Path, key: PseudonymKey, folder: Path, column: str, number: int, by: str, reason: str) -> None:
    """Write the request to the log before anything is revealed."""
    entry = {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "by": by,
        "reason": reason,
        "release": folder.resolve().name,
        "column": column,
        "pseudonyms": number,
        "key": key.fingerprint,
    }
    log = path.with_name(path.name + LOG_SUFFIX)
    with os.fdopen(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, PRIVATE), "a", encoding="utf-8") as file:
        file.write(json.dumps(entry, ensure_ascii=False) + "\n")
        file.flush()
        os.fsync(file.fileno())


STAY = "The published rows stay as they are: whoever has the file keeps them, and nothing in it says whose they are."


class PersonErasure(Value):
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
        raise PlanError("previous.is_no_release_folder", name=folder.name)
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
        complete = {**report, "persons_sha256": checksums.digest(folder / PERSONS_FILE)}
        write_text(path, json.dumps(complete, indent=2, ensure_ascii=False) + "\n")
