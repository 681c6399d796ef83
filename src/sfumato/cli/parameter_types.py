"""Convert option values without Typer's slow conversion when no conversion is needed."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any


class PlainValue:
    """Returns text and path values of options unchanged; other types use Typer's conversion."""

    def __init__(self, described: Any) -> None:
        self._described = described

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value that a command gets."""
        kind, asked = self._described.annotation, self._described.parameter_info
        if value is None or (kind in (str, bool) and type(value) is kind and asked.parser is None):
            return value
        if kind is Path and isinstance(value, str | Path):
            from typer._param_types import coerce_cli_path

            return coerce_cli_path(Path(value), asked, path_type=Path, param=param, ctx=ctx)
        from typer._coercion import build_runtime_param

        return build_runtime_param(self._described).coerce(value, param=param, ctx=ctx)


def take_plainly(command: Any) -> None:
    """Take plain values of a command and its subcommands unchanged, if this version of Typer supports it."""
    for parameter in getattr(command, "params", ()):
        _take(parameter)
    if hasattr(command, "get_help_option"):
        command.get_help_option = partial(_taken_help, command.get_help_option)
    for within in getattr(command, "commands", {}).values():
        take_plainly(within)


def _taken_help(option: Callable[[Any], Any], context: Any) -> Any:
    """Return the help option, which a command creates when its arguments are parsed."""
    made = option(context)
    if made is not None:
        _take(made)
    return made


def _take(parameter: Any) -> None:
    described = getattr(parameter, "type_descriptor", None)
    single = parameter.nargs == 1 and not getattr(parameter, "multiple", False)
    if single and described is not None and getattr(parameter, "_runtime_param", parameter) is None:
        parameter._runtime_param = PlainValue(described)
