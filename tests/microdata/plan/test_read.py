"""Reading plans: all faults at once, nearest names, the JSON Schema, writing and reading back."""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from sfumato.cli.documents import schemas
from sfumato.datasets import DATASETS
from sfumato.errors import PlanError
from sfumato.microdata.plan.methods import Suppression
from sfumato.microdata.plan.read import plan_schema, read_plan
from sfumato.microdata.plan.write import plan_dict

DOCS = Path(__file__).resolve().parents[3] / "docs"
PLAN = {
    "version": 1,
    "data": {"source": "patients.csv", "separator": ";", "missing": ["?"], "on_invalid": "error"},
    "columns": {
        "name": {"role": "identifier"},
        "date_of_birth": {"role": "quasi-identifier", "hierarchy": {"type": "date", "format": "%Y%m%d"}},
        "zip": {"role": "quasi-identifier", "hierarchy": {"type": "digits", "length": 5, "from": "left"}},
        "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}, "weight": 2, "max_level": 1},
        "age": {
            "role": "quasi-identifier",
            "type": "integer",
            "hierarchy": {"type": "intervals", "start": 16, "end": 95, "widths": [5, 10, 20]},
        },
        "education": {"role": "quasi-identifier", "hierarchy": {"type": "file", "path": "education.csv"}},
        "marital": {"role": "quasi-identifier", "hierarchy": {"type": "tree", "parents": {"single": "alone"}}},
        "size": {"role": "quasi-identifier", "hierarchy": {"type": "order", "size": 2}},
        "illness": {"role": "sensitive"},
        "note": {"role": "insensitive"},
    },
    "privacy": [
        {"model": "k-anonymity", "k": 5},
        {"model": "l-diversity", "variant": "distinct", "l": 2, "column": "illness"},
    ],
    "method": {"name": "optimal", "loss": "loss-metric", "suppression": 0.02},
    "seed": 1,
    "output": {"format": "csv", "order": "keep", "suppressed": "drop"},
}


def changed(**changes: object) -> dict:
    plan = json.loads(json.dumps(PLAN))
    for path, value in changes.items():
        *parents, last = path.split("__")
        place = plan
        for parent in parents:
            place = place[int(parent)] if parent.isdigit() else place[parent]
        place[int(last) if last.isdigit() else last] = value
    return plan


def test_the_contract_plan_is_read() -> None:
    plan = read_plan(PLAN)
    assert plan.quasi_identifiers == ("date_of_birth", "zip", "sex", "age", "education", "marital", "size")
    assert plan.value_columns == ("illness",)
    assert plan.method.suppression == Suppression(0.02)


def test_yaml_and_json_files_read_alike(tmp_path) -> None:
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(PLAN), encoding="utf-8")
    (tmp_path / "plan.json").write_text(json.dumps(PLAN), encoding="utf-8")
    assert read_plan(tmp_path / "plan.yaml") == read_plan(str(tmp_path / "plan.json"))


@pytest.mark.parametrize(
    ("changes", "place", "words"),
    [
        ({"version": 2}, "version", "at most 1"),
        ({"colums": {}}, "colums", 'Did you mean "columns"?'),
        ({"data__seperator": ";"}, "data.seperator", 'Did you mean "separator"?'),
        ({"data__separator": ";;"}, "data", "one character"),
        ({"columns__sex__hierarchy": {"type": "anny"}}, "columns.sex.hierarchy.type", 'Did you mean "any"?'),
        ({"columns__note__hierarchy": {"type": "any"}}, "columns.note", "belongs to a quasi-identifier"),
        ({"columns__zip__min_level": 3, "columns__zip__max_level": 2}, "columns.zip", "below min_level"),
        ({"privacy": []}, "privacy", "at least 1"),
        ({"privacy__0__k": "five"}, "privacy[0].k", "whole number"),
        ({"privacy__1__column": "ilness"}, "privacy[1].column", 'Did you mean "illness"?'),
        ({"privacy__1__column": "note"}, "privacy[1].column", "sensitive"),
        ({"privacy__0__model": "k-anonimity"}, "privacy[0].model", 'Did you mean "k-anonymity"?'),
        ({"method__name": "optimum"}, "method.name", 'Did you mean "optimal"?'),
        ({"method__loss": "loss"}, "method.loss", "loss-metric"),
        ({"method__suppression": 1.5}, "method.suppression", "at most 1"),
        ({"method__suppression": {"row": 20}}, "method.suppression.row", 'Did you mean "rows"?'),
        ({"seed": -1}, "seed", "at least 0"),
        ({"output__class_column": "zip"}, "output.class_column", "column of the data"),
        ({"data__on_missing": "any"}, "data.on_missing", "k-anonymity alone"),
        (
            {"columns__note": {"role": "person"}, "output": {"format": "parquet", "partition": ["sex"]}},
            "output.partition",
            "order of the rows",
        ),
    ],
)
def test_faults_name_their_place_and_the_way_out(changes, place, words) -> None:
    with pytest.raises(PlanError) as caught:
        read_plan(changed(**changes))
    fault = next(fault for fault in caught.value.issues if fault.path == place)
    assert words in str(fault)


