"""The entry point: finds the command, runs it, and turns every error into one message and exit code."""

import signal
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sfumato import __version__
from sfumato.errors import STATUS, EngineError, InternalError, SfumatoError

if TYPE_CHECKING:
    import typer

# Command -> the module whose function `command` runs it; a command's module loads only when it is asked for.
COMMANDS: dict[str, str] = {
    "anonymize": "sfumato.cli.anonymize",
    "risk": "sfumato.cli.risk",
    "verify": "sfumato.cli.verify",
    "compare": "sfumato.cli.compare",
    "suggest": "sfumato.cli.suggest",
    "protect": "sfumato.cli.protect",
    "audit": "sfumato.cli.audit",
    "attributes": "sfumato.cli.attributes",
    "serve": "sfumato.cli.serve",
    "dataset": "sfumato.cli.dataset",
    "hierarchy": "sfumato.cli.hierarchy",
    "schema": "sfumato.cli.schema",
    "demo": "sfumato.cli.demo",
}
INTERRUPTED = 130
TERMINATED = 143


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit."""
    terminated = _interrupting_when_terminated()
    code = run(sys.argv[1:] if arguments is None else list(arguments))
    raise SystemExit(TERMINATED if terminated and code == INTERRUPTED else code)


def _interrupting_when_terminated() -> list[int]:
    """Let a request to end interrupt the run, as Ctrl-C does, so that nothing is left behind; the list tells of it."""
    received: list[int] = []

    def end(number: int, _frame: object) -> None:
        signal.signal(number, signal.SIG_IGN)  # cleaning up is not interrupted again
        received.append(number)
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, end)
    return received


def run(arguments: Sequence[str]) -> int:
    """Run the command line; the exit code is the answer."""
    if list(arguments) in (["--version"], ["-V"]):
        sys.stdout.write(f"sfumato {__version__}\n")
        return 0
    try:
        return _call(list(arguments))
    except SfumatoError as error:
        _complain(error)
        return error.status.exit
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted: nothing was written.\n")
        return INTERRUPTED
    except BrokenPipeError:
        return 0
    except Exception as error:  # a fault of ours, whose text may quote data: only its kind and place are told
        _complain(_unforeseen(error))
        return STATUS["internal"].exit


def _unforeseen(error: Exception) -> SfumatoError:
    import traceback
    from pathlib import Path

    if isinstance(error, MemoryError):
        return EngineError("the memory does not suffice.", "Give it more, or less data.", "memory")
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(last.filename).name}, line {last.lineno}"
    return InternalError(f"an unforeseen {type(error).__name__} in {where}.", code="unforeseen")


def _call(arguments: list[str]) -> int:
    import typer

    # Typer brings its own copy of click: its base class of usage errors is reached through one of them.
    usage_error: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
    try:
        outcome = _application(arguments)(args=arguments, prog_name="sfumato", standalone_mode=False)
    except typer.Abort:
        raise KeyboardInterrupt from None
    except usage_error as error:
        error.show()
        return STATUS["plan"].exit
    # Typer ends an interrupted command itself; the one message about it is ours.
    if outcome == INTERRUPTED:
        raise KeyboardInterrupt
    return outcome if isinstance(outcome, int) else 0


def _application(arguments: Sequence[str]) -> "typer.Typer":
    """The application with the one command asked for, or with all of them for help."""
    import typer

    app = typer.Typer(
        help="Publish data about people without betraying anyone.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback()(_options(typer))
    asked = next((word for word in arguments if not word.startswith("-")), None)
    for name in [asked] if asked in COMMANDS else _installed():
        app.command(name)(_function(name))
    return app


def _options(typer: Any) -> Callable[[bool], None]:
    """What goes with no command."""
    flag = typer.Option(False, "--version", "-V", help="Print the version and exit.")

    def options(version: bool = flag) -> None:
        """Publish data about people without betraying anyone."""
        if version:
            sys.stdout.write(f"sfumato {__version__}\n")
            raise typer.Exit

    return options


def _installed() -> list[str]:
    from importlib.util import find_spec

    return [name for name, module in COMMANDS.items() if find_spec(module)]


def _function(name: str) -> Any:
    return import_module(COMMANDS[name]).command


def _complain(error: SfumatoError) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, highlight=False, soft_wrap=True)
    console.print(Text("Error: ", style="bold red") + Text(error.what))
    if error.do:
        console.print(Text(f"       {error.do}"))
    console.print(Text(f"       ({error.code})", style="dim"))
