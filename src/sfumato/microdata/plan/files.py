"""The plan of several files joined by keys, such as patients, their visits and the laboratory results of each."""

from collections.abc import Mapping
from typing import Annotated

from sfumato.dataclass import dataclass
from sfumato.errors import Fault, did_you_mean
from sfumato.schema.dataclass_schema import Note
from sfumato.schema.paths import PLAIN_NAME, PlanPath
from sfumato.schema.typed_parts import plan_part


@plan_part
@dataclass(frozen=True, slots=True)
class FilePlan:
    """A file: where it is, and how it is joined.

    Attributes:
        key: The column that identifies its rows; a parent needs one, and its children have a column of that name.
        parent: The file that its rows belong to; the one file without a parent is that of the persons.
        key_file: An internal secret from which its keys are made: they are the same in every release made with it.
            Without it they are random in each release.
    """

    source: Annotated[PlanPath | None, Note("the file, relative to the plan")] = None
    key: Annotated[str | None, Note("the column that names its rows; its children have one of the same name")] = None
    parent: Annotated[str | None, Note("the file that its rows belong to; that of the persons has none")] = None
    key_file: Annotated[
        PlanPath | None,
        Note("an internal key file with which keys are the same in every release; without it, keys are random"),
    ] = None


def key_columns(files: Mapping[str, FilePlan], name: str) -> tuple[str, ...]:
    """Return the columns of a file that join it to others: its own key, and that of its parent.

    >>> key_columns({"patients": FilePlan(key="pid"), "visits": FilePlan(key="vid", parent="patients")}, "visits")
    ('vid', 'pid')
    """
    own, parent = files[name].key, files[name].parent
    above = None if parent is None else files[parent].key
    return tuple(column for column in (own, above) if column is not None)


def parents_first(files: Mapping[str, FilePlan]) -> tuple[str, ...]:
    """Return the names of all files, each after its parent."""
    ordered: list[str] = []
    while len(ordered) < len(files):
        ordered += [
            name
            for name, file in files.items()
            if name not in ordered and (file.parent is None or file.parent in ordered)
        ]
    return tuple(ordered)


def file_faults(files: Mapping[str, FilePlan]) -> list[Fault]:
    """Return issues of files that do not form a tree with the persons at its root."""
    faults = []
    roots = [name for name, file in files.items() if file.parent is None]
    if len(roots) != 1:
        faults.append(
            Fault("files", "one file, that of the persons, has no parent.", "Name the parents of all others.")
        )
    for name, file in files.items():
        at = f"files.{name}"
        if not PLAIN_NAME.fullmatch(name):
            do = "Use letters, digits, dots, hyphens and spaces."
            faults.append(Fault("files", "a name must do for a file that is written.", do))
        if file.parent is not None and file.parent not in files:
            faults.append(Fault(f"{at}.parent", f'there is no file "{file.parent}".', did_you_mean(file.parent, files)))
        elif file.parent is not None and files[file.parent].key is None:
            faults.append(Fault(f"files.{file.parent}.key", "is missing: other files belong to its rows.", "Name it."))
        if file.parent is None and file.key is None:
            faults.append(Fault(f"{at}.key", "is missing: it names the persons.", "Name the column."))
        if file.key_file is not None and file.key is None:
            faults.append(
                Fault(f"{at}.key_file", "is of no use: the file has no key.", "Name its key, or leave it out.")
            )
        if _in_circle(files, name):
            faults.append(Fault(f"{at}.parent", "leads back to the file itself.", "Name the file of the persons."))
    return faults


def _in_circle(files: Mapping[str, FilePlan], name: str) -> bool:
    seen, parent = {name}, files[name].parent
    while parent is not None and parent in files:
        if parent in seen:
            return True
        seen.add(parent)
        parent = files[parent].parent
    return False
