"""Each policy of the documentation: the file that passes does, the one that fails does not."""

import json
import re
from pathlib import Path

import pytest

from refusals import coded
from sfumato.errors import PlanError
from sfumato.pipelines.policy_check import check
from sfumato.pipelines.tables.protect import protect, suppress
from sfumato.policies.policy import aliases, policies, policy_named

DOCS = Path(__file__).resolve().parents[2] / "docs" / "policies.md"
PLAN = {
    "version": 1,
    "columns": {"sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}},
    "privacy": [{"model": "k-anonymity", "k": 2}],
}
EXAMPLES = {
    cells[0].strip("` "): (cells[1], cells[2])
    for line in DOCS.read_text(encoding="utf-8").splitlines()
    if (cells := [cell.strip() for cell in line.strip("|").split("|")]) and re.fullmatch(r"`[a-z0-9-]+`", cells[0])
}


def file_of(text: str, path: Path) -> Path:
    """The file that an example stands for."""
    lines = []
    for line in re.search(r"`(.*?)`", text)[1].split(" / "):
        content, _, times = line.partition(" ×")
        lines += [content] * int(times or 1)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def options(policy: str, text: str) -> dict[str, object]:
    more = text.split("`", 2)[2]
    words = re.findall(r"`([^`]+)`", more)
    if "attested" in more or "denied" in more:
        return {"attested": dict.fromkeys(words, "no" if "denied" in more else "A. Lovelace")}
    if "plan" in more:
        return {"plan": PLAN}
    return {"values": {word.split("=")[0]: float(word.split("=")[1]) for word in words}} if words else {}


def test_every_policy_has_examples() -> None:
    assert {*EXAMPLES} == {*policies()}


@pytest.mark.parametrize("policy", sorted(EXAMPLES))
def test_examples(policy, tmp_path) -> None:
    passing, failing = EXAMPLES[policy]
    options_of_failing = options(policy, failing or passing) or options(policy, passing)
    good = check(file_of(passing, tmp_path / "good.csv"), policy, **options(policy, passing))
    assert good.satisfied, [(entry.clause.name, entry.measurement) for entry in good.clauses]
    assert good.count("satisfied") >= 1
    bad = check(file_of(failing, tmp_path / "bad.csv"), policy, **options_of_failing)
    assert not bad.satisfied
    assert "clauses satisfied: " in bad.line


def test_every_clause_has_its_source_and_no_address() -> None:
    for policy in policies().values():
        assert policy.evidence in ("secondary", "unconfirmed")
        assert policy.source and "http" not in policy.source
        for clause in policy.clauses:
            assert clause.says and clause.action and clause.scope


def test_a_value_of_the_user_is_shown(tmp_path) -> None:
    path = file_of("`sex,age / f,40-49 ×11 / m,50-59 ×12`", tmp_path / "x.csv")
    verdict = check(path, "ema-0070", values={"highest-risk": 0.091})
    assert verdict.satisfied
    assert verdict.to_dict()["clauses"][0]["override"] == {"policy": 0.09, "user": 0.091}
    json.dumps(verdict.to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("name", "values", "attested"),
    [("hippa", {}, {}), ("ema-0070", {"k": 3}, {}), ("ema-0070", {}, {"highest-risk": "me"})],
)
def test_unknown_names_are_refused(name, values, attested, tmp_path) -> None:
    with pytest.raises(PlanError):
        check(file_of("`sex / f`", tmp_path / "x.csv"), name, values=values, attested=attested)


def test_aliases_lead_to_policies() -> None:
    assert {name: policy_named(name).id for name in aliases()} == {
        "nhs": "nhs-hes",
        "research-10": "tre-10",
        "eurostat": "eurostat-ifs-2023",
        "eurostat-ifs": "eurostat-ifs-2023",
    }


@pytest.mark.parametrize("policy", sorted(name for name, entry in policies().items() if entry.cells))
def test_what_suppress_publishes_passes_the_check(policy) -> None:
    import pandas as pd

    counts = pd.DataFrame({"m": [2, 12, 31, 9], "f": [20, 30, 8, 14], "x": [40, 6, 22, 0]}, index=list("abcd"))
    counts["Total"] = counts.sum(axis=1)
    counts.loc["Total"] = counts.sum()
    done = suppress(counts, policy)
    verdict = check(done, policy)
    assert verdict.satisfied, (done, verdict.failed)
    assert not check(counts, policy).satisfied


def test_zeros_that_are_disclosive_are_masked_and_cannot_be_computed() -> None:
    import pandas as pd

    counts = pd.DataFrame({"m": [0, 12, 31], "f": [20, 30, 18], "x": [40, 16, 22]}, index=list("abc"))
    counts["Total"] = counts.sum(axis=1)
    counts.loc["Total"] = counts.sum()
    done = suppress(counts, "acro-default")
    assert done.loc["a", "m"] == "*"
    assert (done.iloc[0, :3] == "*").sum() >= 2 and (done.iloc[:3, 0] == "*").sum() >= 2


CELLS = [
    "5*",
    "(5)",
    "~5",
    "≈5",
    "five",
    "fünf",
    "n=5",
    "5 (r)",
    "5†",
    "5 Fälle",
    "1-3",
    "5–7",
    "≤3",
    "<5",
    "5+",
    "3,0",
]


@pytest.mark.parametrize("cell", CELLS)
def test_numbers_however_they_are_dressed_are_no_masks(cell, tmp_path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(f"ward;n\na;{cell}\nb;30\n", encoding="utf-8")
    assert check(path, "cms-11").failed == ("small-cells",)


@pytest.mark.parametrize("cell", ["*", "**", ":c", "c", "-", "", "<11", "1-10", "≤10", "suppressed", "1.234", "12*"])
def test_masks_and_large_numbers_pass(cell, tmp_path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(f"ward;n\na;{cell}\nb;30\n", encoding="utf-8")
    assert check(path, "cms-11").satisfied


@pytest.mark.parametrize(
    ("name", "share"), [("percent", "5%"), ("Anteil", "5,0 %"), ("of all", "5 %"), ("mean", "3.2")]
)
def test_shares_of_masked_counts_are_seen(name, share, tmp_path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(f"ward;n;{name}\na;*;{share}\nb;190;{share}\n", encoding="utf-8")
    assert "rates" in check(path, "cms-11").failed


def test_columns_of_years_and_ages_are_labels(tmp_path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("ward,age,n\na,5,30\nb,7,35\n", encoding="utf-8")
    assert check(path, "cms-11").satisfied


@pytest.mark.parametrize("value", [-1.0, 1.5, float("nan"), float("inf")])
def test_a_risk_that_cannot_be_is_refused(value, tmp_path) -> None:
    with pytest.raises(PlanError, check=coded("plan.value.share")):
        check(file_of("`sex / f ×3`", tmp_path / "x.csv"), "ema-0070", values={"highest-risk": value})


@pytest.mark.parametrize(
    ("policy", "rows", "clause"),
    [
        ("cdc-wonder", ["a,15,3.1", "b,25,3.4"], "unreliable"),
        ("cdc-wonder", ["a,15,3.1 (Unreliable)", "b,20,3.4"], None),
        ("cdc-wonder", ["a,15,Unreliable", "b,25,3.4"], None),
        ("cdc-wisqars", ["a,20,3.4", "b,25,3.4"], "unstable"),
        ("cdc-wisqars", ["a,20,3.4*", "b,21,3.4"], None),
    ],
)
def test_rates_of_few_events_carry_a_mark(policy, rows, clause, tmp_path) -> None:
    path = tmp_path / "rates.csv"
    path.write_text("\n".join(["state,deaths,rate", *rows]) + "\n", encoding="utf-8")
    assert check(path, policy).failed == (() if clause is None else (clause,))


def test_rates_of_few_deaths_are_not_shown_of_counties(tmp_path) -> None:
    path = tmp_path / "rates.csv"
    path.write_text("county,deaths,rate\na,15,3.4*\nb,25,3.4\n", encoding="utf-8")
    assert check(path, "cdc-wisqars").failed == ("county-rates",)


def test_a_count_below_zero_is_no_mask(tmp_path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("ward,n\na,-3\nb,20\n", encoding="utf-8")
    assert check(path, "cms-11").failed == ("small-cells",)


@pytest.mark.parametrize(
    ("value", "failed"),
    [
        ("sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824", ("keyed",)),
        ("LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=", ("keyed",)),
        ("Donaudampfschifffahrtselektrizitätenwerk", ()),
    ],
)
def test_hashes_are_known_by_their_name_and_in_base64(value, failed, tmp_path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(f"key,sex\n{value},f\n", encoding="utf-8")
    assert check(path, "edpb-pseudonymisation-2025").failed == failed


def test_results_are_printed_quietly_too(tmp_path, sfumato) -> None:
    path = tmp_path / "table.csv"
    path.write_text("ward,n\na,3\nb,20\n", encoding="utf-8")
    answer = sfumato("check", str(path), "--policy", "cms-11", "--quiet")
    assert answer.code == 1 and "FAILED" in answer.out
    answer = sfumato("verify", str(path), "--k", "2", "--quasi-identifiers", "ward", "--quiet")
    assert answer.code == 1 and "DOES NOT HOLD" in answer.out


def test_a_release_of_a_table_is_held_against_a_policy_of_tables(tmp_path):
    """The ends of ranges are no counts: 1 of `n_lower` is no cell that is shown."""
    cells = [("a", "f", 3), ("a", "m", 40), ("b", "f", 30), ("b", "m", 5), ("c", "f", 50), ("c", "m", 60)]
    totals = [(area, "all", sum(n for x, _, n in cells if x == area)) for area in "abc"]
    totals += [("all", sex, sum(n for _, y, n in cells if y == sex)) for sex in "fm"]
    rows = [*cells, *totals, ("all", "all", 188)]
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(rows, schema=["area", "sex", "n"], orient="row")
    dimensions = {name: {"column": name, "total": "all"} for name in ("area", "sex")}
    done = protect(frame, value="n", dimensions=dimensions, primary=[{"rule": "range", "min": 1, "max": 10}])
    done.save(tmp_path / "out")
    for data in (tmp_path / "out", tmp_path / "out" / "table-external.csv"):
        assert check(data, "cms-11").satisfied
