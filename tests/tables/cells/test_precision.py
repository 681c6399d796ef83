"""One notion of precision: steps, exact sums of large numbers, bounds proved in exact arithmetic."""

from fractions import Fraction

import numpy as np
import pytest

from refusals import coded
from sfumato.errors import DataError
from sfumato.pipelines.tables.audit import audit
from sfumato.tables.attack.audit import audit_publication
from sfumato.tables.attack.findings import AttackerView, DisclosureStatus
from sfumato.tables.cells.constraints import ValueUnit, check, precision_of, proved_bound
from sfumato.tables.cells.system import AttackerKnowledge, Bounds, make_constraints, no_bounds

pandas = pytest.importorskip("pandas")
SUM = make_constraints([([0, 1, 2], [-1, 1, 1])])


def one_table(texts, **more):
    frame = pandas.DataFrame({"a": ["Total", *"xyz"][: len(texts)], "v": texts})
    plan = {"version": 1, "table": {"value": "v"} | more, "dimensions": {"a": {"column": "a"}}}
    return audit(frame, plan | {"primary": [{"rule": "status", "column": "mark"}]})


@pytest.mark.parametrize(
    "texts", [["90000813.03", "*", "30000000.37", "60000000.41"], ["123456789012.34", "*", "0.01"]]
)
def test_cents_of_large_sums_are_computed_exactly(texts):
    review = one_table(texts)
    assert [(finding.verdict, finding.upper - finding.lower) for finding in review.findings] == [
        (DisclosureStatus.EXACT, 0.0)
    ]
    assert not review.passed


def test_tolerance_is_no_excuse_where_published_totals_add_up():
    review = one_table(["10", "*", "4", "3"], tolerance=1)
    assert (review.exact, review.rounding) == (1, 0.0)


def test_rounding_that_published_totals_show_is_known():
    review = one_table(["21", "10", "10"], tolerance=1)
    assert (review.checked, review.rounding) == (0, 1.0)


def test_widths_below_one_step_are_one_value():
    """[1.5, 2.4] holds one whole number, [1, 2] two."""
    for low, high, verdict in (
        (1.5, 2.4, DisclosureStatus.EXACT),
        (1.0, 2.0, DisclosureStatus.SAFE),
        (1.0, 1.99, DisclosureStatus.EXACT),
    ):
        shown = AttackerView(
            np.array([5.0, np.nan, np.nan]),
            Bounds(np.array([np.nan, low, np.nan]), np.array([np.nan, high, np.nan])),
            Bounds(np.zeros(3), np.full(3, np.inf)),
            SUM,
            ("all", "a", "b"),
        )
        promise = Bounds(np.array([np.nan, 2.0, np.nan]), np.array([np.nan, 2.0, np.nan]))
        assert audit_publication(shown, promise).findings[0].verdict is verdict, (low, high)


def test_totals_are_checked_in_steps():
    values = np.array([90000813.04, 812.25, 90000000.78])
    with pytest.raises(DataError, check=coded("data.totals")):
        check(SUM, values, 0.0, precision_of(values))
    check(SUM, np.array([90000813.03, 812.25, 90000000.78]), 0.0, 0.01)


def test_given_steps_decide():
    shown = AttackerView(
        np.array([9000.0, np.nan, 4000.0]),
        no_bounds(3),
        Bounds(np.zeros(3), np.full(3, np.inf)),
        SUM,
        ("all", "a", "b"),
    )
    knowledge = AttackerKnowledge(precision=1000.0)
    assert audit_publication(shown, no_bounds(3), knowledge).findings[0].lower == 5000


def test_bounds_are_proved_whatever_the_multipliers():
    matrix = SUM.matrix(3)
    sides, bounds = Bounds(np.zeros(1), np.zeros(1)), Bounds(np.array([9.0, 0.0, 0.0]), np.array([9.0, 7.0, 4.0]))
    assert proved_bound(matrix, sides, bounds, 1, 1.0, np.array([1.0])) == 5
    assert proved_bound(matrix, sides, bounds, 1, 1.0, np.array([0.5])) == Fraction(5, 2)
    assert proved_bound(matrix, sides, bounds, 1, 1.0, np.array([0.0])) == 0
    free = Bounds(np.array([9.0, -np.inf, 0.0]), np.array([9.0, np.inf, 4.0]))
    assert proved_bound(matrix, sides, free, 1, 1.0, np.array([0.5])) == -np.inf


def test_steps_and_back():
    scale = ValueUnit(0.01)
    assert scale.value(float(scale.steps(np.array([812.25]))[0])) == 812.25
    assert ValueUnit(5.0).steps(np.array([15.0])).tolist() == [3.0]
