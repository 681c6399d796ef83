"""Parse formulas of questions: `deny ~ pirat + afam`, `mean of readk by stark, gender`, `count by region`.

A formula is text of a plan, possibly from a stranger: nothing of it is ever run as Python. Its syntax tree may hold
columns, constants, comparisons, arithmetic and the functions of `FUNCTIONS`; everything else is refused. Names that
are no Python names are written `in backquotes` or as Q("…").
"""

import ast
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Literal

from sfumato.errors import did_you_mean
from sfumato.localization.messages import Message
from sfumato.patterns import regex
from sfumato.values import Value

Kind = Literal["model", "survival", "means", "counts"]
# Functions of one number; the others choose columns, categories and times.
NUMERIC = ("log", "log10", "log2", "log1p", "exp", "sqrt", "abs")
FUNCTIONS = ("Q", "C", "I", "cut", "Surv", *NUMERIC)
_QUOTED = regex(r"""`[^`]*`|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'""")
_TABLE = regex(r"\s*(?:mean\s+of\s+(?P<mean>.+)|count)\s+by\s+(?P<by>.+?)\s*", 0)
_HELD = regex(r"_quoted_(\d+)_")
_STRUCTURE = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: ":"}
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.BitAnd, ast.BitOr)
_COMPARISONS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn)
# Longer texts are no formulas, and could exceed the depth of the parser; products of many sums, the memory.
_LONGEST, _MOST_TERMS = 5000, 200


class Formula(Value):
    """A formula that was read.

    Attributes:
        outcome: What is explained, or averaged; the time of a survival; None for counts.
        event: Whether the event occurred at that time.
        parts: The predictors or groups, each an expression.
        terms: The right side of a model, with part number i written as `part_i`.
    """

    kind: Kind
    outcome: ast.expr | None = None
    event: ast.expr | None = None
    parts: tuple[ast.expr, ...] = ()
    terms: str = ""


@lru_cache(256)
def parse_formula(text: str) -> Formula:
    """Return a formula.

    Raises:
        ValueError: It cannot be read; the message names everything that is wrong.

    >>> formula = parse_formula("deny ~ pirat * `high debt` + C(region)")
    >>> formula.terms, [*columns_in(*formula.parts)]
    ('((part_0 * part_1) + part_2)', ['pirat', 'high debt', 'region'])
    """
    held, quoted = _hold(text)
    if table := _TABLE.fullmatch(held):
        mean = None if table["mean"] is None else _parsed(table["mean"], quoted)
        groups = _parsed(f"({table['by']},)", quoted)
        parts = tuple(groups.elts) if isinstance(groups, ast.Tuple) else (groups,)
        _refuse([*_value_issues(mean), *(one for part in parts for one in _value_issues(part))])
        return Formula("counts" if mean is None else "means", mean, parts=parts)
    sides = held.split("~")
    if len(sides) != 2:
        raise ValueError(Message("error.value.question_form"))
    outcome, right = _parsed(sides[0], quoted), _parsed(sides[1].replace(":", "**"), quoted)
    parts_found: dict[str, ast.expr] = {}
    issues: list[str] = []
    terms = _structure(right, parts_found, issues)
    survival = isinstance(outcome, ast.Call) and _function(outcome) == "Surv"
    times = outcome.args if survival and isinstance(outcome, ast.Call) else [outcome]
    if len(times) != 1 + survival:
        issues.append(Message("error.value.question_surv"))
    for node in (*times, *parts_found.values()):
        issues += _value_issues(node)
    if not parts_found:
        issues.append(Message("error.value.question_form"))
    if not issues and number_of_terms(terms) > _MOST_TERMS:
        issues.append(Message("error.value.question_terms", most=_MOST_TERMS))
    _refuse(issues)
    event = times[1] if survival else None
    return Formula("survival" if survival else "model", times[0], event, tuple(parts_found.values()), terms)


@lru_cache(256)
def parse_expression(text: str) -> ast.expr:
    """Return an expression: a filter or an offset.

    Raises:
        ValueError: It cannot be read.

    >>> [*columns_in(parse_expression('vote in ["Y", "N"] and age >= 18'))]
    ['vote', 'age']
    """
    node = _parsed(*_hold(text))
    _refuse(list(_value_issues(node)))
    return node


def number_of_terms(terms: str, sizes: Mapping[str, int] | None = None) -> int:
    """Return the number of terms on the right side of a model.

    Args:
        sizes: The number of columns of each part, if they are to be counted; 1 by default.

    >>> number_of_terms("((part_0 + part_1) * part_2)"), number_of_terms("(part_0:part_1)", {"part_0": 3, "part_1": 4})
    (5, 12)
    """

    def count(node: ast.expr) -> int:
        if not isinstance(node, ast.BinOp):
            return (sizes or {}).get(ast.unparse(node), 1)
        left, right = count(node.left), count(node.right)
        both = left * right if isinstance(node.op, ast.Mult | ast.Div | ast.Pow) else 0
        return both if isinstance(node.op, ast.Pow) else left + right + both

    return count(ast.parse(terms.replace(":", "**"), mode="eval").body)


def columns_in(*nodes: ast.expr | None) -> Iterator[str]:
    """Yield the columns of expressions, each once, in order."""
    seen: dict[str, None] = {}
    for node in nodes:
        if node is not None:
            seen |= dict.fromkeys(_columns(node))
    yield from seen


