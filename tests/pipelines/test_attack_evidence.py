"""Clauses about attackers: open where nobody attacked, decided where the raw rows or an earlier attack are at hand."""

import json

import polars as pl
import pytest

from sfumato import datasets
from sfumato.localization.messages import words_in
from sfumato.pipelines.attack import attack
from sfumato.pipelines.policy_check import check, measure_attacks
from sfumato.pipelines.policy_completion import Roles
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.report_folder import add_to_folder
from sfumato.policies.policy import policy_named

CLAUSES = ("linkability", "inference-attack")
ROWS = 300


def census(seed: int) -> pl.DataFrame:
    return datasets.census(ROWS, seed).to_polars().with_columns(pl.col("age").cast(pl.String))


def plan() -> dict[str, object]:
    whole = datasets.census(10).plan("x.csv", k=10)
    whole.pop("data")
    whole["privacy"] += [{"model": "t-closeness", "t": 0.3, "column": "salary-class"}]
    return whole


def statuses(verdict) -> dict[str, str]:
    return {one.clause.name: one.status for one in verdict.clauses if one.clause.name in CLAUSES}


@pytest.fixture(scope="module")
def raw():
    return census(1)


@pytest.fixture(scope="module")
def release(raw):
    return anonymize(raw, plan())


def test_without_raw_rows_they_stay_open_and_say_what_to_run(release):
    verdict = check(release.data, "gdpr-wp216", plan=plan())
    assert statuses(verdict) == dict.fromkeys(CLAUSES, "open")
    remarks = [one.measurement.remark for one in verdict.clauses if one.clause.name in CLAUSES]
    assert all("--raw FILE" in remark and "--save" in remark for remark in remarks)


def test_a_sound_release_satisfies_them(release, raw):
    verdict = check(release.data, "gdpr-wp216", plan=plan(), raw=raw, control=census(2))
    assert statuses(verdict) == dict.fromkeys(CLAUSES, "satisfied")


def test_raw_rows_fail_linkability(raw, tmp_path, sfumato):
    for name, rows in (("published", raw), ("control", census(2))):
        rows.write_csv(tmp_path / f"{name}.csv")
    published, control = tmp_path / "published.csv", tmp_path / "control.csv"
    known = ",".join(raw.columns[:-1])
    answer = sfumato(
        *("check", str(published), "--policy", "gdpr-wp216", "--raw", str(published), "--control", str(control)),
        *("--quasi-identifiers", known, "--sensitive", raw.columns[-1], "--json"),
    )
    assert answer.code == 1, answer.err
    clauses = {one["name"]: one["status"] for one in json.loads(answer.out)["clauses"]}
    assert clauses["linkability"] == "failed"


def test_what_the_folder_tells_of_an_attack_counts(release, raw, tmp_path):
    folder = release.save(tmp_path / "release")
    assert statuses(check(folder, "gdpr-wp216")) == dict.fromkeys(CLAUSES, "open")
    outcome = attack(folder, raw, control=census(2), attempts=100)
    add_to_folder(folder, outcome)
    assert statuses(check(folder, "gdpr-wp216")) == dict.fromkeys(CLAUSES, "satisfied")
    holds = words_in()["report.holds"]
    for figures, succeeded in ((outcome, False), (Succeeded(outcome), True)):
        add_to_folder(folder, figures)  # a verdict is never plainly good beside an attack that succeeded
        for name, key in (("report.html", "report.attacked"), ("report-external.html", "report.attacked_outside")):
            page = (folder / name).read_text(encoding="utf-8")
            assert (words_in()[key] in page) == succeeded
            assert (holds in page) != succeeded


class Succeeded:
    """An attack whose figures say that two tries succeeded."""

    def __init__(self, outcome) -> None:
        self.outcome = outcome

    def to_dict(self):
        return {**self.outcome.to_dict(), "found": 2}


def test_an_attack_with_nothing_to_try_decides_nothing(tmp_path) -> None:
    one = {"attack": "linking", "counted": True, "evidence": False, "risk": 0.0, "attempts": 0}
    (tmp_path / "report.json").write_text(json.dumps({"attack": {"attacks": [one], "not_run": []}}))
    measured = measure_attacks(policy_named("gdpr-wp216"), tmp_path, Roles((), ()), None, None, None)
    assert measured["linking-risk"].figure is None and "nothing to try" in measured["linking-risk"].remark
