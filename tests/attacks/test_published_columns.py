"""What published columns reveal besides their values: spellings, shapes of pseudonyms, class numbers, names."""

import random
from itertools import product
from pathlib import Path
from typing import Any

import polars
import polars as pl
import pytest

import sfumato as sf
from refusals import refused
from sfumato.errors import DataError, PlanError
from sfumato.microdata.perturbation.plan import Pseudonym
from sfumato.microdata.plan.model import ColumnPlan
from sfumato.microdata.plan.read import read_plan
from sfumato.microdata.publish_plan import PublishPlan
from sfumato.pipelines.apply import apply
from sfumato.pipelines.verify import verify
from sfumato.report.checks import verdict_text
from sfumato.report.release.report import line, promise_text

# Under differential privacy nothing but quasi-identifiers is published: all else tells whose row was drawn.

AGE = {"role": "quasi-identifier", "hierarchy": {"type": "intervals", "start": 0, "end": 99, "widths": [10, 50]}}


def frame(rows: int = 600) -> pl.DataFrame:
    return pl.DataFrame({"age": [str(row * 7 % 100) for row in range(rows)], "more": [str(row) for row in range(rows)]})


def plan_of(more: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "columns": {"age": AGE, "more": more or {"role": "identifier"}},
        "privacy": [{"model": "differential-privacy", "epsilon": 2, "delta": 0.001, "search": 0}],
        "method": {"name": "safepub", "levels": {"age": 2}},
    } | changes


PUBLISHED = {
    "pseudonyms of one format": {"role": "identifier", "publish": {"pseudonym": "format"}},
    "pseudonyms by a key": {"role": "identifier", "publish": {"pseudonym": "keyed"}},
    "pseudonyms of persons": {"role": "person", "publish": {"pseudonym": "format"}},
    "keys of persons": {"role": "person", "publish": "key"},
    "weights": {"role": "weight"},
    "rounded weights": {"role": "weight", "publish": {"round": 10}},
    "rounded numbers": {"role": "insensitive", "type": "integer", "publish": {"round": 10}},
    "noise": {"role": "sensitive", "type": "integer", "publish": {"noise": 0.1}},
    "shuffled values": {"role": "insensitive", "publish": {"swap": 0.5}},
}


@pytest.mark.parametrize("column", PUBLISHED.values(), ids=PUBLISHED)
def test_a_published_column_that_is_no_quasi_identifier_is_refused(column: dict[str, Any]) -> None:
    with pytest.raises(PlanError):
        sf.anonymize(frame(), plan_of(column))


@pytest.mark.parametrize("column", [{"role": "identifier"}, {"role": "household"}])
def test_a_column_of_stars_is_no_channel(column: dict[str, Any]) -> None:
    assert set(sf.anonymize(frame(), plan_of(column)).data["more"]) == {"*"}


FURTHER = {
    "numbers of classes": {"output": {"class_column": "class"}},
    "star rows": {"output": {"suppressed": "star"}},
    "a policy that looks at the rows": {"policy": "hipaa-safe-harbor"},
    "means of groups": {"columns": {"age": {"role": "quasi-identifier", "publish": {"microaggregate": 5}}}},
}


@pytest.mark.parametrize("changes", FURTHER.values(), ids=FURTHER)
def test_whatever_else_would_tell_of_the_raw_rows_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(PlanError):
        sf.anonymize(frame(), plan_of(**changes))


def test_a_recoding_by_chance_is_not_applied_to_other_rows(tmp_path: Path) -> None:
    """All of them would be published, and none drawn."""
    pair = pl.DataFrame({"age": [str(row % 2 * 60) for row in range(400)], "more": ["x"] * 400})
    privacy = [{"model": "differential-privacy", "epsilon": 5, "delta": 0.9, "search": 0}]
    folder = sf.anonymize(pair, plan_of(privacy=privacy, seed=3)).save(tmp_path / "out")
    pair.write_csv(tmp_path / "rows.csv")
    with pytest.raises(PlanError, check=refused("plan.recoding-sample")):
        apply(folder / "recoding.json", tmp_path / "rows.csv", tmp_path / "again")


