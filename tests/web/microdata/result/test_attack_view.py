"""Attacks from the page on the folder of a run."""

from contextlib import closing

from sfumato.microdata.plan.read import read_plan
from sfumato.pipelines.release import anonymize
from sfumato.web.microdata.result.result_figures import attacked


def test_the_files_of_the_plan_lie_beside_the_data(tmp_path) -> None:
    """A run that was brought back with its project lay elsewhere, and its hierarchies were not found."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "towns.csv").write_text("a,north,*\nb,north,*\nc,south,*\nd,south,*\n", encoding="utf-8")
    rows = ["town,illness", *(f"{'abcd'[place % 4]},{'xyz'[place % 3]}" for place in range(48))]
    (home / "rows.csv").write_text("\n".join(rows), encoding="utf-8")
    plan = {
        "version": 1,
        "data": {"source": "rows.csv"},
        "columns": {
            "town": {"role": "quasi-identifier", "hierarchy": {"type": "file", "path": "towns.csv", "separator": ","}},
            "illness": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 15}],
        "method": {"name": "optimal"},
    }
    folder = tmp_path / "jobs" / "output" / "result"
    folder.parent.mkdir(parents=True)
    with closing(anonymize(None, read_plan(plan, home))) as release:
        release.save(folder, home)
    assert "path: towns.csv" in (folder / "plan.yaml").read_text(encoding="utf-8")
    assert attacked(folder, home / "rows.csv", None)["attacks"]
    assert folder.with_suffix(".zip").exists()
