"""Classes that are published as `*` throughout cannot be told from suppressed rows, and nothing pretends they can."""

from collections import Counter

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import UnattainableError
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.verify import verify
from sizes import size

ANY = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
TREE = {"type": "tree", "parents": {"a1": "A", "a2": "A", "b1": "B", "b2": "B"}}
EIGHT = pd.DataFrame({"x": ["a1", "b1", "a2", "a2", "a2", "b2", "b2", "b2"]})
K = {"model": "k-anonymity", "k": 2}


def plan(columns: dict, privacy: list, method: dict, suppressed: str) -> dict:
    return {
        "version": 1,
        "columns": columns,
        "privacy": privacy,
        "method": method,
        "output": {"suppressed": suppressed, "order": "keep"},
    }


@pytest.mark.parametrize(("suppressed", "classes", "hidden", "reached"), [("drop", 3, 0, 2), ("star", 2, 2, 3)])
def test_report_and_verdict_agree(tmp_path, suppressed, classes, hidden, reached) -> None:
    columns = {"x": {"role": "quasi-identifier", "hierarchy": TREE}}
    release = anonymize(EIGHT, plan(columns, [K], {"name": "local"}, suppressed))
    report = release.report
    assert Counter(release.data["x"]) == {"*": 2, "a2": 3, "b2": 3}
    assert (report.classes.count, report.suppressed_rows) == (classes, hidden)
    assert report.models[0].achieved == report.classes.smallest == reached
    verdict = verify(release.save(tmp_path / "release"))
    assert verdict.satisfied
    assert (verdict.classes, verdict.suppressed_rows, verdict.smallest) == (classes, hidden, reached)


def test_kept_and_suppressed_rows_that_look_alike_are_judged_together() -> None:
    rows = pd.DataFrame({"q": list("eadedbaa"), "d": list("yxxxyxxx")})
    privacy = [K, {"model": "beta-likeness", "beta": 1, "column": "d"}]
    columns = {"q": ANY, "d": {"role": "sensitive"}}
    release = anonymize(rows, plan(columns, privacy, {"name": "local", "suppression": 0.3}, "star"))
    assert Counter(release.data["q"]) == {"e": 2, "*": 6}
    assert release.report.suppressed_rows == 6


@pytest.mark.parametrize("suppressed", ["drop", "star"])
def test_the_top_alone_keeps_no_promise_about_a_sensitive_column(suppressed) -> None:
    rows = pd.DataFrame({"q": list("cadceacaeedb"), "d": list("xxxyxxxxxxxx")})
    privacy = [K, {"model": "l-diversity", "l": 2, "column": "d"}]
    columns = {"q": ANY, "d": {"role": "sensitive"}}
    for method in ({"name": "local", "suppression": 0.3}, {"name": "mondrian"}):
        with pytest.raises(UnattainableError, match=r"(?i)nothing below the top"):
            anonymize(rows, plan(columns, privacy, method, suppressed))


@settings(max_examples=size(20, 100), deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from("*xy")), min_size=4, max_size=14),
    st.sampled_from([{"name": "local", "suppression": 0.3}, {"name": "optimal", "suppression": 0.3}]),
    st.sampled_from(
        [
            {"model": "l-diversity", "l": 2, "column": "d"},
            {"model": "t-closeness", "t": 0.4, "column": "d"},
            {"model": "beta-likeness", "beta": 1, "column": "d"},
        ]
    ),
)
def test_the_veil_is_never_counted_as_a_value(rows, method, model) -> None:
    frame = pd.DataFrame(rows, columns=["q", "d"]).replace({"d": {"*": "z"}})
    columns = {"q": ANY, "d": {"role": "sensitive"}}
    try:
        release = anonymize(frame, plan(columns, [K, model], method, "star"))
    except UnattainableError:
        return
    shown = release.data[release.data["q"] != "*"]
    assert len(shown)
    assert len(release.data) - len(shown) == release.report.suppressed_rows
    classes = [group for _, group in shown.groupby("q")]
    assert min(map(len, classes)) == release.report.models[0].achieved >= 2
    if model["model"] == "l-diversity":
        assert min(group["d"].nunique() for group in classes) == release.report.models[1].achieved
    hidden = set(release.data[release.data["q"] == "*"]["d"])
    assert hidden <= {"x", "y", "z"} or hidden == {"*"}
