"""Calls in an R script that stand plainly: arguments that are names, numbers, texts or lists of these."""

import re
from collections.abc import Iterator
from dataclasses import field
from typing import Any

from sfumato.dataclass import dataclass

TOKEN = re.compile(
    r"""(?P<space>\s+)|(?P<comment>\#[^\n]*)|(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<number>\d+\.?\d*(?:[eE][-+]?\d+)?L?|\.\d+)|(?P<name>[A-Za-z.][\w.]*(?:::[\w.]+)?)
    |(?P<assign><-|->|<<-)|(?P<sign>[-+*/^(){}\[\],=$@~!&|<>:;%?\\])""",
    re.VERBOSE,
)
TRUTHS = {"TRUE": True, "T": True, "FALSE": False, "F": False, "NULL": None}


class NotPlainError(Exception):
    """An argument is something that must be computed."""


@dataclass(frozen=True, slots=True)
class Name:
    """The name of a value of the script."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """A call: its function, its arguments, the line it begins in, and the name that its answer gets.

    Attributes:
        plain: Whether all arguments could be read; those that could not are left out.
    """

    function: str
    line: int
    arguments: dict[str, Any] = field(default_factory=dict)
    positional: tuple[Any, ...] = ()
    target: str = ""
    plain: bool = True


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    line: int


def read_calls(script: str, functions: frozenset[str]) -> Iterator[Call]:
    """The calls of some functions, in their order.

    >>> [call.arguments for call in read_calls("x <- kAnon(sdc, k=c(3))  # why", frozenset({"kAnon"}))]
    [{'k': [3]}]
    """
    tokens = list(_tokens(script))
    for place, token in enumerate(tokens[:-1]):
        name = token.text.rpartition("::")[2]
        if token.kind == "name" and name in functions and tokens[place + 1].text == "(":
            yield _call(tokens, place, name)


def _tokens(script: str) -> Iterator[_Token]:
    line, place = 1, 0
    while place < len(script):
        found = TOKEN.match(script, place)
        text = script[place] if found is None else found[0]
        kind = "sign" if found is None else str(found.lastgroup)
        if kind not in ("space", "comment"):
            yield _Token(kind, text, line)
        line, place = line + text.count("\n"), place + len(text)


def _call(tokens: list[_Token], place: int, name: str) -> Call:
    named: dict[str, Any] = {}
    positional: list[Any] = []
    plain = True
    for argument in _arguments(tokens, place + 2):
        key = argument[0].text if len(argument) > 2 and argument[1].text == "=" else ""
        try:
            value = _value(argument[2:] if key else argument)
        except NotPlainError:
            plain = False
            continue
        if key:
            named[key.strip("\"'")] = value
        else:
            positional.append(value)
    assigned = place >= 2 and tokens[place - 1].text in ("<-", "=") and tokens[place - 2].kind == "name"
    return Call(name, tokens[place].line, named, tuple(positional), tokens[place - 2].text if assigned else "", plain)


def _arguments(tokens: list[_Token], start: int) -> Iterator[list[_Token]]:
    """The tokens of each argument, up to the bracket that closes the call."""
    depth = 0
    argument: list[_Token] = []
    for token in tokens[start:]:
        if depth == 0 and token.text in (")", ","):
            if argument:
                yield argument
            argument = []
            if token.text == ")":
                return
            continue
        depth += (token.text in "([{") - (token.text in ")]}")
        argument.append(token)


def _value(tokens: list[_Token]) -> Any:
    """A number, a text, a truth value, a name, or a list of these."""
    if len(tokens) == 2 and tokens[0].text == "-" and tokens[1].kind == "number":
        return -_number(tokens[1].text)
    if len(tokens) == 1:
        return _single(tokens[0])
    if tokens[0].text == "c" and tokens[1].text == "(" and tokens[-1].text == ")":
        return [_value(part) for part in _arguments(tokens, 2)]
    raise NotPlainError


def _single(token: _Token) -> Any:
    if token.kind == "number":
        return _number(token.text)
    if token.kind == "text":
        return re.sub(r"\\(.)", r"\1", token.text[1:-1])
    if token.kind == "name":
        return TRUTHS[token.text] if token.text in TRUTHS else Name(token.text)
    raise NotPlainError


def _number(text: str) -> float | int:
    number = float(text.rstrip("L"))
    return int(number) if number.is_integer() else number
