"""Plant faults in code that protects people, and check that a test fails: `make mutants`, MUTANTS per file.

SEED in the environment selects other faults.

The faults are those of mutmut: another comparison, another number, a negated condition, a missing argument. They are
planted one at a time in a copy of the source, which keeps compiled loops. Texts are not changed, because no guarantee
depends on them. A fault that no test detects is printed: add a test, or a reason in ALIKE why it changes nothing.
"""

import difflib
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import libcst
from mutmut.mutation.file_mutation import Mutation, create_mutations, deep_replace

ROOT = Path(__file__).resolve().parent.parent
COPY = ROOT / "mutants"
# What is mutated, and the tests that must fail, the fastest first.
TARGETS = {
    "microdata/verdict.py": (
        "tests/microdata/test_verdict.py",
        "tests/pipelines/test_verify.py",
        "tests/pipelines/test_persons.py",
    ),
    "microdata/published_table.py": (
        "tests/microdata/test_verdict.py",
        "tests/pipelines/test_verify.py",
        "tests/pipelines/test_persons.py",
        "tests/pipelines/test_survey_files.py",
        "tests/pipelines/test_presence.py",
    ),
    "microdata/recoding/mapping.py": ("tests/microdata/recoding", "tests/pipelines/test_apply.py"),
    "microdata/recoding/expected_counts.py": ("tests/microdata/recoding", "tests/pipelines/test_readers_view.py"),
    "tables/attack/audit.py": ("tests/tables/attack",),
}
# Equivalent changed lines, each with the reason.
ALIKE = {
    "np.zeros(len(self.table.masked), None)": "zeros are as false as False",
    "field(init=None)": "None is as false as False: no argument either way",
    "np.zeros(0, np.int64), 2)": "a histogram without entries has no value, however many there could be",
}
SEED = os.environ.get("SEED", "20260101")


def faults(path: Path, number: int) -> Iterator[tuple[str, str]]:
    """Yield the source with one fault each, drawn by a fixed seed, and the changed lines."""
    source = path.read_text(encoding="utf-8")
    module, mutations, _, _ = create_mutations(str(path), source)
    for mutation in random.Random(SEED).sample(mutations, len(mutations)):
        if not _changes_nothing(mutation) and number:
            tree = deep_replace(module, mutation.original_node, mutation.mutated_node)
            code = tree.code  # type: ignore[union-attr]
            difference = _difference(source, code)
            if difference and not any(line in difference for line in ALIKE):
                number -= 1
                yield code, difference


def _changes_nothing(mutation: Mutation) -> bool:
    """Return whether a fault is in a text, or outside of any function: type names, which are not used at run time."""
    texts = libcst.BaseString | libcst.FormattedString
    return isinstance(mutation.original_node, texts) or mutation.contained_by_top_level_function is None


def _difference(source: str, code: str) -> str:
    lines = difflib.unified_diff(source.splitlines(), code.splitlines(), lineterm="", n=0)
    return "\n".join(line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---"))


def noticed(tests: tuple[str, ...]) -> bool:
    """Return whether a test fails on the copy."""
    environment = os.environ | {"PYTHONPATH": str(COPY), "PYTHONDONTWRITEBYTECODE": "1"}
    for test in tests:
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-n",
            "0",
            "-q",
            "-x",
            "-p",
            "no:cacheprovider",
            "--timeout=90",
            test,
        ]
        if subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False).returncode:
            return True
    return False


def main(number: int, chosen: list[str]) -> int:
    """Plant a number of faults in each target, or in the given ones; return 1 if one is not detected."""
    shutil.rmtree(COPY, ignore_errors=True)
    shutil.copytree(ROOT / "src", COPY)  # with the times of the files, so that compiled loops are used
    survivors = 0
    for name, tests in TARGETS.items():
        if chosen and name not in chosen:
            continue
        target, planted, lost = COPY / "sfumato" / name, 0, 0
        source = target.read_text(encoding="utf-8")
        for code, difference in faults(ROOT / "src" / "sfumato" / name, number):
            target.write_text(code, encoding="utf-8")
            planted += 1
            if not noticed(tests):
                lost += 1
                print(f"NOT NOTICED in {name}:\n{difference}\n", flush=True)
        target.write_text(source, encoding="utf-8")
        print(f"{name}: {planted - lost} of {planted} faults noticed", flush=True)
        survivors += lost
    shutil.rmtree(COPY, ignore_errors=True)
    return int(survivors > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
