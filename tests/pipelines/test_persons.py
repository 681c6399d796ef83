"""Promises that count persons: every method and engine against a count by hand, on random visits.

Nothing here knows how persons are kept: the published rows are brought back to their persons by a column that the test
adds, and every class is looked at row by row.
"""

import json
import random
from collections import defaultdict
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from definitions import MODELS as DEFINITIONS
from definitions import Class
from sfumato.engines.join_keys import recorded
from sfumato.engines.person_rows import record_of
from sfumato.errors import DataError, UnattainableError
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.verify import verify
from sfumato.report.release.report import promise_text
from sfumato.web.microdata.result.risk_view import attacker_risks, distribution_of
from sizes import size

AGE = {"type": "intervals", "start": 0, "end": 39, "widths": [5, 10, 20]}
COLUMNS = {
    "who": {"role": "person"},
    "visit": {"role": "insensitive"},
    "age": {"role": "quasi-identifier", "type": "integer", "hierarchy": AGE},
    "town": {"role": "quasi-identifier", "hierarchy": {"type": "digits", "length": 2}},
    "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
    "illness": {"role": "sensitive"},
}
K = {"model": "k-anonymity", "k": 3}
MODELS = {
    "k": [K],
    "l": [K, {"model": "l-diversity", "variant": "distinct", "l": 2, "column": "illness"}],
    "entropy": [K, {"model": "l-diversity", "variant": "entropy", "l": 1.5, "column": "illness"}],
    "t": [K, {"model": "t-closeness", "t": 0.5, "column": "illness"}],
}
FURTHER = {
    "equal": [K, {"model": "t-closeness", "t": 0.5, "column": "illness", "reference": "raw"}],
    "recursive": [K, {"model": "l-diversity", "variant": "recursive", "l": 2, "c": 2.5, "column": "illness"}],
    "alpha": [{"model": "alpha-k-anonymity", "alpha": 0.7, "k": 2, "column": "illness"}],
    "ordered": [K, {"model": "t-closeness", "t": 0.3, "distance": "ordered", "order": ["a", "b", "c"],
                    "column": "illness", "reference": "raw"}],
    "beta": [K, {"model": "beta-likeness", "beta": 0.6, "column": "illness", "reference": "raw"}],
    "delta": [K, {"model": "delta-disclosure", "delta": 0.6, "column": "illness", "reference": "raw"}],
}  # fmt: skip
METHODS = {
    "exhaustive": {"name": "exhaustive", "suppression": 0.2},
    "optimal": {"name": "optimal", "suppression": 0.2},
    "samarati": {"name": "samarati", "suppression": 0.2},
    "greedy": {"name": "greedy", "suppression": 0.2},
    "local": {"name": "local", "suppression": 0.2},
    "mondrian": {"name": "mondrian"},
    "relaxed": {"name": "mondrian", "mode": "relaxed"},
    "k-optimize": {"name": "k-optimize", "time_limit": 5},
    "auto": {"name": "auto", "suppression": 0.2},
}


def visits(seed: int, persons: int = 40) -> pl.DataFrame:
    """Visits of persons, most of whom keep their attributes; visit numbers lead a published row back to its person."""
    draw = random.Random(seed)
    rows = []
    for person in range(persons):
        age, town, sex = draw.randrange(40), f"{draw.randrange(20):02d}", draw.choice("mf")
        for _ in range(draw.choice([1, 1, 2, 5])):
            if draw.random() < 0.15:
                age, town = draw.randrange(40), f"{draw.randrange(20):02d}"
            rows.append((f"p{person}", len(rows), age, town, sex, draw.choice("abc")))
    draw.shuffle(rows)
    return pl.DataFrame(rows, schema=["who", "visit", "age", "town", "sex", "illness"], orient="row")


def plan_of(models: str, method: str, **more: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "columns": COLUMNS,
        "privacy": (MODELS | FURTHER)[models],
        "method": METHODS[method],
        "output": {"order": "keep"},
    } | more


