"""Every block of README and documentation runs as it is written, page by page, each in a folder of its own."""

import contextlib
import doctest
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from urllib.request import urlopen

import pytest
import yaml

from sfumato.bundled_docs import pages
from sfumato.cli.documents import page_text
from sfumato.docs_reference.pages import MADE, overview, titles
from sfumato.docs_reference.plan_keys import MARKER
from sfumato.microdata.models.registry import SHAPES
from sfumato.microdata.plan.decisions import DECIDE
from sfumato.microdata.plan.methods import METHOD
from sfumato.microdata.plan.read import read_plan
from sfumato.microdata.plan.write import COLUMN, PLAN
from sfumato.schema.composite import MapSchema, read
from sfumato.tables.plan.table_plan import PLAN as TABLE_PLAN
from sfumato.tables.plan.table_plan import read_table_plan

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = {"README": ROOT / "README.md"} | pages()
FENCE = re.compile(r"^```(\w*)(?: title=\"([^\"]+)\")?[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
# What is shown, and neither run nor read by a program: outputs, settings of others, what needs a cluster or a database.
SHOWN = {"text", "nginx", "r", "csv", "html"}
# Commands that are not Sfumato's: installing it, and talking to the server that the page starts.
OTHERS = ("pip ", "make ", "curl ", "#", "docker ", "python -m venv")


def blocks(path: Path) -> list[tuple[str, str, str]]:
    """Language, file name and text of every block of a page."""
    return FENCE.findall(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The service that pages talk to, at its usual address where that is free."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tmp_path_factory.mktemp("server")
    code = "import sys; from sfumato.cli.main import main; main(sys.argv[1:])"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "serve", "--port", str(port), "--jobs", str(folder / "jobs"), "--no-pages"],
        cwd=folder,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    for _ in range(600):
        with contextlib.suppress(OSError), urlopen(f"http://127.0.0.1:{port}/health/ready", timeout=5):
            break
        time.sleep(0.1)
    yield f"http://127.0.0.1:{port}"
    os.killpg(process.pid, signal.SIGTERM)
    process.wait(30)


@pytest.mark.parametrize("page", [name for name, path in PAGES.items() if blocks(path)])
def test_every_block_of_a_page_runs(page, sfumato, tmp_path, monkeypatch, request) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for language, name, text in blocks(PAGES[page]):
        if name:
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_text(text, encoding="utf-8")
        if language == "python":
            run_python(text, names)
        elif language == "sh":
            for line in commands(text):
                run_line(line, sfumato, request)
        elif language == "yaml":
            read_yaml(text)
        else:
            read_other(language, text)


def commands(text: str) -> list[str]:
    """The commands of a block; one goes on over lines while a quote is open or its line ends with a backslash."""
    lines = [""]
    for line in text.replace("\\\n", " ").splitlines():
        lines[-1] += f"\n{line}" if lines[-1] else line
        with contextlib.suppress(ValueError):
            shlex.split(lines[-1], comments=True)
            lines.append("")
    return [line for line in lines if line]


def run_python(text: str, names: dict[str, object]) -> None:
    if not text.startswith(">>> "):
        exec(compile(text, "page", "exec"), names)
        return
    example = doctest.DocTestParser().get_doctest(text, names, "page", None, None)
    assert doctest.DocTestRunner().run(example).failed == 0


def run_line(line: str, sfumato, request) -> None:
    """One line of a shell: ours in this process, those to the server by the shell; `# exit 1` says how it ends."""
    if not line.startswith("sfumato "):
        assert not line.strip() or line.startswith(OTHERS), f"what is this? {line}"
        if line.startswith("curl "):
            ask(line, request.getfixturevalue("server"))
        return
    command, _, comment = line.partition("  #")
    command, _, target = command.partition(" > ")
    words = shlex.split(command)[1:]
    if words[0] == "serve":  # the server of this module
        return
    ran = sfumato(*words)
    wanted = re.search(r"exit (\d)", comment)
    assert ran.code == (int(wanted[1]) if wanted else 0), (line, ran.err)
    if target:
        Path(target.strip()).write_text(ran.out, encoding="utf-8")


def ask(line: str, address: str) -> None:
    command = line.replace("http://127.0.0.1:8000", address).partition("  #")[0]
    asked = subprocess.run(
        ["bash", "-c", f"{command} --silent --show-error --fail"],
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )
    assert asked.returncode == 0, (line, asked.stderr)


def read_yaml(text: str) -> None:
    """A whole plan, or parts of one: each is what a plan may hold."""
    value = yaml.safe_load(text)
    if "version" in value:
        (read_table_plan if {"table", "tables"} & set(value) else read_plan)(value)
    elif set(value) <= set(PLAN.keys) and value.keys() - {"columns"}:
        for key, part in value.items():
            read(PLAN.keys[key].shape, part, key)
    elif set(value) <= set(TABLE_PLAN.keys) - {"columns"}:
        for key, part in value.items():
            read(TABLE_PLAN.keys[key].shape, part, key)
    elif "decide" in value:
        read(DECIDE, value["decide"], "decide")
    else:
        read(MapSchema(COLUMN), value.get("columns", value), "columns")


def read_other(language: str, text: str) -> None:
    if language == "json":
        json.loads(text)
    elif language == "toml":
        tomllib.loads(text)
    elif language == "turtle":
        from rdflib import Graph

        assert len(Graph().parse(data=text, format="turtle"))
    else:
        assert language in SHOWN, f"say what this block is: {language!r} {text[:60]!r}"


def test_the_tour_releases(sfumato, tmp_path, monkeypatch) -> None:
    """The README's plan is what `suggest` proposes roles for, and its Python saves a release."""
    monkeypatch.chdir(tmp_path)
    assert sfumato("dataset", "patients", "--out", "patients.csv").code == 0
    suggested = yaml.safe_load(sfumato("suggest", "patients.csv").out)
    assert read_plan(suggested).quasi_identifiers == ("date_of_birth", "sex", "zip")


LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)")


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", *pages().values()]
)
def test_links_lead_somewhere(page) -> None:
    made = {(DOCS / f"{name}.md").resolve() for name in MADE}
    for target, _ in LINK.findall(page.read_text(encoding="utf-8")):
        place = (page.parent / target).resolve()
        assert not target or place.exists() or place in made, f"{page.name}: {target}"


