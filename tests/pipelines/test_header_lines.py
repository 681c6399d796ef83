"""Files with two header lines, and with headers among their rows: names are names, and rows are persons."""

from pathlib import Path

import polars as pl
import pytest

from sfumato.pipelines.release import anonymize
from sfumato.pipelines.suggest import suggest_for_file

ROWS = 120
MENU = ["We snore", "One of us is ill", "Too little space"]


def survey(quote: str = '"') -> str:
    """A survey as its tool exports it: questions above, below them what was to be ticked."""
    lines = [
        f"started,{quote}How often do you sleep apart?{quote},Why?,,,Gender,Age",
        f",Response,{MENU[0]},{MENU[1]},{MENU[2]},Response,Response",
    ]
    for row in range(ROWS):
        ticked = [one if row % (place + 2) == 0 else "" for place, one in enumerate(MENU)]
        often = ("Never", "Once a month", "Every night")[row % 3]
        lines.append(f"2014-07-{1 + row % 28:02d},{often},{','.join(ticked)},{'FM'[row % 2]},{20 + row % 5 * 10}")
    return "\n".join(lines) + "\n"


def measured() -> str:
    """Units below the names."""
    rows = (f"{20 + row % 6},{'fm'[row % 2]},{50 + row % 30},{150 + row % 40}" for row in range(ROWS))
    return "\n".join(["age,sex,weight,height", "years,,kg,cm", *rows]) + "\n"


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        (survey(), ["started", "How often do you sleep apart?", *MENU, "Gender", "Age"]),
        (survey(""), ["started", "How often do you sleep apart?", *MENU, "Gender", "Age"]),
        (measured(), ["age", "sex", "weight", "height"]),
    ],
)
def test_a_second_header_line_is_no_person(text: str, columns: list[str], tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(text, encoding="utf-8")
    suggested = suggest_for_file(tmp_path / "rows.csv")
    assert list(suggested.plan["columns"]) == columns
    assert "note.second_header" in [getattr(note, "code", "") for note in suggested.notes]
    assert all(profile.rows == ROWS for profile in suggested.profiles)
    release = anonymize(None, suggested.plan)
    assert release.report.rows == ROWS
    assert "Response" not in {value for row in pl.read_csv(release.data, infer_schema=False).rows() for value in row}


@pytest.mark.parametrize(
    "head",
    [
        ",mpg,cyl,gear\nMazda RX4,21.0,6,4\nHornet,22.8,4,4\nDuster,14.3,8,3\n",
        ",color,shape\na,yes,yes\nb,no,yes\nc,yes,no\n",
        ",date,color\na,,red\nb,2001-01-01,blue\nc,2001-01-02,green\n",
        "name,town,job\nAda,Ulm,cook\nMax,Bonn,smith\nEva,Jena,cook\n",
        "age,sex\n36,f\n41,m\n29,f\n",
        '"","age","pay"\n"1",NA,NA\n"2",30,1000\n"3",40,2000\n',
    ],
)
def test_a_first_row_is_no_header(head: str, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(head, encoding="utf-8")
    suggested = suggest_for_file(tmp_path / "rows.csv")
    assert {profile.rows for profile in suggested.profiles} == {3}


def test_headers_among_the_rows_are_named(tmp_path: Path) -> None:
    part = pl.DataFrame({"age": [20 + row % 7 for row in range(60)], "sex": ["f", "m"] * 30}).write_csv()
    (tmp_path / "joined.csv").write_text(part + part + part, encoding="utf-8")
    suggested = suggest_for_file(tmp_path / "joined.csv")
    (note,) = (note for note in suggested.notes if getattr(note, "code", "") == "note.repeated_header")
    assert note.values["count"] == 2  # type: ignore[attr-defined]
    assert anonymize(None, suggested.plan).report.satisfied