def held_by(rows: Any) -> dict[str, frozenset[str | None]]:
    """The illnesses of each person, from pairs of both."""
    held: dict[str, set[str | None]] = defaultdict(set)
    for person, illness in rows:
        held[person].add(illness)
    return {person: frozenset(values) for person, values in held.items()}


def promises_hold(raw: pl.DataFrame, rows: list[tuple[str, ...]], models: str) -> bool:
    """Whether every class of published rows (visit, age, town, sex, illness) keeps the promises, person by person."""
    who = dict(zip(raw["visit"].cast(str), raw["who"], strict=True))
    whole = [*held_by(raw.select("who", "illness").rows()).values()]
    members: dict[tuple[str, ...], list[Any]] = defaultdict(list)
    for visit, *labels, illness in rows:
        members[tuple(labels)].append((who[visit], illness))
    classes = [Class([*held_by(pairs).values()]) for pairs in members.values()]
    return all(DEFINITIONS[promise["model"]].holds(classes, whole, promise) for promise in (MODELS | FURTHER)[models])


def rows_of(frame: pl.DataFrame) -> list[tuple[str, ...]]:
    names = ["visit", "age", "town", "sex", "illness"]
    return [tuple(map(str, row)) for row in frame.select(names).rows()]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("models", MODELS)
def test_every_method_keeps_promises_about_persons(models: str, method: str) -> None:
    if method == "k-optimize" and models != "k":
        pytest.skip("K-Optimize is for k-anonymity alone")
    released = 0
    for seed in range(size(1, 3)):
        raw = visits(seed)
        try:
            release = anonymize(raw, plan_of(models, method))
        except UnattainableError:
            continue
        released += 1
        assert promises_hold(raw, rows_of(release.data), models)
        assert set(release.data["who"]) == {"*"}
        # By rows alone some of these would pass that do not by persons.
        assert release.report.models[0].achieved >= 3
    assert released, "no visits could be released"


@pytest.mark.parametrize("models", MODELS)
def test_local_keeps_promises_about_persons_where_the_lattice_is_large(models: str, monkeypatch: Any) -> None:
    from sfumato.microdata.methods.local_recoding import search

    monkeypatch.setattr(search, "MOST_LISTED", 1)
    for seed in range(size(1, 3)):
        raw = visits(seed)
        release = anonymize(raw, plan_of(models, "local") | {"method": {"name": "local", "suppression": 0.5}})
        assert promises_hold(raw, rows_of(release.data), models)
        assert len(release.data) >= len(raw) / 2


@pytest.mark.parametrize("method", ["optimal", "local", "mondrian"])
def test_risks_are_those_of_persons(method: str) -> None:
    raw = visits(4)
    release = anonymize(raw, plan_of("k", method))
    who = dict(zip(raw["visit"].cast(str), raw["who"], strict=True))
    classes: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for visit, *labels, _ in rows_of(release.data):
        classes[tuple(labels)].append(who[visit])
    after = release.report.risk["after"]
    assert after["smallest"] == min(len(set(members)) for members in classes.values())
    assert after["highest"] == pytest.approx(max(1 / len(set(members)) for members in classes.values()))
    mean = sum(len(members) / len(set(members)) for members in classes.values()) / len(release.data)
    assert after["average"] == pytest.approx(mean)
    found = attacker_risks(distribution_of(after), None)["marketer"]
    assert (found.average, found.expected) == pytest.approx((mean, mean * len(release.data)))
    combinations = defaultdict(list)
    for person, *values in raw.select(["who", "age", "town", "sex"]).rows():
        combinations[tuple(values)].append(person)
    alone = [members for members in combinations.values() if len(set(members)) == 1]
    assert any(len(members) > 1 for members in alone), "rows and persons are not the same here"
    assert release.report.risk["before"]["uniques"] == sum(map(len, alone))
    assert any("risks count persons" in remark for remark in release.report.notes)


