"""The search of huge lattices: the optimum that brute force finds, bounds that hold, wide problems in time."""

from time import monotonic

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.engines.opening import open_engine
from sfumato.errors import UnattainableError
from sfumato.microdata.methods.full_domain import best_first, exhaustive, optimal
from sfumato.microdata.methods.full_domain.problem import LatticeProblem, problem_of
from sfumato.microdata.plan.read import read_plan
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.release_stages.counting import frequency_table
from sfumato.values import replace
from sizes import size


def frame_problem(frame: pl.DataFrame, k: int, method: dict, **models) -> LatticeProblem:
    columns = {
        name: {"role": "quasi-identifier", "hierarchy": {"type": "digits", "length": 2}} for name in frame.columns
    }
    if "ill" in columns:
        columns["ill"] = {"role": "sensitive"}
    privacy = [{"model": "k-anonymity", "k": k}]
    if models:
        privacy.append({"model": "l-diversity", "variant": "distinct", "column": "ill"} | models)
    plan = read_plan(
        {
            "version": 1,
            "columns": columns,
            "privacy": privacy,
            "method": {"name": "optimal"} | method,
            "output": {"order": "keep"},
        }
    )
    return problem_of(plan, plan.method, frequency_table(plan, open_engine(frame, plan)))


@st.composite
def frames(draw) -> pl.DataFrame:
    rows = draw(st.integers(6, 60))
    width = draw(st.integers(1, 4))
    seed = draw(st.integers(0, 10_000))
    random = np.random.default_rng(seed)
    data = {f"c{i}": [f"{v:02d}" for v in random.integers(0, draw(st.integers(2, 30)), rows)] for i in range(width)}
    return pl.DataFrame(data | {"ill": random.choice(["a", "b", "c"], rows)})


@settings(max_examples=size(25, 100))
@given(
    frames(),
    st.sampled_from(["loss-metric", "precision", "discernibility", "non-uniform-entropy", "average-class-size"]),
    st.sampled_from(["sum", "geometric"]),
    st.sampled_from([0.0, 0.1, 0.5]),
    st.sampled_from([{}, {"l": 2}]),
)
def test_it_finds_what_brute_force_finds(frame, loss, aggregate, suppression, models) -> None:
    method = {"loss": loss, "aggregate": aggregate, "suppression": suppression}
    problem = frame_problem(frame, 3, method, **models)
    try:
        best = exhaustive.search(problem).best
    except UnattainableError:
        with pytest.raises(UnattainableError):
            best_first.search_best_first(problem)
        return
    found = best_first.search_best_first(problem)
    assert found.proved_optimal
    assert found.best.loss == pytest.approx(best.loss)
    assert found.best.rank == optimal.search(problem).best.rank


@settings(max_examples=size(12, 50))
@given(frames(), st.sampled_from([0.0, 0.2]))
def test_a_bound_holds_whenever_time_runs_out(frame, suppression) -> None:
    problem = frame_problem(frame, 3, {"suppression": suppression})
    found = best_first.search_best_first(replace(problem, time_limit=0.0))
    best = exhaustive.search(problem).best
    assert found.best.satisfied
    if found.proved_optimal:
        assert found.best.loss == pytest.approx(best.loss)
    else:
        assert found.bound <= best.loss + 1e-9 <= found.best.loss + 2e-9


def wide(columns: int, rows: int) -> pl.DataFrame:
    random = np.random.default_rng(columns)
    kinds = random.integers(0, 12, rows)
    data = {}
    for place in range(columns):
        noise = random.random(rows) < 0.05
        data[f"c{place}"] = [
            f"{v:02d}" for v in np.where(noise, random.integers(0, 40, rows), kinds * (place + 1) % 37)
        ]
    return pl.DataFrame(data)


def wide_plan(columns: int, **method) -> dict:
    return {
        "version": 1,
        "columns": {
            f"c{place}": {"role": "quasi-identifier", "hierarchy": {"type": "digits", "length": 2}}
            for place in range(columns)
        },
        "privacy": [{"model": "k-anonymity", "k": 5}],
        "method": {"name": "optimal", "suppression": 0.02} | method,
        "output": {"order": "keep"},
    }


def test_a_lattice_of_three_to_the_thirtieth_ends_in_time_with_a_bound() -> None:
    begin = monotonic()
    release = anonymize(wide(30, 2000), wide_plan(30, time_limit=size(1, 3)))
    assert monotonic() - begin < 60
    report = release.report
    assert report.nodes["total"] == 3**30
    assert report.suppressed_rows <= 40
    if report.proved_optimal:
        assert "bound" not in report.details
        return
    assert 0 <= report.details["bound"] < report.loss.value
    assert report.details["gap"] == pytest.approx(report.loss.value - report.details["bound"])
    assert "best found" in report.notes[0]


def test_many_columns_are_proved_and_no_lattice_is_written_down() -> None:
    """Up to 4.8 million nodes: the loss of the greedy search is not the optimum here."""
    columns = size(12, 14)
    frame = wide(columns, 1500)
    release = anonymize(frame, wide_plan(columns))
    assert release.report.proved_optimal
    assert release.report.nodes["total"] == 3**columns
    assert release.report.nodes["checked"] < 3**columns / 20
    quick = anonymize(frame, wide_plan(columns) | {"method": {"name": "greedy", "suppression": 0.02}})
    assert quick.report.loss.value >= release.report.loss.value - 1e-9
