"""Plans that name a policy: what it chooses, and that the written rows are held against it."""

import json
import random

import pytest

from refusals import coded, refused
from sfumato.errors import PlanError, ViolationError
from sfumato.microdata.plan.read import read_plan
from sfumato.pipelines.policy_check import check
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.verify import verify


@pytest.fixture(scope="module")
def patients(tmp_path_factory):
    """Patients with nearly everything that Safe Harbor forbids."""
    draw = random.Random(1)
    lines = ["name,dob,zip,age,sex,phone,illness"]
    for place in range(300):
        year = draw.randint(1931, 2000)
        zip_code = draw.choice(["02139", "02140", "03601", "10025"])
        day = f"{year}-{draw.randint(1, 12):02d}-{draw.randint(1, 28):02d}"
        who = f"Anna Becker {chr(65 + place % 26)}"
        illness = draw.choice(["flu", "asthma", "angina"])
        lines.append(f"{who},{day},{zip_code},{2026 - year},{draw.choice('mf')},617-555-{place:04d},{illness}")
    path = tmp_path_factory.mktemp("patients") / "patients.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def folder(patients, tmp_path_factory):
    out = tmp_path_factory.mktemp("out") / "release"
    return anonymize(patients, {"version": 1, "policy": "hipaa-safe-harbor"}).save(out)


def test_a_policy_alone_makes_a_release_that_passes(patients, folder) -> None:
    assert not check(patients, "hipaa-safe-harbor").satisfied
    assert check(folder, "hipaa-safe-harbor").satisfied
    assert verify(folder).satisfied
    plan = read_plan(folder / "plan.yaml")
    assert plan.removed_columns == ("name", "phone")
    assert plan.columns["illness"].role == "sensitive"


def test_the_report_tells_the_verdict(folder) -> None:
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert report["policy"]["policy"] == "hipaa-safe-harbor"
    assert report["policy"]["passed"] and report["policy"]["open"] == 2
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "hipaa-safe-harbor" in page and "Clauses satisfied: 19 of 21." in page


def test_a_plan_that_publishes_an_identifier_publishes_nothing(patients) -> None:
    plan = {"version": 1, "policy": "hipaa-safe-harbor", "columns": {"phone": {"role": "insensitive"}}}
    with pytest.raises(ViolationError, check=refused("error.promise.policy", names="telephone-numbers")) as error:
        anonymize(patients, plan)
    assert error.value.status.exit == 1


@pytest.mark.parametrize(
    ("policy", "k"), [("ema-0070", 12), ({"name": "ipc-ontario-2025", "values": {"highest-risk": 0.075}}, 14)]
)
def test_thresholds_become_promises(policy, k, patients) -> None:
    release = anonymize(patients, {"version": 1, "policy": policy})
    assert release.report.models[0].requested == k
    assert release.report.classes.smallest >= k
    release.close()


def test_a_policy_about_tables_is_refused(patients) -> None:
    with pytest.raises(PlanError, check=coded("plan.no-policy.is_about_tables")):
        anonymize(patients, {"version": 1, "policy": "cms-11"})


def test_without_a_policy_columns_and_promises_are_asked_for() -> None:
    with pytest.raises(PlanError) as error:
        read_plan({"version": 1})
    assert [fault.path for fault in error.value.issues] == ["columns", "privacy"]


def test_times_as_computers_count_them_are_withheld(tmp_path) -> None:
    draw = random.Random(2)
    lines = ["sex,admitted_at,seen,illness"]
    for place in range(200):
        illness = draw.choice(["flu", "asthma", "angina"])
        lines.append(f"{draw.choice('mf')},{1551398400 + 7000 * place},{1551398400000 + place},{illness}")
    path = tmp_path / "times.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    release = anonymize(path, {"version": 1, "policy": "hipaa-safe-harbor"})
    assert release.plan.removed_columns == ("admitted_at", "seen")


def test_birth_dates_of_the_very_old_are_published_by_centuries(tmp_path) -> None:
    draw = random.Random(3)
    lines = ["sex,dob,illness"]
    for _ in range(200):
        day = f"{draw.randint(1920, 2000)}-{draw.randint(1, 12):02d}-{draw.randint(1, 28):02d}"
        lines.append(f"{draw.choice('mf')},{day},{draw.choice(['flu', 'asthma', 'angina'])}")
    path = tmp_path / "old.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    folder = anonymize(path, {"version": 1, "policy": "hipaa-safe-harbor"}).save(tmp_path / "release")
    assert check(folder, "hipaa-safe-harbor").satisfied
    assert "192*" not in (folder / "data.csv").read_text(encoding="utf-8")
