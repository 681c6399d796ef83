"""The report of a comparison of ways to protect a table: text and page."""

from sfumato.report.page.html_parts import listing, page, paragraph, section, table
from sfumato.tables.comparison import TableRun, TableRuns

HEAD = (
    "method",
    "masked",
    "value lost",
    "changed",
    "mean change",
    "largest",
    "broken totals",
    "exact",
    "too narrow",
    "seconds",
)
WORDS = (
    "Masked cells are not published; changed ones are published with another number. Broken totals are not the sum of "
    "their published parts. Exact and too narrow count unsafe cells that an attacker computes, or knows more closely "
    "than the rules allow. For the house: the figures tell about hidden values."
)


def verdict(runs: TableRuns) -> str:
    """Which ways keep what the rules ask for, and which of them loses least."""
    safe = [run for run in runs.runs if run.holds]
    if not safe:
        return "No way keeps what the rules ask for: ask for less, or make the table coarser."
    masks = min((run for run in safe if run.masked), key=lambda run: run.masked, default=None)
    noise = min((run for run in safe if not run.masked), key=lambda run: run.mean_change, default=None)
    said = [] if masks is None else [f"Of those that mask, {masks.method} masks fewest cells ({masks.masked:,})."]
    if noise is not None:
        said.append(
            f"Of those that change numbers, {noise.method} changes least ({noise.mean_change:,.4g} on average)."
        )
    return " ".join([f"{len(safe)} of {len(runs.runs)} ways keep what the rules ask for.", *said])


def text(runs: TableRuns) -> str:
    """The comparison in plain text."""
    rows = [HEAD, *(_texts(run) for run in runs.runs)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(HEAD))]
    lines = [f"{runs.cells:,} cells, {runs.unsafe:,} of them unsafe.", verdict(runs), ""]
    for row in rows:
        first, *rest = (
            cell.ljust(width) if not place else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        lines.append("  " + "  ".join([first, *rest]))
    lines += [f"  {run.method}: no answer: {run.error}" for run in runs.runs if run.error]
    if runs.redesign:
        lines += ["", "A coarser table would cost less:", *(f"  {one}" for one in runs.redesign)]
    return "\n".join(lines) + "\n"


def _texts(run: TableRun) -> tuple[str, ...]:
    if run.error:
        return (run.method, *["–"] * (len(HEAD) - 2), f"{run.seconds:.2f}")
    return (
        run.method,
        f"{run.masked:,}",
        f"{100 * run.value_lost:.1f} %",
        f"{run.changed:,}",
        f"{run.mean_change:,.4g}",
        f"{run.largest_change:,.6g}",
        f"{run.broken:,}",
        f"{run.unsafe_exact:,}",
        f"{run.unsafe_too_narrow:,}",
        f"{run.seconds:.2f}",
    )


def html(runs: TableRuns) -> str:
    """The comparison as a page."""
    failed = [f"{run.method}: {run.error}" for run in runs.runs if run.error]
    return page(
        "Ways to protect a table",
        [
            "<h1>Ways to protect a table</h1>",
            f'<div class="verdict">{paragraph(verdict(runs))}</div>',
            paragraph(f"{runs.cells:,} cells, {runs.unsafe:,} of them unsafe by themselves."),
            section("Comparison", table(HEAD, [_texts(run) for run in runs.runs]), paragraph(WORDS, soft=True)),
            *([section("No answer", listing(failed))] if failed else []),
            *([section("A coarser table would cost less", listing(runs.redesign))] if runs.redesign else []),
        ],
    )
