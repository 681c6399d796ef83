"""Run the quick tests on every installed Python, with the oldest and the newest dependencies: `make matrix`.

The oldest dependencies are the lower ends of the ranges in pyproject.toml; packages without a wheel for that Python use
the newest version. Each combination has its own environment in .matrix/, which is reused. For a Python that is not
installed, the output says whether its dependencies exist; for others, what cannot be installed.
"""

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
EXTRAS = ("frames", "tables", "graph")
TESTING = ("pytest", "pytest-timeout", "hypothesis", "jsonschema", "pyyaml")
TESTS = (
    *("tests/microdata/plan", "tests/microdata/counts", "tests/microdata/losses", "tests/microdata/models"),
    *("tests/hierarchies", "tests/schema", "tests/tables/plan", "tests/tables/linked", "tests/test_delimited.py"),
)


def interpreter(version: str) -> str | None:
    """Return the interpreter of a version if it is installed; a broken link does not count."""
    homes = sorted(Path.home().glob(f".pyenv/versions/{version}*/bin/python"), reverse=True)
    for candidate in (*map(str, homes), shutil.which(f"python{version}")):
        if candidate and subprocess.run([candidate, "-c", ""], capture_output=True, check=False).returncode == 0:
            return candidate
    return None


def ranges() -> list[str]:
    """Return the dependencies of the package and of the tested extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    return sorted({*project["dependencies"], *(line for extra in EXTRAS for line in extras[extra])})


def lower_end(line: str) -> str:
    """Return a dependency at the lower end of its range: its first release with bug fixes.

    >>> lower_end("numpy>=2.0"), lower_end("pyarrow>=17"), lower_end("pyreadstat>=1.2.8")
    ('numpy~=2.0.0', 'pyarrow~=17.0', 'pyreadstat==1.2.8')
    """
    return re.sub(r">=([\d.]+)$", lambda end: f"=={end[1]}" if end[1].count(".") > 1 else f"~={end[1]}.0", line)


def environment(python: str, name: str, requirements: list[str]) -> Path:
    """Create an environment with the package and its requirements; an existing one is reused.

    Only wheels for this Python are used, because users do not install packages that must be compiled first.
    """
    folder = ROOT / ".matrix" / name
    if not (folder / "ready").exists():
        subprocess.run([python, "-m", "venv", "--clear", str(folder)], check=True)
        pip = [str(folder / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--only-binary=:all:", *TESTING, *requirements], check=True)
        subprocess.run([*pip, "--no-deps", "--editable", str(ROOT)], check=True)
        (folder / "ready").touch()
    return folder / "bin" / "python"


def resolves(version: str, requirements: Sequence[str], *options: str) -> bool:
    """Return whether wheels of dependencies exist for a version of Python, which need not be installed."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--target", ".matrix"]
    wanted = ["--python-version", version, "--only-binary=:all:", *options, *requirements]
    return subprocess.run([*pip, *wanted], cwd=ROOT, capture_output=True, check=False).returncode == 0


def oldest(version: str) -> list[str]:
    """Return the dependencies at the lower ends of their ranges; those without a wheel for a Python unchanged."""
    lower = {line: lower_end(line) for line in ranges()}
    if resolves(version, [*lower.values()]):
        return [*lower.values()]
    return [end if resolves(version, [end], "--no-deps") else line for line, end in lower.items()]


def run(version: str, kind: str, requirements: list[str]) -> str:
    """Return the result of one combination in a word or two."""
    python = interpreter(version)
    if python is None:
        built = "are built for it" if resolves(version, requirements) else "CANNOT be had for it"
        return f"not installed here; its dependencies {built}"
    try:
        here = environment(python, f"{version}-{kind}", requirements)
    except subprocess.CalledProcessError:
        return "cannot be installed here"
    command = [str(here), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "addopts=--import-mode=importlib"]
    ended = subprocess.run([*command, *TESTS], cwd=ROOT, capture_output=True, text=True, check=False)
    lines = ended.stdout.strip().splitlines() or [ended.stderr[-200:]]
    if ended.returncode:
        print(ended.stdout[-6000:])
    return f"{'passed' if ended.returncode == 0 else 'FAILED'}: {lines[-1].strip('= ')}"


def main(chosen: list[str]) -> int:
    """Run all combinations, or those of the given versions; return 1 if one fails."""
    words = []
    for version in chosen or VERSIONS:
        for kind, requirements in (("newest", ranges()), ("oldest", oldest(version))):
            words.append(run(version, kind, requirements))
            print(f"Python {version}, {kind} dependencies: {words[-1]}", flush=True)
    return int(any(word.startswith("FAILED") for word in words))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
