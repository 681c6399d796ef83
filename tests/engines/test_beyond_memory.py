"""The DuckDB engine on large files: limits, order, patterns, partitions in and out, a disk that takes no more."""

import subprocess
import sys
from pathlib import Path

import duckdb
import polars as pl
import pytest

from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.engine import MissingRules
from sfumato.errors import DataError, PlanError
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.plan.read import read_plan
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.verify import verify
from sizes import size

ROWS = size(60_000, 400_000)


def plan(**more) -> dict:
    return {
        "version": 1,
        "columns": {
            "row": {"role": "insensitive"},
            "zip": {"role": "quasi-identifier", "hierarchy": {"type": "digits", "length": 5}},
            "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        },
        "privacy": [{"model": "k-anonymity", "k": 3}],
        "method": {"name": "optimal", "suppression": 0.02},
        "output": {"order": "keep"},
    } | more


@pytest.fixture(scope="module")
def people(tmp_path_factory) -> Path:
    """Many row groups; some rows must be suppressed, some have no sex."""
    path = tmp_path_factory.mktemp("people") / "people.parquet"
    select = (
        "SELECT range AS row, lpad(CAST(CASE WHEN range % 211 = 0 THEN range % 99991 ELSE range * 7919 % 89 END "
        "AS VARCHAR), 5, '0') AS zip, CASE range % 3 WHEN 0 THEN 'männlich' WHEN 1 THEN 'weiblich' END AS sex"
    )
    with duckdb.connect() as connection:
        rows = f"{select} FROM range({ROWS})"
        connection.execute(f"COPY ({rows}) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE {ROWS // 20})").fetchall()
    return path


@pytest.mark.parametrize("output", [{"format": "parquet"}, {"suppressed": "star", "class_column": "class"}])
def test_rows_keep_their_order_through_many_row_groups(people, output) -> None:
    release = anonymize(people, plan(output=output | {"order": "keep"}, data={"memory_limit": "500 MB"}))
    if output.get("format"):
        published = pl.read_parquet(release.data)
    else:
        published = pl.read_csv(release.data, schema_overrides={"zip": pl.String})
    assert 0 < release.report.suppressed_rows <= 0.02 * ROWS
    assert published["row"].is_sorted()
    dropped = 0 if "suppressed" in output else release.report.suppressed_rows
    assert len(published) == ROWS - dropped
    if "class_column" in output:
        sizes = published.filter(pl.col("class") > 0).group_by("class").len()
        assert len(sizes) == release.report.classes.count
        assert sizes["len"].min() == release.report.classes.smallest >= 3
        assert (published.filter(pl.col("class") == 0)["sex"] == "*").all()
    release.close()


def test_a_stream_publishes_what_joins_publish(people) -> None:
    """A shuffled release takes the way through joins: the same rows in another order."""
    kept, shuffled = (
        anonymize(people, plan(output={"order": order, "format": "parquet"})) for order in ("keep", "shuffle")
    )
    one, two = pl.read_parquet(kept.data), pl.read_parquet(shuffled.data)
    assert one.equals(two.sort("row"))
    assert not one.equals(two)
    kept.close()
    shuffled.close()


def test_limits_reach_the_engine_and_its_files_go_where_they_should(people, tmp_path) -> None:
    engine = DuckDBEngine(people, DataPlan(memory_limit="300MB", temp_folder=str(tmp_path)))
    settings = engine._run("SELECT current_setting('memory_limit'), current_setting('temp_directory')")[0]
    assert settings[0] == "286.1 MiB"
    assert Path(settings[1]).parent == tmp_path
    counted = engine.count(["row"], MissingRules())
    assert len(counted.counts) == ROWS
    engine.close()
    assert list(tmp_path.iterdir()) == []


def test_the_command_line_takes_limits(sfumato, people, tmp_path) -> None:
    import yaml

    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(plan()))
    temp = tmp_path / "temp"
    temp.mkdir()
    arguments = ("anonymize", tmp_path / "plan.yaml", "--data", people, "--out", tmp_path / "out")
    ran = sfumato(*arguments, "--memory-limit", "1GB", "--temp-folder", temp)
    assert ran.code == 0, ran.err
    assert yaml.safe_load((tmp_path / "out" / "plan.yaml").read_text())["data"]["memory_limit"] == "1GB"
    wrong = sfumato("anonymize", tmp_path / "plan.yaml", "--out", tmp_path / "no", "--memory-limit", "much")
    assert wrong.code == 2
    assert "2GB" in wrong.err