def test_every_model_and_method_has_a_page_with_its_keys() -> None:
    asked = {marker for path in pages().values() for marker in MARKER.findall(path.read_text(encoding="utf-8"))}
    for kind, names in (("model", SHAPES), ("method", METHOD.variants)):
        for name in names:
            assert f"{kind}s/{name}" in pages(), f"write docs/{kind}s/{name}.md: what it is, its keys, its limits"
            page = pages()[f"{kind}s/{name}"].read_text(encoding="utf-8")
            assert (kind, name) in asked
            assert f"<!-- keys: {kind} {name} -->" in page
            if kind == "method":
                assert f"../images/methods/{name}.svg" in page, "draw it: tools/draw_methods.py"


def test_pages_are_made_from_the_code() -> None:
    plan = page_text("reference/plan")
    assert "| `on_missing` | `category`, `any`, `drop` | `category` |" in plan
    assert "## method: mondrian" in plan
    rows = [line for line in (plan + page_text("table-plan")).splitlines() if line.startswith("| `")]
    assert not [line for line in rows if line.endswith("|  |")], "every key says what it is"
    commands = page_text("command-line")
    assert "## sfumato compare" in commands
    assert "| `--k` |" in commands
    assert "### sf.anonymize\n" in page_text("reference/python")
    assert "`/api/jobs`" in page_text("rest")
    assert "**quasi-identifier**" in page_text("glossary")
    assert "| `mode` | `strict`, `relaxed` | `strict` |" in page_text("methods/mondrian")


def test_all_pages_can_be_written_to_a_folder(sfumato, tmp_path) -> None:
    assert sfumato("docs", "--out", tmp_path / "manual").code == 0
    written = {path.relative_to(tmp_path / "manual").with_suffix("").as_posix() for path in tmp_path.rglob("*.md")}
    assert written == set(titles())
    listing = (tmp_path / "manual" / "llms.txt").read_text(encoding="utf-8")
    assert "](methods/mondrian.md): A class is cut in two" in listing
    assert overview({"one": "# One\n\nSays much. And more."}).endswith("- [One](one.md): Says much.\n")
    assert ": ." not in listing and ":." not in listing


def test_all_that_pages_lead_to_is_written_with_them(sfumato, tmp_path) -> None:
    assert sfumato("docs", "--out", tmp_path).code == 0
    links = [(page, link) for page in tmp_path.rglob("*.md") for link, _ in LINK.findall(page.read_text("utf-8"))]
    assert not [(page.name, link) for page, link in links if link and not (page.parent / link).resolve().exists()]
    assert len([link for _, link in links if link.endswith(".svg")]) > 5
    assert {path.name for path in (tmp_path / "examples").iterdir()} == {
        path.name for path in (ROOT / "examples").glob("*.py")
    }


def test_the_tour_shows_what_the_demo_prints(sfumato, tmp_path) -> None:
    shown = next(text for language, _, text in blocks(ROOT / "README.md") if language == "text" and "mean loss" in text)
    printed = sfumato("demo", "--out", tmp_path / "demo").out
    assert [line for line in shown.splitlines() if line not in printed.splitlines()] == []


def test_a_page_is_found_by_the_end_of_its_name(sfumato) -> None:
    assert sfumato("docs", "mondrian").out.startswith("# Mondrian")
    assert "tutorials/patients.md" in sfumato("docs", "llms").out
    missing = sfumato("docs", "mondrain")
    assert (missing.code, "mondrian" in missing.err) == (2, True)


@pytest.mark.parametrize("name", ["k-optimize-benchmark", "tables-benchmark", "scalability", "spark-benchmark"])
def test_all_measurements_stand_on_one_page(name) -> None:
    """Whoever measures one of them anew puts it there: `make bench` does."""
    whole = (DOCS / "benchmarks.md").read_text(encoding="utf-8").splitlines()
    lines = (DOCS / f"{name}.md").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line not in whole and f"#{line}" not in whole] == []


def test_the_site_names_no_page_that_is_not_there() -> None:
    """Pages that the navigation does not name are put at its end by the hooks of the site."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    named = set(re.findall(r"([\w/-]+)\.md\b", text))
    assert named <= set(titles())


def test_the_architecture_names_what_is_there() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    paths = re.findall(r"`([\w/]+\.py)`", text)
    assert len(paths) > 30
    for path in paths:
        assert (ROOT / "src" / "sfumato" / path).exists() or (ROOT / path).exists(), path


def test_each_path_through_the_code_has_at_most_ten_steps_of_one_file() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = text.split("## Four paths through the code")[1].split("##")[0]
    steps = [line.strip().strip("|").split("|") for line in table.splitlines() if line.startswith("|")][2:]
    assert len(steps) <= 10
    for cell in (cell for line in steps for cell in line if cell.strip()):
        assert len(re.findall(r"`[\w/]+\.py`", cell)) == 1, cell
