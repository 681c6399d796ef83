"""The entry point: version, help, wrong use, the demo; and that importing stays light."""

import os
import subprocess
import sys

import pytest

import sfumato as package
from sfumato.cli import main
from sfumato.cli.main import COMMANDS


def test_version(sfumato) -> None:
    assert sfumato("--version").out == f"sfumato {package.__version__}\n"


def test_help_names_every_command(sfumato) -> None:
    ran = sfumato("--help")
    assert ran.code == 0
    assert all(name in ran.out for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(sfumato, name) -> None:
    ran = sfumato(name, "--help")
    assert (ran.code, "Usage" in ran.out) == (0, True)


@pytest.mark.parametrize("arguments", [("anonymise",), ("anonymize",), ("anonymize", "p.yaml", "--outt", "x")])
def test_wrong_use_ends_with_2(sfumato, arguments) -> None:
    assert sfumato(*arguments).code == 2


def test_importing_the_package_and_asking_its_version_load_nothing_heavy() -> None:
    script = (
        "import sys, sfumato\nfrom sfumato.cli.main import run\nrun(['--version'])\n"
        "print(sorted({'numpy', 'duckdb', 'typer', 'rich', 'yaml', 'narwhals'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(("asked", "waited"), [(None, "4"), ("20", "20")])
def test_threads_for_linear_algebra_sleep_at_once_unless_somebody_asks_otherwise(asked, waited) -> None:
    known = {name: value for name, value in os.environ.items() if name != "OPENBLAS_THREAD_TIMEOUT"}
    known |= {} if asked is None else {"OPENBLAS_THREAD_TIMEOUT": asked}
    script = "import os, sys, sfumato.cli; print(os.environ['OPENBLAS_THREAD_TIMEOUT'], 'numpy' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=known)
    assert ran.stdout.split() == [waited, "False"]


def test_the_demo_says_where_release_and_report_lie(sfumato, tmp_path) -> None:
    ran = sfumato("demo", "--out", tmp_path / "release")
    assert ran.code == 0, ran.err
    assert str(tmp_path / "release" / "report.html") in ran.out
    assert (tmp_path / "release" / "data.csv").exists()
    assert sfumato("verify", tmp_path / "release").code == 0
    again = sfumato("anonymize", tmp_path / "demo-plan.yaml", "--out", tmp_path / "again")
    assert again.code == 0
    first, second = ((tmp_path / name / "data.csv").read_text(encoding="utf-8") for name in ("release", "again"))
    assert sorted(second.splitlines()) == sorted(first.splitlines())
    assert second != first, "without a seed each release has an order of its own"


def test_what_nobody_foresaw_is_one_message_without_data_and_ends_with_5(capsys, monkeypatch) -> None:
    def fall(_arguments):
        raise IndexError("Frau Müller")

    monkeypatch.setattr(main, "_call", fall)
    assert main.run(["anonymize"]) == 5
    told = capsys.readouterr()
    assert "unforeseen IndexError in test_main.py" in told.err
    assert "Müller" not in told.err + told.out


def test_every_public_name_is_there() -> None:
    for name in package.__all__:
        assert getattr(package, name) is not None


def test_the_version_is_in_the_help(sfumato) -> None:
    assert "--version" in sfumato("--help").out
