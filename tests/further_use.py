"""What people write who go further: persons, dates, trees, changed numbers, attacks, policies, tables of their rows."""

from datetime import date, timedelta
from pathlib import Path

import polars as pl

import sfumato as sf


def visits() -> pl.DataFrame:
    """Ninety visits of thirty persons who never were."""
    towns = ("Leeds", "York", "Kent", "Dover")
    return pl.DataFrame(
        {
            "patient": [f"P{row // 3:03}" for row in range(90)],
            "born": [str(date(1950, 1, 1) + timedelta(days=400 * (row // 3) % 9000)) for row in range(90)],
            "town": [towns[(row // 3) % 4] for row in range(90)],
            "cost": [100.0 + 17 * row % 311 for row in range(90)],
            "diagnosis": [("flu", "asthma", "fracture", "migraine")[row * 7 % 4] for row in range(90)],
        }
    )


def plan() -> sf.Plan:
    """Promises about persons, each kind of column by its builder."""
    coarse = sf.PublishPlan(top=0.95, round=50)
    return (
        sf.Plan(
            sf.KAnonymity(3),
            sf.TCloseness(0.9, "diagnosis"),
            method=sf.Optimal(suppression=sf.Suppression(share=0.1)),
            output=sf.OutputPlan(format="parquet"),
            release=sf.ReleasePlan(purpose="teaching"),
            seed=3,
        )
        .persons("patient")
        .quasi(
            born=sf.dates("%Y-%m-%d", "year", "decade"),
            town=sf.tree({"North": ["Leeds", "York"], "South": ["Kent", "Dover"]}),
        )
        .column("cost", "insensitive", type="decimal", publish=coarse)
    )


def release(folder: Path) -> sf.Release:
    """Release, look from every side, attack."""
    outcome: sf.Release = sf.anonymize(visits(), plan())
    promises: list[bool] = [promise.satisfied for promise in outcome.report.models]
    assert all(promises)
    charts = (outcome.plot.risk(), outcome.plot.columns(), outcome.plot.tradeoff())
    assert all("<svg" in chart.svg for chart in charts)
    words: str = str(outcome.explain("born"))
    assert words
    outcome.save(folder / "release")
    attacked: sf.AttackReport = sf.attack(folder / "release", visits(), attempts=20)
    figures: dict[str, object] = attacked.to_dict()
    assert figures["attacks"]
    return outcome


def other_methods() -> dict[str, int]:
    """The smallest class by methods of each kind."""
    base = sf.Plan(sf.KAnonymity(3), sf.LDiversity(2, "diagnosis", variant="entropy"), other="insensitive").identifiers(
        "patient", "born"
    )
    numbers = base.column("cost", "quasi-identifier", type="decimal", hierarchy=sf.intervals(50, 100)).quasi("town")
    methods = (sf.Mondrian(mode="strict"), sf.Samarati(), sf.Local(rounds=2), sf.Auto(time_limit=10))
    smallest: dict[str, int] = {}
    for method in methods:
        smallest[method.name] = sf.anonymize(visits(), numbers.by(method)).report.classes.smallest
    return smallest


def crosstab() -> tuple[sf.ProtectedTable, sf.Audit]:
    """From rows to a protected table, and an attack on it."""
    cells: pl.DataFrame = sf.tabulate(visits(), ["town", "diagnosis"])
    dimensions = {"town": {"column": "town"}, "diagnosis": {"column": "diagnosis"}}
    rules = [{"rule": "range", "min": 1, "max": 4}]
    done = sf.protect(cells, value="count", dimensions=dimensions, primary=rules)
    audit: sf.Audit = sf.audit(done)
    assert audit.passed
    return done, audit


def policy() -> sf.PolicyVerdict:
    """What a policy says of the rows as they are."""
    return sf.check(visits(), "gdpr-wp216", quasi_identifiers=["born", "town"], sensitive=["diagnosis"])


def pipeline() -> int:
    """Training rows and new ones, in the manner of scikit-learn."""
    kept = sf.Plan(sf.KAnonymity(2), other="insensitive").identifiers("patient").quasi("town")
    transformer: sf.Anonymizer = sf.Anonymizer(kept).fit(visits())
    return len(transformer.transform(visits().head(60)))
