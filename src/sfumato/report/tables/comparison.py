"""The report of a comparison of methods that protect a table: text and page."""

from collections.abc import Sequence
from html import escape

from sfumato.localization.messages import Messages, words_in
from sfumato.report.html_page import listing, page, paragraph, section, table
from sfumato.tables.table_result import TableRun, TableRuns

HEAD = (
    "method",
    "masked",
    "lost",
    "changed",
    "mean",
    "largest",
    "broken",
    "exact",
    "narrow",
    "seconds",
)
# Name of a rounding method: its kind and its base.
ROUNDING = " rounding to "


def head(words: Messages) -> list[str]:
    """Return the headings of the table of methods."""
    return [words[f"ways.{name}"] for name in HEAD]


def way(words: Messages, method: str) -> str:
    """Return a method in words.

    >>> way(words_in(), "controlled rounding to 3"), way(words_in("de"), "fast")
    ('controlled rounding to 3', 'schnelle Sperrung (fast)')
    """
    name, _, base = method.partition(ROUNDING)
    if base:
        kind = words[f"noised.kind.{name}"]
        return words["ways.rounding"].format(kind=kind, base=words.figure(base))
    return words[f"ways.way.{name}"]


def verdict(runs: TableRuns, words: Messages) -> str:
    """Return which methods satisfy the rules, and which of them loses least."""
    safe = [run for run in runs.runs if run.passed]
    if not safe:
        return words["ways.none"]
    masks = min((run for run in safe if run.masked), key=lambda run: run.masked, default=None)
    noise = min((run for run in safe if not run.masked), key=lambda run: run.mean_change, default=None)
    said = [words["ways.kept"].format(count=len(safe), all=len(runs.runs))]
    if masks is not None:
        said.append(words["ways.masks_least"].format(way=way(words, masks.method), cells=words.count(masks.masked)))
    if noise is not None:
        amount = words.figure(f"{noise.mean_change:,.4g}")
        said.append(words["ways.changes_least"].format(way=way(words, noise.method), amount=amount))
    return " ".join(said)


def size(runs: TableRuns, words: Messages) -> str:
    """Return the size of the table, and how much of it is sensitive."""
    return words["ways.size"].format(cells=words.count(runs.cells), unsafe=words.count(runs.unsafe))


def failures(runs: TableRuns, words: Messages) -> list[str]:
    """Return the methods without a result, with the reason."""
    return [f"{way(words, run.method)}: {words.text(run.error)}" for run in runs.runs if run.error]


def text(runs: TableRuns) -> str:
    """Return the comparison in plain text."""
    words = words_in()
    rows = [head(words), *(cells(run, words) for run in runs.runs)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(HEAD))]
    lines = [size(runs, words), verdict(runs, words), "", *("  " + _line(row, widths) for row in rows)]
    lines += [f"  {words['ways.failed']}: {failure}" for failure in failures(runs, words)]
    if runs.redesign:
        lines += ["", f"{words['ways.coarser']}:", *(f"  {one}" for one in runs.redesign)]
    return "\n".join(lines) + "\n"


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    """Return the cells of a row, with right-aligned numbers."""
    name, *figures = row
    return "  ".join([name.ljust(widths[0]), *(f.rjust(width) for f, width in zip(figures, widths[1:], strict=True))])


def cells(run: TableRun, words: Messages) -> tuple[str, ...]:
    """Return the metrics of a method, as shown in its row."""
    seconds = words.figure(f"{run.seconds:.2f}")
    if run.error:
        return (way(words, run.method), *["–"] * (len(HEAD) - 2), seconds)
    return (
        way(words, run.method),
        words.count(run.masked),
        words.figure(f"{100 * run.value_lost:.1f} %"),
        words.count(run.changed),
        words.figure(f"{run.mean_change:,.4g}"),
        words.figure(f"{run.largest_change:,.6g}"),
        words.count(run.broken),
        words.count(run.unsafe_exact),
        words.count(run.unsafe_too_narrow),
        seconds,
    )


def html(runs: TableRuns) -> str:
    """Return the comparison as a page, in the language of its plan."""
    words = words_in(runs.language)
    failed, title = failures(runs, words), words["ways.title"]
    proposals = [words.text(one) for one in runs.redesign]
    return page(
        title,
        [
            f"<h1>{escape(title)}</h1>",
            f'<div class="verdict">{paragraph(verdict(runs, words))}</div>',
            paragraph(size(runs, words)),
            section(
                words["ways.comparison"],
                table(head(words), [cells(run, words) for run in runs.runs], words),
                paragraph(words["ways.says"], soft=True),
            ),
            *([section(words["ways.failed"], listing(failed))] if failed else []),
            *([section(words["ways.coarser"], listing(proposals))] if proposals else []),
        ],
        words.language,
    )
