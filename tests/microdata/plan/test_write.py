"""Writing plans: every model, method, loss, hierarchy and option is read back as it was, wherever the plan lies."""

from dataclasses import fields
from pathlib import Path

import pytest

from definitions import examples
from sfumato.hierarchies.registry import TYPES
from sfumato.microdata.models.registry import SHAPES
from sfumato.microdata.plan.methods import METHOD
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.plan.read import PLAN, read_plan
from sfumato.microdata.plan.write import plan_dict, plan_text
from sfumato.schema.composite import RecordSchema
from sfumato.values import replace

TREE = {"type": "tree", "parents": {"01067": "0", "no": "0", "null": "0"}}
FILE = {"type": "file", "path": "ladders/a.csv", "separator": ","}
HIERARCHIES = {
    "any": [{"type": "any"}, {"type": "any", "values": ["1", "yes", "007"]}],
    "date": [{"type": "date"}, {"type": "date", "format": "%Y%m%d", "levels": ["month", "year"]}],
    "digits": [{"type": "digits"}, {"type": "digits", "length": 5, "from": "left", "character": "x"}],
    "intervals": [
        {"type": "intervals", "start": 0, "end": 80, "widths": [5, 10], "bottom": 10, "top": 70},
        {"type": "intervals", "start": 0, "end": 80, "bounds": [[0, 10, 20], [0, 20]], "numbers": "decimal"},
    ],
    "tree": [TREE],
    "order": [{"type": "order", "size": 2}, {"type": "order", "groups": [2, 4], "values": ["a", "b", "no"]}],
    "file": [FILE],
}
MODELS = {name: examples(name, "s") for name in SHAPES if name != "differential-privacy"} | {
    "k-anonymity": [{"k": 3}, {"k": 3, "subsets": {"2": 5, "1": 9}}],
    "k-map": [
        {"k": 3, "population": "all.csv"},
        {
            "k": 3,
            "population": {"source": "x/all.csv", "separator": ";", "encoding": "latin-1", "missing": ["?", "no"]},
        },
        {"k": 3, "population": {"source": "all.xlsx", "table": "people"}},
        {"k": 3, "sampling_fraction": 0.1, "significance": 0.01},
    ],
    "alpha-k-anonymity": [
        {"alpha": 0.5, "k": 2, "column": "s"},
        {"alpha": 0.5, "k": 2, "column": "s", "values": ["hiv", "01"]},
    ],
    "l-diversity": [
        {"l": 2, "column": "s"},
        {"l": 2.5, "column": "s", "variant": "entropy"},
        {"l": 2, "column": "s", "variant": "recursive", "c": 3.5},
    ],
    "t-closeness": [
        {"t": 0.2, "column": "s"},
        {"t": 0.2, "column": "s", "reference": "raw"},
        {"t": 0.2, "column": "s", "distance": "ordered", "order": ["low", "no", "2"]},
        {"t": 0.2, "column": "s", "distance": "hierarchical", "hierarchy": TREE},
        {"t": 0.2, "column": "s", "distance": "hierarchical", "hierarchy": FILE},
    ],
    "delta-disclosure": [{"delta": 1.5, "column": "s", "reference": "raw"}],
    "beta-likeness": [{"beta": 1.5, "column": "s", "variant": "basic", "reference": "raw"}],
    "delta-presence": [{"lower": 0.1, "upper": 0.6, "subset": {"column": "s", "value": "no"}}],
    "individual-risk": [{"threshold": 0.01, "sampling_fraction": 0.1}],
    "global-risk": [{"threshold": 0.01, "sampling_fraction": 0.1}],
    "population-uniqueness": [
        {"threshold": 0.01, "sampling_fraction": 0.1},
        {"threshold": 0.01, "estimator": "snb", "population_size": 900},
    ],
}
FULL = [
    {"loss": "precision", "aggregate": "mean", "suppression": 0.02},
    {"suppression": {"rows": 7}, "time_limit": 5, "hide_minimality": True},
]
CLASSIFIED = {"loss": "classification", "class": "s"}
METHODS = {
    "local-suppression": [{"time_limit": 5}],
    "microaggregation": [],
    "safepub": [],
    "auto": [{}, {"suppression": 0.02}, {"suppression": {"rows": 7}, "time_limit": 5, "hide_minimality": True}],
    "exhaustive": [*FULL, CLASSIFIED],
    "samarati": [*FULL, CLASSIFIED],
    "optimal": [*FULL, CLASSIFIED],
    "greedy": [*FULL, CLASSIFIED, {"direction": "bottom-up"}],
    "local": [*FULL, CLASSIFIED, {"rounds": 3, "weight": 0.5, "nodes": 99}],
    "k-optimize": [
        {"features": "isolate", "suppression": 0.5, "time_limit": 3},
        CLASSIFIED,
        {"suppression": {"rows": 2}},
    ],
    "mondrian": [
        {"mode": "relaxed", "choice": "random", "bounds": "own", "aggregate": "geometric"},
        {"cut": "loss", "bounds": "cut"},
        {"time_limit": 5, "hide_minimality": True},
    ],
}
DATA = {
    "source": "rows/people.csv",
    "format": "csv",
    "separator": ";",
    "encoding": "latin-1",
    "quote": "'",
    "header": False,
    "strip": True,
    "missing": ["?", "007", "no"],
    "on_invalid": "drop",
    "on_missing": "drop",
    "table": "t",
    "memory_limit": "2GB",
    "temp_folder": "scratch",
}
OUTPUTS = [
    {"format": "csv", "order": "shuffle", "suppressed": "star", "class_column": "class"},
    {"format": "parquet", "partition": ["a", "no"]},
]


