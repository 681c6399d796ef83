"""Limits by share: they are about the numbers that are published, however these are written."""

import polars as pl
import pytest

from refusals import coded
from sfumato.errors import DataError
from sfumato.pipelines.release import anonymize

NUMBERS = [*range(2000, 2039), 987654]


def plan(publish: dict) -> dict:
    columns = {
        "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        "pay": {"role": "sensitive", "publish": publish},
    }
    return {"version": 1, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 5}]}


def rows(texts: list[str]) -> pl.DataFrame:
    return pl.DataFrame({"sex": ["m", "f"] * (len(texts) // 2), "pay": texts})


def released(texts: list[str], publish: dict) -> tuple[list[str], tuple[str, ...]]:
    release = anonymize(rows(texts), plan(publish))
    return sorted(release.data["pay"].to_list()), release.report.notes


@pytest.mark.parametrize("form", ["{:>8}", " {}", "{} ", "{} %", "{}%", "{} €", "CHF {:,}", "{:_}", "\u00a0{}"])
@pytest.mark.parametrize("publish", [{"top": 0.9}, {"bottom": 0.1}, {"top": 0.9, "bottom": 0.1, "round": 5}])
def test_a_limit_by_share_codes_numbers_however_they_are_written(form, publish) -> None:
    texts = [form.format(number).replace("_", "'") for number in NUMBERS]
    assert released(texts, publish) == released([str(number) for number in NUMBERS], publish)
    shown, _ = released(texts, publish)
    signs = {"top": ">", "bottom": "<"}
    assert all(3 <= sum(text[0] == signs[side] for text in shown) <= 8 for side in publish if side != "round")
    assert "top" not in publish or "987654" not in shown


def test_padded_numbers_of_a_file_are_coded(tmp_path) -> None:
    lines = [f"{'mf'[place % 2]}, {number:>6}" for place, number in enumerate(NUMBERS)]
    (tmp_path / "rows.csv").write_text("sex,pay\n" + "\n".join(lines) + "\n")
    release = anonymize(tmp_path / "rows.csv", plan({"top": 0.9}))
    text = (release.save(tmp_path / "out") / "data.csv").read_text()
    assert "987654" not in text and text.count(">20") == 4
    assert not any("no two different" in remark for remark in release.report.notes)


@pytest.mark.parametrize("text", ["500-", "1_000", "12-14", "12:30", "2020-01-01", "1/2", "0x10", "1e5x", "90+", " 1e"])
@pytest.mark.parametrize("publish", [{"top": 0.9}, {"bottom": 5}, {"round": 10}, {"bin": 10}, {"swap": 0.1}])
def test_the_beginning_of_a_text_is_no_number(text, publish) -> None:
    asked = plan(publish)
    asked["columns"]["pay"]["role"] = "insensitive"
    with pytest.raises(DataError, check=coded("data.invalid-value")) as caught:
        anonymize(rows([text, *map(str, NUMBERS[1:])]), asked)
    assert text not in str(caught.value)


def test_numbers_that_differ_beyond_all_digits_are_refused_and_not_said_to_be_one() -> None:
    with pytest.raises(DataError, check=coded("data.too-many-digits")):
        anonymize(rows([str(2**60 + place) for place in range(40)]), plan({"top": 0.9}))
