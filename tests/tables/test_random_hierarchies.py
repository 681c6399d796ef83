"""Random hierarchies: after every method the attacker finds nothing (`bench/tables.py` runs a thousand)."""

import pytest

from sfumato.errors import UnattainableError
from sfumato.pipelines.tables.protect import run
from sfumato.tables.plan.table_plan import read_table_plan
from sizes import size

RANGES = [(1, 3), (1, 2), (1, 5), (2, 4), (1, 4)]


def protect(cells, levels, seed, method):
    low, high = RANGES[seed % len(RANGES)]
    plan = {
        "version": 1,
        "table": {"value": "Wert"},
        "dimensions": {"area": {"levels": list(levels), "total": 0}},
        "primary": [{"rule": "range", "min": low, "max": high}],
        "method": method,
    }
    return run(read_table_plan(plan), cells)


EACH = size(20, 40)


@pytest.mark.parametrize("start", range(0, size(20, 240), EACH))
def test_no_masked_cell_gives_way(random_hierarchy, start):
    unattainable = leaking = 0
    for seed in range(start, start + EACH):
        cells, levels = random_hierarchy(seed)
        prefer = ("min", "max")[seed // 2 % 2]
        original = protect(cells, levels, seed, {"name": "intervals", "tie_break": prefer, "repair": False})
        leaking += not original.passed
        try:
            mended = protect(cells, levels, seed, {"name": "intervals", "tie_break": prefer})
        except UnattainableError as error:
            assert error.code == "unattainable.single-part"
            unattainable += 1
            continue
        best = protect(cells, levels, seed, "optimal")
        others = [protect(cells, levels, seed, method) for method in ("fast", "ranges")]
        for protected in (mended, best, *others):
            audit = protected.report["audit"]
            assert (audit["exact"], audit["too_narrow"]) == (0, 0), seed
            assert protected.passed
        assert best.report["proved_optimal"]
        assert best.report["cost"] <= min(other.report["cost"] for other in (mended, *others)) + 1e-9, seed
    assert unattainable <= EACH / 10
    assert EACH / 5 <= leaking <= EACH * 4 / 5