def plan(**changes: object) -> dict:
    columns = {
        "a": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        "no": {"role": "quasi-identifier", "type": "text", "hierarchy": {"type": "any"}},
        "s": {"role": "sensitive"},
    }
    return {
        "version": 1,
        "columns": columns,
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "output": {"order": "keep"},
    } | changes


def with_hierarchy(hierarchy: dict) -> dict:
    given = plan()
    given["columns"]["a"]["hierarchy"] = hierarchy
    return given


ANY = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
PLANS = {
    **{f"hierarchy {name} {at}": with_hierarchy(h) for name, all_ in HIERARCHIES.items() for at, h in enumerate(all_)},
    **{
        f"model {name} {at}": plan(
            privacy=[{"model": name} | model],
            **({"method": {"name": "local-suppression"}} if "subsets" in model else {}),
        )
        for name, all_ in MODELS.items()
        for at, model in enumerate(all_)
    },
    **{
        f"method {name} {at}": plan(method={"name": name} | method)
        for name, all_ in METHODS.items()
        for at, method in enumerate(all_)
    },
    **{f"output {at}": plan(output=output) for at, output in enumerate(OUTPUTS)},
    "data": plan(data=DATA),
    "protect": plan(columns={"a": ANY, "no": ANY | {"protect": {"model": "l-diversity", "l": 2}}}),
    "importance": plan(
        columns={
            "a": {"role": "quasi-identifier", "importance": 2.5, "missing": ["99", "no", "007"]},
            "no": {"role": "quasi-identifier", "importance": "never"},
            "w": {"role": "weight", "publish": "removed"},
            "h": {"role": "household"},
        },
        method={"name": "local-suppression"},
    ),
    "utility": plan(utility={"target": "s"}, seed=2**63 - 1),
    "column": plan(
        columns={
            "a": {"role": "quasi-identifier", "hierarchy": {"type": "digits"}, "weight": 2.5, "min_level": 1}
            | {"max_level": 2},
            "when": {"role": "insensitive", "type": "date"},
            "who": {"role": "identifier"},
            "pay": {"role": "sensitive", "publish": {"bottom": 1, "top": 9.5, "round": 0.5}},
            "size": {"role": "insensitive", "publish": {"bin": 10}},
        }
    ),
    "perturbation": plan(
        columns={
            "a": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
            "no": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
            "h": {"role": "household"},
            "m": {"role": "sensitive", "publish": {"microaggregate": {"k": 3, "group": "g", "refine": False}}},
            "n": {"role": "sensitive", "publish": {"noise": {"share": 0.1, "group": "g"}, "round": 5}},
            "o": {"role": "sensitive", "publish": {"swap": {"share": 0.1}}},
            "p": {"role": "sensitive", "publish": {"pram": {"retention": 0.9, "strata": ["a"]}}},
            "q": {"role": "sensitive", "publish": {"pram": {"matrix": {"x": {"x": 0.5, "y": 0.5}, "y": {"y": 1.0}}}}},
            "r": {
                "role": "sensitive",
                "publish": {"swap_households": {"share": 0.1, "k": 2, "similar": ["a"], "group": "g"}},
            },
            "t": {"role": "sensitive", "publish": {"top": {"share": 0.9}, "bottom": 0.1}},
            "u": {"role": "sensitive", "publish": {"top": {"value": 0.9}, "bottom": -1}},
        }
    ),
    "microaggregation": plan(
        columns={
            "a": {"role": "quasi-identifier", "publish": {"microaggregate": 3}},
            "no": {"role": "quasi-identifier", "publish": {"microaggregate": 3}},
        },
        method={"name": "microaggregation", "time_limit": 5},
    ),
    **{
        f"differential privacy {at}": plan(
            columns={"a": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}},
            privacy=[{"model": "differential-privacy", "epsilon": 1.5, "delta": 1e-6, "search": share}],
            method={"name": "safepub", "steps": 9, "time_limit": 5} | ({} if share else {"levels": {"a": 1}}),
            output={},
        )
        for at, share in enumerate((0.2, 0))
    },
}


