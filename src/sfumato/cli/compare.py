"""`sfumato compare`: run methods, k and suppression limits on a grid, and write a page that compares them."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from sfumato.atomic_folders import check_free
from sfumato.cli.options import AsJson, Engine, NewFolder, PlanFile, Quiet, check_engine
from sfumato.cli.progress import progress_shown, show
from sfumato.errors import STATUS, PlanError

T = TypeVar("T")


def command(
    plan: PlanFile,
    *,
    out: NewFolder,
    methods: Annotated[str | None, typer.Option(help="Methods, separated by commas.")] = None,
    k: Annotated[
        str | None, typer.Option("--k", help="Values of k, separated by commas; the plan's own unless given.")
    ] = None,
    suppression: Annotated[str | None, typer.Option(help="Shares of rows that may be suppressed, by commas.")] = None,
    data: Annotated[Path | None, typer.Option(help="The data, instead of the plan's source.")] = None,
    engine: Engine = None,
    quiet: Quiet = False,
    json: AsJson = False,
) -> int:
    """Compare methods: loss, risk and time for a grid of methods, k and suppression."""
    check_engine(engine)
    check_free(out)
    ks, shares = _listed(k, int, "--k", "2,5,10"), _listed(suppression, float, "--suppression", "0,0.02")
    with progress_shown(quiet) as progress:
        from sfumato.pipelines.compare import DEFAULT_METHODS, compare
        from sfumato.report.compare import text

        names = tuple(name.strip() for name in methods.split(",")) if methods else DEFAULT_METHODS
        runs = compare(data, plan, methods=names, k=ks, suppression=shares, engine=engine, progress=progress)  # type: ignore[arg-type]
        runs.save(out)
        progress.close()
        show(text(runs), runs.to_dict(), json)
        progress.say(f"Comparison: {out / 'compare.html'}")
    return 0 if runs.answers else STATUS["unattainable"].exit


def _listed(text: str | None, kind: Callable[[str], T], name: str, example: str) -> tuple[T, ...]:
    """Parse numbers separated by commas."""
    if text is None:
        return ()
    try:
        return tuple(kind(part) for part in text.split(","))
    except ValueError:
        raise PlanError("numbers", name=name, example=example) from None
