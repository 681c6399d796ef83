"""Reverse pseudonyms for the holder of the key, with a reason and an entry in the log next to the key."""

import json
import os
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sfumato.engines.engine import MissingRules
from sfumato.engines.postprocessing.formulas import open_published
from sfumato.errors import DataError, PlanError, did_you_mean
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.plan.resolve import released_plan
from sfumato.microdata.pseudonyms.key import PseudonymKey
from sfumato.microdata.pseudonyms.pseudonyms import pseudonyms_of
from sfumato.pipelines.pseudonyms.keys import KEY_FILE, PRIVATE, read_key
from sfumato.pipelines.release_stages import checksums

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
        raise DataError("pseudonym.a_text_is_no_pseudonym_of")


def _column(names: Sequence[str], column: str | None) -> str:
    if not names:
        raise PlanError("pseudonym.this_release_has_no")
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
        raise PlanError("key.report_json_does_not_tell_the") from None


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
