"""Perturbation tables: mean, variance and bounds to the last digits, maximal entropy, refusals, files."""

import numpy as np
import pytest

from refusals import coded
from sfumato.errors import DataError, UnattainableError
from sfumato.tables.noise.ptable import make_ptable, remarks, row_of, targets_of
from sfumato.tables.noise.ptable_file import parse_ptable, ptable_text
from sfumato.tables.plan.sections import CellKey

DESIGNS = [
    CellKey(deviation=1, variance=0.5),
    CellKey(deviation=2, variance=1.0),
    CellKey(deviation=3, variance=2.0, js=1, pstay=0.3),
    CellKey(deviation=5, variance=2.0),
    CellKey(deviation=5, variance=3.0, js=2),
    CellKey(deviation=5, variance=3.0, js=2, monotone=False),
    CellKey(deviation=8, variance=0.5),
    # The best rows only just touch what is asked of them: all chances but that of staying are alike.
    CellKey(deviation=5, variance=2.0, pstay=0.9),
    CellKey(deviation=4, variance=1.0, pstay=1.0),
]


@pytest.mark.parametrize("design", DESIGNS, ids=lambda one: f"D{one.deviation}V{one.variance}js{one.js}")
def test_mean_variance_and_bounds(design):
    table = make_ptable(design)
    assert len(table.rows) == design.deviation + (design.js + 1 if design.js else 0)
    for row in table.rows:
        assert abs(row.chances.sum() - 1) < 1e-9
        assert abs(row.mean) < 1e-9
        assert row.variance < design.variance + 1e-9
        assert abs(row.variance - design.variance) < 1e-9 or row in table.missed
        assert (row.chances >= 0).all()
        possible = row.targets[row.chances > 0]
        assert possible.min() >= max(0, row.count - design.deviation)
        assert possible.max() <= row.count + design.deviation
        assert not ((possible >= 1) & (possible <= design.js)).any()
        if design.pstay and row.count > design.js:
            assert row.chances[row.targets == row.count][0] >= design.pstay - 1e-9
        if design.monotone:
            below = row.chances[row.targets <= row.count]
            assert (np.diff(below) >= -1e-9).all()


def test_nothing_within_the_limits_has_more_entropy():
    def entropy(p):
        return -float(np.sum(p[p > 0] * np.log(p[p > 0])))

    design = CellKey(deviation=3, variance=1.5, js=1)
    rng = np.random.default_rng(4)
    for count in (1, 2, 3, 5):
        row = row_of(count, design)
        noise = (row.targets - count).astype(float)
        fixed = np.stack([np.ones(len(noise)), noise, noise**2])
        for _ in range(200):
            step = rng.normal(size=len(noise)) * 1e-3
            step -= np.linalg.pinv(fixed) @ (fixed @ step)
            other = row.chances + step
            below = other[row.targets <= count]
            if (other >= 0).all() and (np.diff(below) >= 0).all():
                assert entropy(other) <= entropy(row.chances) + 1e-12


def test_two_points_are_all_that_is_left_at_the_least_variance():
    row = row_of(1, CellKey(deviation=2, variance=2.0, js=2))
    assert row.targets.tolist() == [0, 3]
    assert row.chances == pytest.approx([2 / 3, 1 / 3], abs=1e-12)


def test_targets():
    assert targets_of(1, CellKey(deviation=2)).tolist() == [0, 1, 2, 3]
    assert targets_of(3, CellKey(deviation=2, js=2)).tolist() == [3, 4, 5]
    assert targets_of(9, CellKey(deviation=2, js=2)).tolist() == [7, 8, 9, 10, 11]


def test_a_variance_too_small_for_js_is_refused_with_the_reason():
    with pytest.raises(UnattainableError, check=coded("unattainable.ptable.a_variance_of_is_too")):
        make_ptable(CellKey(deviation=5, variance=3.9, js=3))
    # Four is enough for js alone, but a count of 4 has nothing below it but 0 that would balance what lies above.
    with pytest.raises(UnattainableError, check=coded("unattainable.ptable.no_row_for_the_count")):
        make_ptable(CellKey(deviation=2, variance=5.0, js=3))


