"""Find calls of known functions in an R script, with their arguments by parameter name."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from sfumato.dataclass import dataclass
from sfumato.pipelines.migration.r_tokens import CONTROL, Token, statements_of
from sfumato.pipelines.migration.r_values import NotPlainError, constants_of, split_arguments, value_of

FUNCTIONS = frozenset({"function", "\\"})
PLACEHOLDERS = frozenset({".", "_"})


@dataclass(frozen=True, slots=True)
class RCall:
    """A call: its function, line and arguments, and the variable that gets its result.

    Attributes:
        arguments: Literal arguments, without NULL.
        computed: The other arguments, as written in the script.
        conditional: Whether it is in a loop, a condition or a function, and may run several times or never.
        handed_on: Whether the function is only named, for another function to call it.
    """

    function: str
    line: int
    arguments: dict[str, Any] = field(default_factory=dict)
    computed: dict[str, str] = field(default_factory=dict)
    target: str = ""
    conditional: bool = False
    handed_on: bool = False


def read_calls(script: str, signatures: Mapping[str, Sequence[str]]) -> Iterator[RCall]:
    """Yield the calls of functions with known signatures, in order.

    >>> [call.arguments for call in read_calls("x <- kAnon(sdc, 3)  # why", {"kAnon": ("obj", "k")})]
    [{'k': 3}]
    """
    statements = list(statements_of(script))
    for statement, known in zip(statements, constants_of(statements), strict=True):
        for place, token in enumerate(statement):
            name = token.text.rpartition(":")[2] if token.kind == "name" else _handed_on(statement, place)
            if name in signatures and not _is_member(statement, place):
                yield _call(statement, place, name, signatures[name], known)


def _handed_on(statement: Sequence[Token], place: int) -> str:
    """Return the function that `do.call("name", …)` calls."""
    behind = place > 1 and statement[place - 2].text == "do.call"
    return statement[place].text[1:-1] if behind and statement[place].kind == "text" else ""


def _is_member(statement: Sequence[Token], place: int) -> bool:
    """Return whether a name is that of a member or an argument."""
    before = statement[place - 1].text if place else ""
    return before in ("$", "@") or (place + 1 < len(statement) and statement[place + 1].kind == "assign")


def _call(statement: Sequence[Token], place: int, name: str, formals: Sequence[str], known: Mapping[str, Any]) -> RCall:
    conditional = any(token.text in CONTROL for token in statement[:place])
    assigned = place >= 2 and statement[place - 1].text in ("<-", "=") and statement[place - 2].kind == "name"
    target = statement[place - 2].text if assigned else ""
    line = statement[place].line
    if place + 1 >= len(statement) or statement[place + 1].text != "(":
        return RCall(name, line, conditional=conditional, handed_on=True)
    piped = place > 0 and statement[place - 1].kind == "pipe"
    # A function has its own variables.
    known = {} if any(token.text in FUNCTIONS for token in statement[:place]) else known
    plain: dict[str, Any] = {}
    computed: dict[str, str] = {}
    for key, tokens in _matched(list(split_arguments(statement, place + 2)), formals, piped):
        try:
            value = value_of(tokens, known)
        except NotPlainError:
            computed[key] = "".join(token.text for token in tokens)
            continue
        if value is not None:
            plain[key] = value
    return RCall(name, line, plain, computed, target, conditional)


def _matched(
    arguments: Sequence[list[Token]], formals: Sequence[str], piped: bool
) -> Iterator[tuple[str, list[Token]]]:
    """Yield each argument with its name, matched as in R: by full name, by prefix, then by position."""
    named = [_name(argument) for argument in arguments]
    keys = [_formal(name, formals) if name else "" for name in named]
    free = [formal for formal in formals if formal not in keys]
    holds_place = any(argument[-1].text in PLACEHOLDERS for argument in arguments if len(argument) in (1, 3))
    if piped and not holds_place:
        free = free[1:]
    places = iter(free)
    for key, argument in zip(keys, arguments, strict=True):
        yield (key, argument[2:]) if key else (next(places, "another argument"), argument)


def _name(argument: Sequence[Token]) -> str:
    named = len(argument) > 2 and argument[1].text == "=" and argument[0].kind in ("name", "text")
    return argument[0].text.strip("\"'") if named else ""


def _formal(name: str, formals: Sequence[str]) -> str:
    begins = [formal for formal in formals if formal.startswith(name)]
    return begins[0] if len(begins) == 1 and name not in formals else name