# What a published column says besides its values is found: spellings, shapes of pseudonyms, class numbers.

ROWS = 400
# Blanks, signs without width, of control, that choose a form or fill a place: nobody sees them in a value.
MARKS = [" ", "\u00a0", "\u200b", "\x07", "\u034f", "\u2800", "\u3164", "\ufe0f", "\U000e0101"]


def rows() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "age": [20 + row % 40 for row in range(ROWS)],
            "illness": [("flu", "cold", "hiv", "acne")[row % 4] for row in range(ROWS)],
            "ward": [f"ward {row % 3}" for row in range(ROWS)],
        }
    )


def plan(**output: object) -> dict[str, object]:
    ages = {"type": "intervals", "start": 0, "end": 99, "widths": [5, 10]}
    return {
        "version": 1,
        "columns": {
            "age": {"role": "quasi-identifier", "type": "integer", "hierarchy": ages},
            "illness": {"role": "sensitive"},
            "ward": {"role": "insensitive"},
        },
        "privacy": [
            {"model": "k-anonymity", "k": 5},
            {"model": "l-diversity", "variant": "distinct", "l": 2, "column": "illness"},
        ],
        "output": output,
        "seed": 1,
    }


@pytest.mark.parametrize("column", ["illness", "ward"])
@pytest.mark.parametrize("mark", MARKS)
def test_a_trailing_blank_is_found(column, mark) -> None:
    published = sf.anonymize(rows(), plan()).data
    assert sf.verify(published, plan()).satisfied
    odd = pl.int_range(pl.len()) % 2 == 1
    marked = published.with_columns(pl.when(odd).then(pl.col(column) + mark).otherwise(pl.col(column)).alias(column))
    verdict = sf.verify(marked, plan())
    assert [promise.column for promise in verdict.promises if not promise.satisfied] == [column]


def test_rows_as_they_were_read_may_break_it_and_a_plan_mends_it(tmp_path) -> None:
    blank = pl.when(pl.int_range(pl.len()) % 7 == 0).then(pl.lit(" ")).otherwise(pl.lit(""))
    marked = rows().with_columns(ward=pl.col("ward") + blank)
    with pytest.raises(DataError, check=refused("data.spellings", column="ward")):
        sf.anonymize(marked, plan())
    marked.write_csv(tmp_path / "rows.csv")
    assert sf.anonymize(tmp_path / "rows.csv", {**plan(), "data": {"strip": True}}).report.satisfied


# Two ways to write one value, and another value.
WAYS = {
    "integer": ("7", "007", "9"),
    "decimal": ("1.5", "1.50", "2"),
    "date": ("2020-01-02", "2020-01-02 00:00", "2021-01-01"),
}


@pytest.mark.parametrize("type_", WAYS)
def test_two_ways_to_write_a_number_or_a_date_tell_nothing(type_) -> None:
    one, another, other = WAYS[type_]
    several = pl.Series([(one, another, other)[row % 3] for row in range(ROWS)])
    once = pl.Series([(one, one, other)[row % 3] for row in range(ROWS)])
    asked = plan()
    asked["columns"]["ward"]["type"] = asked["columns"]["illness"]["type"] = type_
    with pytest.raises(DataError, check=refused("data.spellings", column="ward")):
        sf.anonymize(rows().with_columns(ward=several, illness=once), asked)
    data = sf.anonymize(rows().with_columns(ward=once, illness=several), asked).data
    assert {*data["illness"]} == {one, other}
    assert sf.verify(data, asked).satisfied
    changed = pl.when(pl.int_range(pl.len()) % 2 == 1).then(pl.lit(another)).otherwise(pl.lit(one))
    told = sf.verify(data.with_columns(ward=changed), asked)
    assert [promise.column for promise in told.promises if not promise.satisfied] == ["ward"]


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("type_", WAYS)
def test_blanks_at_numbers_and_dates_are_found(type_, mark) -> None:
    one, _, other = WAYS[type_]
    asked = plan()
    asked["columns"]["ward"]["type"] = type_
    marked = rows().with_columns(ward=pl.Series([(one, other, one + mark)[row % 3] for row in range(ROWS)]))
    with pytest.raises(DataError, check=refused("data.spellings", column="ward")):
        sf.anonymize(marked, asked)


