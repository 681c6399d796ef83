"""Releases for report tests: made-up patients and census rows, with full-domain and local recoding."""

import sys
from pathlib import Path

import pytest

from sfumato.datasets import census, patients
from sfumato.pipelines.release import anonymize
from sizes import size

# The inputs of reports are in this folder.
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def patient_plan(tmp_path_factory):
    """A plan with a model of the sensitive column, next to its data."""
    folder = tmp_path_factory.mktemp("patients")
    dataset = patients()
    dataset.write(folder / "patients.csv")
    plan = dataset.plan(str(folder / "patients.csv"), 4)
    plan["privacy"].append({"model": "l-diversity", "l": 2, "column": "illness"})
    plan["method"] = {"name": "optimal", "loss": "loss-metric", "suppression": 0.05}
    plan["output"]["order"] = "keep"
    return plan


@pytest.fixture(scope="session")
def release(patient_plan):
    made = anonymize(None, patient_plan)
    yield made
    made.close()


@pytest.fixture(scope="session")
def by_classes(patient_plan):
    made = anonymize(None, patient_plan | {"method": {"name": "mondrian"}})
    yield made
    made.close()


@pytest.fixture(scope="session")
def by_sets(patient_plan):
    """Releases by K-Optimize: one proved, one whose time limit ends at once."""
    plan = patient_plan | {"privacy": patient_plan["privacy"][:1]}
    few = {name: {**column} for name, column in plan["columns"].items()}
    few["date_of_birth"] = {"role": "insensitive"}
    few["zip"] |= {"min_level": 3}
    plans = (plan | {"columns": few}, plan)
    limits = (60, 0)
    made = [
        anonymize(None, plan | {"method": {"name": "k-optimize", "time_limit": limit}})
        for plan, limit in zip(plans, limits, strict=True)
    ]
    yield made
    for release in made:
        release.close()


@pytest.fixture(scope="session")
def large(tmp_path_factory):
    """Many census rows, released with three quasi-identifiers."""
    folder = tmp_path_factory.mktemp("census")
    dataset = census(size(100_000, 1_000_000))
    dataset.write(folder / "census.parquet")
    plan = dataset.plan(str(folder / "census.parquet"), 10, quasi_identifiers=["age", "sex", "marital-status"])
    made = anonymize(None, plan | {"output": {"format": "parquet", "order": "keep"}})
    yield made
    made.close()
