"""`sfumato compare`: runs a grid of methods, k and suppression, and writes a page that says which to choose."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from sfumato.cli.talk import show, talking
from sfumato.errors import STATUS, PlanError
from sfumato.folders import check_free

T = TypeVar("T")


def command(
    plan: Annotated[Path, typer.Argument(help="The plan (YAML or JSON).")],
    *,
    out: Annotated[Path, typer.Option(help="Folder for the comparison; it must not exist yet.")],
    methods: Annotated[str | None, typer.Option(help="Methods, separated by commas.")] = None,
    k: Annotated[
        str | None, typer.Option("--k", help="Values of k, separated by commas; the plan's own unless given.")
    ] = None,
    suppression: Annotated[str | None, typer.Option(help="Shares of rows that may be suppressed, by commas.")] = None,
    data: Annotated[Path | None, typer.Option(help="The data, instead of the plan's source.")] = None,
    engine: Annotated[str | None, typer.Option(help="duckdb (default), frames or spark.")] = None,
    quiet: Annotated[bool, typer.Option(help="Say nothing but results and errors.")] = False,
    json: Annotated[bool, typer.Option(help="Print the comparison as JSON.")] = False,
) -> int:
    """Compare methods: loss, risk and time for a grid of methods, k and suppression."""
    if engine not in (None, "duckdb", "frames", "spark"):
        raise PlanError(f'"{engine}" is no engine.', "Use duckdb, frames or spark.", "engine")
    check_free(out)
    ks, shares = _listed(k, int, "--k", "2,5,10"), _listed(suppression, float, "--suppression", "0,0.02")
    with talking(quiet, compiled=True) as talk:
        from sfumato.pipelines.compare import DEFAULT_METHODS, compare
        from sfumato.report.compare import text

        names = tuple(name.strip() for name in methods.split(",")) if methods else DEFAULT_METHODS
        found = compare(data, plan, methods=names, k=ks, suppression=shares, engine=engine, progress=talk)  # type: ignore[arg-type]
        found.save(out)
        talk.close()
        show(text(found), found.to_dict(), json)
        talk.say(f"Comparison: {out / 'compare.html'}")
    return 0 if found.answers else STATUS["unattainable"].exit


def _listed(given: str | None, kind: Callable[[str], T], name: str, example: str) -> tuple[T, ...]:
    """Numbers separated by commas."""
    if given is None:
        return ()
    try:
        return tuple(kind(part) for part in given.split(","))
    except ValueError:
        raise PlanError(f"{name} must be numbers separated by commas.", f"For example {example}.", "numbers") from None
