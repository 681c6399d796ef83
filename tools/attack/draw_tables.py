"""Draws tables of counts and of sums, with plans to protect them, from a seed.

One to three dimensions, flat or of two levels; counts of cells or of records of persons; sums of contributions of
holdings; all rules; a few pairs of linked tables.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from draw_rows import Dice, Plan

Codes = tuple[str, ...]
Inside = dict[Codes, dict[str, float]]
TOTAL, TOP = "Total", 8
SUM_RULES: tuple[Plan, ...] = (
    *({"rule": "p-percent", "p": 10}, {"rule": "p-percent", "p": 20}, {"rule": "pq", "p": 10, "q": 50}),
    *({"rule": "dominance", "n": 1, "k": 75}, {"rule": "dominance", "n": 2, "k": 85}),
)


@dataclass(frozen=True)
class Dimension:
    """Codes, and what each adds up to."""

    name: str
    parents: dict[str, str]

    @property
    def leaves(self) -> list[str]:
        return [code for code in self.parents if code not in self.parents.values()]

    def above(self, code: str) -> list[str]:
        """A code and all that it is part of, up to the total."""
        return [code] if code == TOTAL else [code, *self.above(self.parents[code])]


@dataclass
class Table:
    """True cells, by the amounts that each holding or person has in them."""

    dimensions: list[Dimension]
    inside: Inside
    precision: int = 0
    status: dict[Codes, str] = field(default_factory=dict)

    def value(self, cell: Codes) -> float:
        return round(sum(self.inside.get(cell, {}).values()), self.precision)

    def households(self, cell: Codes) -> int:
        """Persons live two by two."""
        return len({int(owner[1:]) // 2 for owner in self.inside.get(cell, {})})

    def cells(self) -> list[Codes]:
        """All cells, those of nobody included."""
        return list(product(*([*own.parents, TOTAL] for own in self.dimensions)))

    def relations(self) -> Iterator[tuple[Codes, list[Codes], str]]:
        """Every cell that is a sum, with its parts along one dimension, and that."""
        for place, own in enumerate(self.dimensions):
            parts: dict[Codes, list[Codes]] = {}
            for cell in self.cells():
                if cell[place] != TOTAL:
                    parts.setdefault((*cell[:place], own.parents[cell[place]], *cell[place + 1 :]), []).append(cell)
            yield from ((total, own_parts, own.name) for total, own_parts in parts.items())

    def is_finest(self, cell: Codes) -> bool:
        return all(code in own.leaves for code, own in zip(cell, self.dimensions, strict=True))


@dataclass(frozen=True)
class TableCase:
    """Tables, the plan that protects them, and the files that it names."""

    seed: int
    kind: str
    tables: list[Table]
    plan: Plan
    files: dict[str, str]


def _lines(rows: Iterable[Iterable[Any]]) -> str:
    return "".join(",".join(map(str, row)) + "\n" for row in rows)


def filled(dimensions: list[Dimension], leaves: Inside, precision: int = 0) -> Table:
    """All cells of a table, from the finest."""
    inside: Inside = {}
    for leaf, amounts in leaves.items():
        for cell in product(*(own.above(code) for own, code in zip(dimensions, leaf, strict=True))):
            part = inside.setdefault(cell, {})
            for owner, amount in amounts.items():
                part[owner] = part.get(owner, 0.0) + amount
    return Table(dimensions, inside, precision)


class Drawing(Dice):
    """One case in the making."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed, 43)
        self.files = dict[str, str]()
        self.kind = str(self.rng.choice(["counts", "sums", "records", "linked"], p=[0.45, 0.35, 0.14, 0.06]))
        width = 3 if self.kind == "linked" else self.one((1, 2, 2, 2, 3))
        self.dimensions = [
            self.dimension(name, int(self.rng.integers(2, (9, 6, 4)[width - 1]))) for name in "ABC"[:width]
        ]
        method = {"name": self.one(("optimal",) * 4 + ("fast", "fast", "ranges")), "time_limit": 5}
        self.plan: Plan = {"version": 1, "dimensions": self.described(self.dimensions), "method": method}

    def dimension(self, name: str, size: int) -> Dimension:
        """Flat, or of two groups that are in a file."""
        leaves = [f"{name}{number}" for number in range(1, size + 1)]
        if size < 4 or self.chance(0.5):
            return Dimension(name, dict.fromkeys(leaves, TOTAL))
        cut, groups = int(self.rng.integers(2, size - 1)), (f"{name}North", f"{name}South")
        parents = {leaf: groups[at >= cut] for at, leaf in enumerate(leaves)}
        self.files[f"{name}.csv"] = _lines(parents.items())
        return Dimension(name, parents | dict.fromkeys(groups, TOTAL))

    def described(self, dimensions: list[Dimension]) -> Plan:
        """Dimensions as the plan has them."""
        deep = {name: {"hierarchy": f"{name}.csv"} for name in "ABC" if f"{name}.csv" in self.files}
        return {own.name: {"column": own.name, "total": TOTAL} | deep.get(own.name, {}) for own in dimensions}

    def leaves(self, holdings: bool = False, precision: int = 0) -> Inside:
        """Persons, or the contributions of holdings, in each of the finest cells: few in many, none in some."""
        inside, number, empty, owners = Inside(), 0, self.one((0.0, 0.2, 0.5)), int(self.rng.integers(6, 40))
        for leaf in product(*(own.leaves for own in self.dimensions)):
            size = 0 if self.chance(empty) else self.one((1, 2, 3, 5, 8) if holdings else (1, 2, 3, 4, 6, 9, 15, 30))
            inside[leaf] = {f"p{number + own}": 1.0 for own in range(0 if holdings else size)}
            number += size
            for _ in range(size if holdings else 0):
                owner, amount = f"h{self.rng.integers(owners)}", round(float(self.rng.lognormal(3, 1.4)), precision)
                inside[leaf][owner] = inside[leaf].get(owner, 0.0) + max(amount, 1.0)
        return inside


