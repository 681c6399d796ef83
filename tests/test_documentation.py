"""The README's tour runs as it is written."""

import re
import shlex
from pathlib import Path

import pytest
import yaml

from sfumato.microdata.plan.read import read_plan

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_tour(sfumato, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    commands = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("sfumato ")]
    assert len(commands) == 4
    for command in commands:
        line, _, target = command.partition(" > ")
        ran = sfumato(*shlex.split(line)[1:])
        assert ran.code == 0, (command, ran.err)
        if target:
            suggested = yaml.safe_load(ran.out)
            assert read_plan(suggested).quasi_identifiers == ("date_of_birth", "sex", "zip")
            Path(target).write_text(blocks("yaml")[0], encoding="utf-8")
    python = next(block for block in blocks("python")).replace('"release"', '"release2"')
    exec(python, {})
    assert (tmp_path / "release2" / "report.html").exists()


def test_the_page_on_python_runs(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(block, names)
    assert (tmp_path / "python-release" / "report.html").exists()
    assert "quasi-identifier" in capsys.readouterr().out


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").glob("*.md"))])
def test_links_lead_somewhere(page) -> None:
    for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_architecture_names_what_is_there() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    paths = re.findall(r"`([\w/]+\.py)`", text)
    assert len(paths) > 30
    for path in paths:
        assert (ROOT / "src" / "sfumato" / path).exists() or (ROOT / path).exists(), path


def test_each_way_through_the_house_has_at_most_ten_steps_of_one_file() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = text.split("## Four ways through the house")[1].split("##")[0]
    steps = [line.strip().strip("|").split("|") for line in table.splitlines() if line.startswith("|")][2:]
    assert len(steps) <= 10
    for cell in (cell for line in steps for cell in line if cell.strip()):
        assert len(re.findall(r"`[\w/]+\.py`", cell)) == 1, cell
