"""Archives that anyone may have packed are unpacked within limits, whatever they are packed to."""

import io
import json
import zipfile

import pytest

from sfumato.web.projects.archives import RECORD, ExtractionLimits, NoRoomError, unpack, unpacked_runs


def archive_of(files):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream


def project(**files):
    return archive_of({RECORD: json.dumps({"plan": {}}), **files})


@pytest.mark.parametrize(
    ("room", "files"),
    [
        (ExtractionLimits(10_000_000, 1_000_000), {"rows.csv": bytes(2_000_000)}),
        (ExtractionLimits(1_500_000, 1_000_000), {"rows.csv": bytes(900_000), "more.csv": bytes(900_000)}),
        (ExtractionLimits(10_000_000, 1_000_000, 3), {f"{number}.csv": b"a" for number in range(5)}),
    ],
    ids=["one file", "all files", "many files"],
)
def test_what_is_too_large_unpacked_is_refused(tmp_path, room, files) -> None:
    packed = project(**files)
    assert len(packed.getvalue()) < 5_000
    with pytest.raises(NoRoomError):
        unpack(packed, tmp_path, room)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 1_000_000


def test_a_project_within_its_room_is_unpacked(tmp_path) -> None:
    room = ExtractionLimits(1_000_000, 1_000_000)
    assert unpack(project(**{"rows.csv": "age\n1\n"}), tmp_path, room) == {"plan": {}}
    assert [path.name for path in tmp_path.iterdir()] == ["rows.csv"]
    assert room.all_bytes < 1_000_000


def test_runs_take_their_room_from_the_same(tmp_path) -> None:
    run = archive_of({"report.json": "{}", "data.csv": bytes(900_000)}).getvalue()
    for number in (1, 2):
        (tmp_path / f"run-{number}.zip").write_bytes(run)
    runs = unpacked_runs(
        tmp_path, [{"number": number, "plan": {}} for number in (1, 2)], ExtractionLimits(1_500_000, 1_000_000)
    )
    assert next(runs)[0] == 1
    with pytest.raises(NoRoomError):
        next(runs)


def test_a_record_that_could_not_be_read_is_no_project(tmp_path) -> None:
    for content in ("[" * 100_000, "no JSON", "[1]", '{"plan": 1}'):
        with pytest.raises((ValueError, RecursionError)):
            unpack(archive_of({RECORD: content}), tmp_path, ExtractionLimits(10**6, 10**6))
