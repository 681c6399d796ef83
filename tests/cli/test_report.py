"""`sfumato report`: an annex on standard output or in a file, pages as PDF; what is no release folder is refused."""

import shutil

import pytest

from sfumato.pipelines.report_folder import BROWSERS


def test_the_annex_and_the_pages_of_a_folder(sfumato, tmp_path) -> None:
    folder = tmp_path / "out"
    assert sfumato("demo", "--out", folder, "--quiet").code == 0
    printed = sfumato("report", folder)
    assert (printed.code, printed.out.startswith("# Annex to the data protection impact assessment")) == (0, True)
    assert sfumato("report", folder, "--annex", tmp_path / "annex.md").code == 0
    assert (tmp_path / "annex.md").read_text(encoding="utf-8") == printed.out
    again = sfumato("report", folder, "--annex", tmp_path / "annex.md")
    assert (again.code, "exists already" in again.err) == (2, True)
    if not any(map(shutil.which, BROWSERS)):
        pytest.skip("Chromium is not installed")
    assert sfumato("report", folder, "--pdf").code == 0
    for name in ("report.pdf", "report-external.pdf"):
        assert (folder / name).read_bytes().startswith(b"%PDF-")


def test_the_report_on_a_table_is_told_and_printed(sfumato, tmp_path) -> None:
    (tmp_path / "cells.csv").write_text("area,n\nTotal,24\na,2\nb,9\nc,13\n", encoding="utf-8")
    plan = "version: 1\ntable: {source: cells.csv, value: n}\ndimensions: {area: {column: area}}\n"
    (tmp_path / "plan.yaml").write_text(plan + "primary: [{rule: range, min: 1, max: 3}]\n", encoding="utf-8")
    folder = tmp_path / "out"
    assert sfumato("protect", tmp_path / "plan.yaml", "--out", folder, "--quiet").code == 0
    told = sfumato("report", folder)
    assert (told.code, told.out.startswith("2 of 4 cells masked")) == (0, True)
    assert sfumato("report", folder, "--annex", tmp_path / "annex.md").code == 0
    assert (tmp_path / "annex.md").read_bytes() == (folder / "annex.md").read_bytes()
    if not any(map(shutil.which, BROWSERS)):
        pytest.skip("Chromium is not installed")
    assert sfumato("report", folder, "--pdf").code == 0
    for name in ("report.pdf", "report-external.pdf"):
        assert (folder / name).read_bytes().startswith(b"%PDF-")


def test_what_is_no_release_folder_is_refused(sfumato, tmp_path) -> None:
    (tmp_path / "report.json").write_text("[]", encoding="utf-8")
    ran = sfumato("report", tmp_path)
    assert (ran.code, "holds no report.json" in ran.err) == (3, True)


def test_without_a_browser_the_way_out_is_told(sfumato, tmp_path, monkeypatch) -> None:
    assert sfumato("demo", "--out", tmp_path / "out", "--quiet").code == 0
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CHROMIUM", raising=False)
    ran = sfumato("report", tmp_path / "out", "--pdf")
    assert (ran.code, "install Chromium" in ran.err) == (5, True)
