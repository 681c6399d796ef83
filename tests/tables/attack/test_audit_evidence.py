"""Witnesses that are brought along are looked at: forged ones do not count."""

import time

import numpy as np
import pytest

from sfumato.tables.attack.audit import audit_publication
from sfumato.tables.attack.audit_evidence import AuditEvidence
from sfumato.tables.attack.findings import AttackerView, DisclosureStatus
from sfumato.tables.cells.system import (
    AlternativeTable,
    AttackerKind,
    AttackerKnowledge,
    Bounds,
    Insider,
    ProtectionLevels,
    make_constraints,
    no_bounds,
)
from sfumato.tables.deadline import within

# Total 60 = 10 + 20 + 30: the last two and the first are masked or not.
VALUES = np.array([60.0, 10.0, 20.0, 30.0])
RELATIONS = make_constraints([([0, 1, 2, 3], [-1, 1, 1, 1])])


def audited(masked, witnesses, attackers=(), need=2.0, room=np.inf):
    exact = np.where(np.isin(np.arange(4), masked), np.nan, VALUES)
    bounds = Bounds(np.maximum(VALUES - room, 0.0), VALUES + room)
    shown = AttackerView(exact, no_bounds(4), bounds, RELATIONS, tuple("tabc"))
    promise = no_bounds(4)
    promise.low[1], promise.high[1] = VALUES[1] - need, VALUES[1] + need
    evidence = AuditEvidence(witnesses, within(0.0))
    audit = audit_publication(shown, promise, AttackerKnowledge(attackers=attackers), VALUES, evidence)
    return next(finding for finding in audit.findings if finding.cell == 1)


def moved(*amounts):
    """Witnesses for either side of cell 1."""
    cells, numbers = np.array([cell for cell, _ in amounts]), np.array([amount for _, amount in amounts], float)
    return [AlternativeTable(1, cells, numbers), AlternativeTable(1, cells, -numbers)]


def test_true_witnesses_need_no_program():
    finding = audited([1, 2], moved((1, 2), (2, -2)))
    assert finding.verdict is DisclosureStatus.SAFE
    assert np.isnan(finding.lower)


@pytest.mark.parametrize(
    "forged",
    [
        moved((1, 2), (2, -1)),  # the total would change
        moved((1, 2), (3, -2)),  # a published cell would change
        moved((1, 1), (2, -1)),  # not as far as is promised
        moved((1, 2), (2, -2))[:1],  # one side only
    ],
)
def test_forged_witnesses_do_not_count(forged):
    finding = audited([1, 2], forged)
    assert not np.isnan(finding.lower)
    assert finding.verdict is DisclosureStatus.SAFE
    assert audited([1], moved((1, 2))).verdict is DisclosureStatus.EXACT


def test_small_witnesses_are_drawn_out_to_a_whole_step():
    """Half a step is promised: a range that holds one whole number alone tells it all the same."""
    assert np.isnan(audited([1, 2], moved((1, 0.5), (2, -0.5)), need=0.5).lower)
    finding = audited([1, 2], moved((1, 0.5), (2, -0.5)), need=0.5, room=0.6)
    assert finding.verdict is DisclosureStatus.EXACT
    assert (finding.lower, finding.upper) == (pytest.approx(9.4), pytest.approx(10.6))


def test_who_knows_a_cell_on_the_way_must_be_shown_another():
    knows = Insider(
        "b",
        AttackerKind.RESPONDENT,
        np.array([2]),
        Bounds(VALUES[[2]], VALUES[[2]]),
        ProtectionLevels(np.zeros(1), np.zeros(1)),
    )
    by_b, by_c = moved((1, 2), (2, -2)), moved((1, 2), (3, -2))
    assert audited([1, 2], by_b, [knows]).attacker == "b"
    assert not np.isnan(audited([1, 2, 3], by_b, [knows]).lower)
    assert np.isnan(audited([1, 2, 3], [*by_b, *by_c], [knows]).lower)


def test_witnesses_are_held_against_thousands_of_coalitions_in_no_time():
    """Each of 3,000 has a part in 40 of 200 cells, and each of 200 witnesses moves 50: 30 seconds one by one."""
    rng, size = np.random.default_rng(1), 200
    values = np.append(size * 10.0, np.full(size, 10.0))
    relations = make_constraints([(list(range(size + 1)), [-1.0] + [1.0] * size)])
    attackers = []
    for number in range(3000):
        cells = 1 + np.sort(rng.choice(size, 40, replace=False))
        nothing = np.zeros(40)
        attackers.append(
            Insider(f"{number}", AttackerKind.COALITION, cells, no_bounds(40), ProtectionLevels(nothing, nothing))
        )
        attackers[-1].bounds.low[:], attackers[-1].bounds.high[:] = 0.0, np.inf
    witnesses = []
    for cell in range(1, size + 1):
        others = 1 + rng.choice(size, 50, replace=False)
        others = others[others != cell]
        amounts = np.append(len(others) / 10, np.full(len(others), -0.1))
        witnesses += [AlternativeTable(cell, np.append(cell, others), sign * amounts) for sign in (1, -1)]
    shown = AttackerView(
        np.append(values[:1], np.full(size, np.nan)),
        no_bounds(size + 1),
        Bounds(np.zeros(size + 1), np.full(size + 1, np.inf)),
        relations,
        tuple(map(str, range(size + 1))),
    )
    promise = Bounds(np.append(np.nan, values[1:] - 4), np.append(np.nan, values[1:] + 4))
    start = time.process_time()
    audit = audit_publication(
        shown, promise, AttackerKnowledge(attackers=tuple(attackers)), values, AuditEvidence(witnesses, within(0.0))
    )
    assert time.process_time() - start < 8.0
    assert audit.passed
    assert np.isnan([finding.lower for finding in audit.findings]).all()
