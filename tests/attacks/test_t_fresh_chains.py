"""What a stranger reads from several files of one recoding, and from applied rows beside later releases."""

import random

import polars as pl
import pytest

import sfumato as sf
from sfumato.errors import UnattainableError
from sfumato.pipelines.apply import apply

AGES = {"type": "intervals", "start": 20, "end": 59, "widths": [10, 20]}
KNOWN = {
    "age": {"role": "quasi-identifier", "type": "integer", "hierarchy": AGES},
    "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
}


def people(first: int, number: int, **fixed: object) -> pl.DataFrame:
    draw = random.Random(first)
    return pl.DataFrame(
        [
            {
                "pid": f"p{first + place}",
                "age": str(draw.randint(20, 59)),
                "sex": draw.choice("mf"),
                "ill": draw.choice(["flu", "hiv", "gout", "ms"]),
                **fixed,
            }
            for place in range(number)
        ]
    )


def plan(named: bool, **further: object) -> dict[str, object]:
    return {
        "version": 1,
        "columns": {"pid": {"role": "person" if named else "identifier"}, **KNOWN, "ill": {"role": "sensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 5}],
        "method": {"name": "optimal", "suppression": 0.2},
        **further,
    }


def applied(tmp_path, name: str, rows: pl.DataFrame, release: str = "A"):
    rows.write_csv(tmp_path / f"{name}.csv")
    return apply(tmp_path / release / "recoding.json", tmp_path / f"{name}.csv", tmp_path / name)


@pytest.fixture(params=[True, False], ids=["persons", "rows"])
def released(request, tmp_path):
    sf.anonymize(people(0, 200), plan(request.param)).save(tmp_path / "A")
    return tmp_path


def test_one_person_is_not_what_two_published_files_lack_of_a_third(released) -> None:
    first, later, late = people(0, 200), people(1000, 150), people(5000, 1)
    applied(released, "later", later)
    with pytest.raises(UnattainableError, match=r"1 (rows|persons) were added and 0 removed or changed") as caught:
        applied(released, "both", pl.concat([first, later, late]))
    assert "all files" in caught.value.message
    assert applied(released, "exactly", pl.concat([first, later])).added == 150


def test_one_person_is_not_told_by_newcomers_of_two_files(released) -> None:
    first, one, other = people(0, 200), people(1000, 20), people(2000, 20)
    applied(released, "one", pl.concat([first, one]))
    applied(released, "other", pl.concat([first, other]))
    with pytest.raises(UnattainableError, match="learns about fewer than 5"):
        applied(released, "both", pl.concat([first, one, other, people(5000, 1)]))


@pytest.mark.parametrize("seed", [{}, {"seed": 3}], ids=["secret", "seed"])
def test_a_later_release_is_compared_with_the_rows_to_which_an_earlier_one_was_applied(tmp_path, seed) -> None:
    first, later = people(0, 200), people(1000, 20, age="30", sex="f")
    sf.anonymize(first, plan(True, **seed)).save(tmp_path / "A")
    applied(tmp_path, "later", pl.concat([first, later]))
    next_plan = plan(True, previous=[str(tmp_path / "A")], **seed)
    with pytest.raises(UnattainableError, match="1 persons were added and 0 removed"):
        sf.anonymize(pl.concat([first, later, people(5000, 1, age="30", sex="f")]), next_plan)
    more = pl.concat([first, later, people(5000, 30, age="30", sex="f")])
    sf.anonymize(more, next_plan).save(tmp_path / "B")
    with pytest.raises(UnattainableError, match="1 persons were added and 0 removed"):
        applied(tmp_path, "again", more.head(221), "B")
