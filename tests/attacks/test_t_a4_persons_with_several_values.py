"""Persons who have several sensitive values: a value that all persons of a class have is one that everybody learns."""

import json
import math
import random

import polars as pl
import pytest

from sfumato import anonymize_files
from sfumato.errors import UnattainableError
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.verify import verify

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
