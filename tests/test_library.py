"""The library's door: its names, what they print, and typical code as checkers of types and editors see it.

The strictest mode of mypy reads the same code in `make check`.
"""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

import sfumato as sf

TYPICAL, FURTHER = (Path(__file__).parent / name for name in ("typical_use.py", "further_use.py"))


def loaded(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def typical():
    return loaded(TYPICAL)


def test_every_public_name_is_there_and_no_other_is_shown():
    assert dir(sf) == sorted(sf.__all__)
    assert not {"Any", "import_module", "TYPE_CHECKING"} & set(dir(sf))
    for name in sf.__all__:
        assert getattr(sf, name) is not None
    with pytest.raises(AttributeError, match="nonsense"):
        sf.nonsense  # noqa: B018


def test_importing_is_quick():
    timed = "import time; t = time.process_time(); import sfumato; print(time.process_time() - t)"
    seconds = min(
        float(subprocess.run([sys.executable, "-c", timed], capture_output=True, text=True, check=True).stdout)
        for _ in range(3)
    )
    assert seconds < 0.05


def test_typical_code_runs(typical, tmp_path):
    folder = typical.release(tmp_path)
    assert (folder / "report.html").exists()
    assert (tmp_path / "risk.svg").read_text().startswith("<svg")
    assert typical.proposal(tmp_path).columns["ward"].role == "insensitive"
    assert typical.figures()[1] == 4
    assert repr(typical.table()) == "ProtectedTable(4 cells, 2 masked; holds)"
    assert repr(typical.rounded_table()) == "PerturbedTable(4 cells, 2 changed by rounding)"
    assert [sorted(one.tables) for one in typical.several_tables()] == [["areas", "sexes"]] * 2
    assert typical.chosen_method("fast")
    assert "at least 1" in typical.refusal()


def test_code_that_goes_further_runs(tmp_path):
    further = loaded(FURTHER)
    assert repr(further.plan()) == (
        "Plan(k-anonymity 3, t-closeness 0.9 of diagnosis; "
        "1 person, 2 quasi-identifiers, 1 sensitive, 1 insensitive; optimal)"
    )
    assert sf.read_plan(further.plan().to_dict()) == further.plan()
    returned = [further.release(tmp_path), *further.crosstab(), further.policy()]
    assert min(further.other_methods().values()) >= 3
    assert further.pipeline() == 60
    for value in returned:
        assert len(repr(value)) < 160, repr(value)
        assert "\n" not in repr(value)


def test_values_that_are_returned_print_in_a_line(typical, tmp_path):
    plan = sf.Plan(sf.KAnonymity(4), other="insensitive").identifiers("name").quasi("sex", age=sf.intervals(10))
    release = sf.anonymize(typical.patients(), plan)
    for value in (plan, release, release.report, release.plot, release.plot.columns(), sf.verify(release.data, plan)):
        assert len(repr(value)) < 160, repr(value)
        assert "\n" not in repr(value)
    assert repr(release).startswith("Release(k-anonymity 4 holds for rows, not persons; 40 rows, ")


def test_pyright_strict_on_typical_code(tmp_path):
    pytest.importorskip("pyright")
    for path in (TYPICAL, FURTHER):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    settings = {"include": [TYPICAL.name, FURTHER.name], "typeCheckingMode": "strict", "pythonVersion": "3.11"}
    settings |= {"extraPaths": [str(Path(sf.__file__).parents[1])]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    run = subprocess.run(
        [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "-p", str(tmp_path)],
        capture_output=True,
        check=False,
        text=True,
    )
    if not run.stdout.lstrip().startswith("{"):
        pytest.skip("the part of pyright that is not Python cannot run here")
    answer = json.loads(run.stdout)
    assert answer["summary"]["filesAnalyzed"] >= 2
    wrong = [one for one in answer["generalDiagnostics"] if one["severity"] == "error"]
    assert [(one["range"]["start"]["line"] + 1, one["message"]) for one in wrong] == []


@pytest.mark.parametrize(
    ("code", "names"),
    [
        (
            "import sfumato as sf\nsf.Plan(sf.KAnonymity(5)).",
            {"identifiers", "quasi", "sensitive", "require", "by", "to_yaml"},
        ),
        ("import sfumato as sf\nsf.", {"Plan", "KAnonymity", "Local", "intervals", "digits", "suggest", "anonymize"}),
        ("import sfumato as sf\nsf.suggest(None).", {"quasi", "columns", "save"}),
        ("import sfumato as sf\nsf.Plan(sf.KAnonymity(5), m", {"method="}),
        ("import sfumato as sf\nsf.intervals(5, s", {"start="}),
    ],
)
def test_editors_complete_the_builders(code, names):
    jedi = pytest.importorskip("jedi")
    shown = {entry.name for entry in jedi.Script(code).complete()}
    assert names <= shown


def test_what_hands_its_rows_over_is_read_as_a_frame():
    import polars as pl

    patients = sf.datasets.patients(60)
    lazy = pl.LazyFrame(patients.columns())
    for rows in (patients, lazy):
        assert len(sf.anonymize(rows, sf.suggest(rows)).data) == 60
    with pytest.raises(sf.EngineError, match=r"pandas\.DataFrame\(records\)"):
        sf.suggest(patients.records())
