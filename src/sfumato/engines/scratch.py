"""Scratch folders: private, and gone when their owner is, at the latest when the program ends."""

import shutil
import tempfile
import weakref
from pathlib import Path


class Scratch:
    """A private folder for files that live as long as their owner."""

    def __init__(self, beside: Path | None = None) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=".sfumato-", dir=beside))
        self._remove = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    def cleanup(self) -> None:
        """Remove the folder now."""
        self._remove()
