"""Commands on API keys of the service and on keys of pseudonyms: `keys`, `pseudonyms`."""

import os
import sys
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.errors import PlanError, extra_part
from sfumato.localization.messages import Message

if TYPE_CHECKING:
    from sfumato.service.access.keys import Key


class KeyAction(StrEnum):
    """Actions of the command `keys`."""

    ADD = "add"
    LIST = "list"
    REVOKE = "revoke"


File = Annotated[Path, typer.Option("--file", help="The file of keys, as for `serve --api-keys`.", dir_okay=False)]
Expires = Annotated[datetime | None, typer.Option(formats=["%Y-%m-%d"], help="Expiry date of the key (inclusive).")]
Group = Annotated[str | None, typer.Option(help="Group (name or number) whose members may read the file.")]
Scopes = Annotated[list[str] | None, typer.Option("--scope", help="attributes, jobs, pages; repeatable, default all.")]


def keys_command(
    action: Annotated[KeyAction, typer.Argument(help="add, list or revoke.")],
    file: File,
    name: Annotated[str | None, typer.Argument(help="Whose key it is.")] = None,
    role: Annotated[str, typer.Option(help="user, or admin, who sees and cancels everybody's jobs.")] = "user",
    scope: Scopes = None,
    expires: Expires = None,
    group: Group = None,
    audit_log: Annotated[Path | None, typer.Option(help="The audit log of the service.", dir_okay=False)] = None,
) -> int:
    """Add, list and revoke API keys; a running service applies changes within a second."""
    with extra_part("starlette or pydantic", "web"):
        import sfumato.service.access.keys  # noqa: F401
    if action is KeyAction.LIST:
        return _list(file)
    if name is None:
        raise PlanError("api-key-name.key_no_name", action=action)
    _check_log(audit_log)
    if action is KeyAction.REVOKE:
        from sfumato.service.access.keys import revoke_key

        revoke_key(file, name)
    else:
        key = _add(file, _made(name, role, scope or [], expires), group)
        sys.stderr.write("The key, shown once; send it as X-API-Key:\n")
        sys.stdout.write(key + "\n")
    _note(audit_log, f"key {action}", name)
    return 0


def _add(file: Path, made: tuple[str, "Key"], group: str | None) -> str:
    from sfumato.service.access.keys import add_key

    text, key = made
    add_key(file, key, group)
    return text


def _made(name: str, role: str, scopes: list[str], expires: datetime | None) -> tuple[str, "Key"]:
    from sfumato.service.access.keys import make_key, today
    from sfumato.service.access.sessions import ROLES, SCOPES

    unknown = sorted(set(scopes) - set(SCOPES))
    if unknown or role not in ROLES:
        hint = Message("hint.scopes_roles", names=", ".join(SCOPES), names2=", ".join(ROLES))
        if unknown:
            raise PlanError("api-key-scope.no_scope", hint=hint, name=unknown[0])
        raise PlanError("api-key-scope.no_role", hint=hint, name=role)
    if expires is not None and expires.date() < today():
        raise PlanError("api-key-expires")
    chosen = tuple(one for one in SCOPES if one in scopes or not scopes)
    known = next(one for one in ROLES if one == role)
    return make_key(name, known, chosen, expires.date() if expires else None)


def _list(file: Path) -> int:
    from sfumato.service.access.keys import read_keys, today

    for key in read_keys(file):
        state = "revoked" if key.revoked else "valid" if key.holds(today()) else "expired"
        ends = key.revoked or key.expires or ""
        sys.stdout.write(f"{key.name}\t{key.role}\t{','.join(key.scopes)}\t{state}\t{ends}\n")
    return 0


def _check_log(audit_log: Path | None) -> None:
    """Refuse an audit log that cannot be written, before doing anything that must be logged."""
    if audit_log is None:
        return
    place = audit_log if audit_log.exists() else audit_log.parent
    if not os.access(place, os.W_OK):
        raise PlanError("audit-log")


def _note(audit_log: Path | None, what: str, name: str) -> None:
    import getpass

    from sfumato.service.access.authentication import AuditLog

    AuditLog(audit_log).note(f"operator:{getpass.getuser()}", what, key=name)


class PseudonymAction(StrEnum):
    """Actions of the command `pseudonyms`."""

    NEW = "new"
    REVEAL = "reveal"


Texts = Annotated[list[str] | None, typer.Argument(help="Pseudonyms to reveal; read from standard input if omitted.")]
PseudonymKey = Annotated[
    Path | None,
    typer.Option(help="The key file; by default that of the plan or of the release folder.", dir_okay=False),
]


def pseudonyms_command(
    action: Annotated[
        PseudonymAction, typer.Argument(help="new: create a key file. reveal: print the identifiers of pseudonyms.")
    ],
    path: Annotated[Path, typer.Argument(help="new: the key file. reveal: the release folder.")],
    texts: Texts = None,
    domain: Annotated[str, typer.Option(help="Domain: the recipient and purpose of the pseudonyms.")] = "release",
    column: Annotated[str | None, typer.Option(help="The column with the pseudonyms.")] = None,
    key: PseudonymKey = None,
    by: Annotated[
        str, typer.Option(help="Name of the person requesting; recorded in the log next to the key file.")
    ] = "",
    reason: Annotated[str, typer.Option(help="Reason of the request; recorded in the log next to the key file.")] = "",
) -> int:
    """Create a key for pseudonyms, or reveal pseudonyms of a release; name and reason are logged."""
    if action is PseudonymAction.NEW:
        from sfumato.pipelines.persons.pseudonyms import new_key

        made = new_key(path, domain)
        sys.stderr.write(
            f"A key for the domain {made.domain}, {made.fingerprint}. Store it separately from the data.\n"
        )
        return 0
    from sfumato.pipelines.persons.pseudonyms import reveal

    asked = texts or sys.stdin.read().split()
    if not asked:
        raise PlanError("pseudonym.there_no_pseudonym")
    for identifier in reveal(path, asked, by=by, reason=reason, column=column, key=key):
        sys.stdout.write(identifier + "\n")
    return 0
