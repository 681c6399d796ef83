"""Persons with several values, visible sensitive attributes, and the delta of differential privacy."""

import json
import math
import random
from collections import defaultdict
from fractions import Fraction
from itertools import product
from math import ceil, comb, exp, expm1, floor, log, log1p

import numpy as np
import polars as pl
import pytest
import yaml

import sfumato as sf
from sfumato import anonymize_files
from sfumato.errors import PlanError, UnattainableError
from sfumato.microdata.models.differential_privacy import (
    GREATEST_EPSILON,
    LEAST_EPSILON,
    DifferentialPrivacy,
    delta_of,
    least_k,
)
from sfumato.microdata.plan.read import read_plan
from sfumato.microdata.plan.write import plan_dict
from sfumato.pipelines.apply import apply
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.verify import verify

# Persons who have several sensitive values: a value that all persons of a class have is one that everybody learns.

ILLNESSES = [f"i{number}" for number in range(10)]
MODELS = {
    "alpha": {"model": "alpha-k-anonymity", "alpha": 0.5, "k": 5},
    "entropy": {"model": "l-diversity", "variant": "entropy", "l": 4},
    "distinct": {"model": "l-diversity", "l": 2},
    "recursive": {"model": "l-diversity", "variant": "recursive", "l": 2, "c": 2},
    "t": {"model": "t-closeness", "t": 0.4},
    "ordered": {"model": "t-closeness", "t": 0.4, "distance": "ordered", "order": [*ILLNESSES, "hiv"]},
    "beta": {"model": "beta-likeness", "beta": 2},
    "delta": {"model": "delta-disclosure", "delta": 1.5},
}
# Ten persons of one class have hiv, each with one other illness; of ninety others eleven have it, and nothing else.
ROWS = [("A", f"a{i}", illness) for i in range(10) for illness in ("hiv", ILLNESSES[i])]
ROWS += [("B", f"b{i}", "hiv" if i < 11 else ILLNESSES[i % 10]) for i in range(90)]


def plan_of(name: str, publish: str, method: str = "optimal") -> dict:
    return {
        "version": 1,
        "columns": {
            "town": {"role": "quasi-identifier", "hierarchy": {"type": "any"}, "max_level": 0},
            "who": {"role": "person", "publish": publish} if publish else {"role": "person"},
            "illness": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 5}, {**MODELS[name], "column": "illness"}],
        "method": {"name": method, "suppression": 0},
        "output": {"order": "keep"},
    }


@pytest.mark.parametrize("publish", ["", "key"])
@pytest.mark.parametrize("name", MODELS)
def test_a_class_whose_persons_all_have_one_value_is_not_published(name: str, publish: str) -> None:
    raw = pl.DataFrame(ROWS, schema=["town", "who", "illness"], orient="row")
    with pytest.raises(UnattainableError):
        anonymize(raw, plan_of(name, publish))


def test_what_is_said_of_shares_is_true_of_persons(tmp_path) -> None:
    """At `alpha` 0.5 no value is had by more than half of the persons of a class, and that is what is reported."""
    rows = [("A", f"a{i}", value) for i in range(10) for value in (("hiv", "flu") if i < 4 else ("gout", ILLNESSES[i]))]
    rows += [("B", f"b{i}", ILLNESSES[i]) for i in range(10)]
    pl.DataFrame([row for row in rows if row[2] != "gout" or row[1] != "a9"], schema=["town", "who", "illness"],
                 orient="row").write_csv(tmp_path / "rows.csv")  # fmt: skip
    release = anonymize(tmp_path / "rows.csv", plan_of("alpha", ""))
    assert release.report.models[1].achieved == pytest.approx(0.5)
    release.save(tmp_path / "out")
    assert verify(tmp_path / "out").satisfied


