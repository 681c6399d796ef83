"""Split an R script into tokens and statements."""

import re
from collections.abc import Iterator

from sfumato.dataclass import dataclass

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


@dataclass(frozen=True, slots=True)
class Token:
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
