"""Generate the reference page of the library from the docstrings of its public names."""

import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

_SECTION = re.compile(r"^(Args|Attributes|Returns|Raises|Yields|Example):$", re.MULTILINE)
_ENTRY = re.compile(r"^    ([\w*][\w, *]*?)(?: \(.*?\))?: ", re.MULTILINE)
_EXAMPLE = re.compile(r"((?:^>>> .*\n?)(?:^.+\n?)*)", re.MULTILINE)
_WORDS = {"Args": "Takes", "Attributes": "Has", "Returns": "Hands over", "Raises": "Raises", "Yields": "Yields"}


def page(package: Any, names: Mapping[str, tuple[str, ...]]) -> str:
    """Return the public names of a package, in groups."""
    parts = [f"# Python\n\n`import {package.__name__} as sf`. How they go together is told [in Python](../python.md)."]
    for group, members in names.items():
        parts.append(f"## {group}")
        parts += [part for name in members for part in _name(name, getattr(package, name))]
    return "\n\n".join(parts)


def _name(name: str, thing: Any) -> Iterator[str]:
    if inspect.ismodule(thing):
        yield f"### sf.{name}"
        yield prose(thing)
        return
    yield f"### sf.{name}"
    yield f"```text\n{_signature(f'sf.{name}', thing)}\n```"
    yield prose(thing)
    if inspect.isclass(thing) and not issubclass(thing, Exception):
        members = [_member(own, value) for own, value in _members(thing) if value.__doc__]
        if members:
            yield "\n".join(members)


def _signature(name: str, thing: Any) -> str:
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return name
    parameters = [_parameter(parameter) for parameter in signature.parameters.values()]
    line = f"{name}({', '.join(parameters)})"
    return line if len(line) < 100 else f"{name}(\n    " + ",\n    ".join(parameters) + ",\n)"


def _parameter(parameter: inspect.Parameter) -> str:
    """Return a parameter with name and default; editors show its type."""
    stars = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}.get(parameter.kind.name, "")
    default = parameter.default
    if default is inspect.Parameter.empty:
        return f"{stars}{parameter.name}"
    shown = repr(default)
    return f"{parameter.name}={shown if '<' not in shown and len(shown) < 60 else '…'}"


def _members(kind: type) -> Iterator[tuple[str, Any]]:
    """Yield the methods and properties of a class, without those of foreign ancestors."""
    for name, value in vars(kind).items():
        if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, property | classmethod)):
            yield name, value


def _member(name: str, value: Any) -> str:
    function: Any = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
    first = (inspect.getdoc(function) or "").partition("\n\n")[0].replace("\n", " ")
    if isinstance(value, property):
        return f"- `.{name}`: {first}"
    parameters = [
        _parameter(part) for own, part in inspect.signature(function).parameters.items() if own not in ("self", "cls")
    ]
    return f"- `.{name}({', '.join(parameters)})`: {first}"


def prose(thing: Any) -> str:
    """Return a docstring as Markdown: sections as lists, examples as code."""
    text = inspect.getdoc(thing) or ""
    text = _EXAMPLE.sub(lambda example: f"```pycon\n{example[1].rstrip()}\n```\n", text)
    pieces = _SECTION.split(text)
    sections = [_section(word, body) for word, body in zip(pieces[1::2], pieces[2::2], strict=True)]
    return "\n\n".join([pieces[0].strip(), *sections])


def _section(word: str, body: str) -> str:
    if word == "Example":
        return f"```text\n{textwrap.dedent(body).strip()}\n```"
    entries, _, rest = body.strip("\n").partition("\n\n")
    entries = _ENTRY.sub(lambda entry: f"- `{entry[1]}`: ", entries)
    lines = [line if line.startswith("- ") else f"  {line.strip()}" for line in entries.splitlines()]
    listed = "\n".join(lines) if any(line.startswith("- ") for line in lines) else " ".join(map(str.strip, lines))
    return "\n\n".join([f"**{_WORDS[word]}**\n\n{listed}", *([rest.strip()] if rest.strip() else [])])
