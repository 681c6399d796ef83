"""Random tables attacked with linear programs written apart (`bench/prove_tables.py` runs a thousand of each)."""

import importlib.util
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench" / "prove_tables.py"


@pytest.fixture(scope="module")
def prove():
    pytest.importorskip("pandas")
    place = importlib.util.spec_from_file_location("prove_tables", BENCH)
    module = importlib.util.module_from_spec(place)
    place.loader.exec_module(module)
    return module.prove


@pytest.mark.parametrize("start", [0, 500])
def test_nobody_computes_anything(prove, start):
    for kind, found in prove(3, start=start).items():
        assert found["attacks"] > 5, kind
        assert (found["exact"], found["too narrow"]) == (0, 0), kind
