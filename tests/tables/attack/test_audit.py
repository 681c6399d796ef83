"""The attacker: ranges, verdicts, certificates, and what he makes of false ranges."""

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.tables.attack import audit as audits
from sfumato.tables.attack import audit_problem
from sfumato.tables.attack.audit import audit_publication
from sfumato.tables.attack.findings import AttackerView, DisclosureStatus
from sfumato.tables.cells.system import (
    AttackerKind,
    AttackerKnowledge,
    Bounds,
    Insider,
    ProtectionLevels,
    make_constraints,
)

NONE = np.nan
LINES = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8]]
SQUARE = make_constraints([(line, [-1, 1, 1]) for line in LINES])


def publication(exact, low=None, high=None, relations=SQUARE, ceiling=np.inf):
    size = len(exact)
    nothing = [NONE] * size
    return AttackerView(
        exact=np.array(exact, float),
        ranges=Bounds(np.array(low or nothing, float), np.array(high or nothing, float)),
        bounds=Bounds(np.zeros(size), np.full(size, ceiling)),
        constraints=relations,
        names=tuple(f"c{place}" for place in range(size)),
    )


def promise(size, cells):
    low, high = np.full(size, NONE), np.full(size, NONE)
    for cell, (least, most) in cells.items():
        low[cell], high[cell] = least, most
    return Bounds(low, high)


def test_single_mask_is_exact_and_certified():
    found = audit_publication(publication([20, 10, 10, 9, NONE, 5, 11, 6, 5]), promise(9, {4: (3, 5)}))
    assert found.findings[0].verdict is DisclosureStatus.EXACT
    assert found.findings[0].lower == found.findings[0].upper == 4
    assert set(found.findings[0].certificate) in ({"c3", "c5"}, {"c1", "c7"})


def test_four_masks_give_the_known_ranges():
    found = audit_publication(publication([20, 10, 10, 9, NONE, NONE, 11, NONE, NONE]), promise(9, {4: (3, 5)}))
    assert [(f.lower, f.upper) for f in found.findings] == [(0, 9), (0, 9), (1, 10), (1, 10)]
    assert found.passed


def test_too_narrow_is_told_from_exact():
    shown = publication([20, 10, 10, 9, NONE, NONE, 11, NONE, NONE])
    assert audit_publication(shown, promise(9, {4: (3, 12)})).findings[0].verdict is DisclosureStatus.TOO_NARROW


def test_published_ranges_are_used():
    low = [NONE] * 5 + [5] + [NONE] * 3
    high = [NONE] * 5 + [6] + [NONE] * 3
    found = audit_publication(publication([20, 10, 10, 9, NONE, NONE, 11, NONE, NONE], low, high), promise(9, {}))
    assert (found.findings[0].lower, found.findings[0].upper) == (3, 4)


def test_false_ranges_are_set_aside():
    relations = make_constraints([([0, 1, 2], [-1, 1, 1])])
    shown = publication([10, NONE, 4], [NONE, 0, NONE], [NONE, 3, NONE], relations)
    found = audit_publication(shown, promise(3, {}))
    assert found.contradictions == ("c1",)
    assert found.findings[0].verdict is DisclosureStatus.EXACT
    assert not found.passed


def test_unbounded_side_is_infinite():
    relations = make_constraints([([0, 1, 2], [-1, 1, 1])])
    found = audit_publication(publication([NONE, NONE, 4], relations=relations), promise(3, {}))
    assert found.findings[0].lower == 4
    assert found.findings[0].upper == np.inf


def test_integrality_narrows():
    relations = make_constraints([([0, 1], [-1, 2])])
    shown = publication([NONE, NONE], relations=relations, ceiling=3)
    assert audit_publication(shown, promise(2, {})).findings[0].upper == 3
    assert audit_publication(shown, promise(2, {}), AttackerKnowledge(integer=True)).findings[0].upper == 2