def draw_table(seed: int) -> TableCase:
    """One case."""
    draw = Drawing(seed)
    tables = {"counts": _counts, "sums": _sums, "records": _records, "linked": _records}[draw.kind](draw)
    return TableCase(seed, draw.kind, tables, draw.plan, draw.files)


def _counts(draw: Drawing) -> list[Table]:
    """Cells of counts, with any of the rules for counts."""
    table, least = filled(draw.dimensions, draw.leaves()), int(draw.rng.integers(3, 7))
    rules: list[Plan] = [{"rule": "frequency", "min": least}]
    rules = [{"rule": "range", "min": 1, "max": least - 1}] if draw.chance(0.3) else rules
    draw.plan["table"] = {"source": "cells.csv", "value": "n"}
    if draw.chance(0.4):
        draw.plan["table"]["holdings"] = "households"
        rules += [{"rule": "holdings", "min": 3}] if draw.chance(0.7) else []
    marks = {
        cell: "u" if 0 < table.value(cell) < (1000 if draw.chance(0.05) else least) else "s" for cell in table.cells()
    }
    if draw.chance(0.3):
        rules = [{"rule": "status", "column": "mark", "unsafe": ["u"], "safe": ["s"]}, *rules[draw.chance(0.5) :]]
    rules += [{"rule": "group-disclosure", "dimension": draw.dimensions[-1].name}] if draw.chance(0.2) else []
    rows = [[*cell, int(table.value(cell)), table.households(cell), mark] for cell, mark in marks.items()]
    draw.files["cells.csv"] = _lines([[*(own.name for own in draw.dimensions), "n", "households", "mark"], *rows])
    draw.plan["primary"], table.status = rules, marks
    return [table]


def _records(draw: Drawing) -> list[Table]:
    """One row a person, counted into a table, or into two that share a dimension."""
    leaves, own = draw.leaves(), draw.dimensions
    rows = ([*leaf, who] for leaf, everybody in leaves.items() for who in everybody)
    draw.files["records.csv"] = _lines([[*(one.name for one in own), "who"], *rows])
    draw.plan["table"] = {"microdata": "records.csv", "value": "count", "holding": "who"}
    draw.plan["primary"] = [{"rule": "frequency", "min": int(draw.rng.integers(3, 6))}]
    if draw.kind == "records":
        return [filled(own, leaves)]
    del draw.plan["dimensions"]
    draw.plan["tables"] = [{"name": f"t{at}", "dimensions": draw.described(own[at : at + 2])} for at in (0, 1)]
    halves: tuple[Inside, Inside] = ({}, {})
    for at, (leaf, owners) in product((0, 1), leaves.items()):
        halves[at].setdefault(leaf[at : at + 2], {}).update(owners)
    return [filled(own[at : at + 2], halves[at]) for at in (0, 1)]


def _sums(draw: Drawing) -> list[Table]:
    """Cells of sums, with the contributions of holdings."""
    digits = int(draw.rng.integers(0, 3))
    table, tops = filled(draw.dimensions, draw.leaves(True, digits), digits), [f"top{at}" for at in range(TOP)]
    names, rows = [f"{top}_id" for top in tops], []
    for cell in table.cells():
        inside = sorted(table.inside.get(cell, {}).items(), key=lambda own: -own[1])
        amounts = [*(f"{own:.{digits}f}" for _, own in inside), *[""] * TOP][:TOP]
        owners = [*(owner for owner, _ in inside), *[""] * TOP][:TOP]
        rows.append([*cell, f"{table.value(cell):.{digits}f}", len(inside), *amounts, *owners])
    draw.files["cells.csv"] = _lines([[*(own.name for own in draw.dimensions), "v", "count", *tops, *names], *rows])
    draw.plan["table"] = {"source": "cells.csv", "value": "v", "frequency": "count", "contributions": tops}
    draw.plan["table"] |= {"contributors": names} if draw.chance(0.6) else {}
    draw.plan["primary"] = [draw.one(SUM_RULES), *([{"rule": "frequency", "min": 3}] if draw.chance(0.4) else [])]
    return [table]
