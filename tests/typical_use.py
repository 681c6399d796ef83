"""What people write who use the library: run by a test, and read by checkers of types in their strictest mode."""

from pathlib import Path

import polars as pl

import sfumato as sf


def patients() -> pl.DataFrame:
    """Forty rows about nobody."""
    return pl.DataFrame(
        {
            "name": [f"person {row}" for row in range(40)],
            "age": [20 + row % 30 for row in range(40)],
            "zip": [f"0{row % 4}{row % 7}00" for row in range(40)],
            "sex": ["m" if row % 3 else "f" for row in range(40)],
            "illness": [("flu", "cold", "cough", "acne")[row % 4] for row in range(40)],
            "ward": ["a" if row % 2 else "b" for row in range(40)],
        }
    )


def release(folder: Path) -> Path:
    """Promise, build, release, look, save, verify."""
    plan = (
        sf.Plan(sf.KAnonymity(4), sf.LDiversity(2, "illness"), method=sf.Local(), other="insensitive")
        .identifiers("name")
        .quasi("sex", age=sf.intervals(5, 10, 20), zip=sf.digits(5))
    )
    outcome: sf.Release = sf.anonymize(patients(), plan)
    smallest: int = outcome.report.classes.smallest
    assert smallest >= 4
    outcome.plot.risk().save(folder / "risk.svg")
    sentences: tuple[str, ...] = outcome.explain("zip").sentences
    assert sentences
    where: Path = outcome.save(folder / "release")
    verdict: sf.Verdict = sf.verify(where)
    assert verdict.satisfied
    return where


def proposal(folder: Path) -> sf.Plan:
    """Start from what is proposed, change a column and the method, keep the plan as a file."""
    plan: sf.Plan = sf.suggest(patients())
    changed = plan.insensitive("ward").quasi(zip=sf.digits(5, shown=(3, 1))).by(sf.Optimal(time_limit=20))
    changed.save(folder / "plan.yaml")
    again: sf.Plan = sf.read_plan(folder / "plan.yaml")
    return again


def figures() -> tuple[float, int]:
    """Risk of the raw rows, and a grid of methods."""
    risk: sf.RiskReport = sf.risk(patients(), ["age", "sex"])
    plan = sf.Plan(sf.KAnonymity(2), other="sensitive").quasi("sex", age=sf.intervals(10))
    grid: sf.Comparison = sf.compare(patients(), plan, methods=["optimal", "local"], k=[2, 4])
    return risk.prosecutor.average, len(grid.cells)


def table() -> sf.ProtectedTable:
    """A small table of counts."""
    cells = pl.DataFrame({"area": ["Total", "a", "b", "c"], "n": [24, 2, 9, 13]})
    done = sf.protect(
        cells,
        value="n",
        dimensions={"area": {"column": "area"}},
        primary=[{"rule": "range", "min": 1, "max": 3}],
    )
    assert done.passed
    return done


def rounded_table() -> sf.PerturbedTable:
    """The same table rounded instead of masked; what both have in common is there whichever it is."""
    cells = pl.DataFrame({"area": ["Total", "a", "b", "c"], "n": [24, 2, 9, 13]})
    done = sf.protect(cells, value="n", dimensions={"area": {"column": "area"}}, method={"name": "rounding", "base": 3})
    either: sf.ProtectedTable | sf.PerturbedTable = done
    assert either.passed
    assert either.report["cells"] == 4
    return done


def several_tables() -> tuple[sf.PerturbedTables, sf.ProtectedTables]:
    """Microdata crossed twice: rounded together, and masked together."""
    rows = pl.DataFrame({"area": [*"aabbbccccc"], "sex": [*"fmffmfmfmf"]})
    area, sex = {"area": {"column": "area"}}, {"sex": {"column": "sex"}}
    tables = [{"name": "areas", "dimensions": area}, {"name": "sexes", "dimensions": sex}]
    rules = [{"rule": "range", "min": 1, "max": 2}]
    rounded = sf.protect(rows, value="count", tables=tables, method={"name": "rounding", "base": 3})
    masked = sf.protect(rows, value="count", tables=tables, primary=rules, attackers={"persons": False})
    return rounded, masked


def chosen_method(name: str) -> bool:
    """A method that is known only when it runs: the answer is one of four, with what all of them have."""
    cells = pl.DataFrame({"area": ["Total", "a", "b", "c"], "n": [24, 2, 9, 13]})
    rules = [{"rule": "range", "min": 1, "max": 3}]
    done = sf.protect(cells, value="n", dimensions={"area": {"column": "area"}}, primary=rules, method={"name": name})
    return done.passed and bool(done.report)


def refusal() -> str:
    """What is wrong is an error of one family, with what to do."""
    try:
        sf.Plan(sf.KAnonymity(0))
    except sf.SfumatoError as error:
        return error.hint or error.message
    return ""
