"""Generate the reference page of the command line from the commands themselves."""

from collections.abc import Iterator
from typing import Any

EXITS = """| exit code | meaning |
|---|---|
| 0 | done |
| 1 | a guarantee is not satisfied |
| 2 | wrong use, or a plan with faults |
| 3 | data that cannot be taken |
| 4 | what is asked for cannot be had |
| 5 | the engine or the program failed |"""


def page(group: Any) -> str:
    """Return all commands of a group with their arguments, options and examples."""
    head = [
        "# The command line",
        "Results go to standard output, all talk to standard error. `sfumato --install-completion` teaches your shell.",
        EXITS,
    ]
    return "\n\n".join([*head, *(part for name, command in group.commands.items() for part in _command(name, command))])


def _command(name: str, command: Any) -> Iterator[str]:
    yield f"## sfumato {name}"
    yield (command.help or "").strip()
    subcommands = getattr(command, "commands", {})
    lines = [_line(parameter) for parameter in command.params if parameter.name != "help"]
    if lines:
        yield "\n".join(["| argument | unless given | what it is |", "|---|---|---|", *lines])
    examples = [line.strip() for line in (command.epilog or "").splitlines() if line.strip().startswith("sfumato ")]
    if examples:
        yield "\n".join(["```text", *examples, "```"])
    for below, subcommand in subcommands.items():
        yield from _command(f"{name} {below}", subcommand)


def _line(parameter: Any) -> str:
    option = parameter.param_type_name == "option"
    names = ", ".join(f"`{name}`" for name in (*parameter.opts, *getattr(parameter, "secondary_opts", ())))
    shown = names if option else f"`{parameter.name.upper()}`"
    choices = getattr(getattr(parameter, "type", None), "choices", ())
    about = " ".join((getattr(parameter, "help", None) or "").split())
    if choices:
        about += " One of " + ", ".join(f"`{choice}`" for choice in choices) + "."
    default = "**needed**" if parameter.required else _default(parameter)
    return f"| {shown} | {default} | {about.replace('|', chr(92) + '|').strip()} |"


def _default(parameter: Any) -> str:
    default = parameter.default
    if default is None or callable(default) or default in ((), [], False, ""):
        return ""
    return f"`{getattr(default, 'value', default)}`"
