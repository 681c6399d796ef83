"""What a stranger reads from the order of values, of rows, and from files that differ in spelling alone."""

import random
from datetime import datetime, timedelta

import polars as pl
import pytest

import sfumato as sf
from sfumato.errors import UnattainableError
from sfumato.pipelines.apply import apply

pytestmark = pytest.mark.usefixtures("no_remedies")

KNOWN = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}


def rows(kind: str, number: int = 500) -> pl.DataFrame:
    """Rows with a bracket that a further column, whose values hardly repeat, tells by its order."""
    draw = random.Random(11)
    entries = []
    for _ in range(number):
        pay = round(draw.lognormvariate(7.6, 0.5), 2)
        moment = datetime(2018, 1, 1) + timedelta(minutes=draw.randint(0, 6 * 365 * 1440))
        zip_code = draw.choice(("10115", "10117", "20095", "20097", "80331"))
        bracket, told = {
            "numbers": ("ABCDEFG"[min(6, int(pay // 600))], str(pay)),
            "moments": (str(moment.year), moment.strftime("%d.%m.%Y %H:%M")),
            "codes": (zip_code, f"{zip_code}/{draw.randint(1000, 9999)}"),
            "chance": (zip_code, str(pay)),
        }[kind]
        entries.append(
            {"bracket": bracket, "sex": draw.choice("mf"), "job": draw.choice("abcdefghij"), "told": told, "ill": "x"}
        )
    return pl.DataFrame(entries)


def plan(**further: object) -> dict[str, object]:
    columns = {
        "bracket": KNOWN,
        "sex": KNOWN,
        "job": KNOWN,
        "told": {"role": "sensitive"},
        "ill": {"role": "sensitive"},
    }
    return {
        "version": 1,
        "columns": columns,
        "privacy": [{"model": "k-anonymity", "k": 5}],
        "method": {"name": "local"},
        "seed": 3,
        **further,
    }


@pytest.mark.parametrize("kind", ["numbers", "moments", "codes"])
def test_a_column_whose_order_tells_a_quasi_identifier_stops_the_release(kind) -> None:
    with pytest.raises(UnattainableError, match='An attacker infers "bracket" from "told"'):
        sf.anonymize(rows(kind, 900 if kind == "moments" else 500), plan())


def test_a_column_whose_order_tells_nothing_is_published() -> None:
    assert sf.anonymize(rows("chance"), plan()).report.satisfied


def test_rows_that_are_kept_in_the_order_of_a_quasi_identifier_stop_the_release() -> None:
    ordered = rows("chance", 300).sort("bracket").drop("told")
    columns = {name: column for name, column in plan()["columns"].items() if name != "told"}
    with pytest.raises(UnattainableError, match='An attacker infers "bracket" from "order of rows"') as caught:
        sf.anonymize(ordered, plan(columns=columns, output={"order": "keep"}))
    assert "output.order: shuffle" in caught.value.hint
    assert sf.anonymize(ordered, plan(columns=columns)).report.satisfied
    assert sf.anonymize(
        ordered.sample(fraction=1.0, shuffle=True, seed=1), plan(columns=columns, output={"order": "keep"})
    ).report.satisfied


@pytest.mark.parametrize("written", ["{}.0", " {}", "{}.00"])
def test_a_recoding_for_the_same_rows_in_other_spellings_and_one_more_is_refused(tmp_path, written) -> None:
    draw = random.Random(4)
    people = [{"sex": draw.choice("mf"), "pay": str(draw.randint(1000, 5000))} for _ in range(60)]
    columns = {"sex": KNOWN, "pay": {"role": "sensitive"}}
    release = sf.anonymize(pl.DataFrame(people), plan(columns=columns, method={"name": "optimal"}))
    release.save(tmp_path / "release")
    again = [{**person, "pay": written.format(person["pay"])} for person in people] + [{"sex": "f", "pay": "9999"}]
    pl.DataFrame(again).write_csv(tmp_path / "rows.csv")
    with pytest.raises(UnattainableError, match="1 rows were added and 0 removed"):
        apply(tmp_path / "release" / "recoding.json", tmp_path / "rows.csv", tmp_path / "again")
