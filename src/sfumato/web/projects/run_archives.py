"""Store each run in the project archive, and restore it when the project is opened."""

import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

from sfumato.web.projects.archive_extraction import UNREADABLE, ExtractionLimits, extract

FOLDER = "runs"
RESULT = "result"
REPORT = "report.json"


class RunRecord(TypedDict):
    """The record of a run in addition to its files: its number and its plan."""

    number: int
    plan: dict[str, Any]


def archives(places: Mapping[int, Path]) -> dict[str, Path]:
    """Return the archives of runs, by their names in the archive of the project.

    Args:
        places: The result folder of each run by its number; its archive is next to it.
    """
    found = {_name(number): place / f"{RESULT}.zip" for number, place in places.items()}
    return {name: path for name, path in found.items() if path.exists()}


def unpacked(
    folder: Path, records: Sequence[Any], room: ExtractionLimits | None = None
) -> Iterator[tuple[int, dict[str, Any], Path]]:
    """Yield the runs whose archives are in the folder of a project: number, plan, and result folder.

    An archive that is no result is skipped, because a project is more than its runs.

    Args:
        room: Limits for unpacking, if the archive may come from anyone.

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


def _unpack(archive: Path, target: Path, room: ExtractionLimits | None) -> bool:
    """Extract the files of a result into a folder; return whether it is a result."""
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
