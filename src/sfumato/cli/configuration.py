"""The configuration file of `sfumato serve`: command options by name, in TOML."""

import tomllib
from pathlib import Path
from typing import Any

import typer

from sfumato.errors import PlanError, did_you_mean

# Options for a single call, which are not configuration.
NOT_CONFIGURED = frozenset({"config", "new_api_key", "open_browser", "help"})


def read_configuration(context: typer.Context, path: Path | None) -> Path | None:
    """Use a file for options given neither on the command line nor in the environment.

    Raises:
        PlanError: The file cannot be read, is not TOML, or names an unknown option.
    """
    if path is None or context.resilient_parsing:
        return path
    names = {str(one.name) for one in context.command.params} - NOT_CONFIGURED
    content = {name.replace("-", "_"): value for name, value in _content(path).items()}
    for name in content:
        if name not in names:
            raise PlanError("configuration.configuration_names_option_which", hint=did_you_mean(name, names), name=name)
    context.default_map = {**(context.default_map or {}), **content}
    return path


def _content(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        raise PlanError("configuration.configuration_cannot_read", name=path.name) from None
    except tomllib.TOMLDecodeError as error:
        raise PlanError("configuration.configuration_no_toml", name=path.name, error=error) from None