def test_all_faults_come_at_once() -> None:
    with pytest.raises(PlanError) as caught:
        read_plan(changed(seed="x", privacy__0__k=0, columns__zip__hierarchy={"type": "digits", "lenght": 5}))
    assert {fault.path for fault in caught.value.issues} == {"seed", "privacy[0].k", "columns.zip.hierarchy.lenght"}


def test_faults_within_parts_do_not_hide_faults_between_them() -> None:
    wrong = changed(
        data__on_invalid="eror",
        privacy__1__column="ilness",
        method={"name": "optimal", "loss": "classification"},
        utility={"target": "nite"},
    )
    with pytest.raises(PlanError) as caught:
        read_plan(wrong)
    assert {fault.path for fault in caught.value.issues} == {
        "data.on_invalid",
        "privacy[1].column",
        "method.class",
        "utility.target",
    }


def test_a_part_that_cannot_be_read_is_not_blamed_for_another() -> None:
    wrong = changed(
        columns__illness={"role": "sensitiv"},
        columns__zip__hierarchy={"type": "digit"},
        columns__age={"role": "quasi-identifier", "weight": "x", "hierarchy": {"type": "any"}},
        method={"name": "optmal", "class": "illness"},
        privacy__0={"model": "k-anonymty", "k": 0},
    )
    with pytest.raises(PlanError) as caught:
        read_plan(wrong)
    assert {fault.path for fault in caught.value.issues} == {
        "columns.illness.role",
        "columns.zip.hierarchy.type",
        "columns.age.weight",
        "method.name",
        "privacy[0].model",
        "privacy[0].k",
    }


@pytest.mark.parametrize(
    "needs_a_method",
    [
        {"columns__sex__protect": {"model": "l-diversity", "l": 2}},
        {"privacy": [{"model": "differential-privacy", "epsilon": 1, "delta": 0.001}]},
    ],
)
def test_a_method_that_cannot_be_read_goes_with_everything(needs_a_method) -> None:
    with pytest.raises(PlanError) as caught:
        read_plan(changed(method={"name": "optimal", "los": "score"}, **needs_a_method))
    assert [fault.path for fault in caught.value.issues] == ["method.los"]


@pytest.mark.parametrize("part", ["data", "columns", "privacy", "method", "output", "utility", "seed"])
@pytest.mark.parametrize("value", [None, [], {}, 1, "x", [None], {"a": None}])
def test_no_nonsense_is_worse_than_a_fault(part, value) -> None:
    try:
        read_plan(PLAN | {part: value})
    except PlanError as error:
        assert error.issues


@pytest.mark.parametrize("text", ["a: [", "a: 1\na: 2", "[1, 2]", "", "\udcff"])
def test_files_that_are_no_plan(tmp_path, text) -> None:
    (tmp_path / "plan.yaml").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(PlanError):
        read_plan(tmp_path / "plan.yaml")


def test_the_published_schemas_are_those_of_the_code() -> None:
    for name, schema in schemas().items():
        published = json.loads((DOCS / name).read_text(encoding="utf-8"))
        assert published == json.loads(json.dumps(schema)), f"{name} is old: run `make schema`"


def test_the_schema_takes_what_the_reader_takes() -> None:
    checker = jsonschema.Draft202012Validator(plan_schema())
    checker.check_schema(plan_schema())
    checker.validate(PLAN)
    checker.validate(plan_dict(read_plan(PLAN)))
    for make in DATASETS.values():
        checker.validate(json.loads(json.dumps(make().plan("rows.csv"))))


@pytest.mark.parametrize(
    "changes",
    [{"colums": {}}, {"privacy__0__k": 0}, {"method__name": "best"}, {"columns__sex__role": "quasi"}, {"seed": 1.5}],
)
def test_the_schema_refuses_what_the_reader_refuses(changes) -> None:
    plan = changed(**changes)
    assert not jsonschema.Draft202012Validator(plan_schema()).is_valid(plan)
    with pytest.raises(PlanError):
        read_plan(plan)


@pytest.mark.parametrize(
    ("changes", "at", "words"),
    [
        ({"columns__note": {"role": "insensitive", "weight": 2}}, "columns.note", "belong to a quasi-identifier"),
        (
            {"columns__illness": {"role": "sensitive", "min_level": 1}},
            "columns.illness",
            "belong to a quasi-identifier",
        ),
        ({"columns__name": {"role": "identifier", "max_level": 1}}, "columns.name", "belong to a quasi-identifier"),
        ({"columns__sex__weight": float("inf")}, "columns.sex.weight", "must be a finite number"),
    ],
)
def test_what_would_do_nothing_is_refused(changes, at, words) -> None:
    with pytest.raises(PlanError) as caught:
        read_plan(changed(**changes))
    assert [(fault.path, words in fault.message) for fault in caught.value.issues] == [(at, True)]
