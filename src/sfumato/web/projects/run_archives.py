"""Store each run in the project archive, and restore it when the project is opened."""

import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

from sfumato.web.projects.archive_extraction import UNREADABLE, Room, extract

FOLDER = "runs"
RESULT = "result"
REPORT = "report.json"


class RunRecord(TypedDict):
    """What is known of a run besides its files: its number, and the plan that made it."""

    number: int
    plan: dict[str, Any]


def archives(places: Mapping[int, Path]) -> dict[str, Path]:
    """The archives of runs, by the names that they have in that of the project.

    Args:
        places: By the number of each run, where its result lies beside its archive.
    """
    found = {_name(number): place / f"{RESULT}.zip" for number, place in places.items()}
    return {name: path for name, path in found.items() if path.exists()}


def unpacked(
    folder: Path, records: Sequence[Any], room: Room | None = None
) -> Iterator[tuple[int, dict[str, Any], Path]]:
    """The runs whose archives lie in the folder of a project: number, plan, and where the result lies now.

    An archive that is no result is left out: a project is more than its runs.

    Args:
        room: What may be unpacked, where anyone may have packed it.

    Raises:
        NoRoomError: A run is too large.
    """
    for record in records:
        number, plan = (record.get("number"), record.get("plan")) if isinstance(record, dict) else (None, None)
        if not isinstance(number, int) or not isinstance(plan, dict) or not (folder / _name(number)).exists():
            continue
        place = folder / FOLDER / str(number)
        place.mkdir(parents=True, exist_ok=True)
        archive = (folder / _name(number)).replace(place / f"{RESULT}.zip")
        if _unpack(archive, place / RESULT, room):
            yield number, plan, place / RESULT


def _name(number: int) -> str:
    return f"run-{number}.zip"


def _unpack(archive: Path, target: Path, room: Room | None) -> bool:
    """Put the files of a result into a folder; whether it is one."""
    try:
        with zipfile.ZipFile(archive) as opened:
            names = [entry.filename for entry in opened.infolist() if not entry.is_dir()]
            if any(name.startswith("/") or ".." in Path(name).parts for name in names):
                return False
            for name in names:
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                extract(opened, name, target / name, room)
        return isinstance(json.loads((target / REPORT).read_text(encoding="utf-8")), dict)
    except (*UNREADABLE, OSError, ValueError):
        return False
