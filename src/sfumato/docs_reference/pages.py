"""All documentation pages: handwritten ones, and generated ones on commands, Python library and REST service."""

import inspect
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

from sfumato.bundled_docs import pages, title, title_of
from sfumato.docs_reference import plan_keys
from sfumato.docs_reference.plan_keys import in_words, table_cell
from sfumato.localization.messages import words_in
from sfumato.report.html_page import all_entries
from sfumato.values import Value

# Public names by their folder or module; the first match applies.
GROUPS = {
    "errors": "Errors",
    "hierarchies": "Hierarchies",
    "microdata.models": "Privacy models",
    "microdata.plan.methods": "Methods",
    "microdata.plan": "Plans",
    "microdata.data_plan": "Plans",
    "microdata.column_transforms": "Transformations of columns",
    "tables.plan": "Plans",
    "schema": "Plans",
    "pipelines": "Functions and their results",
    "": "Functions and their results",
}
_ABOUT = (
    "Publish data about people without betraying anyone: microdata, tables, attributes; verified on what was written."
)


# The generated pages, with their titles.
MADE = {
    "glossary": "Glossary",
    "reference/plan": "The plan of a release",
    "reference/table-plan": "The plan of a table",
    "reference/command-line": "The command line",
    "reference/python": "Python",
    "reference/rest": "REST",
}


class Sources(Value):
    """The sources of generated pages, each loaded when its page is requested.

    Attributes:
        package: The public package.
        commands: The group of all commands.
        document: The OpenAPI document of the REST service.
    """

    package: Callable[[], ModuleType]
    commands: Callable[[], Any]
    document: Callable[[], Mapping[str, Any]]


def titles() -> dict[str, str]:
    """Return all pages by name, with their titles."""
    return {name: title(path) for name, path in pages().items()} | MADE


def written(name: str) -> str:
    """Return a handwritten page, with its tables of plan keys filled in."""
    return plan_keys.fill(pages()[name].read_text(encoding="utf-8"))


def text_of(name: str, sources: Sources) -> str:
    """Return the text of a page, handwritten or generated."""
    made: dict[str, Callable[[], str]] = {
        "glossary": glossary,
        "reference/plan": plan_keys.plan_page,
        "reference/table-plan": plan_keys.table_plan_page,
        "reference/command-line": lambda: command_line_page(sources.commands()),
        "reference/python": lambda: python_page(sources.package(), groups(sources.package())),
        "reference/rest": lambda: rest_page(sources.document()),
    }
    return made[name]() if name in made else written(name)


def groups(package: ModuleType) -> dict[str, tuple[str, ...]]:
    """Return the public names of the package, by purpose."""
    by_group: dict[str, list[str]] = {group: [] for group in dict.fromkeys(reversed(GROUPS.values()))}
    for name in package.__all__:
        if not name.startswith("__"):
            home = str(getattr(getattr(package, name), "__module__", "")).removeprefix("sfumato.")
            by_group[next(group for start, group in GROUPS.items() if home.startswith(start))].append(name)
    return {group: tuple(sorted(names, key=str.lower)) for group, names in by_group.items()}


def glossary() -> str:
    """Return the terms of the field, as explained on pages and in reports."""
    entries = sorted(all_entries(words_in()))
    return "\n\n".join(["# Glossary", *(f"**{word}**: {says}" for word, says in entries)])


def overview(shelf: Mapping[str, str], suffix: str = ".md") -> str:
    """Return the list of pages for programs (llms.txt): each page with its title and first sentence."""
    lines = [f"- [{title_of(text)}]({name}{suffix}){_first_sentence(text)}" for name, text in shelf.items()]
    return "\n".join(["# Sfumato", "", f"> {_ABOUT}", "", "## Pages", "", *lines, ""])


def _first_sentence(text: str) -> str:
    """Return the first sentence of a page, to follow its name; empty if the page begins with a table."""
    paragraphs = (part for part in text.split("\n\n")[1:] if part[:1] not in ("#", "|", "`", "!", "<", ">"))
    sentence = next(paragraphs, "").replace("\n", " ").partition(". ")[0].rstrip(".:")
    return f": {sentence}." if sentence else ""


