"""The cell key method from a plan: counts, sums, zeros, microdata, files with perturbation tables."""

import json

import numpy as np
import pandas
import pytest

import sfumato as sf
from refusals import coded
from sfumato.errors import PlanError, ViolationError
from sfumato.tables.noise.ptable import make_ptable
from sfumato.tables.noise.ptable_file import ptable_text
from sfumato.tables.plan.sections import CellKey
from sfumato.tables.plan.table_plan import read_table_plan

SECRET = "stays in the house"


@pytest.fixture(scope="module")
def people():
    rng, many = np.random.default_rng(2), 600
    return pandas.DataFrame(
        {
            "id": range(many),
            "sex": rng.choice(["m", "w"], many),
            "area": rng.choice(list("abcdef"), many, p=[0.4, 0.3, 0.2, 0.08, 0.015, 0.005]),
            "income": rng.integers(1, 500, many),
        }
    )


def protect(table, value="count", **method):
    return sf.protect(
        table,
        value=value,
        dimensions={"sex": {"column": "sex"}, "area": {"column": "area"}},
        **({"frequency": "count", "contributions": ["top1", "top2"]} if value != "count" else {}),
        method={"name": "cell-key", "key": "key", **method},
    )


def test_counts_stay_near_and_no_small_one_is_left(people):
    table = sf.tabulate(people, ["sex", "area"], record="id", secret=SECRET)
    done = protect(table, D=4, V=3, js=2)
    published = done.data["count_published"].astype(int)
    assert (abs(published - done.data["count"]) <= 4).all()
    assert not ((published >= 1) & (published <= 2)).any()
    report = done.report
    assert all(abs(row["bias"]) < 1e-9 for row in report["rows"])
    assert report["noise"]["changed"] > 0
    assert report["additivity"]["broken"] > 0
    assert report["differences"]["attacks"] > 0
    assert (done.data["count_lower"].astype(int) <= done.data["count"]).all()
    assert (done.data["count_upper"].astype(int) >= done.data["count"]).all()


def test_zeros_stay_unless_the_plan_says_otherwise(people):
    table = sf.tabulate(people, ["sex", "area"], record="id", secret=SECRET)
    empty = [{"sex": sex, "area": f"none{place}", "count": 0, "key": "0"} for place in range(60) for sex in "mw"]
    totals = [{"sex": "Total", "area": f"none{place}", "count": 0, "key": "0"} for place in range(60)]
    wide = pandas.concat([table, pandas.DataFrame(empty + totals)], ignore_index=True)
    wide["must"] = ["x" if area.endswith("7") else "" for area in wide["area"]]
    zero = (wide["count"] == 0).to_numpy()
    stayed = protect(wide, D=3, V=1).data["count_published"].astype(int).to_numpy()
    assert (stayed[zero] == 0).all()
    method = {"D": 3, "V": 1, "zeros": 0.3, "structural": "must", "secret": SECRET}
    moved = protect(wide, **method).data["count_published"].astype(int).to_numpy()
    assert set(moved[zero]) == {0, 1}
    assert 0.1 < (moved[zero] == 1).mean() < 0.5
    assert (moved[zero & (wide["must"] == "x").to_numpy()] == 0).all()
    with pytest.raises(PlanError, check=coded("plan.no-secret")):
        protect(wide, D=3, V=1, zeros=0.3)


def test_sums_have_noise_in_proportion_to_their_largest_contributions(people):
    table = sf.tabulate(people, ["sex", "area"], value="income", record="id", secret=SECRET)
    done = protect(table, value="income", D=5, V=2, share=0.2)
    change = (done.data["income_published"].astype(float) - done.data["income"]).abs()
    assert (change <= 0.2 * done.data["top1"] + 0.5).all()
    assert (change > 0).any()


def test_microdata_in_the_plan_and_a_file_with_the_perturbation_table(people, tmp_path, sfumato):
    people.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "ptable.csv").write_text(ptable_text(make_ptable(CellKey(deviation=2, variance=1.0))))
    plan = {
        "version": 1,
        "table": {"microdata": "people.csv", "value": "count"},
        "tables": [
            {"name": "one", "dimensions": {"sex": {"column": "sex"}, "area": {"column": "area"}}},
            {"name": "two", "dimensions": {"area": {"column": "area"}}},
        ],
        "method": {"name": "cell-key", "record": "id", "secret": SECRET, "ptable": "ptable.csv"},
    }
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    ran = sfumato("protect", tmp_path / "plan.json", "--out", tmp_path / "out")
    assert ran.code == 0, ran.err
    one = pandas.read_csv(tmp_path / "out" / "one" / "table-external.csv")
    two = pandas.read_csv(tmp_path / "out" / "two" / "table-external.csv")
    of_one = one[one["sex"] == "Total"].set_index("area")["count_published"].to_dict()
    assert of_one == two.set_index("area")["count_published"].to_dict()
    by_hand = sf.tabulate(people, ["area"], record="id", secret=SECRET)
    by_hand = sf.protect(
        by_hand,
        value="count",
        dimensions={"area": {"column": "area"}},
        method={"name": "cell-key", "key": "key", "D": 2, "V": 1},
    )
    assert by_hand.data.set_index("area")["count_published"].astype(int).to_dict() == of_one
    assert SECRET not in (tmp_path / "out" / "plan.yaml").read_text()


