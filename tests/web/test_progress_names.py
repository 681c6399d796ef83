"""Every stage that is told of while somebody waits has words in every language."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import sfumato
from sfumato.cli.options import STAGES
from sfumato.localization.messages import words_in

TELLING = {"_stage": 1, "tell": 3, "progress": 3, "_tell": 3, "_progress": 3}


@cache
def _stages() -> frozenset[str]:
    return frozenset(_told())


def _told() -> Iterator[str]:
    """The names in calls that tell of a stage: so many arguments, the first of them a text."""
    texts = (path.read_text(encoding="utf-8") for path in Path(sfumato.__file__).parent.rglob("*.py"))
    for text in texts:
        for call in ast.walk(ast.parse(text)) if any(f"{name}(" in text for name in TELLING) else ():
            if isinstance(call, ast.Call) and len(call.args) == TELLING.get(_name(call.func)):
                first = call.args[0]
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    yield first.value


def _name(called: ast.expr) -> str:
    return called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""


@pytest.mark.parametrize("language", ["en", "de"])
def test_every_stage_has_words(language) -> None:
    stages = _stages()
    assert stages >= {"count", "search", "remedies", "apply", "verify", "measure"}
    assert stages - {*words_in(language)} == set()
    assert stages - {*STAGES, "pack"} == set(), "packing is told by the server alone"
