"""What is built is whole: wheel and source, in an empty environment, run without the folder they came from."""

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import duckdb
import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Wheel and source archive of this tree."""
    target = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(target)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=120)
    return target


@pytest.fixture(scope="module")
def python(built, tmp_path_factory):
    """The interpreter of an environment with the wheel alone; its dependencies are those of the tests."""
    folder = tmp_path_factory.mktemp("empty")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        wheel.extractall(packages)
    # Lines that begin editable installations are not followed in a folder that is named here.
    (packages / "dependencies.pth").write_text(str(Path(duckdb.__file__).resolve().parents[1]))
    return folder / "bin" / "python"


def ran(python, folder, *arguments):
    code = "import sys; from sfumato.cli.main import main; main(sys.argv[1:])"
    # Neither the folder at hand nor the tree of this test may help.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    command = [str(python), "-I", "-c", code, *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=200
    )


def test_the_wheel_holds_the_documentation_and_no_tests(built):
    names = zipfile.ZipFile(next(built.glob("*.whl"))).namelist()
    assert "sfumato/docs/methods.md" in names
    assert "sfumato/examples/01_release.py" in names
    assert "sfumato/localization/de.yaml" in names
    assert "sfumato/py.typed" in names
    assert not [name for name in names if name.startswith("tests/") or name.endswith((".pyc", ".nbi", ".nbc"))]


def test_the_source_holds_what_its_tests_need(built):
    with tarfile.open(next(built.glob("*.tar.gz"))) as source:
        names = {name.partition("/")[2] for name in source.getnames()}
    assert {"tests/conftest.py", "docs/methods.md", "Makefile", "CONTRIBUTING.md", "src/sfumato/version.py"} <= names


def test_the_installed_package_reads_its_documentation_and_makes_a_release(python, tmp_path):
    here = ran(python, tmp_path, "docs")
    assert here.returncode == 0, here.stderr
    assert "methods" in here.stdout
    assert ran(python, tmp_path, "docs", "methods").stdout.startswith("# ")
    wrong = ran(python, tmp_path, "docs", "metods")
    assert (wrong.returncode, 'Did you mean "methods"' in wrong.stderr) == (2, True), wrong.stderr
    assert ran(python, tmp_path, "dataset", "patients", "--out", "rows.csv", "--plan", "plan.yaml").returncode == 0
    made = ran(python, tmp_path, "anonymize", "plan.yaml", "--out", "release", "--quiet")
    assert made.returncode == 0, made.stderr
    assert ran(python, tmp_path, "verify", "release").returncode == 0
