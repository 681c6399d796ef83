"""Commands on tables: `protect`, `audit`, `compare-tables`."""

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from sfumato.atomic_folders import check_free
from sfumato.cli.options import AsJson, Quiet, show
from sfumato.errors import PlanError
from sfumato.localization.messages import from_json
from sfumato.tables.suppression.patterns import ProgressCallback

# Minimum seconds between two lines of progress if the output is not a terminal.
PAUSE_SECONDS = 2.0


def protect_command(
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
        written = from_json((out / "report.json").read_text(encoding="utf-8"))
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
    """Run a batch file of τ-ARGUS."""
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
    """Yield a function that returns whether Ctrl-C was pressed, which ends the search with its best result so far.

    A second Ctrl-C ends the program.
    """
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


def audit_command(
    table: Annotated[list[Path], typer.Argument(help="The published tables (CSV); several are attacked together.")],
    plan: Annotated[
        list[Path],
        typer.Option("--plan", help="The table plan with dimensions and rules; one for all, or one for each."),
    ],
    integer: Annotated[bool, typer.Option("--integer", help="The attacker knows that all values are whole.")] = False,
    insiders: Annotated[
        bool, typer.Option("--insiders", help="Single respondents attack with their own contribution known.")
    ] = False,
    harmless: Annotated[
        list[str] | None,
        typer.Option("--harmless", metavar="COLUMN", help="A column that reveals nothing of suppressed cells; repeat."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print only errors.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print every cell's range and verdict.")] = False,
) -> int:
    """Attack a published table as anyone could.

    Exit 1 if a suppressed cell can be computed or a column next to one is unexplained, 4 if not all was audited.
    """
    from sfumato.pipelines.tables.audit import audit
    from sfumato.report.tables.report import review_figures, review_lines

    plans = plan[0] if len(plan) == 1 else plan
    tables = table[0] if len(table) == 1 else table
    review = audit(tables, plans, integer=integer or None, insiders=insiders or None, harmless=harmless or ())
    if as_json or not quiet:
        show("\n".join(review_lines(review)) + "\n", review_figures(review), as_json)
    if review.leaks or review.contradictions or review.unexplained:
        return 1
    return 4 if review.not_audited else 0


def compare_tables_command(
    plan: Annotated[Path, typer.Argument(help="The table plan (YAML or JSON).")],
    out: Annotated[Path | None, typer.Option("--out", help="Folder for the report; it must not exist yet.")] = None,
    methods: Annotated[str | None, typer.Option(help="Methods, separated by commas; all by default.")] = None,
    time_limit: Annotated[float, typer.Option(help="Seconds for each method.")] = 20.0,
    redesign: Annotated[float, typer.Option(help="Seconds for proposals of coarser tables; 0 for none.")] = 20.0,
    quiet: Quiet = False,
    json: AsJson = False,
) -> int:
    """Compare all methods for a table: suppressed cells, lost values, noise, risk, time."""
    from sfumato.pipelines.tables.compare_tables import METHODS, compare_tables
    from sfumato.report.tables.comparison import text

    if out is not None:
        check_free(out)
    names = METHODS if methods is None else tuple(name.strip() for name in methods.split(","))
    tell = None if quiet else _say
    done = compare_tables(plan, methods=names, time_limit=time_limit, redesign_seconds=redesign, progress=tell)
    if out is not None:
        done.save(out)
    show(text(done), done.to_dict(), json)
    if out is not None and not quiet:
        sys.stderr.write(f"Comparison: {out / 'compare.html'}\n")
    return 0


def _say(name: str) -> None:
    sys.stderr.write(f"Trying {name}\n")
