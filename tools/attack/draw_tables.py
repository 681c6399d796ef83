"""Draw tables of counts, of records of persons and of sums, with plans to protect them, and ways to break them."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from draw_rows import Dice, Plan, Row

Codes = tuple[str, ...]
Inside = dict[Codes, Any]  # the amounts of each holding or person
TOTAL, TOP = "Total", 8
NAMES = ("part", "andel", "v2", "info", "x", "kolumn")
# Ways to break a table: additional columns, from all true values and the total of each row; content of a cell.
BESIDE: dict[str, Callable[[Any, Any], Any]] = {
    "percent of all": lambda n, _: [100 * n / n.max()],
    "percent of a total": lambda n, total: [np.round(100 * n / np.maximum(total, 1e-9), 2)],
    "n + 1": lambda n, _: [n + 1],
    "n squared": lambda n, _: [n**2],
    "N - n": lambda n, _: [n.max() - n],
    "log(n + 1)": lambda n, _: [np.log1p(n)],
    "7 n": lambda n, _: [7 * n],
    "running sum": lambda n, _: [np.cumsum(n)],
    "rank": lambda n, _: [np.argsort(np.argsort(n, kind="stable"), kind="stable") + 1],
    "a part and the rest": lambda n, _: [n * 4 // 9, n - n * 4 // 9],
}
IN_CELL = {
    "an unsafe value published": {"published": "{0:g}"},
    "an interval of one value": {"published": "{0:g}-{0:g}"},
    "ends of one value": {"lower": "{0:g}", "upper": "{0:g}"},
}
IN_OTHERS = ("one suppressed cell left", "a false value")
BREAKS = (*IN_CELL, *IN_OTHERS, *BESIDE)
SUM_RULES: tuple[Plan, ...] = (
    *({"rule": "p-percent", "p": 10}, {"rule": "p-percent", "p": 20}, {"rule": "pq", "p": 10, "q": 50}),
    *({"rule": "dominance", "n": 1, "k": 75}, {"rule": "dominance", "n": 2, "k": 85}),
)


@dataclass(frozen=True)
class Dimension:
    name: str
    parents: dict[str, str]

    def leaves(self) -> list[str]:
        return [code for code in self.parents if code not in self.parents.values()]

    def above(self, code: str) -> list[str]:
        return [code] if code == TOTAL else [code, *self.above(self.parents[code])]


@dataclass
class Table:
    dimensions: list[Dimension]
    inside: Inside
    status: dict[Codes, str] = field(default_factory=dict)

    def value(self, cell: Codes) -> float:
        return round(sum(self.inside.get(cell, {}).values()), 2)

    def households(self, cell: Codes) -> int:
        return len({int(owner[1:]) // 2 for owner in self.inside.get(cell, {})})  # persons live two by two

    def cells(self) -> list[Codes]:
        return list(product(*([*own.parents, TOTAL] for own in self.dimensions)))

    def relations(self) -> Iterator[tuple[Codes, list[Codes], str]]:
        """Yield every cell that is a sum, with its parts along a dimension, and the dimension."""
        for total, (place, own) in product(self.cells(), enumerate(self.dimensions)):
            codes = [code for code, parent in own.parents.items() if parent == total[place]]
            if codes:
                yield total, [(*total[:place], code, *total[place + 1 :]) for code in codes], own.name

    def is_finest(self, cell: Codes) -> bool:
        return all(code in own.leaves() for code, own in zip(cell, self.dimensions, strict=True))


@dataclass(frozen=True)
class TableCase:
    seed: int
    kind: str
    table: Table
    plan: Plan
    files: dict[str, str]


def _lines(rows: Iterable[Iterable[Any]]) -> str:
    return "".join(",".join(map(str, row)) + "\n" for row in rows)


def filled(dimensions: list[Dimension], leaves: Inside) -> Table:
    inside: Inside = defaultdict(Counter)
    for leaf, amounts in leaves.items():
        for cell in product(*(own.above(code) for own, code in zip(dimensions, leaf, strict=True))):
            inside[cell].update(amounts)
    return Table(dimensions, inside)


class Drawing(Dice):
    def __init__(self, seed: int) -> None:
        super().__init__(seed, 43)
        self.files, self.kind = dict[str, str](), self.one(("counts",) * 9 + ("sums",) * 7 + ("records",) * 4)
        width = self.one((1, 2, 2, 3, 3) if self.kind == "records" else (1, 2, 2, 2, 3))
        self.dimensions = [self.dimension(name, range(2, (9, 6, 4)[width - 1])) for name in "ABC"[:width]]
        described: Plan = {own.name: {"column": own.name, "total": TOTAL} for own in self.dimensions}
        for name in [name for name in described if f"{name}.csv" in self.files]:
            described[name]["hierarchy"] = f"{name}.csv"
        method = {"name": self.one(("optimal",) * 4 + ("fast", "fast", "ranges")), "time_limit": 5}
        self.plan: Plan = {"version": 1, "dimensions": described, "method": method}

    def dimension(self, name: str, sizes: Sequence[int]) -> Dimension:
        leaves = [f"{name}{number}" for number in range(1, self.one(sizes) + 1)]
        if len(leaves) < 4 or self.chance(0.5):
            return Dimension(name, dict.fromkeys(leaves, TOTAL))
        cut, groups = int(self.rng.integers(2, len(leaves) - 1)), (f"{name}North", f"{name}South")
        parents = {leaf: groups[at >= cut] for at, leaf in enumerate(leaves)}
        self.files[f"{name}.csv"] = _lines(parents.items())
        return Dimension(name, parents | dict.fromkeys(groups, TOTAL))

    def leaves(self, holdings: bool = False, precision: int = 0) -> Inside:
        """Draw persons, or the contributions of holdings, in each of the finest cells: few in many, none in some."""
        inside, number, empty, owners = Inside(), 0, self.one((0.0, 0.2, 0.5)), int(self.rng.integers(6, 40))
        for leaf in product(*(own.leaves() for own in self.dimensions)):
            size = 0 if self.chance(empty) else self.one((1, 2, 3, 5, 8) if holdings else (1, 2, 3, 4, 6, 9, 15, 30))
            inside[leaf], number = Counter(), number + size
            for at in range(size):
                amount = max(round(float(self.rng.lognormal(3, 1.4)), precision), 1.0) if holdings else 1.0
                inside[leaf].update({f"h{self.rng.integers(owners)}" if holdings else f"p{number - at}": amount})
        return inside

    def counts(self) -> Table:
        table, least = filled(self.dimensions, self.leaves()), int(self.rng.integers(3, 7))
        small: Plan = {"rule": "range", "min": 1, "max": least - 1}
        rules = [small if self.chance(0.3) else {"rule": "frequency", "min": least}]
        self.plan["table"] = {"source": "cells.csv", "value": "n"}
        if self.chance(0.4):
            self.plan["table"]["holdings"] = "households"
            rules += [{"rule": "holdings", "min": 3}] if self.chance(0.7) else []
        unsafe = {cell for cell in table.cells() if 0 < table.value(cell) < (1000 if self.chance(0.05) else least)}
        marks = {cell: "u" if cell in unsafe else "s" for cell in table.cells()}
        if self.chance(0.3):
            status = {"rule": "status", "column": "mark", "sensitive": ["u"], "safe": ["s"]}
            rules = [status, *rules[self.chance(0.5) :]]
        rules += [{"rule": "group-disclosure", "dimension": self.dimensions[-1].name}] if self.chance(0.2) else []
        rows = [[*cell, int(table.value(cell)), table.households(cell), mark] for cell, mark in marks.items()]
        self.files["cells.csv"] = _lines([[*(own.name for own in self.dimensions), "n", "households", "mark"], *rows])
        self.plan["primary"], table.status = rules, marks
        return table

    def records(self) -> Table:
        leaves, names = self.leaves(), [own.name for own in self.dimensions]
        rows = ([*leaf, who] for leaf, everybody in leaves.items() for who in everybody)
        self.files["records.csv"] = _lines([[*names, "who"], *rows])
        self.plan["table"] = {"microdata": "records.csv", "value": "count", "holding": "who"}
        self.plan["primary"] = [{"rule": "frequency", "min": int(self.rng.integers(3, 6))}]
        if len(names) == 3 and self.chance(0.8):
            own, self.kind = self.plan.pop("dimensions"), "linked"
            faces = ({name: own[name] for name in names[at : at + 2]} for at in (0, 1))
            self.plan["tables"] = [{"name": f"t{at}", "dimensions": face} for at, face in enumerate(faces)]
        return filled(self.dimensions, leaves)

    def sums(self) -> Table:
        digits = int(self.rng.integers(0, 3))
        table, tops = filled(self.dimensions, self.leaves(True, digits)), [f"top{at}" for at in range(TOP)]
        names, rows = [f"{top}_id" for top in tops], []
        for cell in table.cells():
            parts = [(f"{own:.{digits}f}", owner) for owner, own in table.inside.get(cell, Counter()).most_common()]
            amounts, owners = zip(*[*parts, *[("", "")] * TOP][:TOP], strict=True)
            rows.append([*cell, f"{table.value(cell):.{digits}f}", len(parts), *amounts, *owners])
        self.files["cells.csv"] = _lines([[*(own.name for own in self.dimensions), "v", "count", *tops, *names], *rows])
        self.plan["table"] = {"source": "cells.csv", "value": "v", "frequency": "count", "contributions": tops}
        self.plan["table"] |= {"contributors": names} if self.chance(0.6) else {}
        self.plan["primary"] = [self.one(SUM_RULES), *([{"rule": "frequency", "min": 3}] if self.chance(0.4) else [])]
        return table


def draw_table(seed: int) -> TableCase:
    draw = Drawing(seed)
    table = getattr(draw, draw.kind)()
    return TableCase(seed, draw.kind, table, draw.plan, draw.files)


def break_table(how: str, rows: Sequence[Row], true: Sequence[float], value: str, place: int) -> bool:
    """Break the rows of a file for publication with these true values, by its sensitive cell at an index."""
    truth = np.array(true)
    keys = [[own for name, own in row.items() if not name.startswith(f"{value}_")] for row in rows]
    totals = {tuple(key[:-1]): own for key, own in zip(keys, truth, strict=True) if key[-1] == "Total"}
    if how in IN_CELL:
        rows[place].update({f"{value}_{name}": text.format(truth[place]) for name, text in IN_CELL[how].items()})
    elif how in IN_OTHERS:
        for at, own in enumerate(truth if how == IN_OTHERS[0] else np.full(len(truth), 3 * truth.max() + 7)):
            if at != place:
                rows[at].update({f"{value}_published": f"{own:.10g}", f"{value}_lower": "", f"{value}_upper": ""})
    else:
        columns = BESIDE[how](truth, np.array([totals[tuple(key[:-1])] for key in keys]))
        for name, column in zip(NAMES[place % 5 :], columns, strict=False):
            for row, own in zip(rows, column, strict=True):
                row[name] = f"{own:.10g}"
    ends = {name: rows[place][name] for name in (f"{value}_lower", f"{value}_upper")}
    if how == "an unsafe value published" and place % 2:  # otherwise its interval marks it as suppressed
        rows[place].update(dict.fromkeys(ends, ""))
        return value != "v" and truth[place] in (1, 2)
    return how != "an unsafe value published" or not {"", f"{truth[place]:g}"}.issuperset(ends.values())
