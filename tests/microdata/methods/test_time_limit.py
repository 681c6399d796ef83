"""Every method keeps its time limit, whatever the lattice, and says what it knows by then."""

from time import process_time

import numpy as np
import polars as pl
import pytest

from sfumato.engines.opening import open_engine
from sfumato.errors import EngineError, UnattainableError
from sfumato.microdata.methods.full_domain import unattainable
from sfumato.microdata.methods.search import search
from sfumato.microdata.methods.search_result import Deadline
from sfumato.microdata.plan.read import read_plan
from sfumato.pipelines.release_stages.counting import frequency_table

METHODS = [
    {"name": "optimal"},
    {"name": "optimal", "loss": "discernibility"},
    {"name": "exhaustive"},
    {"name": "samarati"},
    {"name": "greedy"},
    {"name": "greedy", "direction": "bottom-up"},
    {"name": "local"},
    {"name": "local", "rounds": 5},
    {"name": "mondrian"},
    {"name": "mondrian", "mode": "relaxed"},
    {"name": "mondrian", "cut": "loss"},
    {"name": "k-optimize", "loss": "loss-metric"},
    {"name": "auto"},
]


def case(rows: int, columns: int, method: dict):
    """Random rows of columns with five levels each, as the plan and its table."""
    random = np.random.default_rng(4)
    frame = pl.DataFrame({f"c{at}": random.integers(0, 32, rows) for at in range(columns)})
    ladder = {"type": "intervals", "start": 0, "end": 32, "widths": [4, 8, 16]}
    column = {"role": "quasi-identifier", "type": "integer", "hierarchy": ladder}
    privacy = [{"model": "k-anonymity", "k": 5}]
    plan = read_plan(
        {
            "version": 1,
            "columns": dict.fromkeys(frame.columns, column),
            "privacy": privacy,
            "method": method,
            "output": {"order": "keep"},
        }
    )
    return plan, frequency_table(plan, open_engine(frame, plan))


@pytest.mark.parametrize(
    ("columns", "method"), [(20, method) for method in METHODS] + [(9, METHODS[0]), (9, METHODS[3])], ids=str
)
def test_the_limit_is_kept(columns: int, method: dict) -> None:
    """9 columns have 1.9 million nodes, 20 have 9.5e13."""
    plan, table = case(2_000, columns, method | {"time_limit": 1})
    begin = process_time()
    result = search(plan, table)
    # A second more than asked for, three threads at work.
    assert process_time() - begin <= 3 * (1 + 1)
    assert int(result.recoding.sizes[~result.recoding.suppressed].min()) >= 5
    if not result.proved_optimal and method["name"] in ("optimal", "samarati", "exhaustive"):
        assert result.cut_short
        assert result.notes


def test_a_search_that_is_cut_short_has_a_bound() -> None:
    plan, table = case(4_000, 9, {"name": "optimal", "time_limit": 0.2})
    result = search(plan, table)
    assert result.cut_short and not result.proved_optimal
    assert 0 <= result.details["bound"] <= result.loss


def visits(method: dict, least: int = 2):
    """Visits of persons with four private columns, as the plan and its table."""
    random = np.random.default_rng(8)
    number = 600
    frame = pl.DataFrame(
        {"who": random.integers(0, 300, number)}
        | {f"c{at}": random.integers(0, 32, number) for at in range(4)}
        | {f"s{at}": random.integers(0, 6, number) for at in range(4)}
    )
    ladder = {"type": "intervals", "start": 0, "end": 32, "widths": [4, 8, 16]}
    known = {"role": "quasi-identifier", "type": "integer", "hierarchy": ladder}
    columns = {"who": {"role": "person"}} | {f"c{at}": known for at in range(4)}
    private = {f"s{at}": {"role": "sensitive"} for at in range(4)}
    diversity = [{"model": "l-diversity", "l": least, "column": name} for name in private]
    privacy = [{"model": "k-anonymity", "k": 5}, *diversity]
    plan = read_plan({"version": 1, "columns": columns | private, "privacy": privacy, "method": method})
    return plan, frequency_table(plan, open_engine(frame, plan))


@pytest.mark.parametrize("limit", [0.0, 0.02])
@pytest.mark.parametrize("method", [one for one in METHODS if one["name"] != "k-optimize"], ids=str)
def test_no_time_is_no_proof_that_nothing_can_be_released(method: dict, limit: float) -> None:
    """There is a release, if a coarse one; it tells rows apart and says that the time was over."""
    plan, table = visits(method | {"time_limit": limit})
    begin = process_time()
    result = search(plan, table)
    assert process_time() - begin <= 3 * (limit + 1)
    recoding = result.recoding
    assert len({label for labels in recoding.labels for label in labels}) > 1
    assert int(recoding.sizes[~recoding.suppressed].min()) >= 5
    assert result.notes or not result.cut_short


@pytest.mark.parametrize("name", ["local", "optimal", "greedy", "auto", "mondrian"])
def test_where_nothing_is_found_in_time_that_is_said_and_no_more(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unattainable, "GRACE", 0.0)
    plan, table = visits({"name": name, "time_limit": 0.0})
    with pytest.raises(EngineError, match="ran out before any release was found") as caught:
        search(plan, table)
    assert caught.value.code == "engine.time-limit"


@pytest.mark.parametrize("name", ["local", "optimal", "mondrian", "auto"])
def test_what_no_table_can_keep_is_unattainable_whatever_the_time(name: str) -> None:
    plan, table = visits({"name": name, "time_limit": 0.0}, least=7)
    with pytest.raises(UnattainableError, match="needs 7 distinct values of s0"):
        search(plan, table)


def test_the_error_names_the_column_of_each_promise() -> None:
    frame = pl.DataFrame({"q": [*"abcdefgh"], "s": ["x", "y"] * 4, "z": ["v", "w"] * 4})
    columns = {"q": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}}
    columns |= {name: {"role": "sensitive"} for name in "sz"}
    privacy = [{"model": "l-diversity", "l": 2, "column": name} for name in "sz"]
    plan = read_plan({"version": 1, "columns": columns, "privacy": privacy, "method": {"name": "optimal"}})
    with pytest.raises(UnattainableError, match=r"l = 2 \(l-diversity of s\) and l = 2 \(l-diversity of z\)"):
        search(plan, frequency_table(plan, open_engine(frame, plan)))


def test_a_flag_goes_up_when_the_time_is_over() -> None:
    with Deadline(0.0).flag() as flag:
        assert flag[0] == 1
    with Deadline(60.0).flag() as flag:
        assert flag[0] == 0
