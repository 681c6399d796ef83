"""Write files and folders for commands, with the reason if one cannot be written."""

from pathlib import Path

from sfumato.errors import EngineError


def make_folder(folder: Path) -> None:
    """Make a folder and those it lies in, where they are not there yet."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        what = f"the folder {folder.name} cannot be made: {error.strerror}."
        raise EngineError(what, "Choose another one.", "unwritable") from None


def write_text(path: Path, text: str, *, private: bool = False) -> None:
    """Write a text to a file, which the owner alone may read where it is private."""
    write_bytes(path, text.encode(), private=private)


def write_bytes(path: Path, content: bytes, *, private: bool = False) -> None:
    """Write a file, which the owner alone may read where it is private."""
    try:
        if private:
            path.touch(mode=0o600)
        path.write_bytes(content)
    except OSError as error:
        what = f"{path.name} cannot be written: {error.strerror}."
        raise EngineError(what, "Check the folder and its rights.", "unwritable") from None
