"""The measuring instances beside the project, where they are: proved costs and audits."""

from pathlib import Path

import pytest

from sfumato.pipelines.tables.protect import protect

INSTANCES = Path(__file__).resolve().parents[4] / "shared" / "data" / "tables"
PROVED = {
    "tau_size_region": (521_926, 6),
    "counts_vignette168": (354, 23),
    "counts_z2": (123, 12),
    "rtauargus_turnover_act_size": (49_223_640, 64),
}


@pytest.mark.shared
@pytest.mark.skipif(not INSTANCES.is_dir(), reason="the measuring data are not beside the project")
@pytest.mark.parametrize("name", PROVED)
def test_proved_costs(name):
    folder = INSTANCES / name
    plan = {
        "version": 1,
        "table": {"cells": str(folder / "cells.csv"), "relations": str(folder / "relations.csv")},
        "method": {"name": "optimal", "time_limit": 60, "insiders": False},
    }
    report = protect(None, plan).report
    assert report["proved_optimal"]
    assert (round(report["cost"]), report["secondary"]) == PROVED[name]
    assert report["audit"]["exact"] == report["audit"]["too_narrow"] == 0
