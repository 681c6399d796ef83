"""Attacks random tables with linear programs written apart: outsiders, single persons, respondents and holdings.

`python bench/prove_tables.py [COUNT]` protects so many random hierarchies of counts and as many tables of two to four
dimensions of sums, by default settings, and lets everyone try who has a part in them. Nothing here is shared with the
audit: knowledge comes from the records, ranges from another solver's interface.

With `--state FILE` every table's outcome is written down as it comes, and a later run goes on after the last; with
`--seconds N` a run ends after about so many seconds.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linprog

import sfumato as sf
from sfumato.errors import UnattainableError

Codes = tuple[str, ...]
Relations = Sequence[tuple[Codes, Sequence[Codes]]]
Ends = tuple[float, float]
TOTAL = "Total"
PERCENT = 10.0
Outcome = dict[str, int]


class Reader:
    """One who reads a published table and knows some cells between bounds.

    Every point of his programs is another table that agrees with what is published; one that agrees with what somebody
    else knows serves there too, and spares a program.
    """

    def __init__(self, relations: Relations, values: Mapping[Codes, float], masked: Sequence[Codes]) -> None:
        self._masked = masked
        self._place = {cell: column for column, cell in enumerate(masked)}
        rows, sides = [], []
        for total_, cells in relations:
            row, side = np.zeros(len(masked)), 0.0
            for cell, coef in ((total_, -1.0), *((cell, 1.0) for cell in cells)):
                if cell in self._place:
                    row[self._place[cell]] += coef
                else:
                    side -= coef * values[cell]
            if row.any():
                rows.append(row)
                sides.append(side)
        self._rows, self._sides = np.array(rows).reshape(len(rows), len(masked)), np.array(sides)
        self._points = np.array([[values[cell] for cell in masked]])

    def range(self, known: Mapping[Codes, Ends], target: Codes, enough: Ends) -> Ends:
        """The least and the greatest value of a masked cell, or values as far apart as is enough."""
        bounds = np.array([known.get(cell, (0.0, np.inf)) for cell in self._masked])
        slack = 1e-9 * np.maximum(1.0, np.abs(self._points))
        inside = ((self._points >= bounds[:, 0] - slack) & (self._points <= bounds[:, 1] + slack)).all(axis=1)
        shown = self._points[inside, self._place[target]]
        low = shown.min() if (shown <= enough[0]).any() else self._end(bounds, target, 1.0)
        high = shown.max() if (shown >= enough[1]).any() else self._end(bounds, target, -1.0)
        return float(low), float(high)

    def _end(self, bounds: Any, target: Codes, sign: float) -> float:
        costs = np.zeros(len(self._masked))
        costs[self._place[target]] = sign
        sides = {"A_eq": self._rows, "b_eq": self._sides} if len(self._sides) else {}
        answer = linprog(costs, **sides, bounds=bounds, method="highs")
        if answer.status != 0:
            return -sign * np.inf
        if np.abs(self._rows @ answer.x - self._sides).max(initial=0.0) <= 1e-7 * max(1.0, np.abs(answer.x).max()):
            self._points = np.vstack([self._points, answer.x])
        return float(sign * answer.fun)


def cube(rng: np.random.Generator, width: int) -> tuple[list[Codes], np.ndarray[Any, Any], list[str]]:
    """Records of a survey: codes, amounts, holdings."""
    size = int(rng.integers(15, 40))
    codes = [tuple(str(rng.integers(0, 2 + (width < 4) + (width < 3))) for _ in range(width)) for _ in range(size)]
    amounts = np.round(rng.lognormal(3, 1.4, size), int(rng.integers(0, 3))).clip(1)
    return codes, amounts, [f"h{rng.integers(0, max(4, size // 2))}" for _ in range(size)]


def cells_of(codes: Codes) -> Iterator[Codes]:
    """All cells that a record is in."""
    yield from product(*((code, TOTAL) for code in codes))


def sums(cells: Sequence[Codes]) -> list[tuple[Codes, list[Codes]]]:
    """Every total with its parts, one dimension at a time."""
    found: dict[tuple[Codes, int], list[Codes]] = {}
    for cell in cells:
        for place, code in enumerate(cell):
            if code != TOTAL:
                total = (*cell[:place], TOTAL, *cell[place + 1 :])
                found.setdefault((total, place), []).append(cell)
    return [(total, parts) for (total, _), parts in found.items()]


def attack_cube(seed: int, method: str) -> Outcome:
    """Protect one table of sums, and let the outsider and every holding try."""
    import pandas

    rng = np.random.default_rng(seed)
    codes, amounts, owners = cube(rng, 2 + seed % 3)
    names = [f"d{place}" for place in range(len(codes[0]))]
    frame = pandas.DataFrame(codes, columns=names).assign(v=amounts, h=owners)
    top = 10
    table = sf.tabulate(frame, names, value="v", holding="h", top=top)
    try:
        done = sf.protect(
            table,
            value="v",
            frequency="count",
            holdings="holdings",
            contributions=[f"top{place + 1}" for place in range(top)],
            contributors=[f"top{place + 1}_id" for place in range(top)],
            dimensions={name: {"column": name} for name in names},
            primary=[{"rule": "p-percent", "p": PERCENT}],
            method={"name": method, "time_limit": 20},
        )
    except UnattainableError:
        return {"refused": 1}
    shown = done.data
    cells = list(zip(*(shown[name] for name in names), strict=True))
    values = dict(zip(cells, shown["v"].tolist(), strict=True))
    masked = [cell for cell, text in zip(cells, shown["v_published"], strict=True) if text == "*"]
    inside: dict[Codes, dict[str, float]] = {}
    for record, amount, owner in zip(codes, amounts.tolist(), owners, strict=True):
        for cell in cells_of(record):
            part = inside.setdefault(cell, {})
            part[owner] = part.get(owner, 0.0) + amount
    return judge(sums(cells), values, masked, inside)


def needs(contributions: Mapping[str, float], attacker: str | None) -> float:
    """How far the range of a cell must reach, by p percent, for one who attacks."""
    sizes = sorted((amount for owner, amount in contributions.items() if owner != attacker), reverse=True)
    if not sizes:
        return 0.0
    own = contributions.get(attacker, 0.0) if attacker else (sizes[1] if len(sizes) > 1 else 0.0)
    if attacker and attacker not in contributions:
        own = sizes[1] if len(sizes) > 1 else 0.0
    return max(PERCENT / 100 * sizes[0] - (sum(contributions.values()) - own - sizes[0]), 0.0)


def judge(
    relations: Relations,
    values: Mapping[Codes, float],
    masked: Sequence[Codes],
    inside: Mapping[Codes, Mapping[str, float]],
) -> Outcome:
    """What the outsider and every holding find."""
    outcome, reader = {"attacks": 0, "exact": 0, "too narrow": 0}, Reader(relations, values, masked)
    everyone = [None, *sorted({owner for cell in masked for owner in inside[cell]})]
    unsafe = {cell: need for cell in masked if (need := needs(inside[cell], None)) > 1e-9}
    for attacker in everyone:
        known = {}
        for cell in masked if attacker else ():
            own = inside[cell].get(attacker, 0.0)
            known[cell] = (values[cell], values[cell]) if set(inside[cell]) == {attacker} else (own, np.inf)
        for cell, base in unsafe.items():
            need = min(base, needs(inside[cell], attacker)) if attacker else base
            if need <= 1e-9 or set(inside[cell]) == {attacker}:
                continue
            room, slack = values[cell] - known.get(cell, (0.0, 0.0))[0], 1e-6 * max(1.0, values[cell])
            enough = values[cell] - min(need, room) + slack, values[cell] + need - slack
            low, high = reader.range(known, cell, enough)
            outcome["attacks"] += 1
            outcome["exact"] += high - low < slack
            outcome["too narrow"] += high < enough[1] or low > enough[0]
    return outcome


def hierarchy(seed: int) -> tuple[list[Codes], list[int]]:
    """A hierarchy of two or three levels with small counts."""
    rng = np.random.default_rng(seed)
    depth, largest = 2 + seed % 2, int(rng.integers(3, 9))
    leaves: list[Codes] = []

    def grow(above: Codes) -> None:
        for place in range(1, int(rng.integers(1, 5)) + 1):
            here = (*above, str(place))
            leaves.append(here) if len(here) == depth else grow(here)

    grow(())
    return leaves, [int(rng.integers(0, largest + 1 if rng.random() < 0.7 else 60)) for _ in leaves]


def attack_hierarchy(seed: int, method: str) -> Outcome:
    """Protect one hierarchy of counts, and let the outsider and the one person of every cell of 1 try."""
    import pandas

    leaves, counts = hierarchy(seed)
    depth = len(leaves[0])
    values: dict[Codes, float] = {}
    for leaf, count in zip(leaves, counts, strict=True):
        for height in range(depth + 1):
            cell = (*leaf[:height], *["0"] * (depth - height))
            values[cell] = values.get(cell, 0.0) + count
    levels = [f"L{place}" for place in range(depth)]
    frame = pandas.DataFrame(list(values), columns=levels).assign(n=[int(value) for value in values.values()])
    try:
        done = sf.protect(
            frame,
            value="n",
            dimensions={"area": {"levels": levels, "total": 0}},
            primary=[{"rule": "range", "min": 1, "max": 3}],
            method={"name": method, "time_limit": 20},
        )
    except UnattainableError:
        return {"refused": 1}
    masked = [cell for cell, text in zip(values, done.data["n_published"], strict=True) if text == "*"]
    relations: dict[Codes, list[Codes]] = {}
    for cell in values:
        height = sum(code != "0" for code in cell)
        if height:
            relations.setdefault((*cell[: height - 1], *["0"] * (depth - height + 1)), []).append(cell)
    return _persons(list(relations.items()), values, masked, set(leaves))


def _persons(
    relations: Relations, values: Mapping[Codes, float], masked: Sequence[Codes], leaves: set[Codes]
) -> Outcome:
    """What the outsider and single persons find of cells from 1 to 3."""
    outcome, reader = {"attacks": 0, "exact": 0, "too narrow": 0}, Reader(relations, values, masked)
    anyone = dict.fromkeys(masked, (1.0, np.inf))
    singles = [cell for cell in masked if cell in leaves and values[cell] == 1]
    for person in (None, *singles):
        his = {cell for cell in masked if person and values[cell] == 1 and _above(cell, person)}
        known = anyone | dict.fromkeys(his, (1.0, 1.0))
        for cell in masked:
            if cell in leaves and 1 <= values[cell] <= 3 and cell not in his:
                low, high = reader.range(known, cell, (1 + 1e-6, 3 - 1e-6))
                outcome["attacks"] += 1
                outcome["exact"] += high - low < 1e-6
                outcome["too narrow"] += low > 1 + 1e-6 or high < 3 - 1e-6
    return outcome


def _above(cell: Codes, leaf: Codes) -> bool:
    """Whether a cell is a leaf or a total that takes it in."""
    return all(code in ("0", own) for code, own in zip(cell, leaf, strict=True))


KINDS: Mapping[str, Callable[[int, str], Outcome]] = {
    "hierarchies of counts": attack_hierarchy,
    "tables of sums": attack_cube,
}
METHODS = ("fast", "optimal")


def prove(count: int, methods: Sequence[str] = METHODS, start: int = 0) -> dict[str, Outcome]:
    """So many random tables of each kind, attacked."""
    return {
        kind: total(attack(seed, methods[seed % len(methods)]) for seed in range(start, start + count))
        for kind, attack in KINDS.items()
    }


def total(outcomes: Iterable[Outcome]) -> Outcome:
    """The outcomes of tables together."""
    sums: Outcome = {"tables": 0, "refused": 0, "attacks": 0, "exact": 0, "too narrow": 0}
    for outcome in outcomes:
        sums["tables"] += 1
        for key, number in outcome.items():
            sums[key] += int(number)
    return sums


def go_on(count: int, state: Path, seconds: float) -> dict[str, Outcome]:
    """The same, written down table by table: what is there already is not done again."""
    end = time.monotonic() + seconds
    lines = [json.loads(line) for line in state.read_text().splitlines()] if state.exists() else []
    outcomes: dict[tuple[str, int], Outcome] = {(line["kind"], line["seed"]): line["outcome"] for line in lines}
    open_ = ((kind, seed) for seed in range(count) for kind in KINDS if (kind, seed) not in outcomes)
    with state.open("a") as file:
        for kind, seed in open_:
            if time.monotonic() > end:
                break
            outcome = {key: int(own) for key, own in KINDS[kind](seed, METHODS[seed % len(METHODS)]).items()}
            outcomes[kind, seed] = outcome
            file.write(json.dumps({"kind": kind, "seed": seed, "outcome": outcome}) + "\n")
            file.flush()
    return {kind: total(own for (name, _), own in outcomes.items() if name == kind) for kind in KINDS}


def main() -> None:
    """Attack as many tables as asked for, and say what came of it."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("count", type=int, nargs="?", default=1000)
    arguments.add_argument("--state", type=Path)
    arguments.add_argument("--seconds", type=float, default=float("inf"))
    asked = arguments.parse_args()
    answers = go_on(asked.count, asked.state, asked.seconds) if asked.state else prove(asked.count)
    for kind, figures in answers.items():
        print(f"{kind}: {figures}")


if __name__ == "__main__":
    main()
