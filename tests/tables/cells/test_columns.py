"""Cells as files have them: what is wrong with a header, and with totals, is told with what to do."""

import pytest

from refusals import coded
from sfumato.errors import DataError
from sfumato.pipelines.tables.protect import protect
from sfumato.tables.cells.columns import read_columns

TITLES = {
    "in fields of its own": "Staff by region;;;\nas of 2022;;;\nregion;m;w;Total\nN;3;20;23\nTotal;3;20;23\n",
    "alone": "Staff by region\nregion;m;w;Total\nN;3;20;23\nTotal;3;20;23\n",
}


@pytest.mark.parametrize("name", TITLES)
def test_a_title_above_the_header_is_told_as_such(name, tmp_path):
    (tmp_path / "cells.csv").write_text(TITLES[name])
    with pytest.raises(DataError, check=coded("data.title")):
        read_columns(tmp_path / "cells.csv")


def test_two_lines_of_names_are_told_as_such(tmp_path):
    (tmp_path / "cells.csv").write_text(";2022;;2023;\nregion;m;w;m;w\nN;3;20;23;4\n")
    with pytest.raises(DataError, check=coded("data.duplicate-columns.twice_header 1:3")):
        read_columns(tmp_path / "cells.csv")


def test_subtotals_among_codes_are_told_as_such():
    cells = {"A": 40, "A01": 3, "A02": 37, "B": 50, "B05": 20, "B06": 30, "Total": 90}
    frame = pytest.importorskip("pandas").DataFrame({"nace": [*cells], "n": [*cells.values()]})
    rule = [{"rule": "frequency", "min": 5}]
    with pytest.raises(DataError, check=coded("data.totals")):
        protect(frame, value="n", dimensions={"nace": {"column": "nace"}}, primary=rule)
    frame.loc[6, "n"] = 181
    with pytest.raises(DataError, check=coded("data.totals")):
        protect(frame, value="n", dimensions={"nace": {"column": "nace"}}, primary=rule)