@pytest.mark.parametrize(("type_", "publish"), [("text", {"pram": 0.95}), ("decimal", {"swap": 0.01})])
def test_a_column_that_chance_changes_is_written_in_one_way_too(type_, publish) -> None:
    asked = plan()
    asked["columns"]["ward"] |= {"type": type_, "publish": publish}
    marked = rows().with_columns(ward=pl.Series([("5", "7", "5 ")[row % 3] for row in range(ROWS)]))
    with pytest.raises(DataError, check=refused("data.spellings", column="ward")):
        sf.anonymize(marked, asked)


def test_class_numbers_tell_nothing_but_the_class() -> None:
    published = sf.anonymize(rows(), plan(class_column="class")).data
    assert sf.verify(published, plan(class_column="class")).satisfied
    told = published.with_columns(pl.col("class").cast(pl.Int64) * 2 + (pl.col("illness") == "hiv"))
    assert not sf.verify(told, plan(class_column="class")).satisfied


def test_a_pseudonym_of_a_length_of_its_own_is_found() -> None:
    """One of 180 letters among those of 103 is found again wherever its person appears."""
    asked = read_plan(plan())
    keyed = sf.Plan(
        *asked.privacy,
        columns={
            **asked.columns,
            "name": ColumnPlan("identifier", publish=PublishPlan(pseudonym=Pseudonym("keyed"))),
        },
    )
    names = [("b" * 180 if row == 7 else "a" * 103) for row in range(ROWS)]
    verdict = sf.verify(rows().with_columns(pl.lit("20-24").alias("age"), name=pl.Series(names)), keyed)
    assert [promise.model for promise in verdict.promises if not promise.satisfied] == ["shapes of pseudonyms"]


def changed(how: str) -> tuple[pl.DataFrame, dict[str, object]]:
    """Published rows of which every second one is marked in some way."""
    asked = plan(intervals="bounds")
    asked["columns"] |= {"name": {"role": "identifier"}, "pay": {"role": "insensitive", "publish": {"round": 10}}}
    raw = rows().with_columns(name=pl.lit("x"), pay=pl.int_range(pl.len()) % 90)
    data = sf.anonymize(raw, asked).data.with_columns(pl.col("age_min", "pay").cast(pl.String))
    odd, name, column = (
        pl.int_range(pl.len()) % 2 == 1,
        *{
            "removed": ("name", pl.lit(None)),
            "bounds": ("age_min", pl.col("age_min") + ".0"),
            "word": ("pay", pl.lit("many")),
            "label": ("pay", pl.lit(">90")),
            "nothing": ("pay", pl.col("pay")),
        }[how],
    )
    return data.with_columns(pl.when(odd).then(column).otherwise(pl.col(name)).alias(name)), asked


@pytest.mark.parametrize(
    ("how", "column"), [("removed", "name"), ("bounds", "age"), ("word", "pay"), ("label", "pay"), ("nothing", None)]
)
def test_columns_that_tell_nothing_carry_no_mark(how, column) -> None:
    """A removed column that is blank in some rows, bounds in two ways, words and labels that no rounding makes."""
    data, asked = changed(how)
    assert [promise.column for promise in sf.verify(data, asked).promises if not promise.satisfied] == [column] * bool(
        column
    )


@pytest.mark.parametrize("dash", ["\u2010", "\u2011", "\u2013", "\u2014", "\u2212"])
def test_dashes_that_an_editor_replaced_are_no_second_value(dash) -> None:
    """A class whose only illness is written with a hyphen and with a dash has one value."""
    alike = pl.Series([("HIV-1", f"HIV{dash}1")[row % 2] if row % 3 == 0 else f"ill{row % 4}" for row in range(ROWS)])
    asked = {
        "version": 1,
        "columns": {
            "ward": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
            "illness": {"role": "sensitive"},
        },
        "privacy": [{"model": "l-diversity", "l": 2, "column": "illness"}],
    }
    frame = rows().select("ward").with_columns(illness=alike)
    assert not sf.verify(frame, asked).satisfied
    with pytest.raises(sf.SfumatoError, check=refused("error.unattainable.top.would")):
        sf.anonymize(frame, asked)


