"""The release folder: what is written is readable, applicable and verifiable, wherever the folder lies."""

import json
import random
import shutil
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest

from definitions import examples
from refusals import coded, refused
from sfumato.errors import DataError, PlanError, UnattainableError
from sfumato.microdata.models.registry import SHAPES
from sfumato.microdata.plan.methods import METHOD
from sfumato.microdata.plan.read import read_plan
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.release_folder import parts_of
from sfumato.pipelines.verify import verify
from sizes import size

ROWS = 120
ILLNESSES = ("flu", "asthma", "hiv")
MODELS = {name: examples(name, "wage")[0] for name in SHAPES if name != "differential-privacy"} | {
    "k-map": {"k": 6, "population": "population.csv"},
    "k-map of a table": {"k": 6, "population": {"source": "population.csv", "separator": ",", "missing": ["?"]}},
    "alpha-k-anonymity": {"alpha": 0.7, "k": 3, "column": "ill"},
    "l-diversity": {"l": 2, "column": "ill"},
    "l-diversity, entropy": {"l": 1.8, "column": "ill", "variant": "entropy"},
    "l-diversity, recursive": {"l": 2, "column": "ill", "variant": "recursive", "c": 4},
    "t-closeness": {"t": 0.35, "column": "ill"},
    "t-closeness, ordered": {"t": 0.35, "column": "ill", "distance": "ordered", "order": list(ILLNESSES)},
    "t-closeness, numbers": {"t": 0.35, "column": "wage", "distance": "ordered"},
    "t-closeness, hierarchical": {
        "t": 0.35,
        "column": "ill",
        "distance": "hierarchical",
        "hierarchy": {"type": "tree", "parents": {"flu": "lung", "asthma": "lung", "hiv": "blood"}},
    },
    "t-closeness, by a file": {
        "t": 0.35,
        "column": "ill",
        "distance": "hierarchical",
        "hierarchy": {"type": "file", "path": "ill.csv"},
    },
    "delta-disclosure": {"delta": 1.5, "column": "ill"},
    "beta-likeness": {"beta": 1.5, "column": "ill"},
    "delta-presence": {"lower": 0.0, "upper": 0.8, "subset": {"column": "ill", "value": "flu"}},
    "average-risk": {"threshold": 0.25},
    "sample-uniqueness": {"threshold": 0.05},
    "individual-risk": {"threshold": 0.05, "sampling_fraction": 0.1},
    "global-risk": {"threshold": 0.05, "sampling_fraction": 0.1},
    "population-uniqueness": {"threshold": 0.01, "estimator": "zayatz", "population_size": 2000},
}
METHODS = {
    "auto": {},
    "exhaustive": {},
    "samarati": {},
    "optimal": {"loss": "classification", "class": "ill"},
    "greedy": {"direction": "bottom-up", "aggregate": "mean"},
    "local": {"rounds": 2},
    "mondrian": {},
    "mondrian, relaxed": {"mode": "relaxed"},
    "mondrian, by loss": {"cut": "loss", "aggregate": "geometric"},
    "mondrian, by chance": {"choice": "random", "bounds": "own"},
    "local-suppression": {},
    "k-optimize": {"time_limit": 2},
    "k-optimize, isolated": {"features": "isolate", "loss": "classification", "class": "ill", "time_limit": 2},
}


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A folder with rows, the population they were taken from, and ladders."""
    folder = tmp_path_factory.mktemp("rows")
    drawn = random.Random(7)
    columns = {
        "who": [f"p{number}" for number in range(ROWS)],
        "zip": [drawn.choice(["72021", "72022", "72111", "70173"]) for _ in range(ROWS)],
        "sex": [drawn.choice("mf") for _ in range(ROWS)],
        "ill": drawn.choices(ILLNESSES, [5, 3, 2], k=ROWS),
        "wage": [str(drawn.randint(1, 4)) for _ in range(ROWS)],
    }
    frame = pl.DataFrame(columns)
    # A rare place with one illness only: what it suppresses shifts the shares of the published rows.
    frame = frame.with_columns(
        zip=pl.when(pl.int_range(ROWS) < 5).then(pl.lit("10115")).otherwise("zip"),
        ill=pl.when(pl.int_range(ROWS) < 5).then(pl.lit("hiv")).otherwise("ill"),
    )
    frame.write_csv(folder / "rows.csv")
    pl.concat([frame, frame]).select("zip", "sex").write_csv(folder / "population.csv")
    (folder / "ill.csv").write_text("flu;lung\nasthma;lung\nhiv;blood\n", encoding="utf-8")
    (folder / "sex.csv").write_text("m;*\nf;*\n", encoding="utf-8")
    return folder


def plan(privacy: dict, method: dict, **more: object) -> dict:
    columns = {
        "who": {"role": "identifier"},
        "zip": {"role": "quasi-identifier", "hierarchy": {"type": "digits", "length": 5}},
        "sex": {"role": "quasi-identifier", "hierarchy": {"type": "file", "path": "sex.csv"}},
        "ill": {"role": "sensitive"},
        "wage": {"role": "sensitive", "type": "integer"},
    }
    given = {
        "version": 1,
        "data": {"source": "rows.csv"},
        "columns": columns,
        "privacy": [privacy],
        "method": method,
        "output": {"order": "keep"},
    }
    return given | more


def released(place: Path, out: Path, given: dict) -> Path:
    (out.parent / "plan.json").write_text(json.dumps(given), encoding="utf-8")
    for name in ("rows.csv", "population.csv", "ill.csv", "sex.csv"):
        shutil.copyfile(place / name, out.parent / name)
    release = anonymize(None, out.parent / "plan.json")
    try:
        return release.save(out)
    finally:
        release.close()


def model(name: str) -> dict:
    return {"model": name.partition(",")[0].partition(" of")[0]} | MODELS[name]


def method(name: str) -> dict:
    given = {"name": name.partition(",")[0]} | METHODS.get(name, {})
    return given | ({} if given["name"] in ("mondrian", "k-optimize", "local-suppression") else {"suppression": 0.1})


def test_every_model_and_method_has_a_case() -> None:
    # Differential privacy goes with a method of its own (test_safepub.py).
    assert {model(name)["model"] for name in MODELS} == {*SHAPES} - {"differential-privacy"}
    # Microaggregation is chosen by what columns are published as (test_perturb.py).
    assert {method(name)["name"] for name in METHODS} == {*METHOD.variants} - {"microaggregation", "safepub"}


def check(sfumato, folder: Path, tmp_path: Path, rows: Path) -> None:
    """A folder is verified and applied, also when it lies elsewhere and the files of its plan are gone."""
    ran = sfumato("verify", folder)
    assert (ran.code, ran.err) == (0, ""), ran.out
    moved = tmp_path / "moved" / "deep"
    moved.mkdir(parents=True)
    shutil.move(folder, moved / "again")
    for name in ("population.csv", "ill.csv", "sex.csv"):
        (tmp_path / name).unlink()
    ran = sfumato("verify", moved / "again")
    assert (ran.code, ran.err) == (0, ""), ran.out
    kept = json.loads((moved / "again" / "recoding.json").read_text(encoding="utf-8"))
    divided = "division" in kept or kept["plan"]["privacy"][0]["model"] == "delta-presence"
    ran = sfumato("apply", moved / "again" / "recoding.json", rows, "--out", tmp_path / "applied")
    assert ran.code == (2 if divided else 0), ran.err
    if divided:
        assert "cannot be applied to other rows" in ran.err
        return
    published = (moved / "again" / "data.csv").read_bytes()
    assert (tmp_path / "applied" / "data.csv").read_bytes() == published


@pytest.mark.parametrize("name", MODELS)
def test_a_release_for_every_model_is_verified_and_applied(sfumato, place, tmp_path, name) -> None:
    wanted = {"name": "optimal", "suppression": 0.1}
    folder = released(place, tmp_path / "out", plan(model(name), wanted))
    check(sfumato, folder, tmp_path, place / "rows.csv")


@pytest.mark.parametrize("name", METHODS)
def test_a_release_by_every_method_is_verified_and_applied(sfumato, place, tmp_path, name) -> None:
    folder = released(place, tmp_path / "out", plan(model("k-anonymity"), method(name)))
    check(sfumato, folder, tmp_path, place / "rows.csv")


@pytest.mark.parametrize("name", size([name for name in MODELS if name in SHAPES], [*MODELS]))
@pytest.mark.parametrize("by", METHOD.variants)
def test_every_method_holds_every_model_or_says_that_it_cannot(place, name, by) -> None:
    given, rows = plan(model(name), {"name": by}, data={}), pl.read_csv(place / "rows.csv", infer_schema=False)

    def release():
        return anonymize(rows, read_plan(given, place))

    if by == "k-optimize" and model(name)["model"] != "k-anonymity":
        with pytest.raises(PlanError, match="does not go with k-optimize"):
            release()
        return
    refusal = {
        "local-suppression": "is not supported by local-suppression",
        "microaggregation": "no quasi-identifier is microaggregated",
    }
    refusal["safepub"] = "safepub go together"
    kept = ("k-anonymity", "individual-risk", "global-risk")
    if by in ("microaggregation", "safepub") or (by == "local-suppression" and model(name)["model"] not in kept):
        with pytest.raises(PlanError, match=refusal[by]):
            release()
        return
    if by in ("auto", "mondrian", "local") and name == "delta-presence":
        with pytest.raises(PlanError, check=refused("plan.faults", "error.part.does_not_go_with_delta")):
            release()
        return
    with closing(release()) as made:
        assert verify(made).satisfied


def test_local_recoding_holds_k_map_where_a_node_holds_only_by_the_population(tmp_path) -> None:
    """Every value stands for five persons, but for fewer than four rows."""
    pl.DataFrame({"a": [*"12"] * 5 + ["3"] * 5}).write_csv(tmp_path / "all.csv")
    given = {
        "version": 1,
        "columns": {"a": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}},
        "privacy": [{"model": "k-map", "k": 4, "population": str(tmp_path / "all.csv")}],
        "method": {"name": "local"},
        "output": {"order": "keep"},
    }
    release = anonymize(pl.DataFrame({"a": [*"1233"]}), given)
    assert (release.data["a"].to_list(), release.report.models[0].achieved) == ([*"1233"], 5)
    assert verify(release.save(tmp_path / "out")).satisfied


def edited(folder: Path, name: str, change) -> None:
    path = folder / name
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")


def in_json(change):
    def changed(text: str) -> str:
        content = json.loads(text)
        change(content)
        return json.dumps(content)

    return changed


TAMPERED = {
    "a row more": ("data.csv", lambda text: text + text.splitlines()[-1] + "\n", "data.csv is not the file"),
    "a row less": ("data.csv", lambda text: "\n".join(text.splitlines()[:-1]) + "\n", "data.csv is not the file"),
    "another value": ("data.csv", lambda text: text.replace("flu", "asthma", 1), "data.csv is not the file"),
    "a column more": (
        "data.csv",
        lambda text: "\n".join(f"{line},{'x' if at else 'phone'}" for at, line in enumerate(text.splitlines())) + "\n",
        'column "phone" is not in the plan',
    ),
    "no rows": ("data.csv", lambda text: text.splitlines()[0] + "\n", "there are no rows"),
    "a smaller k in the plan": ("plan.yaml", lambda text: text.replace("k: 3", "k: 1"), "asks for other promises"),
    "another plan": ("plan.yaml", lambda text: text.replace("seed: 1", "seed: 2"), "plan.yaml is not the file"),
    "other rows in the report": (
        "report.json",
        in_json(lambda report: report.update(rows=report["rows"] + 1)),
        "report.json and recoding.json tell of different",
    ),
    "a smaller k in the report": (
        "report.json",
        in_json(lambda report: report["models"][0].update(requested=1)),
        "asks for other promises",
    ),
    "no report": ("report.json", lambda _: "", "report.json is missing"),
    "no recoding": ("recoding.json", lambda _: "{}", "recoding.json is missing"),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_a_folder_whose_files_do_not_belong_together_is_refused(sfumato, place, tmp_path, name) -> None:
    asked = plan(model("k-anonymity"), {"name": "optimal", "suppression": 0.1}, seed=1)
    folder = released(place, tmp_path / "out", asked)
    file, change, said = TAMPERED[name]
    edited(folder, file, change)
    ran = sfumato("verify", folder)
    assert (ran.code, said in ran.out) == (1, True), ran.out


def test_a_k_given_besides_a_plan_is_checked_too(sfumato, place, tmp_path) -> None:
    folder = released(place, tmp_path / "out", plan(model("k-anonymity"), {"name": "optimal"}))
    assert sfumato("verify", folder, "--k", 2).code == 0
    for given in ([], ["--plan", folder / "plan.yaml"]):
        ran = sfumato("verify", folder, "--k", 100, *given)
        assert ran.code == 1
        assert "DOES NOT HOLD  k-anonymity: asked 100" in ran.out
    file = folder / "data.csv"
    assert sfumato("verify", file, "--plan", folder / "plan.yaml", "--k", 100).code == 1
    ran = sfumato("verify", file, "--plan", folder / "plan.yaml", "--quasi-identifiers", "zip")
    assert (ran.code, "would not be used" in ran.err) == (2, True)


def test_what_the_report_says_of_the_rows_is_their_hash(place, tmp_path) -> None:
    from hashlib import sha256

    folder = released(place, tmp_path / "out", plan(model("k-anonymity"), {"name": "optimal"}))
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    for key, name in {"output": "data.csv", "plan": "plan.yaml", "recoding": "recoding.json"}.items():
        assert report[f"{key}_sha256"] == sha256((folder / name).read_bytes()).hexdigest()


def test_a_sound_release_whose_suppression_shifts_the_shares_is_verified(place, tmp_path) -> None:
    """The published rows alone would fail: the promise compares with the table before suppression."""
    near = {"model": "t-closeness", "t": 0.16, "column": "ill"}
    folder = released(place, tmp_path / "out", plan(near, {"name": "optimal", "suppression": 0.3}))
    assert verify(folder).satisfied
    plan_alone = json.loads((tmp_path / "plan.json").read_text(encoding="utf-8"))
    assert verify(folder).promises[0].achieved != verify(folder / "data.csv", plan_alone).promises[0].achieved


TYPED = {
    "version": 1,
    "columns": {
        "a": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        "s": {"role": "sensitive", "type": "integer"},
    },
    "privacy": [{"model": "l-diversity", "l": 2, "column": "s"}],
    "output": {"order": "keep"},
}


def test_texts_that_mean_one_value_of_a_type_are_one_value(sfumato, tmp_path) -> None:
    alike = pl.DataFrame({"a": ["1", "1"], "s": ["7", "007"]})
    with pytest.raises(UnattainableError):
        anonymize(alike, TYPED)
    different = pl.DataFrame({"a": ["1"] * 3, "s": ["7", "007", "8"]})
    release = anonymize(different, TYPED)
    assert release.report.models[0].achieved == 2
    assert release.data["s"].to_list() == ["7", "7", "8"]
    assert sfumato("verify", release.save(tmp_path / "out")).code == 0
    assert not verify(pl.DataFrame({"a": ["1", "1"], "s": ["7", "007"]}), TYPED).satisfied


@pytest.mark.parametrize("on_invalid", ["error", "missing", "drop"])
def test_a_sensitive_value_that_is_not_of_its_type_is_refused(on_invalid) -> None:
    rows = pl.DataFrame({"a": ["1"] * 3, "s": ["7", "8", "x"]})
    with pytest.raises(DataError, check=coded("data.invalid-value")) as caught:
        anonymize(rows, TYPED | {"data": {"on_invalid": on_invalid}})
    assert (caught.value.values, caught.value.rows) == (("x",), (3,))
    assert "x" not in caught.value.message.split()


@pytest.mark.parametrize("judged", [[], [{"model": "l-diversity", "l": 2, "column": "ill"}]])
def test_a_measure_does_not_change_what_is_released(place, tmp_path, judged) -> None:
    pytest.importorskip("sklearn")
    given = plan(model("k-anonymity"), {"name": "mondrian", "mode": "relaxed"})
    given["privacy"] += judged
    given["data"]["source"] = str(place / "rows.csv")
    given["columns"]["sex"]["hierarchy"] = {"type": "any"}
    given["seed"] = 1
    plain = anonymize(None, given)
    measured = anonymize(None, given | {"utility": {"target": "wage"}})
    assert "classification" in measured.report.utility
    assert Path(measured.data).read_bytes() == Path(plain.data).read_bytes()


def test_what_is_printed_as_json_is_the_report_of_the_folder(sfumato, place, tmp_path) -> None:
    given = plan(model("k-anonymity"), {"name": "optimal", "suppression": 0.1})
    given["data"]["source"] = str(place / "rows.csv")
    given["columns"]["sex"]["hierarchy"]["path"] = str(place / "sex.csv")
    (tmp_path / "plan.json").write_text(json.dumps(given), encoding="utf-8")
    ran = sfumato("anonymize", tmp_path / "plan.json", "--out", tmp_path / "out", "--json")
    printed = json.loads(ran.out)
    assert printed == json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    assert {"columns", "class_sizes", "alternatives", "output_sha256"} <= printed.keys()


@pytest.mark.parametrize("key", ["min_level", "max_level"])
def test_a_level_that_a_hierarchy_does_not_have_is_refused(place, tmp_path, key) -> None:
    given = plan(model("k-anonymity"), {"name": "optimal"})
    given["columns"]["zip"][key] = 99
    with pytest.raises(PlanError, match=f"columns.zip.{key}: the hierarchy's highest level is 5"):
        released(place, tmp_path / "out", given)


def test_the_trade_off_is_a_stage_that_is_told_and_timed(tmp_path) -> None:
    told: list[str] = []
    frame = pl.DataFrame({"q": ["a", "a", "b", "b", "c"]})
    plan = {
        "version": 1,
        "columns": {"q": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "output": {"order": "keep"},
    }
    release = anonymize(frame, plan, progress=lambda stage, _done, _all: told.append(stage))
    assert "trade-off" not in told
    assert release.report.seconds.trade_off == 0
    release.save(tmp_path / "out")
    assert told[-1] == "trade-off"
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["alternatives"]
    assert report["seconds"]["trade_off"] > 0
    assert report["seconds"]["total"] > release.report.seconds.total


def test_what_stays_in_the_house_is_for_its_owner_alone(sfumato, place, tmp_path) -> None:
    given = plan(model("k-anonymity"), {"name": "optimal", "suppression": 0.1})
    given["data"]["source"] = str(place / "rows.csv")
    given["columns"]["sex"]["hierarchy"]["path"] = str(place / "sex.csv")
    (tmp_path / "plan.json").write_text(json.dumps(given), encoding="utf-8")
    ran = sfumato("anonymize", tmp_path / "plan.json", "--out", tmp_path / "out")
    handed_out, staying = parts_of(tmp_path / "out")
    assert handed_out == ["data.csv", "report-external.html", "report-external.json"]
    assert {"recoding.json", "report.html", "plan.yaml"} <= {*staying}
    modes = {path.name: path.stat().st_mode & 0o077 for path in (tmp_path / "out").iterdir()}
    assert {name for name, mode in modes.items() if mode} == {*handed_out}
    assert "Internal: " + ", ".join(staying) in ran.err
