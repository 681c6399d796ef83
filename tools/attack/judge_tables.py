"""Attack published tables by linear programs with public knowledge: the file, its sums, integer and positive counts."""

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
_ENDS = re.compile(r"^(-?\d+(?:\.\d+)?)\s*(?:-|–|\.\.)\s*(-?\d+(?:\.\d+)?)$")
MOST_INSIDERS, MOST_WHOLE = 8, 60  # attackers of a table, and cells solved in integers


@dataclass
class File:
    table: Table
    shown: dict[Codes, float] = field(default_factory=dict)
    printed: dict[Codes, Ends] = field(default_factory=dict)


def read_table(paths: Sequence[Path], table: Table, value: str) -> File:
    file = File(table)
    for rows in map(rows_of, paths):
        missing = [place for place, own in enumerate(table.dimensions) if own.name not in rows[0]]
        empty = {cell: 0.0 for cell in table.cells() if all(cell[place] == TOTAL for place in missing)}  # left out
        for row in rows:
            cell, text = tuple(row.get(own.name, TOTAL) for own in table.dimensions), row[f"{value}_published"]
            empty.pop(cell, None)
            if re.fullmatch(r"-?\d+(\.\d+)?", text):
                file.shown[cell] = float(text)
            else:
                low, high = float(row[f"{value}_lower"] or 0), float(row[f"{value}_upper"] or np.inf)
                ends = _ENDS.match(text)
                file.printed[cell] = (max(low, float(ends[1])), min(high, float(ends[2]))) if ends else (low, high)
        codes = {code for row in rows for code in row.values()} | {TOTAL}
        file.shown |= {cell: 0.0 for cell in empty if codes.issuperset(cell)}
        file.printed |= {cell: (0.0, 0.0) for cell in empty if not codes.issuperset(cell)}  # empty categories
    file.printed = {cell: ends for cell, ends in file.printed.items() if cell not in file.shown}
    return file


class Attacker:
    def __init__(self, file: File, counts: bool) -> None:
        least = float(counts and 0.0 in file.shown.values())
        self.ends = {cell: (value, value) for cell, value in file.shown.items()}
        self.ends |= {cell: (min(max(low, least), high), high) for cell, (low, high) in file.printed.items()}
        above = [[own.above(code) for code in own.leaves()] for own in file.table.dimensions]
        leaves = [set(product(*codes)) for codes in product(*above)]
        self._sums = np.array([[float(cell in leaf) for leaf in leaves] for cell in self.ends])

    def range(self, target: Codes, known: Mapping[Codes, Ends] | None = None, whole: bool = False) -> Ends:
        """Return the feasibility interval; nan if nothing is consistent with the knowledge."""
        lows, highs = np.array(list((self.ends | dict(known or {})).values())).T
        costs, ends = self._sums[list(self.ends).index(target)], []
        for sign in (1.0, -1.0):
            sums = LinearConstraint(self._sums, lows, highs)
            answer = milp(sign * costs, integrality=np.full(len(costs), whole), constraints=sums)
            unsolved = np.nan if answer.status == 2 else -sign * np.inf
            ends.append(unsolved if answer.fun is None else sign * float(answer.fun))
        return ends[0], ends[1]


def needs(rule: Mapping[str, Any], table: Table, cell: Codes, attacker: str | None = None) -> Ends | None:
    """Return the protection levels of a cell by one rule; None if the cell is safe."""
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
    """Return the widest protection levels of any rule for a cell, within the range of a range rule, which is public."""
    found = [(rule, need) for rule in plan["primary"] if (need := needs(rule, table, cell))]
    limits = [need for rule, need in found if rule["rule"] == "range"]
    return limits[0] if limits else (max(n[0] for _, n in found), max(n[1] for _, n in found)) if found else None


