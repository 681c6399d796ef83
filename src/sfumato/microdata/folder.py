"""The release folder: written beside its place under a temporary name, recounted, and renamed when it is whole."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from sfumato.errors import EngineError, InternalError, PlanError
from sfumato.microdata.recoding_file import to_dict
from sfumato.microdata.sealing import figures_of, seals

PRIVATE = 0o700


def save(release: Any, folder: Path) -> Path:
    """Write a release to a folder that must not exist yet.

    Raises:
        PlanError: The folder exists.
        EngineError: The folder cannot be written.
    """
    from sfumato.plan.write import plan_text
    from sfumato.report.release import files

    with staged(folder) as stage:
        _write_data(release, stage)
        write_text(stage / "plan.yaml", plan_text(release.plan, folder))
        write_text(stage / "recoding.json", json.dumps(_recoding(release, folder), indent=1, ensure_ascii=False) + "\n")
        for name, text in files(release, seals(stage)).items():
            write_text(stage / name, text)
        if release.report.method == "exhaustive":
            write_text(stage / "nodes.csv", _nodes(release.report))
    return folder


def _recoding(release: Any, folder: Path) -> dict[str, Any]:
    """What recoding.json holds: the recoding, the plan, and what promises compare the published rows with."""
    from sfumato.microdata.reference import reference_dict
    from sfumato.plan.write import plan_dict

    reference = reference_dict(release.plan, release.table, release.recoding) | figures_of(release.report)
    # Where the rows lay is of no use for other rows, and the same release has the same recoding wherever it was made.
    plan = replace(release.plan, data=replace(release.plan.data, source=None, temp_folder=None))
    return to_dict(release.recoding) | {"plan": plan_dict(plan, folder), "reference": reference}


@contextmanager
def staged(folder: Path) -> Iterator[Path]:
    """A folder that appears under its name only when everything in it was written."""
    if folder.exists():
        raise PlanError(f"the folder {folder.name} exists.", "Name a new one: nothing is overwritten.", "output-exists")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        stage = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise unwritable(folder, error) from None
    try:
        yield stage
        stage.chmod(0o755)
        os.rename(stage, folder)  # noqa: PTH104  (Path.rename would overwrite an empty folder just the same)
    except OSError as error:
        raise unwritable(folder, error) from None
    finally:
        shutil.rmtree(stage, ignore_errors=True)


@contextmanager
def workspace_for(folder: Path) -> Iterator[Path]:
    """The place where a release for a folder is prepared: beside it, so that large files need not be moved."""
    made = not folder.parent.exists()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from None
    try:
        yield folder.parent
    finally:
        if made and not any(folder.parent.iterdir()):
            folder.parent.rmdir()


def unwritable(folder: Path, error: OSError) -> EngineError:
    """The error for a disk or folder that takes no more."""
    why = error.strerror or type(error).__name__
    return EngineError(
        f"{folder.name} cannot be written: {why}.", "Check the folder, its rights and the free space.", "unwritable"
    )


def write_text(path: Path, text: str) -> None:
    """Write a text so that it is on the disk."""
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())


def link(source: Path, target: Path) -> None:
    """Put a file, or a folder of them, under a further name, without copying it where that can be."""
    if source.is_dir():
        shutil.copytree(source, target, copy_function=lambda old, new: link(Path(old), Path(new)))
        return
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def _write_data(release: Any, stage: Path) -> None:
    """Put the published rows into the folder; a frame is written to a file, and the file is recounted."""
    name = f"data.{release.plan.output.format}"
    if isinstance(release.published.data(), Path):
        link(release.published.data(), stage / name)
        return
    from sfumato.engines.writing import write_frame

    engine = write_frame(release.published, stage / name, release.plan.data.separator or ",")
    try:
        prediction = release.prediction
        from sfumato.engines.engine import Reading

        wrong = prediction.difference(engine.count((*prediction.columns, *prediction.sensitive), Reading()))
    finally:
        engine.close()
    if wrong:
        raise InternalError(f"what was written is not what was meant: {wrong}.", code="recount")


def _nodes(report: Any) -> str:
    """The table of all nodes, as CSV: the classes of all rows, the k they reach, and what suppression would leave."""
    head = [*report.levels, "loss", "classes", "k", "largest", "suppressed_rows", "kept_classes", "kept_k", "holds"]
    lines = [";".join('"' + name.replace('"', '""') + '"' for name in head)]
    for node in report.candidates:
        before, kept = node.before, (node.suppressed_rows, node.classes, node.smallest)
        figures = (f"{node.loss:.10g}", before.classes, before.smallest, before.largest, *kept)
        lines.append(";".join(map(str, (*node.node, *figures, str(node.holds).lower()))))
    return "\n".join(lines) + "\n"
