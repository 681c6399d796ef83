"""Write files and folders for commands, with the reason if one cannot be written."""

from pathlib import Path

from sfumato.errors import EngineError


def make_folder(folder: Path) -> None:
    """Create a folder and its parents if they do not exist."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EngineError("unwritable.folder_cannot_made", name=folder.name, strerror=error.strerror) from None


def write_text(path: Path, text: str, *, private: bool = False) -> None:
    """Write a text file, readable only by its owner if it is private."""
    write_bytes(path, text.encode(), private=private)


def write_bytes(path: Path, content: bytes, *, private: bool = False) -> None:
    """Write a file, readable only by its owner if it is private."""
    try:
        if private:
            path.touch(mode=0o600)
        path.write_bytes(content)
    except OSError as error:
        raise EngineError("unwritable.cannot_be_written_2", name=path.name, problem=error.strerror) from None
