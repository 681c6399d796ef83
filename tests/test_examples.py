"""The notebooks in examples/ run as they are, one after the other in this process."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).resolve().parent.parent / "examples").glob("*.py"))


def test_there_are_ten_and_the_list_names_them() -> None:
    listing = (EXAMPLES[0].parents[1] / "docs" / "notebooks.md").read_text(encoding="utf-8")
    assert len(EXAMPLES) == 10
    assert all(f"`examples/{path.name}`" in listing for path in EXAMPLES)


@pytest.mark.parametrize("notebook", EXAMPLES, ids=lambda path: path.stem)
def test_a_notebook_runs(notebook, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert notebook.read_text(encoding="utf-8").startswith("# %% [markdown]\n# # ")
    runpy.run_path(str(notebook))
    assert not list(tmp_path.iterdir()), "a notebook leaves nothing behind"
