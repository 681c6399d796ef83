"""What commands share: options and their checks, progress, results, and files that are written with a reason if not."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Annotated, Any, get_args

import typer

from sfumato.errors import EngineError, PlanError
from sfumato.localization.messages import to_json

PlanFile = Annotated[Path, typer.Argument(help="The plan (YAML or JSON).")]
NewFolder = Annotated[Path, typer.Option(help="Folder for what is written; it must not exist yet.")]
Engine = Annotated[str | None, typer.Option(help="duckdb (default), frames or spark.")]


def separator_sign(text: str | None) -> str | None:
    """Return the field separator for a typed text: a tab has a name.

    >>> separator_sign("tab"), separator_sign(";")
    ('\\t', ';')
    """
    return "\t" if text in ("tab", r"\t") else text


Separator = Annotated[
    str | None,
    typer.Option(help="Separator of a CSV file, detected by default; for tabs, write tab.", callback=separator_sign),
]
Decimal = Annotated[str | None, typer.Option(help="The decimal mark of a CSV file: a point (default) or a comma.")]
Header = Annotated[
    bool | None,
    typer.Option("--header/--no-header", help="Whether a CSV file has a header; detected by default."),
]
Encoding = Annotated[str | None, typer.Option(help="Encoding of a CSV file, such as latin-1; UTF-8 by default.")]
Table = Annotated[
    str | None, typer.Option(help="The table of a database, or the sheet of a workbook: the first by default.")
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print only results and errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def check_engine(engine: str | None) -> None:
    """Refuse an unknown engine name."""
    from sfumato.engines.opening import EngineName

    if engine is not None and engine not in get_args(EngineName):
        raise PlanError("engine.no_engine", engine=engine)


def names(text: str | None) -> list[str] | None:
    """Split column names separated by commas; a comma within a name is doubled.

    >>> names("zip,last,, first")
    ['zip', 'last, first']
    """
    return None if text is None else [name.replace("\0", ",") for name in text.replace(",,", "\0").split(",")]


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
        raise EngineError("unwritable.cannot_be_written", name=path.name, problem=error.strerror) from None


STAGES = {
    "count": "Counting rows",
    "search": "Searching",
    "bound": "Proving what no recoding can lose less than",
    "remedies": "Trying changes of the plan",
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
    sys.stdout.write(to_json(value) + "\n" if as_json else text)