@pytest.mark.parametrize("kind", ["frame", "csv"])
def test_a_value_that_all_persons_of_a_class_have_is_told_though_nothing_is_promised(tmp_path, kind: str) -> None:
    raw = pl.DataFrame(ROWS, schema=["town", "who", "illness"], orient="row")
    raw.write_csv(tmp_path / "rows.csv")
    plan = plan_of("alpha", "")
    plan["privacy"] = plan["privacy"][:1]
    release = anonymize(raw if kind == "frame" else tmp_path / "rows.csv", plan)
    figures = release.report.disclosure.sensitive["illness"]
    assert (figures.classes, figures.homogeneous_classes, figures.homogeneous_rows, figures.l) == (2, 1, 20, 1)
    # Ten of ten have hiv, of all 21 of 100; each other illness one of ten, of all nearly as many.
    assert 0.79 <= figures.t <= 0.92
    release.save(tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "in 1 of 2 classes all persons share one value (20 rows)" in page


def test_files_joined_by_keys_are_judged_by_the_same_definition(tmp_path) -> None:
    """Persons in one file, their illnesses in another: one that all of a group have is refused there, too."""
    raw = pl.DataFrame(ROWS, schema=["town", "who", "illness"], orient="row")
    raw.select("who", "town").unique(maintain_order=True).write_csv(tmp_path / "persons.csv")
    # Everybody of town A has two illnesses, hiv among them; nobody of town B has hiv.
    raw.filter((pl.col("town") == "A") | (pl.col("illness") != "hiv")).select("who", "illness").write_csv(
        tmp_path / "ills.csv"
    )
    plan = {
        "version": 1,
        "files": {
            "persons": {"source": str(tmp_path / "persons.csv"), "key": "who"},
            "ills": {"source": str(tmp_path / "ills.csv"), "parent": "persons"},
        },
        "columns": {
            "town": {"role": "quasi-identifier", "hierarchy": {"type": "any"}, "max_level": 0},
            "illness": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 5}, {"model": "l-diversity", "l": 2, "column": "illness"}],
        "method": {"name": "optimal", "suppression": 0.5},
    }
    release = anonymize_files(None, plan)
    assert set(pl.read_csv(release.data["persons"])["town"]) == {"B"}


def shares(rows: list[tuple[str, str, str]]) -> dict[str, float]:
    """The proportion of persons who have each value."""
    persons = {who for _, who, _ in rows}
    return {one: len({who for _, who, illness in rows if illness == one}) / len(persons) for _, _, one in rows}


def closeness(own: dict[str, float], whole: dict[str, float]) -> float:
    """What one distribution has more than the other, whichever way that is more."""
    more = [own.get(value, 0) - share for value, share in whole.items()]
    return max(sum(gap for gap in more if gap > 0), -sum(gap for gap in more if gap < 0))


def disclosure(own: dict[str, float], whole: dict[str, float]) -> float:
    return max(abs(math.log(own[value] / share)) if value in own else math.inf for value, share in whole.items())


@pytest.mark.parametrize("against", ["raw", "both"])
@pytest.mark.parametrize(
    ("model", "distance"),
    [({"model": "t-closeness", "t": 1}, closeness), ({"model": "delta-disclosure", "delta": 3}, disclosure)],
)
def test_classes_are_compared_with_the_persons_of_the_whole_file(tmp_path, model, distance, against: str) -> None:
    """Search, verdict, report and verification reach what is computed by hand from the file and its persons."""
    draw = random.Random(7)
    rows = [
        (draw.choice("AAABBBCCC"), f"p{draw.randrange(60)}", draw.choice(("flu", "hiv", "gout"))) for _ in range(300)
    ]
    rows += [("D", "q1", "flu"), ("D", "q2", "hiv")]  # a class that is suppressed
    pl.DataFrame(rows, schema=["town", "who", "illness"], orient="row").write_csv(tmp_path / "rows.csv")
    plan = plan_of("t", "")
    plan["privacy"][1] = model | {"column": "illness", "reference": against}
    plan["method"]["suppression"] = 0.1
    out = anonymize(tmp_path / "rows.csv", plan).save(tmp_path / "out")
    persons = pl.read_parquet(out / "persons.parquet").to_series().cast(pl.String)
    data = pl.read_csv(out / "data.csv")
    published = list(zip(data["town"], persons, data["illness"], strict=True))
    assert {town for town, _, _ in published} == {"A", "B", "C"}
    wholes = [shares(rows), shares(published)] if against == "both" else [shares(rows)]
    classes = [shares([row for row in published if row[0] == town]) for town in "ABC"]
    expected = max(distance(own, whole) for own in classes for whole in wholes)
    assert verify(out).promises[1].achieved == pytest.approx(expected)
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert report["models"][1]["achieved"] == pytest.approx(expected)


