"""Every method keeps its time limit, search and audit together, and hands over a safe pattern."""

import itertools
import time

import numpy as np
import pandas
import pytest

import sfumato as sf
from refusals import coded
from sfumato.errors import UnattainableError
from sfumato.pipelines.tables.protect import columns_from, run
from sfumato.tables.build import build
from sfumato.tables.deadline import Deadline, within
from sfumato.tables.noise.interval_grid import class_ranges
from sfumato.tables.plan.table_plan import read_table_plan
from sfumato.tables.suppress_table import _broken, _ranged, _suppressed
from sfumato.tables.suppression.optimal import optimal
from sfumato.tables.suppression.problem import make_problem
from sfumato.values import replace
from sizes import size


def survey(*shape, seed=1, share=0.05):
    """A table of sums with a share of cells of one or two respondents."""
    rng = np.random.default_rng(seed)
    values, number = np.floor(rng.lognormal(4, 1.2, shape)).clip(1), rng.integers(3, 12, shape)
    unsafe = rng.choice(values.size, int(share * values.size), replace=False)
    number.ravel()[unsafe] = rng.integers(1, 3, len(unsafe))
    for axis in range(len(shape)):
        values = np.concatenate([values.sum(axis=axis, keepdims=True), values], axis=axis)
        number = np.concatenate([number.sum(axis=axis, keepdims=True), number], axis=axis)
    codes = itertools.product(*(["Total", *map(str, range(size))] for size in shape))
    names = [f"d{place}" for place in range(len(shape))]
    return pandas.DataFrame(list(codes), columns=names).assign(v=values.ravel().astype(int), n=number.ravel())


def plan(width, **method):
    return {
        "version": 1,
        "table": {"value": "v", "frequency": "n"},
        "dimensions": {f"d{place}": {"column": f"d{place}"} for place in range(width)},
        "primary": [{"rule": "frequency", "min": 3}],
        "method": method,
    }


@pytest.mark.parametrize("method", ["optimal", "fast", "ranges"])
def test_the_limit_is_kept_and_the_pattern_is_safe(method):
    table = survey(7, 7, 7)
    sf.protect(survey(3, 3), plan(2, name=method))
    start = time.monotonic()
    done = sf.protect(table, plan(3, name=method, time_limit=3.0))
    # More than the second that is allowed, for machines that do other things too.
    assert time.monotonic() - start < 3.0 + size(12.0, 4.0)
    assert done.passed
    assert done.report["audit"]["exact"] == done.report["audit"]["too_narrow"] == 0
    if method == "optimal":
        assert 0 < done.report["bound"] <= done.report["cost"]


def test_large_tables_are_protected_by_paths_and_audited_by_their_witnesses():
    done = sf.protect(survey(75, 75), plan(2, name="fast", time_limit=30))
    assert done.passed
    assert done.report["audit"]["checked"] == done.report["masked"]
    assert done.report["attackers"]["attacked"]["respondents"] > 100


def test_without_time_for_all_ranges_there_are_none():
    done = sf.protect(survey(60, 60), plan(2, name="fast", time_limit=2.0))
    assert done.passed
    ranged = [text for text in done.data["v_lower"].tolist() if text]
    assert done.report["ranges"] == (len(ranged) == done.report["masked"])
    assert len(ranged) in (0, done.report["masked"])


def test_who_asks_gets_the_best_so_far():
    chosen = read_table_plan(plan(3, name="optimal", time_limit=600))
    asked = itertools.chain([False] * 50, itertools.repeat(True))
    start = time.monotonic()
    done = run(chosen, columns_from(survey(7, 7, 7), chosen), asked=lambda: next(asked))
    assert time.monotonic() - start < 60
    assert done.passed


@pytest.mark.parametrize(
    ("method", "module", "help_"),
    [("optimal", "optimal", ", or use method fast."), ("fast", "patterns", "method.time_limit.")],
)
def test_no_safe_pattern_in_time_is_said_as_that(monkeypatch, method, module, help_):
    monkeypatch.setattr(f"sfumato.tables.suppression.{module}.GRACE", -1e3)
    with pytest.raises(UnattainableError, check=coded("unattainable.time-limit.the_time_was_over_before")) as error:
        sf.protect(survey(14, 14, 14), plan(3, name=method, time_limit=0.1))
    assert error.value.code == "unattainable.time-limit"
    assert error.value.hint.endswith(help_)


def test_shares_and_grace():
    assert within(0.0).over
    assert not within(0.0).later(5.0).over
    assert Deadline().share(0.5).left == float("inf")
    assert within(100.0, lambda: True).over


def test_ranges_that_nobody_can_attack_in_time_are_not_published():
    """Ranges are attacked twice, by those who choose them and by the audit: no longer than there is time for."""
    chosen = read_table_plan(plan(2, name="ranges"))
    part = build(chosen, columns_from(survey(6, 6), chosen))[0]
    pattern = optimal(make_problem(part.table, None, part.knowledge.attackers))
    draft = _suppressed(part, "en", pattern)
    ranged = replace(draft, ranges=class_ranges(part, draft.suppressed))
    assert _broken(part, ranged, Deadline()) == []
    assert _broken(part, ranged, within(0.0)) == []  # witnesses show it
    assert _broken(part, replace(ranged, witnesses=()), within(0.0)) is None
    assert not np.isnan(_ranged(part, draft, within(60.0)).ranges.low).all()
    assert class_ranges(part, draft.suppressed, within(0.0)).low.tolist() == pytest.approx(
        [np.nan] * len(part.table), nan_ok=True
    )