# Of several files every column is accounted for as of one: spellings, columns that no plan names, identifiers.

PERSONS = 24


def files(mark: str = "") -> dict[str, pl.DataFrame]:
    ids = [f"p{place}" for place in range(PERSONS)]
    wards = ["north" + (mark if place % 2 else "") for place in range(PERSONS)]
    return {
        "patients": pl.DataFrame({"pid": ids, "name": ids, "sex": ["f", "m"] * (PERSONS // 2)}),
        "stays": pl.DataFrame({"pid": ids, "month": ["may"] * PERSONS, "ward": wards}),
    }


def files_plan() -> dict[str, object]:
    known = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
    return {
        "version": 1,
        "files": {"patients": {"key": "pid"}, "stays": {"parent": "patients"}},
        "columns": {"name": {"role": "identifier"}, "sex": known, "month": known, "ward": {"role": "insensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 3}],
    }


def test_a_trailing_blank_in_a_file_is_refused() -> None:
    """Who has "north " instead of "north" could be told by it; a single file is refused for it, too."""
    with pytest.raises(DataError) as refused:
        sf.anonymize(files(" "), files_plan())
    assert refused.value.code == "data.spellings" and "stays.ward" in refused.value.message


@pytest.mark.parametrize(
    ("file", "column", "value"), [("stays", "secret", "x"), ("stays", "ward", "north "), ("patients", "name", "p0")]
)
def test_a_changed_file_of_a_folder_is_found_by_its_columns(tmp_path, file, column, value) -> None:
    folder: Path = sf.anonymize(files(), files_plan()).save(tmp_path / "release")
    assert sf.verify(folder).satisfied
    path = folder / f"{file}.csv"
    written = pl.read_csv(path, infer_schema=False).with_row_index()
    old = pl.col(column) if column in written.columns else pl.lit("y")
    changed = pl.when(pl.col("index") == 0).then(pl.lit(value)).otherwise(old).alias(column)
    written.with_columns(changed).drop("index").write_csv(path)
    verdict = sf.verify(folder)
    named = {one.column for one in verdict.promises if not one.satisfied} | {*"".join(verdict.faults).split('"')}
    assert {f"{file}.{column}", column} & named


# A category of a hierarchy that no record has is a cell of 0, next to one that some have: else its absence says so.


def released(tmp_path, places):
    (tmp_path / "places.csv").write_text("b1,north\nb2,north\nb3,south\nb4,south\nc1,abroad\nc2,abroad\n")
    rows = [("x", "b2")] * 6 + [("y", "b2")] * 4 + [(sex, place) for place in places for sex in "xy"] * 3
    frame = polars.DataFrame({"sex": [sex for sex, _ in rows], "place": [place for _, place in rows]})
    dimensions = {"sex": {"column": "sex"}, "place": {"column": "place", "hierarchy": str(tmp_path / "places.csv")}}
    plan = {"version": 1, "table": {"value": "count"}, "primary": [{"rule": "frequency", "min": 3}]}
    done = sf.protect(frame, plan | {"tables": [{"name": "t", "dimensions": dimensions}]})
    columns = done.tables["t"].external
    cells = zip(columns.text("sex"), columns.text("place"), strict=True)
    return dict(zip(cells, columns.text("count_published"), strict=True))


def test_all_of_a_region_are_not_seen_to_be_in_its_only_place(tmp_path):
    """Everybody in the north is in b2; b1 is there for who knows the hierarchy."""
    shown = released(tmp_path, ["b3", "b4"])
    assert shown["Total", "b1"] == "*"
    assert shown["x", "b1"] == "*"


def test_unused_branches_are_one_cell_and_codes_that_have_records_themselves_have_no_parts(tmp_path):
    shown = released(tmp_path, ["south"])
    places = {place for _, place in shown}
    assert places == {"Total", "north", "south", "abroad", "b1", "b2"}


def test_a_file_without_records_is_refused(tmp_path) -> None:
    (tmp_path / "rows.csv").write_text("A,who\n")
    plan = {
        "version": 1,
        "dimensions": {"A": {"column": "A", "total": "Total"}},
        "table": {"microdata": str(tmp_path / "rows.csv"), "value": "count", "holding": "who"},
        "primary": [{"rule": "frequency", "min": 3}],
    }
    with pytest.raises(DataError):
        sf.protect(None, plan)


# Persons who repeat by name: they are proposed as the persons, and a verdict about rows says that it is one.

GIVEN = ("Anna", "Max", "Ida", "Paul", "Emma", "Karl", "Lena", "Otto", "Clara", "Hans")
NAMES = [f"{given} {name}" for given, name in product(GIVEN, ("Becker", "Vogt", "Winkler", "Schulz", "Roth"))]


def gifts(each: tuple[int, ...] = (1, 2, 3, 8, 12)) -> pl.DataFrame:
    """What donors gave to parties: a row a gift, nothing beside their names that says who gave it."""
    draw = random.Random(5)
    rows = [
        (name, f"{draw.choice('ABCDE')} club", draw.choice(("2018", "2019", "2020")), draw.choice(("red", "blue")))
        for name in NAMES
        for _ in range(draw.choice(each))
    ]
    return pl.DataFrame(rows, schema=["donor", "club", "year", "party"], orient="row")


def names_plan(role: str) -> dict:
    known = {name: {"role": "quasi-identifier", "hierarchy": {"type": "any"}} for name in ("club", "year")}
    columns = {"donor": {"role": role}, **known, "party": {"role": "sensitive"}}
    return {"version": 1, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 5}]}


def test_names_that_repeat_are_proposed_as_the_persons() -> None:
    assert sf.suggest(gifts()).columns["donor"].role == "person"
    assert sf.suggest(gifts((1,))).columns["donor"].role == "identifier"


def test_a_number_for_each_person_says_that_names_repeat_by_chance() -> None:
    rows = gifts((1, 2, 2))
    numbered = rows.with_columns(pl.Series("member_no", [f"M{place:05}" for place in range(rows.height)]))
    assert sf.suggest(numbered).columns["donor"].role == "identifier"


@pytest.mark.parametrize("kind", ["frame", "csv"])
def test_every_head_says_rows_not_persons(tmp_path, kind: str) -> None:
    gifts().write_csv(tmp_path / "gifts.csv")
    release = sf.anonymize(gifts() if kind == "frame" else tmp_path / "gifts.csv", names_plan("identifier"))
    shared = sum(rows for rows in gifts()["donor"].value_counts()["count"] if rows > 1)
    head = promise_text(release.report)
    assert "rows, not persons" in head and f'{shared} rows share their "donor"' in head
    assert "rows, not persons" in line(release.report)
    release.save(tmp_path / "out")
    for name in ("report.html", "report-external.html"):
        page = (tmp_path / "out" / name).read_text(encoding="utf-8")
        told = "several rows share their" if "external" in name else f"{shared} of"
        assert "(rows, not persons)" in page and told in page
    assert "rows, not persons" in verdict_text(verify(tmp_path / "out")).splitlines()[-1]


def test_a_verdict_about_persons_says_so(tmp_path) -> None:
    gifts().write_csv(tmp_path / "gifts.csv")
    release = sf.anonymize(tmp_path / "gifts.csv", names_plan("person"))
    assert "for the persons published" in promise_text(release.report)
    release.save(tmp_path / "out")
    assert "not persons" not in (tmp_path / "out" / "report-external.html").read_text(encoding="utf-8")
    assert verdict_text(verify(tmp_path / "out")).endswith("(counted: persons)\n")


def test_names_of_those_who_serve_are_not_the_persons() -> None:
    rows = gifts().rename({"donor": "teacher"})
    assert sf.suggest(rows).columns["teacher"].role != "person"