def judge_tables(outcome: Outcome, case: TableCase, file: File, admitted: Sequence[str] = ()) -> None:
    """Attack all sensitive cells; for the admitted ones, one end of the interval is known anyway."""
    counts, value, whole = case.kind != "sums", case.table.value, MOST_WHOLE
    # If zeros are suppressed, too, it is unknown whether a suppressed count is at least one.
    attacker = Attacker(file, counts and all(value(cell) for cell, (_, high) in file.printed.items() if high))
    ends = {cell: (shown, shown) for cell, shown in file.shown.items()} | file.printed
    false = sum(not low - 1e-6 <= value(cell) <= high + 1e-6 for cell, (low, high) in ends.items())
    outcome.add("values and intervals are true", f"{false} are not", false)
    shown = sum(value(cell) > 0 and asked(case.plan, case.table, cell) is not None for cell in file.shown)
    outcome.add("unsafe cells are suppressed", f"{shown} are published", shown)
    _judge_groups(outcome, case, file)
    for cell in file.printed:
        if need := asked(case.plan, case.table, cell):
            found, whole = attacker.range(cell), whole - 1
            if any(all(code in text for code in cell if code != TOTAL) for text in admitted):
                need = (0.0, 0.0)
            _judge_range(outcome, case, cell, need, found, "outsider")
            if counts and whole > 0 and found[1] > found[0] + 1e-6:
                _judge_range(outcome, case, cell, need, attacker.range(cell, whole=True), "whole numbers")
    for cell, need, known in _insiders(case, file, attacker) if case.kind in ("counts", "sums") else ():
        who = "a person" if counts else "a holding"
        _judge_range(outcome, case, cell, need, attacker.range(cell, known), who)


def _judge_range(outcome: Outcome, case: TableCase, cell: Codes, need: Ends, found: Ends, who: str) -> None:
    rules, method = "+".join(rule["rule"] for rule in case.plan["primary"]), case.plan["method"]["name"]
    value, (low, high), slack = case.table.value(cell), found, 1e-6 * max(1.0, case.table.value(cell))
    reason = f"{','.join(cell)} of {value:g} by {rules} ({case.kind}, {method}): [{low:g}, {high:g}]"
    outcome.add(f"no exact cell, {who}", reason, high - low < slack)
    least = max(value - need[0], 1.0)  # a suppressed count is known to be positive
    narrow = high < value + need[1] - slack or low > least + slack
    outcome.add(f"protection levels, {who}", f"{reason}, asked {need}", narrow)


def _judge_groups(outcome: Outcome, case: TableCase, file: File) -> None:
    """Check group disclosure: if all of a total are in one category, others must not all be known as empty."""
    table, along = file.table, next((rule["dimension"] for rule in case.plan["primary"] if "dimension" in rule), None)
    for total, parts, name in table.relations() if along or case.kind in ("records", "linked") else ():
        held = [part for part in parts if table.value(part)]
        if len(held) == 1 < len(parts) and (along == name if along else asked(case.plan, table, total)):
            known = all(part in file.shown for part in parts if part not in held)
            reason = f"all {table.value(total):g} of {','.join(total)} are in {','.join(held[0])}"
            outcome.add("group disclosure" + ("" if along else " by default"), reason, known)


def _insiders(case: TableCase, file: File, attacker: Attacker) -> Iterator[tuple[Codes, Ends, dict[Codes, Ends]]]:
    """Yield the knowledge of insiders, and what other cells then require: single persons, holdings."""
    table, rule, counts = file.table, case.plan["primary"][0], case.kind == "counts"
    inside = {cell: table.inside.get(cell, {}) for cell in file.printed}
    listed = "contributors" in case.plan["table"] and rule["rule"] == "p-percent"
    single = {cell for cell, own in inside.items() if counts and len(own) == 1 and table.is_finest(cell)}
    fit = {owner for cell, own in inside.items() if listed or cell in single for owner in own}
    for owner in sorted(fit)[:MOST_INSIDERS]:
        known = {}
        for cell, parts in inside.items():
            own = parts.get(owner, 0.0) if counts or owner in sorted(parts, key=lambda one: -parts[one])[:TOP] else 0.0
            low, high = attacker.ends[cell]
            known[cell] = max(low, own), own if set(parts) == {owner} else high
        for cell in [cell for cell, parts in inside.items() if set(parts) != {owner}]:
            if counts and asked(case.plan, table, cell):
                yield cell, (0.0, 0.0), known
            elif not counts and (base := needs(rule, table, cell)) and (need := needs(rule, table, cell, owner)):
                below = table.value(cell) - known[cell][0]
                yield cell, (min(base[0], need[0], below), min(base[1], need[1])), known