def test_single_respondent_attacks_his_neighbor():
    shown = publication([20, 10, 10, 9, NONE, NONE, 11, NONE, NONE])
    promised = promise(9, {4: (3, 5), 5: (4, 6)})
    values = np.array([20, 10, 10, 9, 4, 5, 11, 6, 5], float)
    nothing = ProtectionLevels(np.zeros(1), np.zeros(1))
    own = Insider("c4", AttackerKind.RESPONDENT, np.array([4]), Bounds(values[4:5], values[4:5]), nothing)
    assert audit_publication(shown, promised).passed
    found = audit_publication(shown, promised, AttackerKnowledge(attackers=(own,)), values)
    assert [(leak.name, leak.attacker, leak.verdict) for leak in found.leaks] == [("c5", "c4", DisclosureStatus.EXACT)]


@pytest.mark.parametrize(
    ("reach", "known", "leaks"),
    [
        ((1, 0), (3, 9), []),
        ((1, 0), (3.5, 9), [("c4", "part of c4", DisclosureStatus.TOO_NARROW)]),
        ((0, 1), (0, 5), []),
        ((0, 1), (0, 4.5), [("c4", "part of c4", DisclosureStatus.TOO_NARROW)]),
        ((0, 0), (3.5, 4.5), []),
    ],
    ids=["down open", "down told", "up open", "up told", "all is his"],
)
def test_what_is_not_his_stays_open_to_a_contributor_on_the_one_side_promised(reach, known, leaks):
    shown = publication([20, 10, 10, 9, NONE, NONE, 11, NONE, NONE])
    values = np.array([20, 10, 10, 9, 4, 5, 11, 6, 5], float)
    down, up, low, high = (np.array([float(number)]) for number in (*reach, *known))
    own = Insider("part of c4", AttackerKind.RESPONDENT, np.array([4]), Bounds(low, high), ProtectionLevels(down, up))
    found = audit_publication(shown, promise(9, {4: (3, 5)}), AttackerKnowledge(attackers=(own,)), values)
    assert [(leak.name, leak.attacker, leak.verdict) for leak in found.leaks] == leaks


def test_nothing_masked_passes():
    assert audit_publication(publication([20, 10, 10, 9, 4, 5, 11, 6, 5]), promise(9, {})).checked == 0


PAIRS = make_constraints([([0, 1, 2], [-1, 1, 1]), ([3, 4, 5], [-1, 1, 1])])


def pairs():
    """Two tables that share nothing; the range of c1 is false, the one of c4 true and telling."""
    low = [NONE, 0, NONE, NONE, 2, NONE]
    high = [NONE, 3, NONE, NONE, 3, NONE]
    return publication([10, NONE, 4, 9, NONE, NONE], low, high, PAIRS)


def test_contradiction_takes_knowledge_from_its_own_table_only():
    found = audit_publication(pairs(), promise(6, {4: (2, 3)}))
    assert found.contradictions == ("c1",)
    assert [(finding.lower, finding.upper) for finding in found.findings] == [(6, 6), (2, 3), (6, 7)]


def test_few_cells_are_attacked_together_up_to_the_limit(monkeypatch):
    sizes = []
    make = audit_problem.LinearProgram
    monkeypatch.setattr(
        audit_problem, "LinearProgram", lambda matrix, *more: sizes.append(matrix.shape[1]) or make(matrix, *more)
    )
    shown = publication([10, NONE, NONE, 9, NONE, NONE], relations=PAIRS)
    for limit, programs in ((4, [4]), (3, [2, 2])):
        sizes.clear()
        monkeypatch.setattr(audits, "FEW", limit)
        assert audit_publication(shown, promise(6, {})).passed
        assert sizes == programs


@pytest.mark.parametrize(("part", "rounding"), [("6", 0.0), ("5", 1.0)], ids=["exact", "off by one"])
def test_rounding_is_what_published_totals_show(part, rounding):
    """Only relations without a mask show how far totals are off; what masks leave open is no rounding."""
    frame = pl.DataFrame(
        {
            "district": ["Total", "North", "North", "North", "South", "South", "South"],
            "quarter": ["Total", "Total", "a", "b", "Total", "c", "d"],
            "n": ["19", "10", "4", part, "9", "*", "*"],
        }
    )
    plan = {
        "version": 1,
        "table": {"value": "n", "tolerance": 1},
        "dimensions": {"area": {"levels": ["district", "quarter"]}},
        "primary": [{"rule": "range", "min": 1, "max": 3}],
    }
    assert sf.audit(frame, plan).rounding == rounding
