"""Ways of breaking a published table, each of which an audit must not pass."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from draw_rows import Row

# Names that say nothing.
NAMES = ("part", "andel", "v2", "info", "x", "kolumn")
# Columns beside, computed from the true values, suppressed ones included, and from the total of each row.
BESIDE: dict[str, Callable[[Any, Any], Any]] = {
    "percent of all": lambda n, _: [100 * n / n.max()],
    "percent of a total": lambda n, total: [np.round(100 * n / np.maximum(total, 1e-9), 2)],
    "n + 1": lambda n, _: [n + 1],
    "n squared": lambda n, _: [n**2],
    "N - n": lambda n, _: [n.max() - n],
    "log(n + 1)": lambda n, _: [np.log1p(n)],
    "root of n": lambda n, _: [np.sqrt(n)],
    "7 n": lambda n, _: [7 * n],
    "thousands": lambda n, _: [n / 1000],
    "-n": lambda n, _: [-n],
    "1 / n": lambda n, _: [1 / np.maximum(n, 0.5)],
    "running sum": lambda n, _: [np.cumsum(n)],
    "rank": lambda n, _: [np.argsort(np.argsort(n, kind="stable"), kind="stable") + 1],
    "n itself": lambda n, _: [n],
    "3 n + 5": lambda n, _: [3 * n + 5],
    "exp(n / N)": lambda n, _: [np.exp(n / n.max())],
    "a part and the rest": lambda n, _: [n * 4 // 9, n - n * 4 // 9],
}
# What is printed in the unsafe cell, or in all others.
IN_CELL = {
    "an unsafe count published": {"published": "{0:g}"},
    "an interval of one value": {"published": "{0:g}-{0:g}"},
    "ends of one value": {"lower": "{0:g}", "upper": "{0:g}"},
}
IN_OTHERS: dict[str, Callable[[Any], Any]] = {
    "one suppressed cell left": lambda n: n,
    "a false value": lambda n: np.full(len(n), 3 * n.max() + 7),  # none adds up to another
}
BREAKS = (*IN_CELL, *IN_OTHERS, *BESIDE)


def break_table(how: str, rows: Sequence[Row], truth: Any, value: str, place: int) -> bool:
    """Break the rows of a file to hand out, of these true values, by its unsafe cell at a place."""
    keys = [[own for name, own in row.items() if not name.startswith(f"{value}_")] for row in rows]
    totals = {tuple(key[:-1]): own for key, own in zip(keys, truth, strict=True) if key[-1] == "Total"}
    if how in IN_CELL:
        rows[place].update({f"{value}_{name}": text.format(truth[place]) for name, text in IN_CELL[how].items()})
    elif how in IN_OTHERS:
        for at, own in enumerate(IN_OTHERS[how](truth)):
            if at != place:
                rows[at].update({f"{value}_published": f"{own:.10g}", f"{value}_lower": "", f"{value}_upper": ""})
    else:
        columns = BESIDE[how](truth, np.array([totals[tuple(key[:-1])] for key in keys]))
        for name, column in zip(NAMES[place % 5 :], columns, strict=False):
            for row, own in zip(rows, column, strict=True):
                row[name] = f"{own:.10g}"
    return how != "an unsafe count published" or truth[place] in (1, 2)