def placed(plan: Plan) -> Plan:
    """A plan with all its paths found, so that two of them compare wherever they lie."""
    folder = Path().resolve() / plan.folder
    columns = {
        name: found(replace(column, hierarchy=column.hierarchy.resolve_paths(folder))) if column.hierarchy else column
        for name, column in plan.columns.items()
    }
    data = plan.data
    for name in ("source", "temp_folder"):
        if getattr(data, name) is not None:
            data = replace(data, **{name: str((folder / getattr(data, name)).resolve())})
    return replace(plan, columns=columns, data=data, folder=Path(), text={}, privacy=tuple(map(found, plan.privacy)))


def found(part):
    """A column or a model with the path of its file found from the root."""
    if getattr(part, "population", None) is not None:
        source = str(Path(part.population.source).resolve())
        return replace(part, population=replace(part.population, source=source))
    if getattr(part, "hierarchy", None) is not None and hasattr(part.hierarchy, "path"):
        return replace(part, hierarchy=replace(part.hierarchy, path=str(Path(part.hierarchy.path).resolve())))
    return part


def test_every_name_a_plan_knows_has_a_case() -> None:
    assert set(HIERARCHIES) == set(TYPES)
    assert set(METHODS) == set(METHOD.variants)


def test_every_key_a_plan_knows_is_written_in_some_case() -> None:
    written: set[tuple[str, ...]] = set()
    for given in PLANS.values():
        whole = plan_dict(read_plan(given))
        written |= {("data", key) for key in whole["data"]} | {("output", key) for key in whole["output"]}
        written |= {("columns", key) for column in whole["columns"].values() for key in column}
        written |= {("method", whole["method"]["name"], key) for key in whole["method"]}
        written |= {("model", model["model"], key) for model in whole["privacy"] for key in model}
        written |= {("utility", key) for key in whole["utility"]}
    known = {(part, key) for part in ("data", "output", "utility") for key in PLAN.keys[part].shape.keys}
    known |= {("columns", key) for key in PLAN.keys["columns"].shape.value.keys}
    known |= {("method", name, key) for name, shape in METHOD.variants.items() for key in shape.keys}
    known |= {("model", name, key) for name, shape in SHAPES.items() for key in shape.keys}
    assert known <= written


def test_every_attribute_of_a_plan_has_a_key() -> None:
    derived = {"folder", "text", "secret", "reasons", "notes", "person_secret"}
    assert {field.name for field in fields(Plan)} - derived == set(PLAN.keys)
    assert isinstance(PLAN, RecordSchema)


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_written_and_read_again_is_the_same(tmp_path, name) -> None:
    import yaml

    old, new = tmp_path / "plans", tmp_path / "elsewhere" / "out"
    old.mkdir()
    new.mkdir(parents=True)
    (old / "plan.yaml").write_text(yaml.safe_dump(PLANS[name]), encoding="utf-8")
    meant = read_plan(old / "plan.yaml")
    (new / "plan.yaml").write_text(plan_text(meant, new), encoding="utf-8")
    assert placed(read_plan(new / "plan.yaml")) == placed(meant)
    assert placed(read_plan(plan_dict(meant, new), new)) == placed(meant)


def test_the_address_of_a_table_is_no_path() -> None:
    address = "postgresql://me@db.example/base?table=people"
    assert plan_dict(read_plan(plan(data={"source": address})), Path("out"))["data"]["source"] == address


def test_numbers_are_written_as_they_were_read() -> None:
    from sfumato.schema.files import parsed, written

    text = "a: 1.10\nb: '01067'\nc: 01067\nd: no\ne: 0.02\nf: 1e5\n"
    again = parsed(written(parsed(text)))
    assert again == parsed(text)
    assert (again["a"].text, again["c"], again["d"], float(again["e"])) == ("1.10", "01067", "no", 0.02)
    assert written({"type": "any"}, flow=True) == "{type: any}"
