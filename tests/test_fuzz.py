"""Damaged files are answered or refused by every reader, never with an error that nobody foresaw."""

import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
from fuzz import TARGETS, mutate
from sizes import size


@pytest.mark.parametrize("name", TARGETS)
def test_damage_is_answered_or_refused(tmp_path, name) -> None:
    target, good = TARGETS[name]
    draw = random.Random(f"test:{name}")
    for _ in range(size(80, 150)):
        target(mutate(draw, good), tmp_path)


def test_a_quote_within_a_name_that_spans_lines_is_refused(tmp_path) -> None:
    TARGETS["rows"][0](b'name;a<"b\x0070173\n";\n', tmp_path)
