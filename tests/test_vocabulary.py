"""Words that were replaced do not come back: in identifiers of the source, and in the texts that people read."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import yaml

SRC = Path(__file__).parents[1] / "src" / "sfumato"
# Words of identifiers that are still in use, each with the number of identifiers: lower it, never raise it.
IDENTIFIERS = """
anyway 2, beside 9, house 7, houses 0, ladder 5, ladders 4, masked 16, rehearsal 3, rehearsals 1, rehearse 4,
room 16, rooms 2, rung 3, rungs 2, seal 7, seals 2, teller 3, tellers 1, tells 18, told 23, twin 4,
twins 7, unsafe 18, withheld 8"""
TEXTS = (
    "anew|anyway|beside|house|ladder|masked|nobody|promise|rehearsal|room|rung|seal|sealed|stands|tells|told|twin|"
    "unsafe|whoever|withheld"
)
# Masking is the operation on the characters of a value.
MASKING = ("fate.", "hierarchy.", "tip.")


def identifiers() -> Iterator[str]:
    """All names that the source defines: of modules, functions, classes, arguments, variables and attributes."""
    for path in SRC.rglob("*.py"):
        yield path.stem
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield node.name
            elif isinstance(node, ast.arg):
                yield node.arg
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                yield node.attr


def test_no_identifier_has_a_replaced_word() -> None:
    most = {word: int(count) for word, count in re.findall(r"(\w+) (\d+)", IDENTIFIERS)}
    found: dict[str, set[str]] = {word: set() for word in most}
    for name in identifiers():
        for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name):
            found.get(part.lower(), set()).add(name)
    assert {word: sorted(names) for word, names in found.items() if len(names) > most[word]} == {}


def test_no_text_has_a_replaced_word() -> None:
    texts = yaml.safe_load((SRC / "localization" / "en.yaml").read_text(encoding="utf-8"))
    plain = {key: re.sub(r"\{\w+", "{", str(text)) for key, text in texts.items()}
    replaced = re.compile(rf"\b({TEXTS})[sd]?\b", re.IGNORECASE)
    found = {key: word[0].lower() for key, text in plain.items() for word in replaced.finditer(text)}
    assert {key: word for key, word in found.items() if word != "masked" or not key.startswith(MASKING)} == {}
