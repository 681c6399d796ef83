"""Controlled rounding: the best of all, as trying every one shows, or proved not to exist."""

import time

import numpy as np
import pytest

from refusals import coded
from sfumato.errors import UnattainableError
from sfumato.tables.deadline import within
from sfumato.tables.noise.rounding import round_controlled
from sizes import size

SMALL = [
    ("three", "three"),
    ("tree", "flat"),
    ("tree", "three"),
    ("flat", "flat", "flat"),
    ("flat", "flat", "three"),
    ("flat", "flat", "flat", "flat"),
]


@pytest.mark.parametrize("shapes", SMALL, ids="-".join)
@pytest.mark.parametrize("base", [3.0, 5.0])
def test_no_rounding_changes_less(make_table, least_change, shapes, base):
    for seed in range(6 if len(shapes) < 4 else 2):
        values, relations = make_table(shapes, seed)
        best = least_change(values, relations, base, 0)
        try:
            rounded = round_controlled(values, np.full(len(values), base), relations, 0, within(20))
        except UnattainableError as error:
            assert error.code == "unattainable.rounding-infeasible"
            assert best is None, (shapes, seed)
            assert len(shapes) > 2, "tables of two dimensions, one of them flat, can always be rounded"
            continue
        assert best is not None
        assert rounded.change == pytest.approx(best), (shapes, seed)
        assert rounded.proved
        assert np.abs(relations.residuals(rounded.published)).max() == 0
        assert (np.abs(rounded.published - values) < base).all()
        whole = values % base == 0
        assert (rounded.published[whole] == values[whole]).all()


def infeasible_tables(make_table, least_change, base):
    for seed in range(2000):
        values, relations = make_table(("flat", "flat", "flat"), seed, 2)
        if least_change(values, relations, base, 0) is None:
            yield values, relations


def test_what_is_infeasible_is_solved_with_as_few_steps_as_are_needed(make_table, least_change):
    tables = infeasible_tables(make_table, least_change, 2.0)
    for values, relations in (next(tables), next(tables)):
        bases = np.full(len(values), 2.0)
        with pytest.raises(UnattainableError, check=coded("unattainable.rounding-infeasible")):
            round_controlled(values, bases, relations, 0, within(20))
        rounded = round_controlled(values, bases, relations, 3, within(20))
        assert rounded.steps == 1
        assert rounded.change == pytest.approx(least_change(values, relations, 2.0, 1))
        assert np.abs(relations.residuals(rounded.published)).max() == 0
        assert (np.abs(rounded.published - values) < 4.0).all()
        assert (rounded.published >= 0).all()


def test_hierarchies_in_both_dimensions_hold(make_table):
    for seed in range(5):
        values, relations = make_table(("tree", "tree"), seed, 40)
        rounded = round_controlled(values, np.full(len(values), 5.0), relations, 2, within(20))
        assert np.abs(relations.residuals(rounded.published)).max() == 0
        assert (np.abs(rounded.published - values) < 5 * (1 + rounded.steps)).all()


def test_bases_of_several_tables(make_table):
    values, relations = make_table(("three", "three"), 1, 50)
    bases = np.where(np.arange(len(values)) % 4 == 0, 10.0, 5.0)
    rounded = round_controlled(values, bases, relations, 3, within(20))
    assert (rounded.published % bases == 0).all()
    assert np.abs(relations.residuals(rounded.published)).max() == 0


def test_negative_values_and_decimals(make_table):
    values, relations = make_table(("tree", "three"), 3, 50)
    numbers = np.round((values - values.mean()) * 0, 2) + values * 0.25 - 4 * (values[0] == 0)
    rounded = round_controlled(-numbers, np.full(len(values), 2.0), relations, 0, within(20))
    assert np.abs(relations.residuals(rounded.published)).max() == 0
    assert (np.abs(rounded.published + numbers) < 2.0).all()


@pytest.mark.shared
def test_the_largest_instances(shared):
    import csv

    from sfumato.tables.cells.system import make_constraints

    for name in ("enterprise_act_product_test_1", "enterprise_act_region_test_2b"):
        folder = shared / "tables" / name
        with (folder / "cells.csv").open() as file:
            values = np.array([float(row["value"]) for row in csv.DictReader(file)])
        rows: dict[str, list[tuple[int, float]]] = {}
        with (folder / "relations.csv").open() as file:
            for row in csv.DictReader(file):
                rows.setdefault(row["relation"], []).append((int(row["cell_id"]), float(row["coef"])))
        relations = make_constraints([tuple(zip(*row)) for row in rows.values()], list(rows))
        start = time.process_time()
        rounded = round_controlled(values, np.full(len(values), 100.0), relations, 0, within(30))
        assert time.process_time() - start < size(20, 5)
        assert rounded.proved
        assert np.abs(relations.residuals(rounded.published)).max() == 0
