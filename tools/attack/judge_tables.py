"""Attacks published tables by linear programs, with what the published file shows and what everyone knows.

Everyone knows the sums, that nothing is negative, that counts are whole, and that a suppressed count is at least one
where the file shows zeros; who has a part in cells knows his part.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from draw_rows import rows_of
from draw_tables import TOP, TOTAL, Codes, Table, TableCase
from findings import Outcome
from scipy.optimize import LinearConstraint, milp

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
    file = File(table, dict.fromkeys(table.cells(), 0.0))
    for row in rows_of(path):
        cell, text = tuple(row[own.name] for own in table.dimensions), row[f"{value}_published"]
        if re.fullmatch(r"-?\d+(\.\d+)?", text):
            file.shown[cell] = float(text)
        else:
            low, high = float(row[f"{value}_lower"] or 0), float(row[f"{value}_upper"] or np.inf)
            ends = _ENDS.match(text)
            file.printed[cell] = (max(low, float(ends[1])), min(high, float(ends[2]))) if ends else (low, high)
            del file.shown[cell]
    return file


class Attacker:
    """One who computes the least and the greatest value of cells of tables that are published together."""

    def __init__(self, files: Sequence[File], counts: bool) -> None:
        least, self.ends = float(counts and any(0.0 in file.shown.values() for file in files)), dict[Name, Ends]()
        for file in files:
            shown = {cell: (value, value) for cell, value in file.shown.items()}
            for cell, (low, high) in (shown | file.printed).items():
                before = self.ends.get(name_of(cell), (least if cell in file.printed else 0.0, np.inf))
                self.ends[name_of(cell)] = max(before[0], low), min(before[1], high)
        dimensions = {own.name: own for file in files for own in file.table.dimensions}.values()
        above = [{code: set(own.above(code)) for code in own.leaves} for own in dimensions]
        leaves = [set().union(*sets) for sets in product(*(own.values() for own in above))]
        self.places = {name: place for place, name in enumerate(self.ends)}
        self._sums = np.array([[float(name <= leaf) for leaf in leaves] for name in self.ends])

    def range(self, target: Codes, known: Mapping[Name, Ends] | None = None, whole: bool = False) -> Ends:
        """The least and the greatest value; nan where nothing agrees with what is known."""
        lows, highs = np.array(list((self.ends | dict(known or {})).values())).T
        costs, ends = self._sums[self.places[name_of(target)]], []
        for sign in (1.0, -1.0):
            sums = LinearConstraint(self._sums, lows, highs)
            answer = milp(sign * costs, integrality=np.full(len(costs), whole), constraints=sums)
            unsolved = np.nan if answer.status == 2 else -sign * np.inf
            ends.append(unsolved if answer.fun is None else sign * float(answer.fun))
        return ends[0], ends[1]


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
    """Attack all unsafe cells of tables published together; of those admitted, everyone knows an end anyway."""
    counts, whole = case.kind != "sums", MOST_WHOLE
    attacker = Attacker(files, counts)
    for file in files:
        value, unsafe = file.table.value, {cell: asked(case.plan, file.table, cell) for cell in file.table.cells()}
        ends = {cell: (shown, shown) for cell, shown in file.shown.items()} | file.printed
        false = sum(not low - 1e-6 <= value(cell) <= high + 1e-6 for cell, (low, high) in ends.items())
        outcome.add("values and intervals are true", f"{false} are not", false)
        shown = sum(unsafe[cell] is not None and value(cell) > 0 for cell in file.shown)
        outcome.add("unsafe cells are suppressed", f"{shown} are published", shown)
        _judge_groups(outcome, case, file)
        for cell in file.printed:
            known = any(all(code in text for code in name_of(cell)) for text in admitted)
            if need := unsafe[cell] and ((0.0, 0.0) if known else unsafe[cell]):
                found, whole = attacker.range(cell), whole - 1
                if not found[0] <= value(cell) + 1e-6 <= found[1] + 2e-6:
                    outcome.judged["nothing, since everybody is wrong about a suppressed zero"] += 1
                    return
                _judge_range(outcome, case, cell, value(cell), need, found, "outsider")
                if counts and whole > 0 and found[1] > found[0] + 1e-6:
                    found = attacker.range(cell, whole=True)
                    _judge_range(outcome, case, cell, value(cell), need, found, "whole numbers")
    for cell, need, known_to in _insiders(case, files[0], attacker) if len(files) == 1 else ():
        found, value_ = attacker.range(cell, known_to), files[0].table.value(cell)
        if found[0] <= value_ + 1e-6:  # else he was wrong about a suppressed zero
            _judge_range(outcome, case, cell, value_, need, found, "a person" if counts else "a holding")


def _judge_range(
    outcome: Outcome, case: TableCase, cell: Codes, value: float, need: Ends, found: Ends, who: str
) -> None:
    rules, method = "+".join(rule["rule"] for rule in case.plan["primary"]), case.plan["method"]["name"]
    (low, high), slack = found, 1e-6 * max(1.0, abs(value))
    reason = f"{','.join(cell)} of {value:g} by {rules} ({case.kind}, {method}): [{low:g}, {high:g}]"
    outcome.add(f"no exact cell, {who}", reason, high - low < slack)
    least = max(value - need[0], 1.0)  # that somebody is there is known of what is suppressed
    narrow = high < value + need[1] - slack or low > least + slack
    outcome.add(f"protection levels, {who}", f"{reason}, asked {need}", narrow)


def _judge_groups(outcome: Outcome, case: TableCase, file: File) -> None:
    """Group disclosure: where all of a total are in one category, the others must not all be known to be empty.

    Where the rule is asked for, of all totals along its dimension; in tables of persons, of unsafe totals.
    """
    table, rules = file.table, {rule["rule"]: rule for rule in case.plan["primary"]}
    along = rules.get("group-disclosure", {}).get("dimension")
    for total, parts, name in table.relations() if along or case.kind in ("records", "linked") else ():
        held = [part for part in parts if table.value(part)]
        if len(held) == 1 < len(parts) and (along == name if along else asked(case.plan, table, total)):
            known = all(part in file.shown for part in parts if part not in held)
            reason = f"all {table.value(total):g} of {','.join(total)} are in {','.join(held[0])}"
            outcome.add("group disclosure" + ("" if along else " by default"), reason, known)


def _insiders(case: TableCase, file: File, attacker: Attacker) -> Iterator[tuple[Codes, Ends, dict[Name, Ends]]]:
    """What those know who have a part in cells, and what is asked of other cells then: single persons, holdings."""
    table, rule, counts = file.table, case.plan["primary"][0], case.kind == "counts"
    inside = {cell: table.inside.get(cell, {}) for cell in file.printed}
    if counts:
        fit = {owner for cell, own in inside.items() if len(own) == 1 and table.is_finest(cell) for owner in own}
    else:
        listed = "contributors" in case.plan["table"] and rule["rule"] == "p-percent"
        fit = {owner for own in inside.values() for owner in own if listed}
    for owner in sorted(fit)[:MOST_INSIDERS]:
        known = {}
        for cell, parts in inside.items():
            own = parts.get(owner, 0.0) if counts or owner in sorted(parts, key=lambda one: -parts[one])[:TOP] else 0.0
            low, high = attacker.ends[name_of(cell)]
            known[name_of(cell)] = max(low, own), own if set(parts) == {owner} else high
        for cell in [cell for cell, parts in inside.items() if set(parts) != {owner}]:
            if counts and asked(case.plan, table, cell):
                yield cell, (0.0, 0.0), known
            elif not counts and (base := needs(rule, table, cell)) and (need := needs(rule, table, cell, owner)):
                below = table.value(cell) - known[name_of(cell)][0]
                yield cell, (min(base[0], need[0], below), min(base[1], need[1])), known
