"""What everybody sees is a quasi-identifier, also where the law protects it; the others must not disclose it."""

import random
from collections import defaultdict
from itertools import product

import polars as pl
import pytest
import yaml

import sfumato as sf
from sfumato.errors import PlanError
from sfumato.microdata.plan.read import read_plan
from sfumato.microdata.plan.write import plan_dict
from sfumato.pipelines.apply import apply

L2 = {"model": "l-diversity", "l": 2}
ANY = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}


def patients(number: int = 400, seed: int = 5) -> pl.DataFrame:
    draw = random.Random(seed)
    return pl.DataFrame(
        {
            "age": [str(draw.randrange(20, 60)) for _ in range(number)],
            "town": [draw.choice("ABCDEF") for _ in range(number)],
            "race": [draw.choices(("white", "black", "asian"), (8, 1, 1))[0] for _ in range(number)],
            "illness": [draw.choice(("asthma", "gout", "flu")) for _ in range(number)],
        }
    )


def plan(method: str = "optimal", protect: dict | None = None, **more: object) -> dict:
    steps = {"type": "intervals", "start": 20, "end": 60, "widths": [5, 10, 20]}
    return {
        "version": 1,
        "columns": {
            "age": {"role": "quasi-identifier", "type": "integer", "hierarchy": steps},
            "town": ANY,
            "race": ANY | {"protect": protect or L2},
            "illness": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 4}],
        "method": {"name": method, "suppression": 0.1},
    } | more


def groups(rows: pl.DataFrame) -> list[list[str]]:
    """The published races of rows alike in all other quasi-identifiers, those that tell nothing left out."""
    found = defaultdict(list)
    for age, town, race in rows.select("age", "town", "race").iter_rows():
        if race != "*":
            found[age, town].append(race)
    return list(found.values())


METHODS = ("optimal", "exhaustive")


def entropy_of(values: list[str]) -> float:
    shares = [values.count(value) / len(values) for value in set(values)]
    product_ = 1.0
    for share in shares:
        product_ *= share**-share
    return product_


SATISFIED = {
    "distinct": (L2, lambda values, _all: len(set(values)) >= 2),
    "entropy": (L2 | {"variant": "entropy", "l": 1.4}, lambda values, _all: entropy_of(values) >= 1.4 - 1e-9),
    "closeness": (
        {"model": "t-closeness", "t": 0.2},
        lambda values, whole: (
            sum(abs(values.count(one) / len(values) - whole.count(one) / len(whole)) for one in set(whole)) / 2
            <= 0.2 + 1e-9
        ),
    ),
}


@pytest.mark.parametrize("method", ["optimal", "greedy", "exhaustive", "local", "mondrian", "auto"])
@pytest.mark.parametrize("name", SATISFIED)
def test_the_other_quasi_identifiers_do_not_disclose_it(method, name) -> None:
    protect, satisfied = SATISFIED[name]
    asked = plan(method, protect)
    release = sf.anonymize(patients(), asked)
    told = groups(release.data)
    whole = [value for values in told for value in values]
    assert all(satisfied(values, whole) for values in told)
    sizes = release.data.group_by("age", "town", "race").len()["len"]
    assert sizes.min() >= 4
    (guarantee,) = (one for one in release.report.models if one.column == "race")
    assert guarantee.satisfied and guarantee.parameters["by"] == protect["model"]
    assert sf.verify(release.data, asked).satisfied


@pytest.mark.parametrize("seed", range(3))
def test_the_optimum_is_that_of_all_nodes(seed) -> None:
    rows = patients(60, seed)
    asked = [plan() | {"method": {"name": name, "suppression": 0.1, "loss": "loss-metric"}} for name in METHODS]
    optimal, every = (sf.anonymize(rows, one).report.loss.value for one in asked)
    assert optimal == pytest.approx(every)


def test_an_edited_file_that_discloses_it_does_not_verify() -> None:
    asked = plan()
    data = sf.anonymize(patients(), asked).data
    age, town = data.row(0)[data.columns.index("age")], data.row(0)[data.columns.index("town")]
    alike = (pl.col("age") == age) & (pl.col("town") == town)
    edited = data.with_columns(race=pl.when(alike).then(pl.lit("white")).otherwise(pl.col("race")))
    verdict = sf.verify(edited, asked)
    assert [one.column for one in verdict.promises if not one.satisfied] == ["race"]


def test_it_is_kept_when_the_recoding_is_applied_to_other_rows(tmp_path) -> None:
    out = sf.anonymize(patients(), plan()).save(tmp_path / "release")
    assert sf.verify(out).satisfied
    assert plan_dict(read_plan(out / "plan.yaml"))["columns"]["race"]["protect"]["model"] == "l-diversity"
    patients(400, 6).with_columns(race=pl.lit("white")).write_csv(tmp_path / "white.csv")
    with pytest.raises(sf.ViolationError):
        apply(out / "recoding.json", tmp_path / "white.csv", tmp_path / "later")


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"method": {"name": "k-optimize"}}, "method.name"),
        ({"columns": {"race": {"role": "sensitive", "protect": L2}, "age": ANY}}, "protect belongs"),
        ({"columns": {"race": ANY | {"protect": L2}}}, "another quasi-identifier"),
        ({"columns": {"race": ANY | {"protect": L2}, "age": ANY, "id": {"role": "person"}}}, "person"),
        ({"columns": {"race": ANY | {"protect": {"model": "k-anonymity", "k": 2}}, "age": ANY}}, "valid choice"),
        ({"columns": {"race": ANY | {"protect": L2 | {"column": "age"}}, "age": ANY}}, "unknown key"),
        ({"data": {"on_missing": "any"}}, "any goes with k-anonymity alone"),
    ],
)
def test_what_cannot_be_protected_is_refused(change, what) -> None:
    with pytest.raises(PlanError, match=what):
        sf.anonymize(patients(), plan(**change))


@pytest.mark.parametrize(
    ("name", "values"),
    [*product(["race", "ethnicity", "skin colour"], [("white", "black", "asian")]), ("weight", range(50, 110))],
)
def test_what_is_seen_and_special_is_proposed_as_a_protected_quasi_identifier(name, values) -> None:
    draw = random.Random(1)
    findings = {other: [draw.choice(("yes", "no")) for _ in range(300)] for other in ("asthma", "diabetes", "hiv")}
    rows = patients(300).drop("race").with_columns(pl.Series(name, [str(draw.choice(values)) for _ in range(300)]))
    proposed = sf.suggest(rows.with_columns(**{key: pl.Series(entry) for key, entry in findings.items()}))
    assert proposed.columns[name].role == "quasi-identifier"
    assert proposed.columns[name].protect is not None
    assert yaml.safe_dump(plan_dict(proposed))
    if name == "race":
        assert sf.anonymize(rows, sf.suggest(rows)).report.models


def test_a_month_in_which_somebody_died_is_no_secret() -> None:
    draw = random.Random(1)
    rows = patients(300).with_columns(death_month=pl.Series([str(draw.randrange(1, 13)) for _ in range(300)]))
    assert sf.suggest(rows).columns["death_month"].role == "quasi-identifier"


@pytest.mark.parametrize("method", ["local", "mondrian"])
def test_a_label_that_is_alone_is_not_published_however_common_it_is(method) -> None:
    told = groups(sf.anonymize(patients(2000), plan(method, {"model": "t-closeness", "t": 0.3})).data)
    assert all(len(set(values)) > 1 for values in told)
