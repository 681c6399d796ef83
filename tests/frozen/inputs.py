"""The input files of the frozen cases, from a generator of its own: no library decides what they hold."""

import json
from collections.abc import Iterable, Sequence
from hashlib import sha256
from itertools import product
from pathlib import Path

SURVEY_ROWS = 240
REGISTER_PERSONS = 240
FIRMS = 110
DISEASES = ("flu", "asthma", "angina", "cold", "gastritis", "ulcer")
JOBS = ("clerk", "baker", "nurse", "pilot", "tailor")
BRANCHES = ("A01", "A02", "B11", "B12", "B13")


class Draws:
    """The pseudo-random numbers of a seed: a linear congruential generator with the constants of Knuth's MMIX.

    >>> [Draws(1).below(100) for _ in range(2)]
    [42, 42]
    """

    def __init__(self, seed: int) -> None:
        self.state = seed

    def below(self, limit: int) -> int:
        """A number from 0 to below a limit."""
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) * limit >> 31

    def of(self, values: Sequence[str]) -> str:
        """One of some values."""
        return values[self.below(len(values))]


def write_inputs(folder: Path) -> None:
    """Write every input file into a folder."""
    survey, newer = _survey(Draws(1)), _survey(Draws(2))
    _write(folder / "survey.csv", survey)
    _write(folder / "newer.csv", newer)
    population = [row for seed in range(1, 7) for row in _survey(Draws(seed))[1:]]
    _write(folder / "population.csv", [survey[0], *population])
    for month in (0, 1):
        _write(folder / f"register{month}.csv", _register(month))
    for name, rows in _clinic(Draws(3)).items():
        _write(folder / f"{name}.csv", rows)
    firms = _firms(Draws(4))
    _write(folder / "firms.csv", firms)
    _write(folder / "cells.csv", _cells(firms[1:]))
    plain = _plain_cells(Draws(5))
    _write(folder / "plain.csv", plain)
    _write(folder / "towns.csv", (row for row in plain if row[3] in ("sex", "T")))
    _write(folder / "linked.csv", _linked_cells())
    _write(folder / "relations.csv", _relations())
    (folder / "study.key").write_text(json.dumps(_study_key()), encoding="utf-8")
    (folder / "nace.hrc").write_text("A\n@A01\n@A02\nB\n@B11\n@B12\n@B13\n", encoding="utf-8")
    (folder / "jobs.csv").write_text("".join(f"{job};{group};any\n" for job, group in _JOB_GROUPS), encoding="utf-8")


def _write(path: Path, rows: Iterable[Iterable[object]]) -> None:
    path.write_text("".join(";".join(map(str, row)) + "\n" for row in rows), encoding="utf-8", newline="")


_JOB_GROUPS = [(job, "office" if job in ("clerk", "pilot") else "trade") for job in JOBS]


def _survey(draws: Draws) -> list[tuple[object, ...]]:
    head = ("id", "household", "sex", "age", "zip", "job", "born", "illness")
    rows: list[tuple[object, ...]] = [(*head, "income", "score", "weight", "member", "place")]
    for row in range(SURVEY_ROWS):
        home = rows[-1][-1] if row % 3 else draws.of(("hill", "lake", "town"))
        age = 18 + (draws.below(50) + draws.below(30))
        place = f"{draws.below(3) + 1}{draws.below(3)}{draws.below(4)}"
        born = f"{2020 - age}-{draws.below(12) + 1:02}-{draws.below(28) + 1:02}"
        illness = DISEASES[min(draws.below(6), draws.below(6))]
        figures = (1000 + draws.below(400) * 10, draws.below(1000) / 10, 5 + draws.below(40))
        name = f"{700000 + row * 37}"
        member = "yes" if draws.below(3) else "no"
        person = (name, f"h{row // 3}", draws.of("fm"), age, place, draws.of(JOBS), born, illness)
        rows.append((*person, *figures, member, home))
    return rows


def _register(month: int) -> list[tuple[object, ...]]:
    """A register of persons, whose later month lacks some of the first one, has others, and some who moved."""
    rows: list[tuple[object, ...]] = [("person", "sex", "born", "region", "illness", "size")]
    draws = Draws(6)
    for person in range(REGISTER_PERSONS):
        sex, born, region = draws.of("fm"), 1940 + draws.below(60), f"{draws.below(2)}{draws.below(2)}"
        illness, size, moves = draws.of(DISEASES), 150 + draws.below(50), draws.below(20) == 0
        if month and moves:
            region = "11"
        if person % 40 != (7 if month else 9):
            rows += [(f"p{person:04}", sex, born, region, illness, size)] * (1 + (person % 5 == 0))
    return rows


