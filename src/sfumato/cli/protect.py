"""`sfumato protect`: suppress or perturb cells of a table so that the attackers in its plan cannot compute them."""

import json
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.progress import show
from sfumato.errors import PlanError
from sfumato.tables.suppression.suppression import ProgressCallback

# Seconds between two lines in a pipe.
PAUSE_SECONDS = 2.0


def command(
    plan: Annotated[Path | None, typer.Argument(help="The table plan (YAML or JSON).")] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="The release folder; it must not exist yet. Defaults to the folder of the batch file."
        ),
    ] = None,
    arb: Annotated[
        Path | None, typer.Option("--arb", help="A batch file of τ-ARGUS (.arb), instead of a plan.")
    ] = None,
    encoding: Annotated[
        str | None, typer.Option(help="Of a batch file and its files; UTF-8 or Windows-1252 by default.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print only errors.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print report.json.")] = False,
) -> int:
    """Suppress or perturb cells of a table so that the attackers of its plan cannot compute sensitive cells."""
    from sfumato.atomic_folders import check_free
    from sfumato.pipelines.tables.protect import run_plan
    from sfumato.report.tables.report import summary
    from sfumato.tables.plan.table_plan import read_table_plan

    if arb is not None and plan is not None:
        raise PlanError("usage.batch_file_plan_were")
    if arb is not None:
        return _batch(arb, out, encoding, quiet, as_json)
    if plan is None or out is None:
        raise PlanError("usage.plan_out_needed")
    if encoding is not None:
        raise PlanError("usage.encoding_goes_arb")
    check_free(out)
    made = read_table_plan(plan)
    with progress(quiet) as tell, interruption() as asked:
        protected = run_plan(made, tell, asked)
    protected.save(out)
    if as_json or not quiet:
        written = json.loads((out / "report.json").read_text(encoding="utf-8"))
        show(summary(written) + "\n", written, as_json)
    if not quiet:
        _tell_parts(out)
    if protected.report["warnings"]:
        sys.stderr.write("Warning: " + " ".join(protected.report["warnings"]) + "\n")
    return 0 if protected.report["satisfied"] else 1


def _tell_parts(out: Path) -> None:
    """List the files for publication and the internal ones, which contain true values."""
    from sfumato.pipelines.tables.table_release import parts_of

    handed_out, staying = parts_of(out)
    sys.stderr.write(f"Release: {out}   report: {out / 'report.html'}\n")
    sys.stderr.write(f"For publication: {', '.join(handed_out) or 'nothing'}\n")
    sys.stderr.write(f"Internal: {', '.join(staying)}\n")


def _batch(path: Path, out: Path | None, encoding: str | None, quiet: bool, as_json: bool) -> int:
    """Run a batch file."""
    from sfumato.pipelines.tables.batch.run import run_batch

    done = run_batch(path, out, encoding)
    if as_json or not quiet:
        written = [str(one) for one in done.written]
        text = "\n".join([*done.log, *(f"Written: {one}" for one in written)]) + "\n"
        figures = {"log": list(done.log), "written": written, "warnings": list(done.warnings), "satisfied": done.passed}
        show(text, figures, as_json)
    if done.warnings:
        sys.stderr.write("".join(f"Warning: {warning}\n" for warning in done.warnings))
    return 0 if done.passed else 1


@contextmanager
def progress(quiet: bool) -> Iterator[ProgressCallback | None]:
    """Report the progress of the search: a changing line on a terminal, occasional lines in a pipe."""
    from rich.console import Console

    console = Console(stderr=True)
    if quiet:
        yield None
    elif console.is_terminal:
        with console.status("Searching") as status:
            yield lambda text: status.update(f"Searching: {text}")
    else:
        yield _Lines()


class _Lines:
    """Prints the progress of a search in lines, at most one every few seconds."""

    def __init__(self) -> None:
        self._last, self._text = time.monotonic(), ""

    def __call__(self, text: str) -> None:
        if text != self._text and time.monotonic() - self._last >= PAUSE_SECONDS:
            self._last, self._text = time.monotonic(), text
            sys.stderr.write(f"Searching: {text}\n")
            sys.stderr.flush()


@contextmanager
def interruption() -> Iterator[Callable[[], bool]]:
    """Yield a function that says whether Ctrl-C was pressed for the best result; a second one ends the program."""
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked.is_set
        return

    def ask(_number: int, _frame: object) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()
        sys.stderr.write("Stopping: the best so far is attacked and written; Ctrl-C again writes nothing.\n")

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield asked.is_set
    finally:
        signal.signal(signal.SIGINT, before)