# What everybody sees is a quasi-identifier, also where the law protects it; the others must not disclose it.

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


# The delta of differential privacy is an upper bound in the whole range of epsilon, and beyond it there is none.

EPSILONS = (LEAST_EPSILON, 0.01, 0.1, 0.7, 1, 2, 3, 5, 8, 11, 11.5, 13, 16, GREATEST_EPSILON)


def exact(first: int, left: Fraction, rows: int) -> float:
    """The probability that so many of some rows are drawn, or more; a row is left out with the chance `left`."""
    ways = (comb(rows, drawn) * (1 - left) ** drawn * left ** (rows - drawn) for drawn in range(first, rows + 1))
    return float(sum(ways, Fraction(0)))


@pytest.mark.parametrize("left", [Fraction(3, 4), Fraction(1, 2), Fraction(1, 7), Fraction(1, 50)])
@pytest.mark.parametrize("k", [1, 2, 7, 15])
def test_delta_is_that_of_fractions(left: Fraction, k: int) -> None:
    """Where γn is whole, n·γ rows may be taken for too many: epsilon is rounded."""
    share, numbers = 1 - left**2, range(k, 2 * ceil(k / (1 - left**2)) + 20)
    least = max(exact(max(k, floor(rows * share) + 1), left, rows) for rows in numbers)
    most = max(exact(max(k, ceil(rows * share)), left, rows) for rows in numbers)
    assert least <= delta_of(k, -log(left)) <= most * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("delta", [0.3, 1e-4, 1e-9])
def test_delta_is_no_less_than_the_largest_tail(epsilon: float, delta: float) -> None:
    """By another library's tails, for many numbers of rows on both sides of the worst one."""
    from scipy.special import betainc

    k = least_k(epsilon, delta)
    share = -expm1(-2 * epsilon)
    drawn = k + np.unique(np.concatenate([np.arange(200), np.geomspace(1, 3 * k, 200).astype(np.int64)]))
    rows = np.maximum(np.ceil(drawn / share * (1 - 1e-13)) - 1, drawn)
    tails = betainc(drawn, rows - drawn + 1, -expm1(-epsilon))
    assert float(tails.max()) * (1 - 1e-6) <= delta_of(k, epsilon) <= delta


def test_large_classes_promise_nothing_that_is_not_true() -> None:
    """All of a million rows are drawn with this probability, where so many stand in a class."""
    assert delta_of(1_000_000, 13.0) >= exp(1_000_000 * log1p(-exp(-13.0))) > 0.1


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 6.0])
@pytest.mark.parametrize("search", [0.05, 1.0, 5.0])
def test_draws_that_a_search_favors_weigh_more(epsilon: float, search: float) -> None:
    from scipy.stats import binom

    for k in (3, 12, 40):
        share, heaviest = -expm1(-2 * epsilon), 0.0
        for drawn in range(k, 4 * k + 40):
            rows = max(ceil(drawn / share - 1e-12) - 1, drawn)
            numbers = np.arange(drawn, rows + 1)
            weights = binom.pmf(numbers, rows, -expm1(-epsilon)) * np.exp(numbers * search / (2 * k))
            heaviest = max(heaviest, float(weights.sum()))
        assert min(heaviest, 1) * (1 - 1e-9) <= delta_of(k, epsilon, search)
        assert delta_of(k, epsilon, search) <= max(heaviest * 1.001, 1) if heaviest < 0.3 else 1


@pytest.mark.parametrize(
    ("epsilon", "search"), [(GREATEST_EPSILON + 0.1, 0), (LEAST_EPSILON / 2, 0), (1, 0.9999), (20, 1), (0, 0)]
)
def test_epsilon_beyond_the_range_is_a_fault_of_the_plan(epsilon: float, search: float) -> None:
    with pytest.raises(PlanError, match="privacy"):
        read_plan(
            {
                "version": 1,
                "columns": {"sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}},
                "privacy": [{"model": "differential-privacy", "epsilon": epsilon, "delta": 1e-5, "search": search}],
                "method": {"name": "safepub"},
            }
        )


def test_the_ends_of_the_range_have_a_k() -> None:
    assert DifferentialPrivacy(GREATEST_EPSILON, 1e-6, search=0.0).k > 10**9
    assert DifferentialPrivacy(LEAST_EPSILON, 1e-6, search=0.0).k == 60
