"""The specification's method: its known answer, its broken examples, and their repair."""

import numpy as np
import pytest

from refusals import coded
from sfumato.errors import PlanError
from sfumato.pipelines.tables.protect import run
from sfumato.tables.cells.columns import TextColumns

ANSWER = [
    ("28", "", "", ""),
    ("9", "", "", ""),
    ("1–3", "1", "3", "primär"),
    ("6-8", "6", "8", "A11"),
    ("1-3", "1", "3", "A12"),
    ("1–3", "1", "3", "primär"),
    ("0", "", "", ""),
    ("16-18", "16", "18", "A21"),
    ("16-18", "16", "18", "C1"),
]
BARE = {"name": "intervals", "repair": False}


def published(protected):
    names = ("Wert_korr", "Wert_min", "Wert_max", "Wert_fall")
    return list(zip(*(protected.columns.text(name) for name in names), strict=True))


@pytest.mark.parametrize("repair", [True, False])
def test_known_answer(known, make_plan, repair):
    plan = make_plan({"name": "intervals", "tie_break": "max", "repair": repair}, columns="original")
    protected = run(plan, known)
    assert published(protected) == ANSWER
    assert protected.report["audit"] == {"checked": 6, "exact": 0, "too_narrow": 0}


def test_reasons_in_both_languages(known, make_plan):
    german = run(make_plan("intervals", columns="original", language="de"), known).columns.text("Wert_fallLang")
    assert german[2] == "Kleine Werte werden auf der untersten Ebene maskiert"
    assert german[3] == "Anonymisiert, damit in Quartier 2 keine Rückschlüsse gezogen werden können."
    assert german[4] == "Anonymisiert, damit in Kreis 2 keine Rückschlüsse gezogen werden können."
    english = run(make_plan("intervals"), known).columns.text("Wert_reason")
    assert english[7] == "Suppressed so that nothing can be inferred in Kreis 3."


def test_broken_examples_publish_what_the_specification_says(make_city, make_plan):
    own = run(make_plan({**BARE, "tie_break": "min"}, columns="original"), make_city({"1": [3, 3], "2": [10]}))
    assert [row[0] for row in published(own)] == ["16", "0-4", "1–3", "1–3", "10", "10"]
    ones = run(make_plan(BARE, columns="original"), make_city({"1": [1, 1, 1], "2": [0]}))
    assert [row[0] for row in published(ones)][:2] == ["1-3", "3-9"]
    hidden = run(make_plan(BARE, columns="original"), make_city({"1": [1], "2": [3, 16]}))
    assert [row[0] for row in published(hidden)] == ["20", "1-3", "1–3", "17-19", "1–3", "14-16"]


def test_broken_examples_are_flagged_and_mended(broken, make_plan):
    prefer, cells = broken
    bare = run(make_plan({**BARE, "tie_break": prefer}), cells)
    assert not bare.passed
    assert bare.report["audit"]["exact"] > 0
    assert bare.report["warnings"]
    mended = run(make_plan({"name": "intervals", "tie_break": prefer}), cells)
    assert mended.passed
    assert mended.report["audit"]["exact"] == mended.report["audit"]["too_narrow"] == 0


def test_repair_marks_its_cells_and_keeps_true_ranges(make_city, make_plan):
    protected = run(make_plan({"name": "intervals", "tie_break": "min"}), make_city({"1": [3, 3], "2": [10]}))
    cases = protected.columns.text("Wert_case")
    assert any(case.startswith("D") for case in cases)
    values = protected.source.numbers("Wert")
    low, high = protected.columns.optional("Wert_lower"), protected.columns.optional("Wert_upper")
    masked = np.array([bool(case) for case in cases])
    assert (np.where(np.isnan(low), -np.inf, low)[masked] <= values[masked]).all()
    assert (np.where(np.isnan(high), np.inf, high)[masked] >= values[masked]).all()


def test_literal_three_leaves_a_child_open_and_repair_closes_it(make_city, make_plan):
    cells = make_city({"1": [2], "2": [3, 3]})
    bare = run(make_plan({**BARE, "tie_break": "max"}, high=2), cells)
    assert not bare.passed
    assert run(make_plan({"name": "intervals", "tie_break": "max"}, high=2), cells).passed


def test_tie_goes_to_the_preferred_code(make_city, make_plan):
    cells = make_city({"1": [2, 9, 9, 9]})
    cases = {
        prefer: run(make_plan({**BARE, "tie_break": prefer}), cells).columns.text("Wert_case")
        for prefer in ("min", "max")
    }
    assert cases["max"][2:] == ("primär", "", "", "A11")
    assert cases["min"][2:] == ("primär", "A11", "", "")


@pytest.mark.parametrize(
    "change",
    [
        {"primary": [{"rule": "frequency", "min": 3}]},
        {"protection": {"percent": 10}},
    ],
)
def test_tables_that_do_not_fit_are_refused(known, make_plan, change):
    with pytest.raises(PlanError):
        run(make_plan("intervals", **change), known)


def test_flat_tables_are_refused(make_plan):
    flat = {"dimensions": {"area": {"column": "Kreis", "total": "0"}}}
    with pytest.raises(PlanError, check=coded("plan.intervals-dimensions")):
        run(make_plan("intervals", **flat), TextColumns({"Kreis": ("0", "1", "2"), "Wert": ("9", "2", "7")}))