def test_folders_patterns_and_partitions_are_read_in_the_order_of_their_names(tmp_path) -> None:
    for zip_, names in (("00712", ["ä", "b"]), ("10115", ["c"])):
        folder = tmp_path / "people" / f"zip={zip_}"
        folder.mkdir(parents=True)
        pl.DataFrame({"name": names}).write_parquet(folder / "part.parquet")
        (tmp_path / f"{zip_}.csv").write_text("name,zip\n" + "".join(f"{name},{zip_}\n" for name in names))
    for source in (tmp_path / "people", tmp_path / "people" / "*" / "*.parquet", tmp_path / "*.csv"):
        engine = DuckDBEngine(source)
        assert engine.columns == ("name", "zip")
        assert set(engine.count(["zip"], MissingRules()).values[0]) == {"00712", "10115"}
        assert engine.locate("name", ["c"], 5) == (3,)
        assert len(engine.checksum()) == 64
        engine.close()
    with pytest.raises(DataError, match="there is no file"):
        DuckDBEngine(tmp_path / "*.parquet")


def test_a_release_is_laid_in_folders(tmp_path) -> None:
    texts = ["007", "007", "ä/ö", "ä/ö", None, None, "x", "y"]
    pl.DataFrame({"row": range(8), "zip": texts, "sex": ["m"] * 8}).write_parquet(tmp_path / "rows.parquet")
    columns = plan()["columns"] | {"zip": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}}
    output = {"format": "parquet", "partition": ["zip"]}
    asked = plan(columns=columns, output=output, privacy=[{"model": "k-anonymity", "k": 2}])
    release = anonymize(tmp_path / "rows.parquet", asked | {"method": {"name": "optimal", "suppression": 0.25}})
    assert release.data.is_dir()
    assert len(list(release.data.iterdir())) == 3
    engine = DuckDBEngine(release.data)
    counted = engine.count(["zip", "row"], MissingRules())
    found = sorted((counted.values[1][row], counted.values[0][zip_]) for zip_, row in counted.codes.tolist())
    engine.close()
    assert found == [("0", "007"), ("1", "007"), ("2", "ä/ö"), ("3", "ä/ö"), ("4", None), ("5", None)]
    saved = release.save(tmp_path / "out")
    release.close()
    assert len(list((saved / "data.parquet").iterdir())) == 3
    assert pl.read_parquet(saved / "data.parquet").height == 6
    assert verify(saved).satisfied
    with pytest.raises(PlanError, match="engine duckdb"):
        anonymize(pl.read_parquet(tmp_path / "rows.parquet"), asked)
    with pytest.raises(PlanError, match="no column"):
        read_plan(plan(output={"format": "parquet", "partition": ["plz"], "order": "keep"}))


LIMITED = """
import resource, signal, sys
from pathlib import Path
from sfumato.cli.main import run
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
sys.exit(run(sys.argv[2:]))
"""


def test_a_disk_that_takes_no_more_publishes_nothing_and_a_rerun_works(people, tmp_path) -> None:
    """The system refuses to let the file grow, as it does when a disk is full."""
    import yaml

    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(plan()))

    def release(size: int, name: str) -> subprocess.CompletedProcess[str]:
        arguments = ["anonymize", str(tmp_path / "plan.yaml"), "--data", str(people), "--out", str(tmp_path / name)]
        command = [sys.executable, "-c", LIMITED, str(size), *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)

    failed = release(500_000, "out")
    assert failed.returncode == 5, failed.stderr
    assert "free space" in failed.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["plan.yaml"]
    assert release(10**9, "out").returncode == 0
    assert (tmp_path / "out" / "data.csv").exists()
