"""Words for "missing": wherever they stand, save where NA is a code."""

import polars as pl
import pytest

from sfumato.hierarchies.role_detection.missing_value_codes import columns_of_code, known_words
from sfumato.pipelines.suggest import suggest_for_frame

PROVINCES = {"TO": 211, "PA": 113, "BO": 107, "NA": 99, "GE": 96, "VR": 91}
JOBS = {"medico": 90, "NA": 13, "n/a": 4, "-": 6}


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ({"job": JOBS}, ["NA", "n/a", "-"]),
        ({"prov": PROVINCES}, []),
        ({"prov": PROVINCES, "job": JOBS}, ["n/a", "-"]),
        ({"state": {"CA": 9, "NY": 8, "TX": 7, "WA": 9, "NA": 3}}, ["NA"]),
        ({"Land": {"BY": 9, "BW": 8, "NW": 7, "SN": 9, "NA": 3}}, ["NA"]),
        ({"country": {"DE": 9, "FR": 8, "IT": 7, "ZA": 9, "NA": 3}}, []),
        ({"country": {"DE": 9, "FR": 8, "IT": 7, "ZA": 9, "NA": 3}, "age": {"31": 9, "NA": 2}}, ["NA"]),
        ({"sex": {"m": 9, "f": 9, "NA": 3}}, ["NA"]),
        ({"yes": {"Y": 9, "NA": 3, "": 2}}, ["NA"]),
    ],
    ids=str,
)
def test_na_is_missing_save_where_it_is_a_code(texts: dict[str, dict[str | None, int]], words: list[str]) -> None:
    assert known_words(texts) == words


def test_the_plan_says_where_na_is_a_code() -> None:
    rows = [code for code, count in PROVINCES.items() for _ in range(count)]
    jobs = (["medico", "avvocato", "operaio", "-"] * len(rows))[: len(rows)]
    proposal = suggest_for_frame(pl.DataFrame({"prov": rows, "professione": jobs}))
    assert columns_of_code({"prov": PROVINCES}) == ["prov"]
    assert proposal.plan["data"]["missing"] == ["-"]
    assert '"NA" is one of its codes' in proposal.reasons["prov"]
