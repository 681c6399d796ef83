"""Attacks three linked tables of a made-up survey with linear programs written apart.

`python bench/prove_linked.py [SECONDS]` makes 800 enterprises, some of them in holdings, crosses them three times,
protects the tables together and one after the other with `previous`, and lets the outsider and every holding try.
Nothing here is shared with the audit: knowledge comes from the records, ranges from another solver's interface.
"""

import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas
from scipy.optimize import linprog
from scipy.sparse import csr_matrix

import sfumato as sf
from sfumato.tables.plan.table_plan import read_table_plan

PERCENT = 10.0
CROSSINGS = {
    "activity_size": ("activity", "size"),
    "activity_region": ("activity", "region"),
    "region_size": ("region", "size"),
}
# A cell in any of the tables: the codes that it names, by dimension.
Cell = frozenset[tuple[str, str]]


def survey(seed: int, size: int = 800) -> pandas.DataFrame:
    """Enterprises with an activity, a region, a size class, a turnover and the holding they belong to."""
    rng = np.random.default_rng(seed)
    division = rng.choice(8, size, p=np.array([20, 18, 15, 13, 12, 10, 7, 5]) / 100)
    activity = [f"{chr(65 + own)}{rng.integers(1, 4)}" for own in division]
    region = [f"R{own // 3 + 1}{own % 3 + 1}" for own in rng.integers(0, 9, size)]
    classes = rng.choice(["s", "m", "l"], size, p=[0.6, 0.3, 0.1])
    turnover = np.round(rng.lognormal(4, 1.3, size) * np.select([classes == "l", classes == "m"], [12, 3], 1), 1)
    holding = [f"h{rng.integers(0, 60)}" if rng.random() < 0.25 else f"e{place}" for place in range(size)]
    return pandas.DataFrame(
        {"activity": activity, "region": region, "size": classes, "turnover": turnover, "holding": holding}
    )


def trees(folder: Path) -> None:
    """The hierarchies of activities and regions, as files."""
    letters = [chr(65 + own) for own in range(8)]
    (folder / "activity.csv").write_text("\n".join(f"{own}{part},{own}" for own in letters for part in (1, 2, 3)))
    (folder / "region.csv").write_text("\n".join(f"R{own}{part},R{own}" for own in (1, 2, 3) for part in (1, 2, 3)))


def dimension(name: str) -> dict[str, Any]:
    return {"column": name} | ({"hierarchy": f"{name}.csv"} if name != "size" else {})


def plan(names: Sequence[str], seconds: float, **more: Any) -> dict[str, Any]:
    """The plan that protects some of the crossings together."""
    tables = [{"name": name, "dimensions": {own: dimension(own) for own in CROSSINGS[name]}} for name in names]
    return {
        "version": 1,
        "table": {"microdata": "survey.csv", "value": "turnover", "holding": "holding"},
        "tables": tables,
        "primary": [{"rule": "p-percent", "p": PERCENT}, {"rule": "frequency", "min": 3}],
        "method": {"name": "optimal", "time_limit": seconds},
        **more,
    }


def upward(name: str, code: str) -> list[str]:
    """A code and those above it, the total last."""
    finest = {"activity": 2, "region": 3}.get(name)
    return [code, code[:-1], "Total"] if len(code) == finest else [code, "Total"]


def inside(rows: pandas.DataFrame) -> dict[Cell, dict[str, float]]:
    """Who has how much of every cell of any of the tables."""
    parts: dict[Cell, dict[str, float]] = {}
    for row in rows.itertuples():
        cells = {
            frozenset((name, code) for name, code in zip(pair, codes, strict=True) if code != "Total")
            for pair in CROSSINGS.values()
            for codes in product(*(upward(name, getattr(row, name)) for name in pair))
        }
        for cell in cells:
            own = parts.setdefault(cell, {})
            own[row.holding] = own.get(row.holding, 0.0) + row.turnover
    return parts


def relations(cells: Sequence[Cell]) -> Iterator[tuple[Cell, list[Cell]]]:
    """Every total with its parts, one dimension at a time."""
    found: dict[tuple[Cell, str], list[Cell]] = {}
    pairs = [set(pair) for pair in CROSSINGS.values()]
    for cell in cells:
        for name, code in cell:
            above = upward(name, code)[1]
            total = cell - {(name, code)} | (frozenset() if above == "Total" else {(name, above)})
            found.setdefault((frozenset(total), name), []).append(cell)
    for (total, name), parts in found.items():
        if any({own for own, _ in total} | {name} <= pair for pair in pairs):
            yield total, parts


def published(folder: Path) -> tuple[set[Cell], set[Cell]]:
    """The cells that release folders publish, and those that they mask."""
    shown, masked = set[Cell](), set[Cell]()
    for path in sorted(folder.glob("**/table-external.csv")):
        frame = pandas.read_csv(path, dtype=str, keep_default_na=False)
        names = [name for name in ("activity", "region", "size") if name in frame]
        for row in frame.to_dict("records"):
            cell = frozenset((name, row[name]) for name in names if row[name] != "Total")
            (masked if row["turnover_published"] == "*" else shown).add(cell)
    return shown, masked - shown


