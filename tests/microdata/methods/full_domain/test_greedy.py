"""Greedy search: releasable, no better than the optimum, and at a place that no single step improves."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import UnattainableError
from sfumato.pipelines.release import anonymize
from sizes import size

ZIPS = ["72021", "72062", "72062", "72117"]


def plan(direction: str, k: int = 2, suppression: float = 0.0, columns: int = 1, **more) -> dict:
    return {
        "version": 1,
        "columns": {
            f"c{place}": {"role": "quasi-identifier", "hierarchy": {"type": "digits"}} | more
            for place in range(columns)
        },
        "privacy": [{"model": "k-anonymity", "k": k}],
        "method": {"name": "greedy", "direction": direction, "suppression": suppression},
        "output": {"order": "keep"},
    }


@pytest.mark.parametrize("direction", ["top-down", "bottom-up"])
def test_a_known_answer(direction) -> None:
    """72021 and 72117 agree in their first two digits alone: 72***."""
    release = anonymize(pl.DataFrame({"c0": ZIPS}), plan(direction))
    assert release.report.levels == {"c0": 3}
    assert release.data["c0"].to_list() == ["72***"] * 4
    assert not release.report.proved_optimal
    assert "better one may exist" in release.report.notes[0]
    lost = anonymize(pl.DataFrame({"c0": ZIPS}), plan(direction, suppression=0.5))
    assert lost.report.levels == {"c0": 0}
    assert lost.report.suppressed_rows == 2


@pytest.mark.parametrize("direction", ["top-down", "bottom-up"])
@settings(max_examples=size(8, 25))
@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.1, 0.3]))
def test_it_may_be_released_and_is_never_better_than_the_optimum(direction, seed, suppression) -> None:
    random = np.random.default_rng(seed)
    frame = pl.DataFrame({f"c{place}": [f"{v:03d}" for v in random.integers(0, 60, 50)] for place in range(3)})
    found = anonymize(frame, plan(direction, 3, suppression, 3))
    best = anonymize(
        frame, plan(direction, 3, suppression, 3) | {"method": {"name": "optimal", "suppression": suppression}}
    )
    assert found.report.models[0].achieved >= 3
    assert found.report.suppressed_rows <= suppression * 50
    assert found.report.loss.value >= best.report.loss.value - 1e-9


@pytest.mark.parametrize("direction", ["top-down", "bottom-up"])
def test_what_nothing_can_keep_is_refused(direction) -> None:
    with pytest.raises(UnattainableError):
        anonymize(pl.DataFrame({"c0": ZIPS}), plan(direction, 3, 0.0, max_level=1))