@pytest.mark.parametrize("models", ["k", "l", "entropy", *FURTHER])
def test_the_nodes_that_hold_are_those_counted_by_hand(models: str) -> None:
    """Every node of the lattice: the rows it suppresses are those of classes that fail by hand."""
    raw = visits(11, persons=30)
    release = anonymize(raw, plan_of(models, "exhaustive") | {"method": {"name": "exhaustive", "suppression": 1.0}})
    assert len(release.report.candidates) == 5 * 3 * 2
    for node in release.report.candidates:
        width, kept_digits, sex = (1, 5, 10, 20, 40)[node.node[0]], 2 - node.node[1], 1 - node.node[2]
        classes = defaultdict(list)
        for v, a, t, s, i in raw.select(["visit", "age", "town", "sex", "illness"]).rows():
            row = (str(v), str(a // width), t[:kept_digits], s if sex else "", i)
            classes[row[1:4]].append(row)
        lost = sum(len(rows) for rows in classes.values() if not promises_hold(raw, rows, models))
        assert node.suppressed_rows == lost, node.node


def test_five_rows_of_one_person_are_no_crowd() -> None:
    raw = pl.DataFrame({"who": ["a"] * 5 + ["b", "c", "d"], "visit": range(8), "age": [7] * 5 + [30] * 3,
                        "town": ["01"] * 8, "sex": ["m"] * 8, "illness": ["a"] * 8})  # fmt: skip
    release = anonymize(raw, plan_of("k", "optimal") | {"method": {"name": "optimal", "suppression": 0.7}})
    assert sorted(release.data["visit"]) == [5, 6, 7] or len(set(release.data["age"])) == 1


def test_rows_that_name_nobody_are_refused() -> None:
    raw = visits(1).with_columns(pl.when(pl.col("visit") == 3).then(None).otherwise(pl.col("who")).alias("who"))
    with pytest.raises(DataError) as caught:
        anonymize(raw, plan_of("k", "optimal"))
    assert caught.value.code == "data.no-person"


@pytest.mark.parametrize(
    ("form", "method", "order"),
    [
        ("csv", "optimal", "keep"), ("parquet", "optimal", "shuffle"), ("csv", "local", "shuffle"),
        ("parquet", "local", "keep"), ("csv", "mondrian", "shuffle"), ("parquet", "mondrian", "keep"),
    ],
)  # fmt: skip
def test_files_count_as_frames_do(tmp_path: Path, form: str, method: str, order: str) -> None:
    raw = visits(5)
    raw.write_csv(tmp_path / "rows.csv") if form == "csv" else raw.cast(str).write_parquet(tmp_path / "rows.parquet")
    plan = plan_of("l", method, seed=4, output={"format": form, "order": order, "suppressed": "star"})
    release = anonymize(tmp_path / f"rows.{form}", plan)
    release.save(tmp_path / "out")
    frame = anonymize(raw.cast(str), plan)
    read = pl.read_csv if form == "csv" else pl.read_parquet
    rows = read(tmp_path / "out" / f"data.{form}").cast(str)
    assert rows.rows() == frame.data.rows()
    assert set(rows["who"]) == {"*"}
    keys = pl.read_parquet(tmp_path / "out" / "persons.parquet")["sfumato_person"]
    who = dict(zip(raw["visit"].cast(str), raw["who"], strict=True))
    pairs = set(zip(keys, (who[visit] for visit in rows["visit"]), strict=True))
    assert len(pairs) == len(set(keys)) == len({name for _, name in pairs})
    assert list(keys) == frame.published.person_keys


def noisy(raw: pl.DataFrame) -> pl.DataFrame:
    """The same visits, each person written as whoever was at the desk writes it."""
    written = ("{}", "P-{}", " p {}", "P.{}", "(p)/{}")
    names = [
        written[place % 5].format(who.removeprefix("p") if place % 5 else who) for place, who in enumerate(raw["who"])
    ]
    return raw.with_columns(pl.Series("who", names))


@pytest.mark.parametrize(
    ("source", "method"), [("frame", "optimal"), ("csv", "local"), ("parquet", "optimal"), ("parquet", "local")]
)
def test_a_person_is_one_however_it_is_written(tmp_path: Path, source: str, method: str) -> None:
    raw = noisy(visits(5).cast(str))
    assert raw["who"].n_unique() > 60
    raw.write_csv(tmp_path / "rows.csv")
    raw.write_parquet(tmp_path / "rows.parquet")
    plan = plan_of("l", method, seed=4, output={"format": "csv", "order": "keep", "suppressed": "star"})
    clean = anonymize(visits(5).cast(str), plan)
    release = anonymize(raw if source == "frame" else tmp_path / f"rows.{source}", plan)
    release.save(tmp_path / "out")
    assert pl.read_csv(tmp_path / "out" / "data.csv", infer_schema=False).rows() == clean.data.rows()
    assert record_of(tmp_path / "out" / "data.csv") == recorded(clean.published.person_keys)
    assert release.report.models == clean.report.models
    assert verify(tmp_path / "out").satisfied
    assert any("punctuation" in remark for remark in release.report.notes)


def test_a_folder_is_verified_by_persons_and_a_file_needs_them(tmp_path: Path, sfumato: Any) -> None:
    raw = visits(6)
    raw.write_csv(tmp_path / "rows.csv")
    plan = plan_of("t", "optimal") | {"method": {"name": "optimal", "suppression": 0.6}}
    anonymize(tmp_path / "rows.csv", plan).save(tmp_path / "out")
    assert sfumato("verify", str(tmp_path / "out")).code == 0
    plan = str(tmp_path / "out" / "plan.yaml")
    alone = sfumato("verify", str(tmp_path / "out" / "data.csv"), "--plan", plan)
    assert (alone.code, "persons not checked: the file does not name them" in alone.out) == (1, True)
    persons = str(tmp_path / "out" / "persons.parquet")
    assert sfumato("verify", str(tmp_path / "out" / "data.csv"), "--plan", plan, "--persons", persons).code == 0


def test_a_release_that_holds_by_rows_alone_is_found_out(tmp_path: Path) -> None:
    """Five rows of one person in a class of their own: with keys put right, the folder no longer holds."""
    raw = visits(6)
    anonymize(raw, plan_of("k", "mondrian")).save(tmp_path / "out")
    keys = pl.read_parquet(tmp_path / "out" / "persons.parquet")
    keys.with_columns(pl.lit("one").alias("sfumato_person")).write_parquet(tmp_path / "out" / "persons.parquet")
    verdict = verify(tmp_path / "out")
    assert not verdict.satisfied and verdict.promises[0].achieved == 1


def test_keys_are_published_only_where_all_rows_of_a_person_hold_together(tmp_path: Path) -> None:
    columns = COLUMNS | {"who": {"role": "person", "publish": "key"}}
    alike = pl.DataFrame({"who": [f"p{i // 2}" for i in range(24)], "visit": range(24), "age": [5, 25] * 12,
                          "town": ["01"] * 24, "sex": ["m"] * 24, "illness": ["a", "b"] * 12})  # fmt: skip
    release = anonymize(alike, plan_of("k", "optimal") | {"columns": columns})
    assert len(set(release.data["who"])) == 12 and not set(release.data["who"]) & set(alike["who"])
    again = anonymize(alike, plan_of("k", "optimal") | {"columns": columns})
    assert not set(release.data["who"]) & set(again.data["who"])
    # One person with three visits is told from all others by their number.
    more = pl.concat([alike, alike.head(1).with_columns(pl.lit(99, pl.Int64).alias("visit"))])
    with pytest.raises(UnattainableError) as caught:
        anonymize(more, plan_of("k", "optimal") | {"columns": columns})
    assert "*" in caught.value.hint


def test_an_identifier_that_repeats_is_warned_about() -> None:
    columns = COLUMNS | {"who": {"role": "identifier"}}
    release = anonymize(visits(2), plan_of("k", "optimal") | {"columns": columns})
    assert 'rows share their "who"' in promise_text(release.report) or release.report.uncounted == ("who",)


def test_no_key_leaves_the_house(tmp_path: Path) -> None:
    raw = visits(8)
    anonymize(raw, plan_of("k", "local")).save(tmp_path / "out")
    keys = set(pl.read_parquet(tmp_path / "out" / "persons.parquet")["sfumato_person"])
    names = [*keys, *set(raw["who"])]
    for name in ("data.csv", "report-external.html", "report-external.json", "report.html", "report.json"):
        text = (tmp_path / "out" / name).read_text()
        assert not [one for one in names if f'"{one}"' in text or f">{one}<" in text or f",{one}," in text]
    assert json.loads((tmp_path / "out" / "report.json").read_text())["persons_sha256"]


@pytest.mark.parametrize("column", [{"type": "integer"}, {"publish": {"round": 100}}], ids=["integer", "rounded"])
def test_files_whose_sensitive_numbers_are_written_in_several_ways(tmp_path, column) -> None:
    """Keys of persons stand beside the rows of a file: counting them with numbers must find both."""
    rows = [(f"P{place % 30}", 20 + place % 4, 100 * (place % 7)) for place in range(120)]
    lines = ["pid,age,cost", *(f"{person},{age},{cost}" for person, age, cost in rows)]
    (tmp_path / "visits.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    plan = {
        "version": 1,
        "data": {"source": str(tmp_path / "visits.csv")},
        "columns": {
            "pid": {"role": "person"},
            "age": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
            "cost": {"role": "sensitive", **column},
        },
        "privacy": [{"model": "k-anonymity", "k": 5}, {"model": "l-diversity", "l": 2, "column": "cost"}],
        "method": {"name": "optimal"},
    }
    report = anonymize(None, plan).report
    assert report.satisfied
    persons = {age: len({person for person, own, _ in rows if own == age}) for age in range(20, 24)}
    assert report.models[0].achieved == min(persons.values())


def with_gaps(raw: pl.DataFrame, mark: str) -> pl.DataFrame:
    """The visits with a text that means missing in place of one illness, and with no empty cell."""
    return raw.cast(str).with_columns(pl.col("illness").replace("c", mark))


SPREADS: dict[str, dict[str, Any]] = {
    "distinct": {"model": "l-diversity", "variant": "distinct", "l": 2},
    "entropy": {"model": "l-diversity", "variant": "entropy", "l": 1.2},
    "t-closeness": {"model": "t-closeness", "t": 0.9},
    "beta-likeness": {"model": "beta-likeness", "beta": 9.0},
    "delta-disclosure": {"model": "delta-disclosure", "delta": 9.0},
}
SOURCES = ("frame", "csv", "parquet")
# In every run each source and each model; at full size each model from each source.
GAPS = size([*((source, "distinct") for source in SOURCES), *(("csv", name) for name in [*SPREADS][1:])],
            [*product(SOURCES, SPREADS)])  # fmt: skip


@pytest.mark.parametrize(("source", "name"), GAPS)
def test_texts_that_mean_missing_count_as_the_missing_value(tmp_path: Path, source: str, name: str) -> None:
    """A sensitive column whose only gaps are written NA: persons are counted as if the cells were empty."""
    raw = visits(5)
    spread = SPREADS[name] | {"column": "illness"}
    plan = plan_of("k", "optimal", seed=4, data={"missing": ["NA"]}) | {"privacy": [K, spread]}
    plan["method"] = {"name": "optimal", "suppression": 0.9}
    marked, empty = with_gaps(raw, "NA"), with_gaps(raw, "")
    marked.write_csv(tmp_path / "rows.csv")
    marked.write_parquet(tmp_path / "rows.parquet")
    release = anonymize(marked if source == "frame" else tmp_path / f"rows.{source}", plan)
    assert release.report.models == anonymize(empty, plan).report.models
    release.save(tmp_path / "out")
    assert verify(tmp_path / "out").satisfied


@pytest.mark.parametrize("source", ["frame", "csv", "parquet"])
def test_a_person_has_a_value_once_however_that_is_spelled(tmp_path: Path, source: str) -> None:
    """`a` and `A ` are one illness to promises: who is written both ways is one person with it, beside two with b."""
    rows = pl.DataFrame({"who": ["p", "p", "q", "r"], "sex": ["m"] * 4, "illness": ["a", "A ", "b", "b"]})
    rows.write_csv(tmp_path / "rows.csv")
    rows.write_parquet(tmp_path / "rows.parquet")
    columns = {name: COLUMNS[name] for name in rows.columns}
    plan = plan_of("entropy", "optimal", columns=columns)
    release = anonymize(rows if source == "frame" else tmp_path / f"rows.{source}", plan)
    assert release.report.models[1].achieved == pytest.approx((3**3 / 2**2) ** (1 / 3))


def test_classes_with_persons_enough_are_judged_the_same_without_naming_the_others() -> None:
    from sfumato.engines.opening import open_engine
    from sfumato.microdata.counts.grouping import Grouper
    from sfumato.microdata.methods.full_domain.problem import problem_of
    from sfumato.microdata.methods.search import search_table
    from sfumato.microdata.models.persons import PERSONS
    from sfumato.microdata.plan.read import read_plan
    from sfumato.pipelines.release_stages.counting import frequency_table

    plan = read_plan(plan_of("k", "optimal"))
    plan, table = search_table(plan, frequency_table(plan, open_engine(visits(3, 200), plan)))
    problem, all_named = problem_of(plan, plan.method, table), Grouper(table)
    named = {True: 0, False: 0}
    for node in problem.nodes():
        few, every = problem.grouper.at(node), all_named.at(node)
        assert (problem.violating(few) == problem.violating(every)).all()
        for grouped in (few, every):
            named[grouped is few] += len(grouped.classes.sensitive[PERSONS].values)
    assert named[True] < named[False]


def test_promises_about_more_than_a_number_of_persons_hear_of_all() -> None:
    from sfumato.microdata.models.persons import counting_persons, enough_persons
    from sfumato.microdata.plan.read import read_plan

    asked = {name: enough_persons(counting_persons(read_plan(plan_of(name, "optimal")).privacy)) for name in MODELS}
    assert asked == {"k": 3, "l": None, "entropy": None, "t": None}
    assert enough_persons(read_plan(plan_of("k", "optimal")).privacy) is None


@pytest.mark.parametrize("numbers", [True, False])
@pytest.mark.parametrize("value", [None, "illness"])
@pytest.mark.parametrize("keyed", [False, True])
def test_persons_of_a_parquet_file_are_counted_as_by_hand(tmp_path, numbers, value, keyed) -> None:
    from contextlib import closing

    from sfumato.engines.duckdb.engine import DuckDBEngine
    from sfumato.engines.engine import MissingRules
    from sfumato.engines.join_keys import PERSON, PERSONS_FILE
    from sfumato.microdata.counts.persons import ADDED_UP

    raw = visits(5, 150)
    raw = raw.with_columns(pl.col("who").str.slice(1).cast(int)) if numbers else raw
    raw.write_parquet(tmp_path / "rows.parquet")
    raw.select(pl.col("who").cast(str).alias(PERSON)).write_parquet(tmp_path / PERSONS_FILE)
    names = ("age", "town", "sex", *([value] if value else []))
    with closing(DuckDBEngine(tmp_path / "rows.parquet")) as engine:
        engine.count(names, MissingRules())
        engine.attach_persons(tmp_path / PERSONS_FILE)
        entries = engine.count_persons(names[:3], PERSON if keyed else "who", value, MissingRules())
    texts = zip(entries.text_counts.codes.tolist(), entries.persons, entries.text_counts.counts, strict=True)
    counted: dict[tuple[Any, ...], int] = defaultdict(int)
    single: set[tuple[Any, ...]] = set()
    for codes, person, count in texts:
        where = tuple(entries.text_counts.values[place][code] for place, code in enumerate(codes))
        counted[where] += int(count)
        assert person == ADDED_UP or (where, int(person)) not in single
        single |= {(where, int(person))} - {(where, ADDED_UP)}
    by_hand = raw.with_columns(pl.col(names).cast(str)).group_by(names).agg(pl.col("who").n_unique())
    assert counted == {tuple(row[:-1]): row[-1] for row in by_hand.iter_rows()}
    own = raw.group_by("who", *([value] if value else [])).agg(pl.struct(names[:3]).n_unique().alias("n"))
    assert len({person for _, person in single}) == own.filter(pl.col("n") > 1).height
