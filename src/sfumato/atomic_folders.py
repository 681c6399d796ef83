"""Folders that get their final name only when completely written, and temporary folders that are removed after use."""

import os
import shutil
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sfumato.errors import EngineError, PlanError

# Seconds: the maximum time for removing a folder, and the pause between two attempts.
LINGERING, PAUSE = 5.0, 0.05


def check_free(path: Path) -> None:
    """Refuse the name of an existing folder or file."""
    if path.exists():
        raise PlanError("output-exists.exists_already", name=path.name)


@contextmanager
def staged(folder: Path) -> Iterator[Path]:
    """Yield a folder that appears under its name only after everything in it was written."""
    check_free(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        stage = ScratchFolder(folder.parent, f".{folder.name}-")
    except OSError as error:
        raise unwritable(folder, error) from None
    try:
        yield stage.path
        stage.path.chmod(0o755)
        os.rename(stage.path, folder)  # noqa: PTH104  (Path.rename would overwrite an empty folder just the same)
    except OSError as error:
        # The error names a file outside the folder: reading failed, not writing.
        if isinstance(error.filename, str | Path) and stage.path not in (
            Path(error.filename),
            *Path(error.filename).parents,
        ):
            raise
        raise unwritable(folder, error) from None
    finally:
        stage.cleanup()


@contextmanager
def workspace_for(folder: Path) -> Iterator[Path]:
    """Yield a working folder for a release next to its target, so that large files need not be copied."""
    # Scratch folders of an interrupted run are removed at exit. Finalizers run in reverse order, so this one runs last.
    later = None if folder.parent.exists() else weakref.finalize(ScratchFolder, _remove_empty, folder.parent)
    try:
        _make_parents(folder)
        yield folder.parent
    finally:
        if later is not None and _remove_empty(folder.parent):
            later.detach()


def _make_parents(folder: Path) -> None:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from None


def _remove_empty(folder: Path) -> bool:
    """Remove a folder if it is empty; return whether it is gone."""
    with suppress(OSError):
        folder.rmdir()
    return not folder.exists()


def _remove_all(folder: Path) -> None:
    """Remove a folder with its content, including what threads of an interrupted run are still writing."""
    end = time.monotonic() + LINGERING
    shutil.rmtree(folder, ignore_errors=True)
    while folder.exists() and time.monotonic() < end:
        time.sleep(PAUSE)
        shutil.rmtree(folder, ignore_errors=True)


def unwritable(folder: Path, error: OSError) -> EngineError:
    """Return the error for a disk or folder that cannot be written."""
    why = error.strerror or type(error).__name__
    return EngineError("unwritable.cannot_be_written", name=folder.name, problem=why)


def make_private(path: Path) -> None:
    """Restrict access to a file or a folder to its owner."""
    path.chmod(0o700 if path.is_dir() else 0o600)


def write_text(path: Path, text: str) -> None:
    """Write a text and flush it to disk."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, content: bytes) -> None:
    """Write bytes and flush them to disk."""
    with path.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def link(source: Path, target: Path) -> None:
    """Make a file, or a folder of files, available under a second path: by hard links, or by copying if impossible."""
    if source.is_dir():
        shutil.copytree(source, target, copy_function=lambda old, new: link(Path(old), Path(new)))
        return
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


class ScratchFolder:
    """A private temporary folder that lives as long as its owner.

    The folder is also removed after an interruption: its removal is registered before it is made.
    """

    def __init__(self, beside: Path | None = None, prefix: str = ".sfumato-") -> None:
        import secrets
        from tempfile import gettempdir

        self.path = Path(beside or gettempdir()).absolute() / f"{prefix}{secrets.token_hex(8)}"
        self._remove = weakref.finalize(self, _remove_all, self.path)
        try:
            self.path.mkdir(0o700)
        except OSError:
            self._remove.detach()
            raise

    def cleanup(self) -> None:
        """Remove the folder now."""
        _remove_all(self.path)
        self._remove.detach()
