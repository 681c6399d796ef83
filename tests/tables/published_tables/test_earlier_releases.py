"""Releases of before: folders and ZIP files of them tell the same."""

import shutil
import zipfile

import pytest

import sfumato as sf
from sfumato.errors import PlanError
from sfumato.tables.plan.table_plan import read_table_plan
from sfumato.tables.published_tables.earlier_releases import read_releases

PLAN = {
    "version": 1,
    "table": {"source": "cells.csv", "value": "n"},
    "dimensions": {"area": {"column": "area", "hierarchy": "area.csv"}},
    "primary": [{"rule": "range", "min": 1, "max": 3}],
}


@pytest.fixture
def folder(tmp_path):
    """A folder with a release, and a ZIP file of it that lies beside the hierarchy."""
    (tmp_path / "cells.csv").write_text("area,n\nTotal,24\nN,11\na,2\nb,9\nS,13\nc,6\nd,7\n")
    (tmp_path / "area.csv").write_text("a,N\nb,N\nc,S\nd,S\nN,Total\nS,Total\n")
    sf.protect(None, read_table_plan(PLAN, tmp_path)).save(tmp_path / "first")
    shutil.make_archive(str(tmp_path / "first"), "zip", tmp_path / "first")
    return tmp_path


def releases(folder, name):
    return read_releases(read_table_plan(PLAN | {"previous": [name]}, folder))


def test_a_zip_file_of_a_release_tells_the_same_as_its_folder(folder):
    (plain,), (packed,) = releases(folder, "first"), releases(folder, "first.zip")
    assert packed.sheet.columns.texts == plain.sheet.columns.texts
    assert packed.reading.exact.tolist()[0] == plain.reading.exact.tolist()[0] == 24
    assert packed.sheet.dimensions["area"].hierarchy == str(folder / "area.csv")


@pytest.mark.parametrize("hierarchy", ["/etc/passwd", "../../secret.csv", "..\\secret.csv"])
def test_a_plan_in_a_zip_file_reaches_no_file_but_those_beside_it(folder, hierarchy):
    target = folder / "evil.zip"
    with zipfile.ZipFile(folder / "first.zip") as old, zipfile.ZipFile(target, "w") as new:
        for name in ("table.csv", "plan.yaml"):
            text = old.read(name).decode()
            new.writestr(name, text.replace("../area.csv", hierarchy))
    (release,) = releases(folder, "evil.zip")
    assert release.sheet.dimensions["area"].hierarchy == str(folder / hierarchy.replace("\\", "/").split("/")[-1])


def test_what_is_no_release_is_refused(folder):
    (folder / "bad.zip").write_bytes(b"PK nothing")
    with zipfile.ZipFile(folder / "empty.zip", "w") as packed:
        packed.writestr("table.csv", "area,n\n")
    for name in ("bad.zip", "empty.zip", "nowhere"):
        with pytest.raises(PlanError) as error:
            releases(folder, name)
        assert error.value.code == "plan.no-release"


@pytest.mark.parametrize("method", ["optimal", "fast"])
def test_what_was_unsafe_before_is_not_computed_with_new_cells(tmp_path, method):
    records = {"a": [900, 60, 2, 1, 1], "b": [100, 95, 95, 90], "c": [85, 75, 70, 70], "f": [99, 98, 95]}
    rows = [f"{code},{value}" for code, values in records.items() for value in values]
    (tmp_path / "k.csv").write_text("\n".join(["x,v", *rows]) + "\n")
    (tmp_path / "k.hrc").write_text("ab\n@a\n@b\ncf\n@c\n@f\n")
    column = {"column": "x", "total": "T"}
    plan = {"version": 1, "table": {"microdata": "k.csv", "value": "v"}, "method": method}
    first = plan | {"dimensions": {"x": column}, "primary": [{"rule": "p-percent", "p": 20}]}
    sf.protect(None, read_table_plan(first, tmp_path)).save(tmp_path / "first")
    # By the new rule nothing is unsafe, but ab - b is what was masked.
    second = plan | {"dimensions": {"x": column | {"hierarchy": "k.hrc"}}, "primary": [{"rule": "frequency", "min": 1}]}
    done = sf.protect(None, read_table_plan(second | {"previous": ["first"]}, tmp_path))
    (table,) = done.tables.values()
    shown = dict(zip(table.columns.text("x"), table.columns.text("v_published"), strict=True))
    ends = zip(table.columns.optional("v_lower"), table.columns.optional("v_upper"), strict=True)
    low, high = list(ends)[table.columns.text("x").index("a")]
    assert done.passed and shown["a"] == shown["ab"] == "*"
    # As the rule of before wanted: 20 % of the largest contribution, less the others.
    assert high - 964 >= 900 * 0.2 - 4
    assert low <= 964 - (900 * 0.2 - 4)