def _clinic(draws: Draws) -> dict[str, list[tuple[object, ...]]]:
    """Patients, their visits and the laboratory of each visit."""
    patients: list[tuple[object, ...]] = [("pid", "name", "age", "sex")]
    visits: list[tuple[object, ...]] = [("vid", "pid", "ward", "day", "illness")]
    lab: list[tuple[object, ...]] = [("vid", "test", "result")]
    for patient in range(80):
        patients.append((f"p{patient}", f"name {patient}", 20 + draws.below(60), draws.of("fm")))
        for _ in range(1 + draws.below(8) // 7):
            visit = f"v{len(visits)}"
            day = f"2020-{draws.below(12) + 1:02}-{draws.below(28) + 1:02}"
            visits.append((visit, f"p{patient}", draws.of("ab"), day, draws.of(DISEASES)))
            lab.append((visit, draws.of(("blood", "scan")), draws.below(100)))
    return {"patients": patients, "visits": visits, "lab": lab}


def _firms(draws: Draws) -> list[tuple[object, ...]]:
    """Records of firms: two of them in a row are of one holding."""
    head = ("firm", "holding", "nace", "region", "size", "turnover", "staff", "key", "wish", "weight")
    rows: list[tuple[object, ...]] = [head]
    for firm in range(FIRMS):
        turnover = 10 + draws.below(40) + (draws.below(7) == 0) * draws.below(2000)
        codes = (BRANCHES[min(draws.below(5), draws.below(5))], draws.of("NNSSSW"), draws.of(("s", "s", "l")))
        wish = "yes" if draws.below(12) == 0 else "no"
        rows.append(
            (
                f"f{firm}",
                f"h{firm // 2}",
                *codes,
                turnover,
                1 + draws.below(30),
                draws.below(2**31) << 33 | draws.below(2**31) << 2,
                wish,
                1 + firm % 2,
            )
        )
    return rows


def _study_key() -> dict[str, object]:
    """A key for pseudonyms, as the command `pseudonyms new` writes one."""
    secret = bytes(range(64))
    fingerprint = sha256(b"sfumato pseudonyms" + secret).hexdigest()[:16]
    return {"version": 1, "domain": "study", "fingerprint": fingerprint, "key": secret.hex()}


def _parents(branch: str) -> tuple[str, ...]:
    return (branch, branch[0], "Total")


def _cells(firms: Sequence[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """The firms as a table of cells, by branch (with a hierarchy) and region, with every column that a rule reads."""
    head = ("nace", "region", "turnover", "n", "holdings", "top1", "top2", "top3", "own1", "own2", "cost", "mark", "ok")
    rows: list[tuple[object, ...]] = [(*head, "key", "wish")]
    codes = list(dict.fromkeys(code for branch in BRANCHES for code in _parents(branch)))
    for place, (branch, region) in enumerate(product(codes, ("N", "S", "W", "Total"))):
        inside = [firm for firm in firms if branch in _parents(str(firm[2])) and region in (firm[3], "Total")]
        owners: dict[object, int] = {}
        for firm in inside:
            owners[firm[1]] = owners.get(firm[1], 0) + int(str(firm[5]))
        tops = (*sorted(owners.values(), reverse=True), 0, 0, 0)[:3]
        own = (*sorted((int(str(firm[5])) for firm in inside), reverse=True), 0, 0)[:2]
        inner = len(branch) == 3 and region != "Total"
        mark = "u" if inner and place % 7 == 3 else "s"
        key = sum(int(str(firm[7])) for firm in inside) % 2**64
        wish = "yes" if inner and place % 5 == 1 else "no"
        further = (1 + place % 3, mark, "yes" if place % 4 == 0 else "no", key, wish)
        rows.append((branch, region, sum(owners.values()), len(inside), len(owners), *tops, *own, *further))
    return rows


def _plain_cells(draws: Draws) -> list[tuple[object, ...]]:
    """Counts by two level columns (0 is a total) and by sex, for two years."""
    rows: list[tuple[object, ...]] = [("year", "county", "town", "sex", "count", "cost")]
    for year in (2019, 2020):
        counts = {
            (county, town, sex): draws.below(4) * draws.below(9)
            for county, town, sex in product((1, 2), (1, 2, 3), "fm")
        }
        for county, town, sex in product((0, 1, 2), (0, 1, 2, 3), ("f", "m", "T")):
            if county or not town:
                wanted = ((0, county), (0, town), ("T", sex))
                held = [
                    count
                    for codes, count in counts.items()
                    if all(code in (total, own) for own, (total, code) in zip(codes, wanted, strict=True))
                ]
                rows.append((year, county, town, sex, sum(held), 1 + draws.below(5)))
    return rows


def _linked_cells() -> list[tuple[object, ...]]:
    """Two rows of three cells, with their sums."""
    values = (4, 6, 9, 19, 8, 3, 7, 18, 12, 9, 16, 37)
    return [("id", "value", "status"), *((n + 1, value, "u" if n in (0, 5) else "s") for n, value in enumerate(values))]


def _relations() -> list[tuple[object, ...]]:
    """Which of these cells add up to which."""
    rows = [(f"r{row}", 4 * row + col + 1, -1 if col == 3 else 1) for row, col in product(range(3), range(4))]
    columns = [(f"c{col}", 4 * row + col + 1, -1 if row == 2 else 1) for row, col in product(range(3), range(4))]
    return [("relation", "cell_id", "coef"), *rows, *columns]