def column_of(node: ast.expr) -> str | None:
    """Return the column that an expression is, or None: `age`, `Petal.Length`, `Q("high debt")`."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        above = column_of(node.value)
        return None if above is None else f"{above}.{node.attr}"
    if isinstance(node, ast.Call) and _function(node) == "Q" and node.args and isinstance(node.args[0], ast.Constant):
        return str(node.args[0].value)
    return None


def function_of(node: ast.expr) -> str:
    """Return the name of the function that an expression calls, or an empty text."""
    return _function(node) if isinstance(node, ast.Call) else ""


def shown(node: ast.expr) -> str:
    """Return an expression as text for reports."""
    return column_of(node) or ast.unparse(node)


def _columns(node: ast.expr) -> Iterator[str]:
    name = column_of(node)
    if name is not None:
        yield name
        return
    below = node.args if isinstance(node, ast.Call) else ast.iter_child_nodes(node)
    for child in below:
        if isinstance(child, ast.expr) and function_of(child) != "Treatment":
            yield from _columns(child)


def _hold(text: str) -> tuple[str, list[str]]:
    """Return a text with its quoted parts replaced by names, and these parts: signs within them are no operators."""
    if len(text) > _LONGEST:
        raise ValueError(Message("error.value.question_form"))
    quoted: list[str] = []

    def held(found: Any) -> str:
        quoted.append(found[0])
        return f"_quoted_{len(quoted) - 1}_"

    return _QUOTED.sub(held, text), quoted


def _parsed(text: str, quoted: list[str]) -> ast.expr:
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(Message("error.value.question_form")) from None
    restored: ast.expr = _Restored(quoted).visit(tree)
    return restored


class _Restored(ast.NodeTransformer):
    """Puts quoted texts back in the place of their names: constants, and columns in backquotes."""

    def __init__(self, quoted: list[str]) -> None:
        self.quoted = quoted

    def visit_Name(self, node: ast.Name) -> ast.expr:
        found = _HELD.fullmatch(node.id)
        if found is None or int(found[1]) >= len(self.quoted):
            return node
        text = self.quoted[int(found[1])]
        if text[0] == "`":
            return ast.copy_location(ast.Name(text[1:-1]), node)
        return ast.copy_location(ast.Constant(ast.literal_eval(text)), node)


def _structure(node: ast.expr, parts: dict[str, ast.expr], issues: list[str]) -> str:
    """Return the right side of a model with its parts numbered, and collect these."""
    sign = _STRUCTURE.get(type(node.op)) if isinstance(node, ast.BinOp) else None
    if isinstance(node, ast.BinOp) and sign:
        left, right = _structure(node.left, parts, issues), _structure(node.right, parts, issues)
        return f"({left}{sign if sign == ':' else f' {sign} '}{right})"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return f"-{_structure(node.operand, parts, issues)}"
    if isinstance(node, ast.Constant):
        if node.value not in (0, 1):
            issues.append(Message("error.value.question_part", text=ast.unparse(node)))
        return str(node.value)
    text = shown(node)
    parts.setdefault(text, node)
    return f"part_{[*parts].index(text)}"


def _function(node: ast.Call) -> str:
    """Return the name of a called function, without the module `np`."""
    return ast.unparse(node.func).removeprefix("np.")


def _value_issues(node: ast.expr | None) -> Iterator[str]:
    """Yield a message for each part of an expression that cannot be computed."""
    if node is None or column_of(node) is not None:
        return
    if isinstance(node, ast.Call):
        yield from _call_issues(node)
    elif isinstance(node, ast.Compare):
        if len(node.ops) != 1 or not isinstance(node.ops[0], _COMPARISONS):
            yield Message("error.value.question_part", text=ast.unparse(node))
        yield from _value_issues(node.left)
        yield from _value_issues(node.comparators[0])
    elif isinstance(node, ast.BinOp) and isinstance(node.op, _ARITHMETIC):
        yield from _value_issues(node.left)
        yield from _value_issues(node.right)
    elif isinstance(node, ast.UnaryOp):
        yield from _value_issues(node.operand)
    elif isinstance(node, ast.BoolOp):
        for value in node.values:
            yield from _value_issues(value)
    elif isinstance(node, ast.List | ast.Tuple) and node.elts:
        if not all(isinstance(constant_of(one), int | float | str) for one in node.elts):
            yield Message("error.value.question_part", text=ast.unparse(node))
    elif not isinstance(node, ast.Constant) or not isinstance(node.value, int | float | str):
        yield Message("error.value.question_part", text=ast.unparse(node))


def constant_of(node: ast.expr) -> Any:
    """Return the value of a constant, also with a minus sign; None for other expressions."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = constant_of(node.operand)
        return -value if isinstance(value, int | float) else None
    return node.value if isinstance(node, ast.Constant) else None


def _call_issues(node: ast.Call) -> Iterator[str]:
    name = _function(node)
    if name not in FUNCTIONS:
        yield Message("error.value.question_function", name=name, near=did_you_mean(name, FUNCTIONS))
        return
    cut = name == "cut" and len(node.args) == 2 and isinstance(node.args[1], ast.List | ast.Tuple)
    based = name == "C" and len(node.args) == 2 and reference_of(node) is not None
    if name == "Surv" or node.keywords or not (cut or based or len(node.args) == 1):
        yield Message("error.value.question_part", text=ast.unparse(node))
        return
    for argument in node.args[: 1 if based else None]:
        yield from _value_issues(argument)


def reference_of(node: ast.expr) -> str | None:
    """Return the reference category that C(column, Treatment("…")) names, or None."""
    if not isinstance(node, ast.Call) or len(node.args) != 2 or function_of(node.args[1]) != "Treatment":
        return None
    treatment = node.args[1]
    assert isinstance(treatment, ast.Call)
    given = [*treatment.args, *(keyword.value for keyword in treatment.keywords)]
    value = constant_of(given[0]) if len(given) == 1 else None
    return None if value is None else str(value)


def _refuse(issues: list[str]) -> None:
    if issues:
        once = tuple(dict.fromkeys(issues))
        raise ValueError(once[0] if len(once) == 1 else Message("sentences", parts=once))
