"""An empty text and a missing value look alike in a CSV file, so no promise may count on the difference."""

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.errors import UnattainableError
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.verify import verify

ANY = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}


def plan(method: dict, **more: object) -> dict:
    privacy = [{"model": "k-anonymity", "k": 2}, {"model": "l-diversity", "l": 2, "column": "s"}]
    columns = {"q": ANY, "s": {"role": "sensitive"}}
    return {"version": 1, "columns": columns, "privacy": privacy, "method": method, "output": {"order": "keep"}} | more


@pytest.mark.parametrize("method", [{"name": "mondrian"}, {"name": "optimal"}])
@pytest.mark.parametrize("form", ["parquet", "frame", "csv with strip"])
def test_they_are_one_value_of_a_sensitive_column(tmp_path, form, method) -> None:
    rows = {"q": list("aabb"), "s": ["", None, "", None]}
    source = pd.DataFrame(rows)
    wanted = plan(method)
    if form == "parquet":
        source = tmp_path / "rows.parquet"
        pq.write_table(pa.table(rows), source)
    if form == "csv with strip":
        source = tmp_path / "rows.csv"
        source.write_text("q,s\na, \na,\nb,  \nb,\n")
        wanted = plan(method, data={"strip": True})
    with pytest.raises(UnattainableError):
        anonymize(source, wanted)


@pytest.mark.parametrize("mode", ["strict", "relaxed"])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_what_is_told_of_a_release_is_found_in_its_file(tmp_path, form, mode) -> None:
    rows = {"q": list("aaaabbbb"), "s": ["", None, "x", "y", "x", "", "y", None]}
    source = tmp_path / "rows.parquet"
    pq.write_table(pa.table(rows), source)
    release = anonymize(source, plan({"name": "mondrian", "mode": mode}, output={"format": form, "order": "keep"}))
    verdict = verify(release.save(tmp_path / "release"))
    assert verdict.satisfied
    assert [promise.achieved for promise in verdict.promises] == [p.achieved for p in release.report.models]
    release.close()