EXITS = """| exit code | meaning |
|---|---|
| 0 | done |
| 1 | a guarantee is not satisfied |
| 2 | wrong use, or an invalid plan |
| 3 | invalid data |
| 4 | the guarantees cannot be satisfied |
| 5 | the engine or the program failed |"""


def command_line_page(group: Any) -> str:
    """Return all commands of a group with their arguments, options and examples."""
    head = [
        "# The command line",
        "Results go to standard output, messages to standard error. `sfumato --install-completion` sets up your shell.",
        EXITS,
    ]
    return "\n\n".join([*head, *(part for name, command in group.commands.items() for part in _command(name, command))])


def _command(name: str, command: Any) -> Iterator[str]:
    yield f"## sfumato {name}"
    yield (command.help or "").strip()
    subcommands = getattr(command, "commands", {})
    lines = [_command_row(parameter) for parameter in command.params if parameter.name != "help"]
    if lines:
        yield "\n".join(["| argument | unless given | what it is |", "|---|---|---|", *lines])
    examples = [line.strip() for line in (command.epilog or "").splitlines() if line.strip().startswith("sfumato ")]
    if examples:
        yield "\n".join(["```text", *examples, "```"])
    for below, subcommand in subcommands.items():
        yield from _command(f"{name} {below}", subcommand)


def _command_row(parameter: Any) -> str:
    option = parameter.param_type_name == "option"
    names = ", ".join(f"`{name}`" for name in (*parameter.opts, *getattr(parameter, "secondary_opts", ())))
    shown = names if option else f"`{parameter.name.upper()}`"
    choices = getattr(getattr(parameter, "type", None), "choices", ())
    about = " ".join((getattr(parameter, "help", None) or "").split())
    if choices:
        about += " One of " + ", ".join(f"`{choice}`" for choice in choices) + "."
    default = "**needed**" if parameter.required else _option_default(parameter)
    return f"| {shown} | {default} | {about.replace('|', chr(92) + '|').strip()} |"


def _option_default(parameter: Any) -> str:
    default = parameter.default
    if default is None or callable(default) or default in ((), [], False, ""):
        return ""
    return f"`{getattr(default, 'value', default)}`"


_SECTION = re.compile(r"^(Args|Attributes|Returns|Raises|Yields|Example):$", re.MULTILINE)
_ENTRY = re.compile(r"^    ([\w*][\w, *]*?)(?: \(.*?\))?: ", re.MULTILINE)
_EXAMPLE = re.compile(r"((?:^>>> .*\n?)(?:^.+\n?)*)", re.MULTILINE)
_WORDS = {"Args": "Takes", "Attributes": "Has", "Returns": "Hands over", "Raises": "Raises", "Yields": "Yields"}


def python_page(package: Any, names: Mapping[str, tuple[str, ...]]) -> str:
    """Return the public names of a package, in groups."""
    parts = [
        f"# Python\n\n`import {package.__name__} as sf`. [Python](../python.md) explains how they are used together."
    ]
    for group, members in names.items():
        parts.append(f"## {group}")
        parts += [part for name in members for part in _python_name(name, getattr(package, name))]
    return "\n\n".join(parts)


def _python_name(name: str, thing: Any) -> Iterator[str]:
    yield f"### sf.{name}"
    if not inspect.ismodule(thing):
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
    parameters = [_python_parameter(parameter) for parameter in signature.parameters.values()]
    line = f"{name}({', '.join(parameters)})"
    return line if len(line) < 100 else f"{name}(\n    " + ",\n    ".join(parameters) + ",\n)"


def _python_parameter(parameter: inspect.Parameter) -> str:
    """Return a parameter with name and default; editors show its type."""
    stars = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}.get(parameter.kind.name, "")
    default = parameter.default
    if default is inspect.Parameter.empty:
        return f"{stars}{parameter.name}"
    shown = repr(default)
    return f"{parameter.name}={shown if '<' not in shown and len(shown) < 60 else '…'}"


