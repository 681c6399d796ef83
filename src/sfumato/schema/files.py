"""Read plan files: YAML or JSON text; errors name the position of a syntax mistake.

Scalars that YAML 1.1 would convert to another value stay texts: `01067` is a postal code and no octal number, `no` is a
column or a country and no Boolean. The schema of each key defines its type.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from sfumato.errors import PlanError
from sfumato.formats import JSON, format_named
from sfumato.localization.messages import Message
from sfumato.schema.yaml_library import yaml_library

# What is read as something else than text: tag, pattern, and possible first characters.
RESOLVED = (
    ("null", r"~|null|", ["~", "n", ""]),
    ("bool", r"true|false", ["t", "f"]),
    ("int", r"-?(?:0|[1-9][0-9]*)", [*"-0123456789"]),
    ("float", r"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|-?\.inf|\.nan", [*"-0123456789."]),
    ("merge", r"<<", ["<"]),
)


ONE_LINE = 100_000
SHORT = re.compile(r"[ -~]{0,60}")
TAG = "tag:yaml.org,2002:"
# Maximum nesting depth: the C parser recurses into each part, and crashes the program beyond its stack.
MOST_DEPTH = 100
# What the parsers raise for a value that does not match its tag, or has too many digits.
ODD = (ValueError, LookupError, AttributeError, TypeError, RecursionError)
# Keys are names, whatever their notation.
NAMES = tuple(TAG + name for name in ("bool", "int", "float"))


class Written(float):
    """A number with its original notation: as a code, `1.10` is not `1.1`."""

    text: str = ""


def load(path: Path) -> Any:
    """Return the plain value of a YAML or JSON file.

    Raises:
        PlanError: The file cannot be read, is not UTF-8, or is not YAML.
    """
    yaml = yaml_library()

    try:
        return parsed(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise PlanError("unreadable.plan_path", name=path.name, problem=error.strerror) from None
    except UnicodeDecodeError:
        raise PlanError("encoding.plan_utf", name=path.name) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "not valid YAML"
        if mark:
            raise PlanError("yaml.line", name=path.name, line=mark.line + 1, problem=problem) from None
        raise PlanError("yaml.file", name=path.name, problem=problem) from None


def _holds_rows(path: Path) -> bool:
    """Return whether a file has the ending of a data file; plans may be JSON, too."""
    form = format_named(path)
    return form is not None and (form is not JSON or path.suffix.lower() in JSON.lines)


def load_plan(path: Path, do: Message) -> Mapping[str, Any]:
    """Return the content of a plan file; a data file is no plan, even if it could be parsed.

    Raises:
        PlanError: It is a data file, or no mapping; `do` is the hint what a plan is.
    """
    value = None if _holds_rows(path) and path.is_file() else load(path)
    if isinstance(value, Mapping):
        return value
    raise PlanError("no-plan.no_plan", hint=do, name=path.name)


def parsed(text: str) -> Any:
    """Return the plain value of a YAML or JSON text; raises YAML's own errors.

    The C parser, if available, is ten times as fast; what it refuses is parsed by the other one, for its messages.
    """
    yaml = yaml_library()

    # The C parser accepts tabs within texts, the other does not: a plan must be valid or invalid on every machine.
    if yaml.__with_libyaml__ and "\t" not in text:
        with suppress(yaml.YAMLError, *ODD):
            return _read(text, yaml.CSafeLoader)
    try:
        return _read(text, yaml.SafeLoader)
    except ODD:
        raise yaml.constructor.ConstructorError(
            None, None, "a value is none of its kind, or has too many digits"
        ) from None


def _read(text: str, base: Any) -> Any:
    yaml = yaml_library()

    depth = 0
    for event in yaml.parse(text, Loader=base):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MOST_DEPTH:
            problem = f"more than {MOST_DEPTH} parts stand within one another"
            raise yaml.composer.ComposerError(None, None, problem, event.start_mark)
    return yaml.load(text, Loader=_loader(base))


def dumped(value: Any, width: int) -> str:
    """Return a plain value as YAML, by the C writer if both write the same."""
    yaml = yaml_library()

    writer = yaml.CSafeDumper if yaml.__with_libyaml__ and _written_alike(value) else yaml.SafeDumper
    return str(yaml.dump(value, Dumper=writer, sort_keys=False, allow_unicode=True, width=width))


def _written_alike(value: Any) -> bool:
    """Return whether both YAML writers write the same: they differ in long texts, empty keys and special characters."""
    if isinstance(value, str):
        return SHORT.fullmatch(value) is not None
    if isinstance(value, dict):
        return all(key != "" and _written_alike(key) and _written_alike(entry) for key, entry in value.items())
    return not isinstance(value, list | tuple) or all(map(_written_alike, value))


def written(value: Any, flow: bool = False, width: int = 100) -> str:
    """Return a plain value as YAML, numbers in their notation; with `flow`, in one line."""
    yaml = yaml_library()

    base: Any = yaml.SafeDumper

    class PlanDumper(base):  # type: ignore[misc]
        pass

    PlanDumper.add_representer(Written, lambda dumper, data: dumper.represent_scalar(TAG + "float", data.text))
    width = ONE_LINE if flow else width
    text = yaml.dump(
        value, Dumper=PlanDumper, sort_keys=False, allow_unicode=True, default_flow_style=flow, width=width
    )
    return str(text).strip().removesuffix("...").strip() if flow else str(text)


@cache
def _loader(base: Any) -> Any:
    """Return one of YAML's safe loaders, extended to refuse duplicate keys instead of keeping the last."""
    yaml = yaml_library()

    class PlanLoader(base):  # type: ignore[misc]
        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
            seen = set()
            for key_node, _ in node.value:
                if key_node.tag in NAMES:
                    key_node.tag = TAG + "str"
                key = self.construct_object(key_node, deep=True)
                if isinstance(key, str) and key in seen:
                    raise yaml.constructor.ConstructorError(
                        None, None, f'key "{key}" occurs twice', key_node.start_mark
                    )
                seen.add(key if isinstance(key, str) else repr(key))
            mapping: dict[Any, Any] = super().construct_mapping(node, deep)
            return mapping

        def construct_written(self, node: Any) -> Written:
            number = Written(self.construct_yaml_float(node))
            number.text = str(node.value)
            return number

    PlanLoader.yaml_implicit_resolvers = {}
    for name, pattern, first in RESOLVED:
        PlanLoader.add_implicit_resolver(TAG + name, re.compile(rf"(?:{pattern})\Z"), first)
    PlanLoader.add_constructor(TAG + "float", PlanLoader.construct_written)
    return PlanLoader