def test_a_table_without_keys_is_refused(people):
    table = sf.tabulate(people, ["sex", "area"])
    with pytest.raises(PlanError, check=coded("plan.no-key.no_keys")):
        protect(table, D=2, V=1)
    plan = {
        "version": 1,
        "table": {"microdata": "people.csv", "value": "count"},
        "dimensions": {"area": {"column": "area"}},
        "method": {"name": "cell-key", "record": "id"},
    }
    with pytest.raises(PlanError, check=coded("plan.record-key")):
        sf.protect(people, read_table_plan(plan))


def test_noise_below_the_precision_is_refused_or_told(people):
    ones = people.assign(one=1)
    table = sf.tabulate(ones, ["sex", "area"], value="one", record="id", secret=SECRET)
    with pytest.raises(PlanError, check=coded("plan.no-noise")) as caught:
        protect(table, "one")
    assert "table.value: count" in caught.value.hint
    small = sf.tabulate(
        people.assign(income=people["income"] // 25), ["sex", "area"], value="income", record="id", secret=SECRET
    )
    done = protect(small, "income", share=0.05)
    still = int((done.data["top1"] * 0.05 < 0.5).sum())
    assert 0 < still < len(done.data)
    assert done.report["remarks"][-1].startswith(f"{still} cells have noise below")


def test_a_table_that_nothing_changed_in_is_not_to_be_handed_out(people, tmp_path):
    table = sf.tabulate(people, ["sex", "area"])
    done = sf.protect(
        table,
        value="count",
        dimensions={"sex": {"column": "sex"}, "area": {"column": "area"}},
        method={"name": "rounding", "base": 1},
    )
    (unchanged,) = [one for one in done.report["warnings"] if one.code == "noised.nothing_changed"]
    done.save(tmp_path / "out")
    assert unchanged in (tmp_path / "out" / "report.html").read_text()


def test_a_perturbation_table_excludes_what_another_is_made_by(people, tmp_path):
    table = sf.tabulate(people, ["sex", "area"], record="id", secret=SECRET)
    with pytest.raises(PlanError, check=coded("plan.ptable-and-design")):
        protect(table, ptable="p.csv", D=5, V=3, js=2)
    (tmp_path / "p.csv").write_text(ptable_text(make_ptable(CellKey(deviation=9, variance=8.0))))
    done = protect(table, ptable=str(tmp_path / "p.csv"))
    # The audit of what is handed out knows how far the file lets numbers go.
    assert sf.audit(done).passed
    ranges = done.data["count_upper"].astype(int) - done.data["count_published"].astype(int)
    assert ranges.max() > 5


def rows_of(*rows):
    lines = [f"{count};{count + noise};{chance}" for count, row in enumerate(rows, start=1) for noise, chance in row]
    return "\n".join(["i;j;p", *lines]) + "\n"


@pytest.mark.parametrize(
    ("value", "rule", "last", "error"),
    [
        ("count", {"rule": "frequency", "min": 3}, [(-1, 0.25), (0, 0.5), (1, 0.25)], ViolationError),
        ("income", {"rule": "p-percent", "p": 20}, [(-1, 0.25), (0, 0.5), (1, 0.25)], ViolationError),
        ("income", {"rule": "frequency", "min": 3}, [(0, 1)], PlanError),
    ],
)
def test_a_reader_has_the_perturbation_table(tmp_path, value, rule, last, error):
    """Only 2 is published as 2; and sums move by a fifth of what the widest row would move them."""
    rng = np.random.default_rng(3)
    sizes = [
        (a, b) for place, (a, b) in enumerate((a, b) for a in "pqr" for b in "xyz") for _ in range(2 + 5 * (place % 2))
    ]
    people = pandas.DataFrame(sizes, columns=["sex", "area"]).assign(id=range(len(sizes)))
    people["income"] = rng.integers(300, 999, len(sizes))
    rows = [(-1, 0.75), (3, 0.25)], [(-2, 0.25), (0, 0.5), (2, 0.25)], [(-3, 0.5), (3, 0.5)], [(-4, 0.5), (5, 0.5)]
    (tmp_path / "p.csv").write_text(rows_of(*rows, last))
    table = sf.tabulate(people, ["sex", "area"], value=None if value == "count" else value, record="id", secret=SECRET)
    with pytest.raises(error):
        sf.protect(
            table,
            value=value,
            dimensions={"sex": {"column": "sex"}, "area": {"column": "area"}},
            primary=[rule],
            **({"frequency": "count", "contributions": ["top1", "top2"]} if value == "income" else {}),
            method={"name": "cell-key", "key": "key", "ptable": str(tmp_path / "p.csv"), "share": 0.4},
        )
