"""What a published column says besides its values is found: spellings, shapes of pseudonyms, class numbers."""

import polars as pl
import pytest

import sfumato as sf
from sfumato.errors import DataError
from sfumato.microdata.perturbation.plan import Pseudonym
from sfumato.microdata.plan.model import ColumnPlan
from sfumato.microdata.plan.read import read_plan
from sfumato.microdata.publish_plan import PublishPlan

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
    with pytest.raises(DataError, match="ward"):
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
    with pytest.raises(DataError, match=r'"ward".* written in several ways'):
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
    with pytest.raises(DataError, match=r'"ward".* written in several ways'):
        sf.anonymize(marked, asked)


@pytest.mark.parametrize(("type_", "publish"), [("text", {"pram": 0.95}), ("decimal", {"swap": 0.01})])
def test_a_column_that_chance_changes_is_written_in_one_way_too(type_, publish) -> None:
    asked = plan()
    asked["columns"]["ward"] |= {"type": type_, "publish": publish}
    marked = rows().with_columns(ward=pl.Series([("5", "7", "5 ")[row % 3] for row in range(ROWS)]))
    with pytest.raises(DataError, match=r'"ward".* written in several ways'):
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
    with pytest.raises(sf.SfumatoError, match="nothing below the top satisfies l = 2"):
        sf.anonymize(frame, asked)
