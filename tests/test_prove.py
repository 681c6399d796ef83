"""Proofs at full size: a run that is ended goes on where it was, and leaves nothing running."""

import importlib
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parent.parent / "tools"
# Two proofs that note that they began; the second waits where the file `wait` is there, in a process of its own.
RUN = """
import sys
from pathlib import Path
sys.path.insert(0, {tools!r})
import prove
here = Path({folder!r})
note = "import os, sys; open(sys.argv[1], 'a').write(f'{{os.getpid()}}\\\\n'); print(sys.argv[1][-5:])"
wait = "; import pathlib, subprocess; "
wait += "pathlib.Path('wait').exists() and subprocess.run([sys.executable, '-c', 'import time; time.sleep(60)'])"
prove.ROOT, prove.KEPT, prove.PAGE, prove.commit = here, here / "kept", here / "proofs.md", lambda: "this"
prove.PROOFS = (
    prove.Proof("first one", ("-c", note, "first"), 1),
    prove.Proof("other", ("-c", note + wait, "other"), {minutes}),
)
sys.exit(prove.main(sys.argv[1:]))
"""


def started(folder: Path, *names: str, minutes: float = 1) -> subprocess.Popen:
    code = RUN.format(tools=str(TOOLS), folder=str(folder), minutes=minutes)
    return subprocess.Popen([sys.executable, "-c", code, *names], cwd=folder, stdout=subprocess.PIPE, text=True)


def end_of(run: subprocess.Popen) -> tuple[int, str]:
    """How a run ended, and what it printed."""
    with run:
        printed, _ = run.communicate(timeout=30)
    return run.returncode, printed


def runs(folder: Path, name: str) -> list[int]:
    """The processes that ran a proof."""
    return [int(line) for line in (folder / name).read_text().split()] if (folder / name).exists() else []


def test_a_run_that_is_ended_goes_on(tmp_path) -> None:
    (tmp_path / "wait").touch()
    ended = started(tmp_path)
    limit = time.monotonic() + 30
    while not runs(tmp_path, "other") and time.monotonic() < limit:
        time.sleep(0.02)
    ended.terminate()
    assert end_of(ended)[0] == 143
    with pytest.raises(ProcessLookupError):
        os.kill(runs(tmp_path, "other")[0], 0)
    (tmp_path / "wait").unlink()
    assert end_of(started(tmp_path))[0] == 0
    assert (len(runs(tmp_path, "first")), len(runs(tmp_path, "other"))) == (1, 2)
    page = (tmp_path / "proofs.md").read_text()
    assert "| first one | done |" in page
    assert "| other | done |" in page


def test_a_proof_that_takes_too_long_fails_and_is_run_again(tmp_path) -> None:
    (tmp_path / "wait").touch()
    code, printed = end_of(started(tmp_path, "other", minutes=0.01))
    assert (code, "other: FAILED" in printed) == (1, True)
    assert "other\n\nnot done in 0.01 minutes" in (tmp_path / "proofs.md").read_text()
    (tmp_path / "wait").unlink()
    assert end_of(started(tmp_path, "other"))[0] == 0


def test_names_that_no_proof_has_are_refused(tmp_path) -> None:
    code, printed = end_of(started(tmp_path, "nonsense"))
    assert (code, printed) == (2, "There is no proof nonsense. There are: first one, other.\n")


def test_pages_that_proofs_write_do_not_undo_them_and_sources_do(tmp_path, monkeypatch) -> None:
    monkeypatch.syspath_prepend(TOOLS)
    prove = importlib.import_module("prove")
    monkeypatch.setattr(prove, "ROOT", tmp_path)
    (tmp_path / "docs").mkdir()
    for name in ("source.py", prove.WRITTEN[0]):
        (tmp_path / name).write_text("first")
    as_somebody = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for words in (("init", "--quiet"), ("add", "."), (*as_somebody, "commit", "--quiet", "--message", "all")):
        subprocess.run(["git", *words], cwd=tmp_path, check=True, capture_output=True)
    before = prove.commit()
    (tmp_path / prove.WRITTEN[0]).write_text("measured")
    assert prove.commit() == before
    (tmp_path / "source.py").write_text("changed")
    assert prove.commit() != before


def test_every_attack_and_every_page_of_a_benchmark_is_known(monkeypatch) -> None:
    monkeypatch.syspath_prepend(TOOLS)
    prove = importlib.import_module("prove")
    run = {word for proof in prove.PROOFS for word in proof.command}
    bench = TOOLS.parent / "bench"
    assert {f"bench/{path.name}" for path in bench.glob("prove_*.py")} <= run
    pages = {name for path in bench.glob("*.py") for name in re.findall(r'"docs" / "([\w-]+\.md)"', path.read_text())}
    assert {f"docs/{name}" for name in pages} == {*prove.WRITTEN}


def test_benchmarks_are_run_without_the_words_that_chose_them(monkeypatch, capsys) -> None:
    """The benchmark of the service took its own name for an option, and failed; a bar that is missed counts."""
    monkeypatch.syspath_prepend(str(TOOLS.parent))
    chosen = importlib.import_module("bench.__main__")
    seen = []

    class Missed:
        @staticmethod
        def main() -> int:
            seen.append(sys.argv)
            return 1

    monkeypatch.setattr(sys, "argv", ["bench", "service"])
    monkeypatch.setattr(chosen, "import_module", lambda _: Missed)
    assert chosen.main(["service"]) == 1
    assert seen == [["service"]]
    assert "== service ==" in capsys.readouterr().out