def needs(parts: Mapping[str, float], attacker: str | None) -> float:
    """How far the range of a cell must reach, by p percent, for one who attacks."""
    sizes = sorted((amount for owner, amount in parts.items() if owner != attacker), reverse=True)
    if not sizes:
        return 0.0
    own = parts[attacker] if attacker in parts else (sizes[1] if len(sizes) > 1 else 0.0)
    return max(PERCENT / 100 * sizes[0] - (sum(parts.values()) - own - sizes[0]), 0.0)


def judge(folder: Path, parts: Mapping[Cell, Mapping[str, float]]) -> dict[str, int]:
    """What the outsider and every holding with a part in masked cells compute from the release folders."""
    shown, masked = published(folder)
    order = sorted(masked, key=sorted)
    place, values = (
        {cell: column for column, cell in enumerate(order)},
        {cell: sum(own.values()) for cell, own in parts.items()},
    )
    rows, columns, coefs, sides = list[int](), list[int](), list[float](), list[float]()
    for total, cells in relations([cell for cell in parts if cell in shown or cell in masked]):
        side, entries = 0.0, []
        for cell, coef in ((total, -1.0), *((cell, 1.0) for cell in cells)):
            if cell in place:
                entries.append((place[cell], coef))
            else:
                side -= coef * values[cell]
        if entries:
            rows += [len(sides)] * len(entries)
            columns += [own for own, _ in entries]
            coefs += [coef for _, coef in entries]
            sides.append(side)
    matrix = csr_matrix((coefs, (rows, columns)), shape=(len(sides), len(order)))
    outcome = {"masked": len(order), "attacks": 0, "exact": 0, "too narrow": 0}
    unsafe = [cell for cell in order if needs(parts[cell], None) > 1e-9]
    for attacker in (None, *sorted({owner for cell in order for owner in parts[cell]})):
        known = {cell: parts[cell][attacker] for cell in order if attacker in parts[cell]} if attacker else {}
        bounds = [
            (values[cell],) * 2 if cell in known and len(parts[cell]) == 1 else (known.get(cell, 0.0), None)
            for cell in order
        ]
        if attacker and all(low == 0.0 for low, _ in bounds):
            continue
        for cell in unsafe if attacker is None else _near(unsafe, known, attacker, parts):
            need = min(needs(parts[cell], None), needs(parts[cell], attacker))
            ends = []
            for sign in (1.0, -1.0):
                costs = np.zeros(len(order))
                costs[place[cell]] = sign
                answer = linprog(costs, A_eq=matrix, b_eq=sides, bounds=bounds, method="highs")
                ends.append(sign * answer.fun if answer.status == 0 else -sign * np.inf)
            slack, room = 1e-6 * max(1.0, values[cell]), values[cell] - known.get(cell, 0.0)
            outcome["attacks"] += 1
            outcome["exact"] += bool(ends[1] - ends[0] < 0.05)
            outcome["too narrow"] += bool(
                ends[1] < values[cell] + need - slack or ends[0] > values[cell] - min(need, room) + slack
            )
    return outcome


def _near(
    unsafe: Sequence[Cell], known: Mapping[Cell, float], attacker: str, parts: Mapping[Cell, Mapping[str, float]]
) -> list[Cell]:
    """The unsafe cells that share a code with one he knows something of, and that are not his alone."""
    codes = {code for cell in known for code in cell}
    return [cell for cell in unsafe if needs(parts[cell], attacker) > 1e-9 and codes & cell]


def prove(seconds: float, seed: int = 1) -> int:
    """Protect together, then one after the other, and attack both: how many attacks learned too much."""
    rows = survey(seed)
    parts, learned = inside(rows), 0
    for title, chain in (("together", [tuple(CROSSINGS)]), ("one after the other", [(name,) for name in CROSSINGS])):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            rows.to_csv(folder / "survey.csv", index=False)
            trees(folder)
            for place, tables in enumerate(chain):
                start = time.perf_counter()
                before = {"previous": [f"release{own}" for own in range(place)]} if place else {}
                done = sf.protect(None, read_table_plan(plan(tables, seconds, **before), folder))
                done.save(folder / f"release{place}")
                report = done.report
                print(
                    f"{title}, {', '.join(tables)}: {report['cells']:,} cells, {report['primary']} unsafe, "
                    f"{report['secondary']} secondary, gap {report['gap']}, {time.perf_counter() - start:.1f} s",
                    flush=True,
                )
            outcome = judge(folder, parts)
            print(f"{title}: {outcome}", flush=True)
            learned += outcome["exact"] + outcome["too narrow"]
    return learned


if __name__ == "__main__":
    raise SystemExit(prove(float(sys.argv[1]) if len(sys.argv) > 1 else 60.0) > 0)
