"""Keys of pseudonyms: named by the plan, or drawn for the release and stored in its folder."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from sfumato.atomic_folders import check_free
from sfumato.engines.engine import Engine, MissingRules
from sfumato.errors import DataError, PlanError
from sfumato.localization.messages import Message
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.pseudonyms.key import PseudonymKey

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
        raise PlanError("key.is_no_key_file_of", name=path.name) from None


def exposed_keys(plan: Plan) -> tuple[str, ...]:
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


def drawn_key(plan: Plan, keys: Mapping[str, PseudonymKey]) -> PseudonymKey | None:
    """Return the key that was generated for the release, or None."""
    own = (keys[name] for name, operation in plan.pseudonyms.items() if operation.key_file is None)
    return next(own, None)


def check_single(plan: Plan, source: Engine) -> None:
    """Refuse pseudonyms of an identifier that repeats: they would link rows, but models would count rows."""
    for name in plan.pseudonyms:
        if plan.columns[name].role == "identifier":
            text_counts = source.count((name,), MissingRules())
            texts = [text_counts.values[0][code] for code in text_counts.codes[:, 0].tolist()]
            pairs = zip(texts, text_counts.counts.tolist(), strict=True)
            if any(rows > 1 for text, rows in pairs if text is not None and text not in plan.data.missing):
                raise DataError("repeats", column=name).about(column=name)
