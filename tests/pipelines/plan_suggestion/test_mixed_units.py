"""One row a measurement: that rounding loses whole tests is said, and nothing where all keep something."""

import random

import pytest

from sfumato.pipelines.suggest import suggest_for_file

TESTS = {"TSH": (2.0, 0.5), "glucose": (100, 20), "platelets": (250_000, 50_000), "creatinine": (1.0, 0.2)}


def measured(path, tests):
    draw = random.Random(3)
    lines = ["patient_id,sex,age,test,result"]
    for person in range(200):
        known = f"P{person:05d},{draw.choice('mf')},{draw.randint(20, 80)}"
        lines += [f"{known},{name},{draw.gauss(*shape):.2f}" for name, shape in tests.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_rounding_that_leaves_nothing_of_a_test_is_said(tmp_path):
    note = next(iter(suggest_for_file(measured(tmp_path / "rows.csv", TESTS)).notes))
    assert 'of "result" are of several kinds, by "test"' in note
    assert "of 2 kinds nothing is left" in note


@pytest.mark.parametrize("tests", [{"glucose": TESTS["glucose"]}, {"systolic": (130, 20), "glucose": (100, 20)}])
def test_tests_that_keep_their_numbers_are_not_mentioned(tmp_path, tests):
    assert not suggest_for_file(measured(tmp_path / "rows.csv", tests)).notes
