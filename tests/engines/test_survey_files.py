"""What packages of statistics cannot label is refused with a sentence that says so, and so are damaged files."""

import struct

import pytest

from sfumato.engines.survey_files import SurveyLabels, book_of, read_survey, write_survey
from sfumato.errors import DataError

pytest.importorskip("pyreadstat")
LABELS = SurveyLabels({}, {"frac": {"1.5": "one and a half"}})


def test_stata_labels_whole_numbers_alone(tmp_path) -> None:
    with pytest.raises(DataError, match='"frac": Stata labels whole numbers'):
        write_survey({"frac": ["1.5", "1.5"]}, LABELS, tmp_path / "rows.dta")
    assert not (tmp_path / "rows.dta").exists()
    write_survey({"frac": ["1.5", "1.5"]}, LABELS, tmp_path / "rows.sav")
    assert (tmp_path / "rows.sav").stat().st_size


WIDE = "Grace Hopper"
CODES = SurveyLabels({"sex": "Sex"}, {"sex": {"1": "female"}})


def written(folder, ending):
    path = folder / f"rows{ending}"
    write_survey({"sex": ["1", "2", "1"], "name": ["Ada", "Bo", WIDE]}, CODES, path)
    return path


def put(path, before, place, number):
    """Another number at a place behind the first of these bytes."""
    content = bytearray(path.read_bytes())
    begin = content.index(before) + place
    content[begin : begin + 4] = struct.pack("<i", number)
    path.write_bytes(bytes(content))


# Labels of a column that there is not, columns of a width that there is not: the reader ended the program.
LABELED, NAMED, NEXT = struct.pack("<3i", 4, 1, 1), b"SEX     ", b"NAME    "


@pytest.mark.parametrize("ending", [".sav", ".zsav"])
@pytest.mark.parametrize(
    ("before", "place", "number"),
    [
        (LABELED, 8, 240),
        (LABELED, 8, 0),
        (LABELED, 8, 2),
        (LABELED, 4, 1 << 30),
        (NAMED, -20, 256),
        (NAMED, -20, 12),
        (NAMED, -8, 1 << 16),
        (NEXT, -20, 0),
        (NEXT, -8, 5 << 16),
        (NAMED, -20, 1 << 29),
    ],
)
def test_an_spss_file_that_tells_of_other_columns_is_damaged(tmp_path, ending, before, place, number) -> None:
    path = written(tmp_path, ending)
    put(path, before, place, number)
    for read in (read_survey, book_of):
        with pytest.raises(DataError, match="is damaged"):
            read(path)


@pytest.mark.parametrize("column", [NAMED, NEXT])
def test_columns_without_a_format_are_read(tmp_path, column) -> None:
    """Some programs write none; which values a column has is told by its width."""
    path = written(tmp_path, ".sav")
    put(path, column, -8, 0)
    assert read_survey(path).columns == {"sex": ["1", "2", "1"], "name": ["Ada", "Bo", WIDE]}


@pytest.mark.parametrize(("ending", "before", "place"), [(".sav", b"$FL2", 80), (".dta", b"<N>", 3)])
def test_a_file_that_tells_of_more_rows_than_it_holds_is_damaged(tmp_path, ending, before, place) -> None:
    """The reader made room for a thousand million rows."""
    path = written(tmp_path, ending)
    put(path, before, place, 1_000_000_000)
    with pytest.raises(DataError, match="is damaged"):
        read_survey(path)


@pytest.mark.parametrize("ending", [".sav", ".zsav", ".dta"])
def test_files_are_read_as_they_were_written(tmp_path, ending) -> None:
    survey = read_survey(written(tmp_path, ending))
    assert survey.columns == {"sex": ["1", "2", "1"], "name": ["Ada", "Bo", WIDE]}
    assert survey.labels == CODES


def test_labels_of_wide_texts_are_read(tmp_path) -> None:
    path, labels = tmp_path / "rows.sav", SurveyLabels({}, {"name": {WIDE: "an admiral", "Bo": "a child"}})
    write_survey({"name": [WIDE, "Bo"]}, labels, path)
    assert read_survey(path).labels == labels


def test_a_date_beyond_all_calendars_is_damage(tmp_path) -> None:
    import datetime

    import pandas as pd
    import pyreadstat

    path = tmp_path / "rows.sav"
    pyreadstat.write_sav(pd.DataFrame({"born": [datetime.date(1990, 1, 2)]}), str(path))
    content = path.read_bytes()
    path.write_bytes(content[:-8] + struct.pack("<d", 1e300))
    with pytest.raises(DataError, match="is damaged"):
        read_survey(path)