def test_a_row_that_misses_the_variance_is_reported():
    table = make_ptable(CellKey(deviation=2, variance=2.5))
    assert 1 in [row.count for row in table.missed]
    assert "The row of the count 1 has a variance of" in remarks(table)[0]


def test_lookup_takes_the_first_target_above_the_chance():
    table = make_ptable(CellKey(deviation=2, variance=1.0))
    row = table.rows[1]
    ends = np.cumsum(row.chances)
    for place, end in enumerate(ends[:-1]):
        below, at = table.noise(np.array([2, 2]), np.array([np.nextafter(end, 0), end]))
        assert below == row.targets[place] - 2
        assert at == row.targets[place + 1] - 2
    assert table.noise(np.array([1000]), np.array([0.0]))[0] == -2


@pytest.mark.parametrize(("deviation", "variance", "js"), [(3, 2.0, 1), (3, 1.5, 1), (5, 3.0, 2), (2, 1.0, 0)])
def test_files_are_written_again_as_they_were_read(deviation, variance, js):
    text = ptable_text(make_ptable(CellKey(deviation=deviation, variance=variance, js=js)))
    assert ptable_text(parse_ptable(text)) == text


def test_files_are_read_back_exactly():
    table = make_ptable(CellKey(deviation=3, variance=2.0, js=1))
    again = parse_ptable(ptable_text(table))
    assert len(again.rows) == len(table.rows)
    for one, other in zip(table.rows, again.rows, strict=True):
        kept = one.chances > 0
        assert other.targets[other.chances > 0].tolist() == one.targets[kept].tolist()
        assert np.abs(other.chances[other.chances > 0] - one.chances[kept]).max() < 1e-15
    assert (again.deviation, again.js) == (3, 1)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("i;j;p\n1;0;x\n", "data.ptable.no_number 2:3"),
        ("i;j\n1;0\n", "data.ptable.column_is_missing 1:1"),
        ("i;j;p\n1;0;0.5\n1;0;0.5\n", "data.ptable.count_and_target_stand_twice 3:1"),
        ("i;j;p\n2;2;1\n", "data.ptable.missing_count 2:1"),
        ("i;j;p\n1;1;0.5\n", "data.ptable.the_probabilities_of_the_count_add 2:1"),
        ("i;j;p\n", "data.ptable.there_is_no_row 1:1"),
        ("i;j;p;v\n1;0;0.5;-1\n1;2;0.5;2\n", "data.ptable.noise 3:4"),
    ],
)
def test_bad_files(text, where):
    with pytest.raises(DataError, check=coded(where)) as caught:
        parse_ptable(text)
    assert caught.value.hint


KNOWN = {
    # From a perturbation table with D = 7, V = 4, js = 2 that comes with τ-ARGUS.
    2: [0.466273934936656, 0.279675530746938, 0.153310732140879, 0.0677559545461165, 0.0241423308820078],
    3: [0.2514396179234, 0.319582288813207, 0.222383188160346, 0.124028833888839, 0.0554427577918675],
    4: [0.11883808535773, 0.250647150620782, 0.250647150620782, 0.177463619860471, 0.10997668466214],
    5: [0.0401827877495497, 0.179313386247809, 0.202811782200345, 0.202811782200345, 0.160524650925968],
    10: [0.000442322417578984, 0.00223758007215499, 0.00882072767153136, 0.0270967044207853, 0.0648656439098926],
}


@pytest.mark.parametrize("count", KNOWN)
def test_known_rows(count):
    row = row_of(count, CellKey(deviation=7, variance=4.0, js=2))
    assert row.chances[:5] == pytest.approx(KNOWN[count], abs=1e-8)
