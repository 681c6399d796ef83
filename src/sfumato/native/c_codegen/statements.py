"""Translate the body of a loop to C; each variable gets the type that holds all values assigned to it."""

import ast
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from sfumato.native.c_codegen.c_values import (
    INT,
    NOTHING,
    Array,
    CValue,
    Kind,
    Scalar,
    Slice,
    TranslationError,
    TupleType,
    convert,
    element,
    truth,
    unite,
    view,
)
from sfumato.native.c_codegen.expressions import expression, index, known, operation

Specialize = Callable[[FunctionType, tuple[Kind, ...]], tuple[str, Kind, frozenset[int]]]


class Body:
    """A loop for given argument types, translated repeatedly until the types of its names are stable."""

    def __init__(
        self, tree: ast.FunctionDef, parameters: dict[str, Kind], globals_: dict[str, Any], specialize: Specialize
    ) -> None:
        self.tree, self.globals, self.specialize = tree, globals_, specialize
        self.names: dict[str, Kind] = dict(parameters)
        self.answer: Kind | None = None
        self.lines: list[str] = []
        # The arguments whose memory a name refers to, and those that are written.
        self.roots: dict[str, set[str]] = {name: {name} for name in parameters}
        self.written: set[str] = set()
        self.temporaries = 0

    def translate(self) -> list[str]:
        """Return the statements in C."""
        while True:
            before = dict(self.names), self.answer, str(self.roots)
            self.lines, self.temporaries = [], 0
            self.block(self.tree.body)
            if before == (self.names, self.answer, str(self.roots)):
                return self.lines

    @property
    def result(self) -> Kind:
        """The return type of the loop."""
        return self.answer or NOTHING

    @property
    def takes_room(self) -> bool:
        """Whether the loop creates arrays, and returns none of them."""
        return any("room" in line for line in self.lines) and not _holds_arrays(self.result)

    def block(self, statements: Iterable[ast.stmt]) -> None:
        for statement in statements:
            handle = getattr(self, f"_{type(statement).__name__.lower()}", None)
            if handle is None:
                raise TranslationError(f"line {statement.lineno}: {type(statement).__name__} is not translated")
            try:
                handle(statement)
            except TranslationError as error:
                if str(error).startswith(("line", "sfumato.")):
                    raise
                raise TranslationError(f"line {statement.lineno}: {error}") from None

    def write(self, line: str) -> None:
        self.lines.append(line)

    def temporary(self, value: CValue) -> CValue:
        """Store a value in a variable of its own."""
        self.temporaries += 1
        name = f"t{self.temporaries}"
        self.write(f"{value.kind.c} {name} = {value.text};")
        return CValue(name, value.kind, roots=value.roots)

    def assign(self, target: ast.expr, value: CValue) -> None:
        """Assign a value to a name, an array element or a tuple of such."""
        if isinstance(target, ast.Name):
            self._assign_name(target.id, value)
            self.roots.setdefault(target.id, set()).update(value.roots)
        elif isinstance(target, ast.Tuple):
            self._assign_row(target.elts, value)
        elif isinstance(target, ast.Subscript):
            self._assign_place(target, value)
        else:
            raise TranslationError(f"line {target.lineno}: {ast.unparse(target)} is not assigned to")

    def _assign_name(self, name: str, value: CValue) -> None:
        if name == "_":
            return
        if value.members and not value.text:
            raise TranslationError(f"{name}: shapes are taken apart where they stand")
        self.names[name] = unite(self.names.get(name), value.kind)
        self.write(f"v_{name} = {convert(value, self.names[name])};")

    def _assign_row(self, targets: list[ast.expr], value: CValue) -> None:
        if value.members:
            members = [member if member.number is not None else self.temporary(member) for member in value.members]
        elif isinstance(value.kind, TupleType):
            whole = self.temporary(value)
            items = enumerate(value.kind.items)
            members = [CValue(f"{whole.text}.f{at}", item, roots=value.roots) for at, item in items]
        else:
            raise TranslationError(f"{value.kind} is no row")
        for target, member in zip(targets, members, strict=True):
            self.assign(target, member)

    def _assign_place(self, target: ast.Subscript, value: CValue) -> None:
        holder = expression(target.value, self)
        self.written |= holder.roots
        places = index(target, self)
        whole = [place for place in places if isinstance(place, CValue)]
        if isinstance(holder.kind, Array) and len(whole) == holder.kind.dimensions:
            self.write(f"{element(holder, whole)} = {convert(value, holder.kind.item)};")
            return
        part = view(holder, list[CValue | Slice](places))
        verb = "copy" if isinstance(value.kind, Array) else "fill"
        if isinstance(value.kind, Array) and value.kind != part.kind:
            raise TranslationError(f"line {target.lineno}: {value.kind} is copied into {part.kind}")
        text = value.text if isinstance(value.kind, Array) else convert(value, part.kind.item)  # type: ignore[union-attr]
        self.write(f"{verb}_{part.kind.tag}({part.text}, {text});")

    def _assign(self, node: ast.Assign) -> None:
        value = expression(node.value, self)
        if len(node.targets) > 1:
            value = self.temporary(value)
        for target in node.targets:
            self.assign(target, value)

    def _annassign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.assign(node.target, expression(node.value, self))

    def _augassign(self, node: ast.AugAssign) -> None:
        change = expression(node.value, self)
        if isinstance(node.target, ast.Subscript):
            holder = expression(node.target.value, self)
            self.written |= holder.roots
            places = [place for place in index(node.target, self) if isinstance(place, CValue)]
            if isinstance(holder.kind, Array):
                self._change_place(node, holder, holder.kind, places, change)
                return
        self.assign(node.target, operation(node.op, expression(node.target, self), change))

    def _change_place(
        self, node: ast.AugAssign, holder: CValue, kind: Array, places: list[CValue], change: CValue
    ) -> None:
        if change.number is None:
            change = self.temporary(change)
        self.temporaries += 1
        name = f"t{self.temporaries}"
        item = Array(kind.kind, 1).c
        self.write(f"__typeof__((({item}*)0)->d) {name} = &{element(holder, places)};")
        value = operation(node.op, CValue(f"(({kind.item.c})*{name})", kind.item), change)
        self.write(f"*{name} = {convert(value, kind.item)};")

    def _expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.write(f"{expression(node.value, self).text};")

    def _pass(self, node: ast.Pass) -> None:
        del node

    def _break(self, node: ast.Break) -> None:
        del node
        self.write("break;")

    def _continue(self, node: ast.Continue) -> None:
        del node
        self.write("continue;")

    def _return(self, node: ast.Return) -> None:
        if node.value is None:
            self.answer = unite(self.answer, NOTHING)
            self.write("RETURN();")
            return
        value = expression(node.value, self)
        self.answer = unite(self.answer, value.kind)
        self.write(f"RETURN({convert(value, self.answer)});")

    def _if(self, node: ast.If) -> None:
        self.write(f"if ({truth(expression(node.test, self))}) {{")
        self.block(node.body)
        if node.orelse:
            self.write("} else {")
            self.block(node.orelse)
        self.write("}")

    def _while(self, node: ast.While) -> None:
        # The condition is computed in each iteration: it may need names of its own.
        self.write("while (1) {")
        self.write(f"if (!{truth(expression(node.test, self))}) break;")
        self.block(node.body)
        self.write("}")

    def _for(self, node: ast.For) -> None:
        if isinstance(node.iter, ast.Call) and known(node.iter.func, self) is range:
            self._range(node, [expression(one, self) for one in node.iter.args])
            return
        if isinstance(node.iter, ast.Tuple):
            self._members(node, [expression(one, self) for one in node.iter.elts])
            return
        array = self.temporary(expression(node.iter, self))
        if not isinstance(array.kind, Array) or array.kind.dimensions != 1:
            raise TranslationError(f"line {node.lineno}: only arrays of one dimension are gone through")
        self.temporaries += 1
        at = f"t{self.temporaries}"
        self.write(f"for (int64_t {at} = 0; {at} < {array.text}.n0; {at}++) {{")
        self.assign(node.target, CValue(f"(({array.kind.item.c}){array.text}.d[{at}])", array.kind.item))
        self.block(node.body)
        self.write("}")

    def _range(self, node: ast.For, ends: list[CValue]) -> None:
        begin = convert(ends[0], Scalar(INT)) if len(ends) > 1 else "0"
        end = self.temporary(CValue(convert(ends[min(len(ends) - 1, 1)], Scalar(INT)), Scalar(INT)))
        step = ends[2].number if len(ends) > 2 else 1
        if not isinstance(step, int) or step == 0:
            raise TranslationError(f"line {node.lineno}: the step of a range is a constant")
        self.temporaries += 1
        at = f"t{self.temporaries}"
        self.write(f"for (int64_t {at} = {begin}; {at} {'<' if step > 0 else '>'} {end.text}; {at} += {step}) {{")
        self.assign(node.target, CValue(at, Scalar(INT)))
        self.block(node.body)
        self.write("}")

    def _members(self, node: ast.For, values: list[CValue]) -> None:
        kind: Kind | None = None
        for value in values:
            kind = unite(kind, value.kind)
        self.temporaries += 1
        at = f"t{self.temporaries}"
        texts = ", ".join(convert(value, kind) for value in values) if kind else ""
        self.write(f"{{ {kind.c if kind else ''} {at}[] = {{{texts}}};")
        self.write(f"for (int {at}_at = 0; {at}_at < {len(values)}; {at}_at++) {{")
        self.assign(node.target, CValue(f"{at}[{at}_at]", kind or NOTHING))
        self.block(node.body)
        self.write("} }")


def _holds_arrays(kind: Kind) -> bool:
    return isinstance(kind, Array) or (isinstance(kind, TupleType) and any(_holds_arrays(item) for item in kind.items))
