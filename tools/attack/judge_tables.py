"""Attacks published tables by linear programs, with what the published file shows and what everyone knows.

Everyone knows the sums, that nothing is negative, that counts are whole, and that a suppressed count is at least one
where the file shows zeros; who has a part in cells knows his part.
"""

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from draw_tables import TOP, TOTAL, Codes, Table, TableCase
from findings import Outcome
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

Ends = tuple[float, float]
Name = frozenset[str]
_ENDS = re.compile(r"^(-?\d+(?:\.\d+)?)\s*(?:-|–|\.\.)\s*(-?\d+(?:\.\d+)?)$")
# How many insiders attack a table, and how many cells are solved in whole numbers.
MOST_INSIDERS, MOST_WHOLE = 8, 60


def name_of(cell: Codes) -> Name:
    """A cell is what its codes say, totals left out: the same in all tables."""
    return frozenset(code for code in cell if code != TOTAL)


@dataclass
class File:
    """A published table: cells that are shown, and the ends printed for the others."""

    table: Table
    shown: dict[Codes, float] = field(default_factory=dict)
    printed: dict[Codes, Ends] = field(default_factory=dict)


def read_table(path: Path, table: Table, value: str) -> File:
    """What the file to hand out shows; combinations that it leaves out are nobody's."""
    file = File(table)
    with path.open(newline="", encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            cell, text = tuple(row[own.name] for own in table.dimensions), row[f"{value}_published"]
            if re.fullmatch(r"-?\d+(\.\d+)?", text):
                file.shown[cell] = float(text)
                continue
            low, high = float(row[f"{value}_lower"] or 0), float(row[f"{value}_upper"] or np.inf)
            ends = _ENDS.match(text)
            file.printed[cell] = (max(low, float(ends[1])), min(high, float(ends[2]))) if ends else (low, high)
    file.shown |= {cell: 0.0 for cell in table.cells() if cell not in file.shown and cell not in file.printed}
    return file


class Attacker:
    """One who computes the least and the greatest value of suppressed cells of tables that are published together."""

    def __init__(self, files: Sequence[File], counts: bool) -> None:
        least = float(counts and any(0.0 in file.shown.values() for file in files))
        self.ends: dict[Name, Ends] = {}
        for file in files:
            for cell, (low, high) in file.printed.items():
                before = self.ends.get(name_of(cell), (least, np.inf))
                self.ends[name_of(cell)] = max(before[0], low), min(before[1], high)
        self.places = {name: place for place, name in enumerate(self.ends)}
        rows, sides = [], []
        for file in files:
            for total, parts in file.table.relations():
                row, side = np.zeros(len(self.places)), 0.0
                for cell, sign in ((total, -1.0), *((part, 1.0) for part in parts)):
                    if cell in file.shown:
                        side -= sign * file.shown[cell]
                    else:
                        row[self.places[name_of(cell)]] += sign
                if row.any():
                    rows.append(row)
                    sides.append(side)
        self._sums, self._sides = np.array(rows).reshape(len(rows), len(self.places)), np.array(sides)

    def range(self, target: Codes, known: Mapping[Name, Ends] | None = None, whole: bool = False) -> Ends:
        """The least and the greatest value; nan where nothing agrees with what is known."""
        ends = np.array(list((self.ends | dict(known or {})).values()))
        low, high = (self._end(ends, self.places[name_of(target)], sign, whole) for sign in (1.0, -1.0))
        return low, high

    def _end(self, ends: "np.ndarray[Any, Any]", place: int, sign: float, whole: bool) -> float:
        costs = np.zeros(len(ends))
        costs[place] = sign
        sums = [LinearConstraint(self._sums, self._sides, self._sides)] if len(self._sides) else []
        if whole:
            answer = milp(costs, integrality=np.ones(len(ends)), bounds=Bounds(*ends.T), constraints=sums)
        else:
            equal = {"A_eq": self._sums, "b_eq": self._sides} if sums else {}
            answer = linprog(costs, **equal, bounds=ends, method="highs")
        if answer.status == 0:
            return float(sign * answer.fun)
        return float("nan") if answer.status == 2 else -sign * np.inf


def needs(rule: Mapping[str, Any], table: Table, cell: Codes, attacker: str | None = None) -> Ends | None:
    """How far below and above the value a range must reach by one rule; None where the cell is safe."""
    inside, value, name = table.inside.get(cell, {}), table.value(cell), rule["rule"]
    if name == "range":
        small = table.is_finest(cell) and rule["min"] <= value <= rule["max"]
        return (value - rule["min"], rule["max"] - value) if small else None
    if name == "status":
        return (1.0, 1.0) if table.status[cell] == "u" else None
    if name in ("frequency", "holdings"):
        size = len(inside) if name == "frequency" else table.households(cell)
        reach = 1.0 if set(inside.values()) == {1.0} else value / 10
        return (reach, reach) if 0 < size < rule["min"] else None
    sizes = sorted((amount for owner, amount in inside.items() if owner != attacker), reverse=True)
    if not sizes or name == "group-disclosure":
        return None
    if name == "dominance":
        top = sum(sizes[: rule["n"]])
        return (0.0, top * 100 / rule["k"] - value) if top > value * rule["k"] / 100 + 1e-9 else None
    own, q = inside.get(attacker or "", sizes[1] if len(sizes) > 1 else 0.0), rule.get("q", 100)
    need = rule["p"] / 100 * sizes[0] - q / 100 * (value - own - sizes[0])
    return (min(need, value), need * 100 / q) if need > 1e-9 else None


def asked(plan: Mapping[str, Any], table: Table, cell: Codes) -> Ends | None:
    """The widest that any rule asks for a cell; beyond the limits of a range rule, which everyone knows, nothing."""
    found = [(rule, need) for rule in plan["primary"] if (need := needs(rule, table, cell))]
    limits = [need for rule, need in found if rule["rule"] == "range"]
    return limits[0] if limits else (max(n[0] for _, n in found), max(n[1] for _, n in found)) if found else None


def judge_tables(outcome: Outcome, case: TableCase, files: Sequence[File], admitted: Sequence[str] = ()) -> None:
    """Attack all unsafe cells of tables that were published together.

    Args:
        outcome: What is judged goes there.
        case: The tables, and their rules.
        files: What was published of each.
        admitted: Cells of which the report says that everyone knows an end anyway.
    """
    counts, whole = case.kind != "sums", MOST_WHOLE
    attacker = Attacker(files, counts)
    for file in files:
        value = file.table.value
        false = sum(abs(shown - value(cell)) > 1e-9 for cell, shown in file.shown.items())
        false += sum(not low - 1e-6 <= value(cell) <= high + 1e-6 for cell, (low, high) in file.printed.items())
        outcome.add("values and intervals are true", f"{false} are not" if false else None)
        unsafe = {cell: need for cell in file.table.cells() if (need := asked(case.plan, file.table, cell))}
        shown = [cell for cell in unsafe if cell in file.shown and value(cell)]
        outcome.add("unsafe cells are suppressed", f"{len(shown)} are published" if shown else None)
        _judge_groups(outcome, case, file)
        for cell in [cell for cell in file.printed if cell in unsafe]:
            found = attacker.range(cell)
            if not found[0] <= value(cell) + 1e-6 <= found[1] + 2e-6:  # wrong about a suppressed zero
                outcome.judged["guessed wrong"] += 1
                return
            known = any(all(code in text for code in name_of(cell)) for text in admitted)
            need = (0.0, 0.0) if known else unsafe[cell]
            _judge_range(outcome, case, (cell, value(cell)), need, found, "outsider")
            whole -= 1
            if counts and whole > 0 and found[1] > found[0] + 1e-6:
                _judge_range(
                    outcome, case, (cell, value(cell)), need, attacker.range(cell, whole=True), "whole numbers"
                )
    if len(files) == 1 and case.kind != "records":
        (_judge_persons if counts else _judge_holdings)(outcome, case, files[0], attacker)


def _judge_range(
    outcome: Outcome, case: TableCase, cell: tuple[Codes, float], need: Ends, found: Ends, who: str
) -> None:
    (codes, value), (low, high), slack = cell, found, 1e-6 * max(1.0, abs(cell[1]))
    rules = "+".join(rule["rule"] for rule in case.plan["primary"])
    told = (
        f"{','.join(codes)} of {value:g} by {rules} ({case.kind}, {case.plan['method']['name']}): [{low:g}, {high:g}]"
    )
    outcome.add(f"no exact cell, {who}", told if high - low < slack else None)
    least = max(value - need[0], 1.0)  # that somebody is there is known of what is suppressed
    narrow = high < value + need[1] - slack or low > least + slack
    outcome.add(f"protection levels, {who}", f"{told}, asked {need}" if narrow else None)


def _judge_groups(outcome: Outcome, case: TableCase, file: File) -> None:
    """Group disclosure: where all of a total are in one category, the others must not all be known to be empty.

    Where the rule is asked for, of all totals along its dimension; in tables of persons, of unsafe totals.
    """
    table, rules = file.table, {rule["rule"]: rule for rule in case.plan["primary"]}
    along = rules.get("group-disclosure", {}).get("dimension")
    for total, parts in table.relations() if along or case.kind in ("records", "linked") else ():
        place = next(at for at, code in enumerate(total) if parts[0][at] != code)
        held = [part for part in parts if table.value(part)]
        meant = along == table.dimensions[place].name if along else asked(case.plan, table, total)
        if len(held) == 1 < len(parts) and meant:
            known = all(part in file.shown for part in parts if part not in held)
            told = f"all {table.value(total):g} of {','.join(total)} are in {','.join(held[0])}"
            outcome.add("group disclosure" + ("" if along else " by default"), told if known else None)


def _judge_holdings(outcome: Outcome, case: TableCase, file: File, attacker: Attacker) -> None:
    """Holdings that are listed know their part of cells; what is theirs alone is not protected from them."""
    table, rule = file.table, case.plan["primary"][0]
    if "contributors" not in case.plan["table"] or rule["rule"] != "p-percent":
        return
    inside = {cell: table.inside.get(cell, {}) for cell in file.printed}
    for owner in sorted({owner for cell in inside for owner in inside[cell]})[:MOST_INSIDERS]:
        known = {}
        for cell, parts in inside.items():
            listed, (low, high) = sorted(parts, key=lambda one: -parts[one])[:TOP], attacker.ends[name_of(cell)]
            own = parts.get(owner, 0.0) if owner in listed else 0.0
            known[name_of(cell)] = max(low, own), own if set(parts) == {owner} else high
        for cell, parts in inside.items():
            base, need, value = needs(rule, table, cell), needs(rule, table, cell, owner), table.value(cell)
            if base and need and set(parts) != {owner}:
                need = min(base[0], need[0], value - known[name_of(cell)][0]), min(base[1], need[1])
                _judge_range(outcome, case, (cell, value), need, attacker.range(cell, known), "a holding")


def _judge_persons(outcome: Outcome, case: TableCase, file: File, attacker: Attacker) -> None:
    """The one person of a cell of 1 knows it, and every total of 1 above it."""
    table, singles = file.table, [cell for cell in file.printed if file.table.value(cell) == 1]
    for single in [cell for cell in singles if table.is_finest(cell)][:MOST_INSIDERS]:
        his = [cell for cell in singles if table.inside[cell].keys() == table.inside[single].keys()]
        known = {name_of(cell): (1.0, 1.0) for cell in his}
        for cell in file.printed:
            if cell not in his and asked(case.plan, table, cell):
                found = attacker.range(cell, known)
                if found[0] <= table.value(cell) + 1e-6:  # else he was wrong about a suppressed zero
                    _judge_range(outcome, case, (cell, table.value(cell)), (0.0, 0.0), found, "a person")
