"""Ways of breaking a published table, each of which an audit must not pass.

Each is given the rows of the file to hand out, their true values, the name of the value column and the place of an
unsafe cell.
"""

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

Row = dict[str, str]
Values = np.ndarray[Any, Any]
Break = Callable[[list[Row], Values, str, int], object]
# Names that say nothing.
NAMES = ("part", "andel", "v2", "info", "x", "kolumn")


def _written(column: str, text: Callable[[float], str]) -> Break:
    """Something printed in the unsafe cell."""

    def broken(rows: list[Row], truth: Values, value: str, place: int) -> None:
        for name in column.split():
            rows[place][f"{value}_{name}"] = text(truth[place])

    return broken


def _leave_one(rows: list[Row], truth: Values, value: str, place: int) -> None:
    for at, row in enumerate(rows):
        if at != place:
            row |= {f"{value}_published": f"{truth[at]:.10g}", f"{value}_lower": "", f"{value}_upper": ""}


def _false(rows: list[Row], truth: Values, value: str, place: int) -> None:
    for at, row in enumerate(rows):  # none adds up to another
        if at != place:
            row[f"{value}_published"] = f"{3 * truth.max() + 7:g}"


def _beside(*functions: Callable[[Any], Any]) -> Break:
    """Columns that are computed from the true values, suppressed ones included."""

    def broken(rows: list[Row], truth: Values, _: str, place: int) -> None:
        for number, function in enumerate(functions):
            for row, own in zip(rows, function(truth), strict=True):
                row[NAMES[(place + number) % len(NAMES)]] = f"{own:.10g}"

    return broken


def _of_total(rows: list[Row], truth: Values, value: str, place: int) -> None:
    """Percentages of the total over the last dimension."""
    column = NAMES[place % len(NAMES)]
    codes = [[own for name, own in row.items() if not name.startswith(f"{value}_")] for row in rows]
    totals = {tuple(key[:-1]): own for key, own in zip(codes, truth, strict=True) if key[-1] == "Total"}
    for row, key, own in zip(rows, codes, truth, strict=True):
        row[column] = f"{100 * own / max(totals[tuple(key[:-1])], 1e-9):.2f}"


def _part(own: Values) -> Sequence[float]:
    return [float(value * (3 + at % 5) // 9) for at, value in enumerate(own)]


BREAKS: dict[str, Break] = {
    "an unsafe count published": _written("published", "{:g}".format),
    "one suppressed cell left": _leave_one,
    "an interval of one value": _written("published", lambda own: f"{own:g}-{own:g}"),
    "ends of one value": _written("lower upper", "{:g}".format),
    "a false value": _false,
    "percent of all": _beside(lambda own: 100 * own / own.max()),
    "percent of a total": _of_total,
    "n + 1": _beside(lambda own: own + 1),
    "n squared": _beside(lambda own: own**2),
    "N - n": _beside(lambda own: own.max() - own),
    "log(n + 1)": _beside(np.log1p),
    "root of n": _beside(np.sqrt),
    "7 n": _beside(lambda own: 7 * own),
    "thousands": _beside(lambda own: own / 1000),
    "-n": _beside(lambda own: -own),
    "1 / n": _beside(lambda own: 1 / np.maximum(own, 0.5)),
    "running sum": _beside(lambda own: list(accumulate(own))),
    "rank": _beside(lambda own: np.argsort(np.argsort(own, kind="stable"), kind="stable") + 1),
    "n itself": _beside(lambda own: own),
    "3 n + 5": _beside(lambda own: 3 * own + 5),
    "exp(n / N)": _beside(lambda own: np.exp(own / own.max())),
    "a part and the rest": _beside(_part, lambda own: own - _part(own)),
}
