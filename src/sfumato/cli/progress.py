"""Print progress on stderr, and results on stdout."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

STAGES = {
    "count": "Counting rows",
    "search": "Searching",
    "bound": "Proving what no recoding can lose less than",
    "remedies": "Trying what would keep lost columns",
    "apply": "Writing",
    "perturb": "Changing numbers",
    "verify": "Counting again",
    "check": "Reading columns against each other",
    "measure": "Measuring",
    "comparing": "Comparing methods",
    "trade-off": "Weighing alternatives",
    "attack": "Attacking",
}
PATIENCE_SECONDS = 1.0


class ProgressBar:
    """Progress on a terminal for work longer than a second; silent if requested or without a terminal."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        # Whether the search reports its proved bound as done and its best cost as whole.
        self.proves = False
        self._begin = monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __call__(self, stage: str, done: int, whole: int) -> None:
        """Report the progress of a stage."""
        if self.quiet or not sys.stderr.isatty():
            return
        if self._bar is None and monotonic() - self._begin > PATIENCE_SECONDS:
            self._start()
        if self._bar is not None:
            self._bar.update(self._task, description=self._words(stage, done, whole), completed=done, total=whole)

    def _words(self, stage: str, done: int, whole: int) -> str:
        words = STAGES.get(stage, stage)
        if not (self.proves and stage == "search" and whole):
            return words
        return f"{words}: best {whole:,}, at least {done:,}, gap {1 - done / whole:.1%}"

    def _start(self) -> None:
        from rich import progress as rich
        from rich.console import Console

        texts = (rich.SpinnerColumn(), rich.TextColumn("{task.description}"), rich.BarColumn())
        columns = (*texts, rich.TaskProgressColumn(), rich.TimeElapsedColumn())
        self._bar = rich.Progress(*columns, console=Console(stderr=True), transient=True)
        self._bar.start()
        self._task = self._bar.add_task("")

    def say(self, text: str) -> None:
        """Print a message that is not a result."""
        if not self.quiet:
            sys.stderr.write(f"{text}\n")
            sys.stderr.flush()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


@contextmanager
def progress_shown(quiet: bool) -> Iterator[ProgressBar]:
    """Show progress while a command runs."""
    progress = ProgressBar(quiet)
    try:
        yield progress
    finally:
        progress.close()


def show(text: str, value: Any, as_json: bool) -> None:
    """Print a result as text or as JSON."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n" if as_json else text)
