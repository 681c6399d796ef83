"""The C source of the extension module: a wrapper with Python arguments for each public loop."""

from collections.abc import Iterable

from sfumato.dataclass import dataclass
from sfumato.native.c_codegen.types import Array, Kind, Nothing, Record, TupleType


@dataclass(frozen=True, slots=True)
class Entry:
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
