"""Draws tables of counts and of sums, with plans to protect them, from a seed.

One to three dimensions, flat or of two levels; counts of cells or of records of persons; sums of contributions of
holdings; the rules frequency, range, status, holdings, group-disclosure, dominance, p-percent and pq; a few pairs of
linked tables.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

Codes = tuple[str, ...]
Inside = dict[Codes, dict[str, float]]
Plan = dict[str, Any]
TOTAL, TOP = "Total", 8
SUM_RULES: tuple[Plan, ...] = (
    {"rule": "p-percent", "p": 10},
    {"rule": "p-percent", "p": 20},
    {"rule": "pq", "p": 10, "q": 50},
    {"rule": "dominance", "n": 1, "k": 75},
    {"rule": "dominance", "n": 2, "k": 85},
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

    def cells(self) -> Iterator[Codes]:
        """All cells, those of nobody included."""
        yield from product(*([*own.parents, TOTAL] for own in self.dimensions))

    def relations(self) -> Iterator[tuple[Codes, list[Codes]]]:
        """Every cell that is a sum, with its parts along one dimension."""
        for place, own in enumerate(self.dimensions):
            parts: dict[Codes, list[Codes]] = {}
            for cell in self.cells():
                if cell[place] != TOTAL:
                    parts.setdefault((*cell[:place], own.parents[cell[place]], *cell[place + 1 :]), []).append(cell)
            yield from parts.items()

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

    def write(self, folder: Path) -> None:
        for name, text in (self.files | {"plan.json": json.dumps(self.plan, indent=1)}).items():
            (folder / name).write_text(text, encoding="utf-8")


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


class Drawing:
    """One case in the making."""

    def __init__(self, seed: int) -> None:
        self.rng, self.files = np.random.default_rng([seed, 43]), dict[str, str]()
        self.kind = str(self.rng.choice(["counts", "sums", "records", "linked"], p=[0.45, 0.35, 0.14, 0.06]))
        width = 3 if self.kind == "linked" else int(self.rng.choice([1, 2, 2, 2, 3]))
        sizes = self.rng.integers(2, (9, 6, 4)[width - 1], width)
        self.dimensions = [self._dimension(name, int(size)) for name, size in zip("ABC", sizes, strict=False)]
        method = {"name": str(self.rng.choice(["optimal", "fast", "ranges"], p=[0.6, 0.25, 0.15])), "time_limit": 5}
        self.plan: Plan = {"version": 1, "table": {}, "dimensions": self.described(self.dimensions), "method": method}

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def _dimension(self, name: str, size: int) -> Dimension:
        leaves = [f"{name}{number}" for number in range(1, size + 1)]
        if size < 4 or self.chance(0.5):
            return Dimension(name, dict.fromkeys(leaves, TOTAL))
        cut, groups = int(self.rng.integers(2, size - 1)), (f"{name}North", f"{name}South")
        return Dimension(
            name, {leaf: groups[at >= cut] for at, leaf in enumerate(leaves)} | dict.fromkeys(groups, TOTAL)
        )

    def described(self, dimensions: list[Dimension]) -> Plan:
        """Dimensions as the plan has them; hierarchies become files."""
        plan: Plan = {own.name: {"column": own.name, "total": TOTAL} for own in dimensions}
        for own in dimensions:
            if deep := [pair for pair in own.parents.items() if pair[1] != TOTAL]:
                self.files[f"{own.name}.csv"] = _lines(deep)
                plan[own.name]["hierarchy"] = f"{own.name}.csv"
        return plan

    def persons(self) -> Inside:
        """Persons in each of the finest cells: few in many, none in some."""
        leaves, number, empty = Inside(), 0, float(self.rng.choice([0.0, 0.2, 0.5]))
        for leaf in product(*(own.leaves for own in self.dimensions)):
            size = 0 if self.chance(empty) else int(self.rng.choice([1, 2, 3, 4, 6, 9, 15, 30]))
            leaves[leaf] = {f"p{number + own}": 1.0 for own in range(size)}
            number += size
        return leaves

    def amounts(self, precision: int) -> Inside:
        """Contributions of holdings in each of the finest cells."""
        leaves, owners = Inside(), int(self.rng.integers(6, 40))
        for leaf in product(*(own.leaves for own in self.dimensions)):
            leaves[leaf] = {}
            for _ in range(int(self.rng.choice([0, 1, 2, 3, 5, 8]))):
                owner, amount = f"h{self.rng.integers(owners)}", round(float(self.rng.lognormal(3, 1.4)), precision)
                leaves[leaf][owner] = leaves[leaf].get(owner, 0.0) + max(amount, 1.0)
        return leaves


def draw_table(seed: int) -> TableCase:
    """One case."""
    draw = Drawing(seed)
    tables = {"counts": _counts, "sums": _sums, "records": _records, "linked": _records}[draw.kind](draw)
    return TableCase(seed, draw.kind, tables, draw.plan, draw.files)


def _counts(draw: Drawing) -> list[Table]:
    """Cells of counts, with any of the rules for counts."""
    table, least = filled(draw.dimensions, draw.persons()), int(draw.rng.integers(3, 7))
    small: Plan = {"rule": "range", "min": 1, "max": least - 1}
    rules = [small if draw.chance(0.3) else {"rule": "frequency", "min": least}]
    draw.plan["table"] = {"source": "cells.csv", "value": "n"} | (
        {"holdings": "households"} if draw.chance(0.4) else {}
    )
    if "holdings" in draw.plan["table"] and draw.chance(0.7):
        rules.append({"rule": "holdings", "min": 3})
    for cell in table.cells():
        few, asked = 0 < table.value(cell) < least, table.value(cell) and draw.chance(0.05)
        table.status[cell] = "u" if few or asked else "s"
    if draw.chance(0.3):
        marked = {"rule": "status", "column": "mark", "unsafe": ["u"], "safe": ["s"]}
        rules = [marked, *rules[draw.chance(0.5) :]]
    if draw.chance(0.2):
        rules.append({"rule": "group-disclosure", "dimension": draw.dimensions[-1].name})
    rows = [[*cell, int(table.value(cell)), table.households(cell), table.status[cell]] for cell in table.cells()]
    draw.files["cells.csv"] = _lines([[*(own.name for own in draw.dimensions), "n", "households", "mark"], *rows])
    draw.plan["primary"] = rules
    return [table]


def _records(draw: Drawing) -> list[Table]:
    """One row a person, counted into a table, or into two that share a dimension."""
    leaves, own, names = draw.persons(), draw.dimensions, [one.name for one in draw.dimensions]
    draw.files["records.csv"] = _lines(
        [[*names, "who"], *([*leaf, who] for leaf, all_ in leaves.items() for who in all_)]
    )
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
    precision = int(draw.rng.integers(0, 3))
    table, tops = filled(draw.dimensions, draw.amounts(precision), precision), [f"top{at}" for at in range(TOP)]
    rules = [SUM_RULES[int(draw.rng.integers(len(SUM_RULES)))]]
    rules += [{"rule": "frequency", "min": 3}] if draw.chance(0.4) else []
    names = [f"{top}_id" for top in tops]
    rows = [[*(own.name for own in draw.dimensions), "v", "count", *tops, *names]]
    for cell in table.cells():
        parts = sorted(((amount, owner) for owner, amount in table.inside.get(cell, {}).items()), reverse=True)[:TOP]
        shown = [f"{amount:.{precision}f}" for amount, _ in parts] + [""] * (TOP - len(parts))
        owners = [owner for _, owner in parts] + [""] * (TOP - len(parts))
        count = len(table.inside.get(cell, {}))
        rows.append([*cell, f"{table.value(cell):.{precision}f}", str(count), *shown, *owners])
    draw.files["cells.csv"] = _lines(rows)
    draw.plan["table"] = {"source": "cells.csv", "value": "v", "frequency": "count", "contributions": tops}
    draw.plan["table"] |= {"contributors": names} if draw.chance(0.6) else {}
    draw.plan["primary"] = rules
    return [table]
