"""Read R scripts: calls of known functions with their arguments, and the file that the script reads."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sfumato.values import Value, field

TOKEN = re.compile(
    r"""(?P<space>\s+)|(?P<comment>\#[^\n]*)|(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<number>\d+\.?\d*(?:[eE][-+]?\d+)?L?|\.\d+)|(?P<name>`[^`\n]*`|(?:[^\W\d_]|\.)[\w.]*(?::::?[\w.]+)?)
    |(?P<pipe>\|>|%[^%\s]*>%)|(?P<assign><<?-|->>?|(?<![=!<>])=(?!=))|(?P<sign>==|<=|>=|!=|%[^%\s]*%|[^\s\w])""",
    re.VERBOSE | re.DOTALL,
)
# Code after one of these may run several times or never.
CONTROL = frozenset({"if", "else", "for", "while", "repeat", "function", "switch", "\\"})
HEADERS = frozenset({"if", "for", "while", "function", "\\"})
OPENING, CLOSING = frozenset("([{"), frozenset(")]}")
UNFINISHED = frozenset({"else", "repeat", "in", *"+-*/^~&|<>,!:$@?", "==", "<=", ">=", "!="})
TRUTHS = {"TRUE": True, "T": True, "FALSE": False, "F": False, "NULL": None}
ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|[uU]\{?([0-9a-fA-F]{1,8})\}?|(.))", re.DOTALL)
SIGNS = {"t": "\t", "n": "\n", "r": "\r"}
ASSIGNING = frozenset({"assign", "delayedAssign", "makeActiveBinding"})
FUNCTIONS = frozenset({"function", "\\"})
PLACEHOLDERS = frozenset({".", "_"})


class Token(Value):
    """A token of a script: its kind, its text, and its first and last line."""

    kind: str
    text: str
    line: int
    last_line: int


def tokens_of(script: str) -> Iterator[Token]:
    """Yield the tokens of a script without blanks and comments.

    >>> [token.text for token in tokens_of("x <- f('a)')  # why")]
    ['x', '<-', 'f', '(', "'a)'", ')']
    """
    line, place = 1, 0
    while place < len(script):
        match = TOKEN.match(script, place)
        text, kind = (script[place], "sign") if match is None else (match[0], str(match.lastgroup))
        last_line = line + text.count("\n")
        if kind not in ("space", "comment"):
            yield Token(kind, text.strip("`") if kind == "name" else text, line, last_line)
        line, place = last_line, place + len(text)


def statements_of(script: str) -> Iterator[list[Token]]:
    """Yield the statements of a script; a loop, a condition or a function is one statement with its body.

    >>> [len(statement) for statement in statements_of("a <- 1; if (a)\\n  b <- 2\\nd <- 3")]
    [3, 7, 3]
    """
    statement: list[Token] = []
    opened: list[int] = []
    headed = False
    for token in tokens_of(script):
        ends = token.text == ";" or (token.line > statement[-1].last_line if statement else False)
        if statement and not opened and ends and (token.text == ";" or not _continues(statement, token, headed)):
            yield statement
            statement = []
        if token.text == ";" and not opened:
            continue
        headed = False
        if token.text in OPENING:
            opened.append(len(statement))
        elif token.text in CLOSING and opened:
            start = opened.pop()
            headed = start > 0 and statement[start - 1].text in HEADERS
        statement.append(token)
    if statement:
        yield statement


def _continues(statement: list[Token], token: Token, headed: bool) -> bool:
    """Return whether a statement continues in the line of the next token."""
    last = statement[-1]
    return headed or last.kind in ("assign", "pipe") or last.text in UNFINISHED or token.text == "else"


class RCall(Value):
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


class NotPlainError(Exception):
    """Raised if a value must be computed."""


def constants_of(statements: Sequence[Sequence[Token]]) -> Iterator[dict[str, Any]]:
    """Yield for each statement the constants known in it: assigned once, before it, and unconditionally.

    >>> list(constants_of(list(statements_of("k <- 5; l <- 2; l <- 3; f(k, l)"))))[-1]
    {'k': 5}
    """
    times = Counter(name for statement in statements for name in _given(statement))
    known: dict[str, Any] = {}
    for statement in statements:
        yield dict(known)
        name = _constant(statement)
        if name and times[name] == 1:
            try:
                known[name] = value_of(statement[2:], known)
            except NotPlainError:
                continue


def value_of(tokens: Sequence[Token], known: Mapping[str, Any]) -> Any:
    """Return a number, a text, a truth value, or a list of these.

    Raises:
        NotPlainError: The value must be computed.
    """
    if len(tokens) == 2 and tokens[0].text == "-" and tokens[1].kind == "number":
        return -_number(tokens[1].text)
    if len(tokens) == 1:
        return _single(tokens[0], known)
    if len(tokens) > 2 and tokens[0].text == "c" and tokens[1].text == "(" and tokens[-1].text == ")":
        parts = list(split_arguments(tokens, 2))
        # The closing parenthesis of the list is the last token.
        if sum(map(len, parts)) + len(parts) + 2 == len(tokens):
            values = [value_of(part, known) for part in parts]
            return [entry for value in values for entry in (value if isinstance(value, list) else [value])]
    raise NotPlainError


def split_arguments(tokens: Sequence[Token], start: int) -> Iterator[list[Token]]:
    """Yield the tokens of each argument, up to the closing parenthesis of the call."""
    depth = 0
    argument: list[Token] = []
    for token in tokens[start:]:
        if depth == 0 and token.text in (")", ","):
            if argument:
                yield argument
            argument = []
            if token.text == ")":
                return
            continue
        depth += (token.text in OPENING) - (token.text in CLOSING)
        argument.append(token)


def _constant(statement: Sequence[Token]) -> str:
    """Return the name that a statement assigns a value to, if it does nothing else."""
    plain = len(statement) > 2 and statement[0].kind == "name" and statement[1].text in ("<-", "=")
    return statement[0].text if plain else ""


def _given(statement: Sequence[Token]) -> Iterator[str]:
    """Yield every name that a statement may assign a value to, including changes to a part of it."""
    opened: list[str] = []
    for place, token in enumerate(statement):
        if token.text in OPENING:
            opened.append(token.text)
        elif token.text in CLOSING and opened:
            opened.pop()
        argument = token.text == "=" and bool(opened) and opened[-1] == "("
        if token.kind == "assign" and not argument:
            rightward = token.text.startswith("-")
            yield from _names(statement[place + 1 :] if rightward else statement[place - 1 :: -1] if place else ())
        elif token.text == "in" and place:
            yield statement[place - 1].text
        elif token.kind == "text" and place > 1 and statement[place - 2].text in ASSIGNING:
            yield token.text[1:-1]


def _names(tokens: Sequence[Token]) -> Iterator[str]:
    """Yield the names on the target side of an assignment, within its line."""
    for token in tokens:
        if token.kind == "assign" or token.text in (";", "{") or token.line != tokens[0].line:
            return
        if token.kind == "name":
            yield token.text


def _single(token: Token, known: Mapping[str, Any]) -> Any:
    if token.kind == "number":
        return _number(token.text)
    if token.kind == "text":
        return ESCAPE.sub(_unescaped, token.text[1:-1])
    if token.text in TRUTHS:
        return TRUTHS[token.text]
    if token.kind == "name" and token.text in known:
        return known[token.text]
    raise NotPlainError


def _unescaped(escape: re.Match[str]) -> str:
    digits = escape[1] or escape[2]
    return chr(int(digits, 16)) if digits else SIGNS.get(escape[3], escape[3])


def _number(text: str) -> float | int:
    number = float(text.rstrip("L"))
    return int(number) if number.is_integer() else number


_BASE = ("file", "header", "sep", "quote", "dec")
_TIDY = ("file", "col_names", "col_types")
READERS: dict[str, tuple[str, ...]] = {
    "read.csv": _BASE,
    "read.csv2": _BASE,
    "read.delim": _BASE,
    "read.delim2": _BASE,
    "read.table": _BASE,
    "fread": ("input", "file", "text", "cmd", "sep", "sep2", "dec"),
    "read_csv": _TIDY,
    "read_csv2": _TIDY,
    "read_tsv": _TIDY,
    "read_delim": ("file", "delim", "quote"),
}
SEPARATORS = {"read.csv": ",", "read.csv2": ";", "read_csv": ",", "read_csv2": ";"} | dict.fromkeys(
    ("read.delim", "read.delim2", "read_tsv"), "\t"
)
COMMAS = frozenset({"read.csv2", "read.delim2", "read_csv2"})
CARRIED = frozenset({"file", "input", "sep", "delim", "dec", "na.strings", "na"})
# Arguments without effect here: values are read as texts unless the plan gives a type.
HARMLESS = frozenset(
    {"stringsAsFactors", "check.names", "colClasses", "col_types", "data.table", "show_col_types", "as.is", "fill"}
)


def data_of(call: RCall) -> dict[str, Any]:
    """Return the data section for a file that a call reads; empty if its name must be computed.

    >>> data_of(RCall("read.csv2", 1, {"file": "a.csv"}))
    {'source': 'a.csv', 'separator': ';', 'decimal': ','}
    """
    said = call.arguments
    path = said.get("file", said.get("input"))
    if not isinstance(path, str):
        return {}
    separator = said.get("sep", said.get("delim", SEPARATORS.get(call.function)))
    data: dict[str, Any] = {"source": path}
    if isinstance(separator, str) and len(separator) == 1:
        data["separator"] = separator
    if said.get("dec", "," if call.function in COMMAS else ".") == ",":
        data["decimal"] = ","
    missing = said.get("na.strings", said.get("na", []))
    texts = [text for text in (missing if isinstance(missing, list) else [missing]) if isinstance(text, str) and text]
    return data | ({"missing": texts} if texts else {})


def not_carried(call: RCall) -> list[str]:
    """Return the arguments of a reading call that are not converted."""
    said = [key for key, value in call.arguments.items() if not (key in ("header", "col_names") and value is True)]
    return [
        key for key in (*said, *call.computed) if key not in HARMLESS and (key in call.computed or key not in CARRIED)
    ]
