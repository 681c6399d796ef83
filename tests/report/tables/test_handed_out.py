"""What goes out tells what is published and what the plan is, and nothing that depends on hidden values."""

import json
import re
from pathlib import Path

import pytest

from sfumato.errors import DataError
from sfumato.localization.messages import words_in
from sfumato.pipelines.tables.protect import run_plan
from sfumato.tables.plan.table_plan import read_table_plan

CODES = [(row, column) for row in ("r0", "r1") for column in ("c0", "c1", "c2")]
PLAN = {
    "version": 1,
    "table": {"source": "cells.csv", "value": "n"},
    "dimensions": {"r": {"column": "r"}, "c": {"column": "c"}},
    "primary": [{"rule": "range", "min": 1, "max": 3}],
    "output": {"files": ["px", "sdmx", "pivot"]},
}
# Tables that publish the same: in the first nobody is alone in a cell, in the others somebody is.
ALIKE = ((5, 2, 2, 2, 3, 3), (3, 1, 2, 4, 4, 3), (1, 3, 2, 6, 2, 3))


def cells(values: tuple[int, ...]) -> str:
    sums: dict[tuple[str, str], int] = {}
    for (row, column), value in zip(CODES, values, strict=True):
        for key in ((row, column), (row, "Total"), ("Total", column), ("Total", "Total")):
            sums[key] = sums.get(key, 0) + value
    return "r,c,n\n" + "".join(f"{row},{column},{value}\n" for (row, column), value in sorted(sums.items()))


def out_of(folder: Path, values: tuple[int, ...], **parts: object) -> Path:
    folder.mkdir()
    (folder / "cells.csv").write_text(cells(values), encoding="utf-8")
    run_plan(read_table_plan({**PLAN, **parts}, folder)).save(folder / "out")
    return folder / "out"


def told(page: Path) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page.read_text(encoding="utf-8").partition("<body>")[2]))


def handed_out(out: Path) -> dict[str, str]:
    names = ("report-external.html", "table-external.csv", "table.px", "table-sdmx.csv", "table-pivot.csv")
    return {name: (out / name).read_text(encoding="utf-8") for name in names}


def test_tables_that_publish_the_same_have_the_same_to_hand_out(tmp_path: Path) -> None:
    """The page named single persons only where somebody was alone: by that line unsafe cells became exact."""
    outs = [out_of(tmp_path / str(place), values) for place, values in enumerate(ALIKE)]
    attacked = [json.loads((out / "report.json").read_text(encoding="utf-8"))["attackers"]["attacked"] for out in outs]
    same: dict[str, list[dict[str, str]]] = {}
    for out in outs:
        same.setdefault((out / "table-external.csv").read_text(encoding="utf-8"), []).append(handed_out(out))
    assert max(map(len, same.values())) > 1
    assert len({tuple(one) for one in attacked}) > 1
    assert all(files == alike[0] for alike in same.values() for files in alike)


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_page_names_whom_the_plan_thinks_of(tmp_path: Path, language: str) -> None:
    words = words_in(language)
    page = told(out_of(tmp_path / "a", ALIKE[0], language=language) / "report-external.html")
    names = ", ".join(words[f"tabled.attacker.{name}"] for name in ("outsider", "persons"))
    assert words["tabled.attackers"].format(names=names) in page


def test_how_masks_were_chosen_and_whether_that_is_proved_stays_in_the_house(tmp_path: Path) -> None:
    words, out = words_in(), out_of(tmp_path / "a", ALIKE[0])
    page = told(out / "report-external.html")
    assert not any(text in page for text in ("optimal", "cost", "too narrow"))
    assert words["table_proved"] in told(out / "report.html")


@pytest.mark.parametrize("method", [{}, {"method": {"name": "rounding", "base": 5}}])
def test_both_editions_say_what_who_reruns_the_program_may_learn(tmp_path: Path, method: dict[str, object]) -> None:
    words, out = words_in(), out_of(tmp_path / "a", ALIKE[0], output={}, **method)
    for name in ("report.html", "report-external.html"):
        page = told(out / name)
        assert words["report.not_promised"] in page
        assert words["tabled.not.rerun" if not method else "noised.not.secret"] in page
        assert (words["noised.not.later"] in page) == bool(method)


