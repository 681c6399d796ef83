"""The C source of the extension module: all loops, the functions they call, and a wrapper for each public loop."""

import ast
import inspect
import itertools
import textwrap
from collections.abc import Iterable
from types import FunctionType
from typing import get_type_hints

from sfumato.native.c_codegen.c_values import (
    NOTHING,
    WORD,
    Array,
    Kind,
    Nothing,
    Record,
    Scalar,
    TranslationError,
    TupleType,
    kinds_of,
)
from sfumato.native.c_codegen.statements import Body
from sfumato.values import Value

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


class Entry(Value):
    """A loop for given argument types: its C name, its return type, and which arguments it writes."""

    name: str
    kinds: tuple[Kind, ...]
    result: Kind
    written: frozenset[int]


def wrapper(public: str, entries: Iterable[Entry]) -> str:
    """Return the function called by Python: it runs the first entry whose types match."""
    tries = "\n".join(_attempt(entry) for entry in entries)
    return f"""static PyObject *py_{public}(PyObject *self, PyObject *const *args, Py_ssize_t many) {{
  int last = 0;
{tries}
  PyErr_Format(PyExc_TypeError, "{public} of %zd arguments: compiled for another type of argument %d", many, last);
  return NULL;
}}"""


def give(kind: Kind) -> str:
    """Return the function that converts a row to a Python tuple."""
    if not isinstance(kind, TupleType):
        return ""
    items = "\n".join(
        f"  {{ PyObject *item = give_{item.tag}(from.f{at}); if (!item) {{ Py_DECREF(made); return NULL; }} "
        f"PyTuple_SetItem(made, {at}, item); }}"
        for at, item in enumerate(kind.items)
    )
    return f"""static PyObject *give_{kind.tag}({kind.c} from) {{
  PyObject *made = PyTuple_New({len(kind.items)});
  if (!made) return NULL;
{items}
  return made;
}}"""


def get(kind: Kind) -> str:
    """Return the function that converts a Python tuple to a record or a row."""
    if not isinstance(kind, Record | TupleType):
        return ""
    fields = kind.fields if isinstance(kind, Record) else [(f"f{at}", item) for at, item in enumerate(kind.items)]
    tests = " && ".join(
        f"get_{item.tag}(PyTuple_GetItem(value, {at}), &to->{name}, written)" for at, (name, item) in enumerate(fields)
    )
    return f"""static int get_{kind.tag}(PyObject *value, {kind.c} *to, int written) {{
  return PyTuple_Check(value) && PyTuple_Size(value) == {len(fields)} && {tests};
}}"""


def module(names: Iterable[str], stamp: str) -> str:
    """Return the table of functions and the module itself, with the checksum of its sources."""
    table = "\n".join(f'  {{"{name}", (PyCFunction)(void (*)(void))py_{name}, METH_FASTCALL, NULL}},' for name in names)
    return f"""static PyMethodDef methods[] = {{
{table}
  {{NULL, NULL, 0, NULL}}
}};
static struct PyModuleDef definition = {{PyModuleDef_HEAD_INIT, "native", NULL, -1, methods}};
PyMODINIT_FUNC PyInit_native(void) {{
  import_array();
  PyObject *made = PyModule_Create(&definition);
  if (made && PyModule_AddStringConstant(made, "STAMP", "{stamp}") < 0) {{ Py_DECREF(made); return NULL; }}
  return made;
}}"""


def _is_written(entry: Entry, at: int) -> int:
    """Return whether an argument must be a writable array; members of records and rows are not checked."""
    return int(at in entry.written and isinstance(entry.kinds[at], Array))


def _attempt(entry: Entry) -> str:
    names = [f"a{at}" for at in range(len(entry.kinds))]
    room = "\n".join(f"    {kind.c} {name};" for name, kind in zip(names, entry.kinds, strict=True))
    tests = "".join(
        f" && (last = {at}, get_{kind.tag}(args[{at}], &{name}, {_is_written(entry, at)}))"
        for at, (name, kind) in enumerate(zip(names, entry.kinds, strict=True))
    )
    handed = [f"&{name}" if isinstance(kind, Record) else name for name, kind in zip(names, entry.kinds, strict=True)]
    call = f"{entry.name}({', '.join(['&room', *handed])})"
    void = isinstance(entry.result, Nothing)
    answer = "Py_None" if void else f"give_{entry.result.tag}(answer)"
    return f"""  {{
{room}
    if (many == {len(names)}{tests}) {{
      Room room = {{0}};
      PyObject *made = NULL;
      {"" if void else f"{entry.result.c} answer;"}
      int failed;
      PyThreadState *state = PyEval_SaveThread();
      if (!(failed = setjmp(room.escape))) {"" if void else "answer = "}{call};
      PyEval_RestoreThread(state);
      if (failed) PyErr_NoMemory();
      else made = {answer};
      {"Py_XINCREF(made);" if void else ""}
      leave(&room);
      return made;
    }}
  }}"""
