"""The C program of all public loops and the functions they call."""

import ast
import inspect
import itertools
import textwrap
from collections.abc import Iterable
from types import FunctionType
from typing import get_type_hints

from sfumato.native.c_codegen.statements import Body
from sfumato.native.c_codegen.types import (
    NOTHING,
    WORD,
    Kind,
    Nothing,
    Record,
    Scalar,
    TranslationError,
    TupleType,
    kinds_of,
)

# Loops of this module are in the prelude under the same names: their return types, and which arguments are written.
PRELUDE = "sfumato.native.byte_kernels"
IN_PRELUDE: dict[str, tuple[Kind, frozenset[int]]] = {
    "word_at": (Scalar(WORD), frozenset()),
    "put_word": (NOTHING, frozenset({0})),
}


class CProgram:
    """Loops in C, each for the argument types it is called with; callees precede their callers."""

    def __init__(self) -> None:
        self.structs: dict[str, str] = {}
        self.functions: list[str] = []
        self._made: dict[tuple[FunctionType, tuple[Kind, ...]], tuple[str, Kind, frozenset[int]]] = {}
        self._trees: dict[FunctionType, ast.FunctionDef] = {}

    def specialize(self, function: FunctionType, kinds: tuple[Kind, ...]) -> tuple[str, Kind, frozenset[int]]:
        """Return the C name, the return type, and which arguments are written, of a loop for these types."""
        if function.__module__ == PRELUDE:
            return function.__name__, *IN_PRELUDE[function.__name__]
        if (function, kinds) not in self._made:
            name = f"f{len(self._made)}_{function.__name__}"
            self._made[function, kinds] = name, Nothing(), frozenset()
            self._made[function, kinds] = name, *self._translate(name, function, kinds)
        return self._made[function, kinds]

    def text(self) -> str:
        """Return all structures and functions."""
        return "\n".join([*self.structs.values(), *self.functions])

    def declare(self, kind: Kind) -> None:
        """Write the structure of a row or record, and of its members."""
        if not isinstance(kind, TupleType | Record) or kind.c in self.structs:
            return
        members = kind.fields if isinstance(kind, Record) else [(f"f{at}", item) for at, item in enumerate(kind.items)]
        for _, member in members:
            self.declare(member)
        fields = " ".join(f"{member.c} {name};" for name, member in members)
        self.structs[kind.c] = f"typedef struct {{ {fields} }} {kind.c};"

    def _translate(self, name: str, function: FunctionType, kinds: tuple[Kind, ...]) -> tuple[Kind, frozenset[int]]:
        tree = self._tree(function)
        parameters = dict(zip((one.arg for one in tree.args.args), kinds, strict=True))
        body = Body(tree, parameters, function.__globals__, self.specialize)
        try:
            lines = body.translate()
        except TranslationError as error:
            raise TranslationError(f"{function.__module__}.{function.__name__}: {error}") from None
        for kind in (*parameters.values(), *body.names.values(), body.result):
            self.declare(kind)
        self.functions.append(_function(name, parameters, body, lines))
        return body.result, frozenset(at for at, one in enumerate(parameters) if one in body.written)

    def _tree(self, function: FunctionType) -> ast.FunctionDef:
        if function not in self._trees:
            node = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
            if not isinstance(node, ast.FunctionDef):
                raise TranslationError(f"{function.__name__} is no function")
            self._trees[function] = node
        return self._trees[function]


def signatures(function: FunctionType) -> Iterable[tuple[Kind, ...]] | None:
    """Return the argument types that a loop's annotations allow; None for one that only other loops call."""
    names = inspect.signature(function).parameters
    hints = get_type_hints(function, include_extras=True)
    if not all(name in hints for name in names):
        return None
    return itertools.product(*(kinds_of(hints[name]) for name in names))


def _function(name: str, parameters: dict[str, Kind], body: Body, lines: list[str]) -> str:
    result = body.result
    arguments = ", ".join(["Room *room", *(f"{_passed(kind)} p_{one}" for one, kind in parameters.items())])
    text = [f"static {result.c} {name}({arguments}) {{"]
    for one, kind in body.names.items():
        first = f"p_{one}" if one in parameters else "{0}"
        text.append(f"  {_passed(kind)} v_{one} = {first};")
    if body.takes_room:
        text.append("  Mark begin = mark(room);")
    text += [_returned(line, result, body.takes_room) for line in lines]
    if body.takes_room:
        text.append("  release(room, begin);")
    if not isinstance(result, Nothing):
        text.append(f"  {result.c} none = {{0}}; return none;")
    return "\n".join([*text, "}"])


def _passed(kind: Kind) -> str:
    """Return how a value is passed: records by pointer, because they are large and never changed."""
    return f"const {kind.c} *restrict" if isinstance(kind, Record) else kind.c


def _returned(line: str, result: Kind, takes_room: bool) -> str:
    """Return a line of a body; a return statement frees the temporary arrays."""
    if not line.startswith("RETURN("):
        return f"  {line}"
    value = line.removeprefix("RETURN(").removesuffix(");")
    if not value:
        return "  { release(room, begin); return; }" if takes_room else "  return;"
    if not takes_room:
        return f"  return {value};"
    return f"  {{ {result.c} answer = {value}; release(room, begin); return answer; }}"
