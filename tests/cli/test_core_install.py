"""The core without its extras: what is missing is named with the command that installs it."""

import sys

import pytest
import yaml

import sfumato as package
from sfumato.errors import EngineError

CELLS = "area,n\nTotal,24\na,2\nb,9\nc,13\n"
TABLE_PLAN = {
    "version": 1,
    "table": {"source": "cells.csv", "value": "n"},
    "dimensions": {"area": {"column": "area"}},
    "primary": [{"rule": "range", "min": 1, "max": 3}],
}
PLAN = {
    "version": 1,
    "columns": {"area": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}, "n": {"role": "insensitive"}},
    "privacy": [{"model": "k-anonymity", "k": 1}],
    "output": {"order": "keep"},
}
ADDRESS = "postgresql://nobody@127.0.0.1:1/base?table=rows"
DRIVERS = ("adbc_driver_manager", "adbc_driver_postgresql", "adbc_driver_postgresql.dbapi")
CASES = {
    "protect without scipy": (("scipy",), ("protect", "table.yaml", "--out", "out"), "tables"),
    "protect without highspy": (("highspy",), ("protect", "table.yaml", "--out", "out"), "tables"),
    "audit without scipy": (("scipy",), ("audit", "cells.csv", "--plan", "table.yaml"), "tables"),
    "audit without highspy": (("highspy",), ("audit", "cells.csv", "--plan", "table.yaml"), "tables"),
    "a table to be written": (
        DRIVERS,
        ("anonymize", "plan.yaml", "--data", "cells.csv", "--out", "out", "--to-table", ADDRESS),
        "postgresql",
    ),
    "a table to be read": (
        (*DRIVERS, "pyarrow"),
        ("anonymize", "plan.yaml", "--data", ADDRESS, "--out", "out"),
        "postgresql",
    ),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "cells.csv").write_text(CELLS, encoding="utf-8")
    (tmp_path / "table.yaml").write_text(yaml.safe_dump(TABLE_PLAN), encoding="utf-8")
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(PLAN), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", CASES)
def test_what_is_missing_is_named(sfumato, folder, monkeypatch, name) -> None:
    missing, arguments, extra = CASES[name]
    for module in missing:
        monkeypatch.setitem(sys.modules, module, None)
    ran = sfumato(*arguments)
    assert ran.code == 5
    assert f'pip install "sfumato[{extra}]"' in ran.err
    assert "bug in Sfumato" not in ran.err
    assert not (folder / "out").exists()


def test_the_library_says_so_too(folder, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    for call in (lambda: package.protect("cells.csv", TABLE_PLAN), lambda: package.audit("cells.csv", TABLE_PLAN)):
        with pytest.raises(EngineError, match="scipy is not installed"):
            call()