def _members(kind: type) -> Iterator[tuple[str, Any]]:
    """Yield the methods and properties of a class, without those inherited from other packages."""
    for name, value in vars(kind).items():
        if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, property | classmethod)):
            yield name, value


def _member(name: str, value: Any) -> str:
    function: Any = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
    first = (inspect.getdoc(function) or "").partition("\n\n")[0].replace("\n", " ")
    if isinstance(value, property):
        return f"- `.{name}`: {first}"
    parameters = [
        _python_parameter(part)
        for own, part in inspect.signature(function).parameters.items()
        if own not in ("self", "cls")
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


Document = Mapping[str, Any]


def rest_page(document: Document) -> str:
    """Return all requests of the service, with the bodies that they accept and return."""
    head = [
        "# REST",
        "The requests of the service, from its own description (`GET /openapi.json`); `GET /docs` of a running service "
        "lets you try each. [The service](../service.md) and [pages and jobs](../browser.md) explain what they are "
        "for.",
    ]
    requests = [part for paths, calls in _together(document["paths"]).values() for part in _requests_of(paths, calls)]
    schemas = sorted(document.get("components", {}).get("schemas", {}).items())
    bodies = [part for name, schema in schemas for part in _body(name, schema)]
    return "\n\n".join([*head, *requests, *(["## Bodies", *bodies] if bodies else [])])


def _together(paths: Document) -> dict[str, tuple[list[str], dict[str, tuple[list[str], Document]]]]:
    """Return equivalent paths with their calls; equal calls are merged, too."""
    groups: dict[str, tuple[list[str], dict[str, tuple[list[str], Document]]]] = {}
    for path, methods in paths.items():
        calls: dict[str, tuple[list[str], Document]] = {}
        for method, request in methods.items():
            calls.setdefault(_about(request), ([], request))[0].append(method.upper())
        groups.setdefault(repr(sorted(calls)), ([], calls))[0].append(path)
    return groups


def _requests_of(paths: list[str], calls: Mapping[str, tuple[list[str], Document]]) -> Iterator[str]:
    yield "## " + ", ".join(f"`{path}`" for path in paths)
    for about, (methods, request) in calls.items():
        yield f"**{', '.join(methods)}**: {about}"
        lines = [*_sent(request), *_answers(request)]
        yield "\n".join(["| | | |", "|---|---|---|", *lines])


def _about(request: Document) -> str:
    return " ".join((request.get("description") or request.get("summary") or "").split())


def _sent(request: Document) -> Iterator[str]:
    """Yield lines about the parameters and bodies of a request; named bodies are described under their name."""
    for parameter in request.get("parameters", ()):
        schema, about = table_cell(in_words(parameter["schema"])), table_cell(parameter.get("description", ""))
        yield f"| {parameter['in']} | `{parameter['name']}` | {schema} {about} |"
    for kind, body in request.get("requestBody", {}).get("content", {}).items():
        schema = body.get("schema", {})
        keys = ", ".join(f"`{key}`" for key in schema.get("properties", {}))
        yield f"| body | `{kind}` | {table_cell(keys or in_words(schema))} |"


def _answers(request: Document) -> Iterator[str]:
    says_of = {
        status: " ".join(answer.get("description", "").split()) for status, answer in request["responses"].items()
    }
    for status, says in says_of.items():
        if status < "400":
            yield f"| answer | {status} | {table_cell(says.replace('Successful Response', 'done'))} |"
    refusals = "; ".join(f"{status} {says.rstrip('.').lower()}" for status, says in says_of.items() if status >= "400")
    if refusals:
        yield f"| refusals | | {table_cell(refusals)} |"


def _body(name: str, schema: Document) -> Iterator[str]:
    yield f"### {name}"
    if schema.get("description"):
        yield " ".join(schema["description"].split())
    needed = schema.get("required", ())
    lines = []
    for key, part in schema.get("properties", {}).items():
        mark = " **needed**" if key in needed else ""
        lines.append(f"| `{key}`{mark} | {table_cell(in_words(part))} | {table_cell(part.get('description', ''))} |")
    if lines:
        yield "\n".join(["| key | may be | what it is |", "|---|---|---|", *lines])
