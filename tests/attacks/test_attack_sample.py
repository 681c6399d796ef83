"""A sample of `make attack`: nothing that is signed is refuted by what is published."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools" / "attack"))
from run import REAL, attack

from sizes import size

# Cases that have seen a fault: each kind of statement that was refuted once.
KNOWN = [("rows", seed) for seed in (22, 31, 39, 237, 257, 287, 302, 613, 642, 659, 672, 9201, 9511, 9939)]
KNOWN += [("tables", seed) for seed in (203, 205, 208, 210, 214, 229, 231, 245, 276, 303, 313, 9315)]
SAMPLE = [
    (kind, seed)
    for kind, cases in (("rows", size(8, 14)), ("tables", size(6, 10)))
    for seed in range(5000, 5000 + cases)
]


def test_nothing_signed_is_refuted() -> None:
    outcomes = attack(SAMPLE, real=REAL)
    assert {(one.kind, one.seed): one.refuted for one in outcomes if one.refuted} == {}
    assert sum(one.judged.total() for one in outcomes) > 100


def test_what_was_refuted_once_is_not_again() -> None:
    assert {(one.kind, one.seed): one.refuted for one in attack(KNOWN, real=0) if one.refuted} == {}