# Tables that publish 30 and 25: of whole numbers, and such whose masked cells are of another kind.
WHOLE, FRACTIONS, NEGATIVE = ("2", "3"), ("2.5", "2.5"), ("-2", "7")


def out_of_areas(folder: Path, hidden: tuple[str, str], name: str = "optimal", **said: object) -> Path:
    folder.mkdir()
    text = "area,n\nTotal,30\na,{}\nb,{}\nc,25\n".format(*hidden)
    (folder / "cells.csv").write_text(text, encoding="utf-8")
    rule = {"rule": "range", "min": -9 if "attacker" in said or hidden == NEGATIVE else 1, "max": 9}
    plan = {**PLAN, "dimensions": {"area": {"column": "area"}}, "primary": [rule], "method": {"name": name}, **said}
    run_plan(read_table_plan(plan, folder)).save(folder / "out")
    return folder / "out"


@pytest.mark.parametrize("name", ["optimal", "fast", "ranges"])
@pytest.mark.parametrize(
    ("hidden", "said"),
    [
        (FRACTIONS, {"table": {"source": "cells.csv", "value": "n", "precision": 0.1}}),
        (NEGATIVE, {"attacker": {"lower": -20}}),
    ],
)
def test_the_kind_of_hidden_numbers_is_not_told(
    tmp_path: Path, hidden: tuple[str, str], said: dict[str, object], name: str
) -> None:
    """Ranges told whether a masked number was negative or had decimals, to who knows the program."""
    one, other = (
        handed_out(out_of_areas(tmp_path / kind, own, name, **said))
        for kind, own in (("whole", WHOLE), ("other", hidden))
    )
    assert one == other
    assert "DECIMALS=0;" in other["table.px"]


@pytest.mark.parametrize("name", ["optimal", "ranges"])
@pytest.mark.parametrize(("hidden", "code"), [(FRACTIONS, "hidden-decimals"), (NEGATIVE, "hidden-negative")])
def test_the_plan_has_to_say_what_readers_hold_possible(
    tmp_path: Path, hidden: tuple[str, str], code: str, name: str
) -> None:
    with pytest.raises(DataError) as refused:
        out_of_areas(tmp_path / "a", hidden, name)
    assert refused.value.code == f"data.{code}"
    assert not (tmp_path / "a" / "out").exists()
    assert words_in("de").text(refused.value.message) != refused.value.message


def test_one_of_several_tables_tells_its_own_numbers(tmp_path: Path) -> None:
    """Above a table of its own few cells stood the numbers of all tables together."""
    (tmp_path / "one.csv").write_text("area,n\nTotal,24\na,2\nb,9\nc,13\n", encoding="utf-8")
    (tmp_path / "two.csv").write_text("sex,n\nTotal,24\nm,11\nf,13\n", encoding="utf-8")
    tables = [
        {"name": name, "source": f"{name}.csv", "dimensions": {key: {"column": key}}}
        for name, key in (("one", "area"), ("two", "sex"))
    ]
    plan = {"version": 1, "table": {"value": "n"}, "tables": tables, "primary": [{"rule": "frequency", "min": 4}]}
    run_plan(read_table_plan(plan, tmp_path)).save(tmp_path / "out")
    assert "cells 4 suppressed 2" in told(tmp_path / "out" / "one" / "report-external.html")
    assert "cells 3 suppressed 0" in told(tmp_path / "out" / "two" / "report-external.html")


@pytest.mark.parametrize("language", ["en", "de"])
def test_where_nothing_is_unsafe_nothing_is_promised(tmp_path: Path, language: str) -> None:
    """A survey of enterprises, judged by a rule for small counts, was said to be proved."""
    words, out = words_in(language), out_of(tmp_path / "a", (40, 50, 60, 70, 80, 90), language=language)
    for name in ("report.html", "report-external.html"):
        page = told(out / name)
        assert words["tabled.nothing"] in page
        assert not any(words[key] in page for key in ("tabled.holds", "tabled.promise", "table_proved"))
        assert words["report.not_promised"] in page
        assert 'class="verdict"' not in (out / name).read_text(encoding="utf-8")
