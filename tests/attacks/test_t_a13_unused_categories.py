"""A category of a hierarchy that no record has is a cell of 0, next to one that some have: else its absence says so."""

import polars
import pytest

import sfumato as sf
from sfumato.errors import DataError


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
