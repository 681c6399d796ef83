"""Rows of last year in other spellings, with one row more: the newcomer is not found by subtraction."""

import random

import polars as pl
import pytest

import sfumato as sf
from sfumato.errors import UnattainableError
from sfumato.pipelines.apply import apply


@pytest.mark.parametrize("written", ["{}.0", " {}", "{}.00"])
def test_a_recoding_for_the_same_rows_in_other_spellings_and_one_more_is_refused(tmp_path, written) -> None:
    draw = random.Random(4)
    people = [{"sex": draw.choice("mf"), "pay": str(draw.randint(1000, 5000))} for _ in range(60)]
    columns = {"sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}, "pay": {"role": "sensitive"}}
    plan = {"version": 1, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 5}]}
    sf.anonymize(pl.DataFrame(people), plan | {"method": {"name": "optimal"}}).save(tmp_path / "release")
    again = [{**person, "pay": written.format(person["pay"])} for person in people] + [{"sex": "f", "pay": "9999"}]
    pl.DataFrame(again).write_csv(tmp_path / "rows.csv")
    with pytest.raises(UnattainableError, match="1 rows were added and 0 removed"):
        apply(tmp_path / "release" / "recoding.json", tmp_path / "rows.csv", tmp_path / "again")
