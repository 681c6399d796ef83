"""The entry point: find the command, run it, and turn every error into one message and exit code."""

import os
import signal
import sys
from collections.abc import Callable, Sequence
from errno import ENAMETOOLONG
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from sfumato.cli.examples import epilog
from sfumato.cli.fast_exit import leave
from sfumato.cli.parameter_types import take_plainly
from sfumato.cli.safe_streams import kept_streams
from sfumato.errors import STATUS, EngineError, InternalError, PlanError, SfumatoError
from sfumato.version import __version__

if TYPE_CHECKING:
    import typer

# In the order of the help. A command's module has the same name and is imported only when needed.
COMMANDS = (
    *(
        "anonymize",
        "apply",
        "risk",
        "verify",
        "check",
        "attack",
        "erase",
        "compare",
        "report",
        "suggest",
        "protect",
        "audit",
        "compare-tables",
        "attributes",
    ),
    *("serve", "keys", "pseudonyms", "dataset", "hierarchy", "import", "export", "schema", "docs"),
    *("doctor", "compile", "demo"),
)
# Set by a shell that requests completions; the line is in one of the others.
COMPLETING = "_SFUMATO_COMPLETE"
LINES = ("COMP_WORDS", "_TYPER_COMPLETE_ARGS")
INTERRUPTED = 130
TERMINATED = 143


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and end the process."""
    terminated = _interrupting_when_terminated()
    code = run(sys.argv[1:] if arguments is None else list(arguments))
    leave(TERMINATED if terminated and code == INTERRUPTED else code)


def _interrupting_when_terminated() -> list[int]:
    """Make a termination signal interrupt the run like Ctrl-C, for cleanup; return the list of received signals."""
    received: list[int] = []

    def end(number: int, _frame: object) -> None:
        signal.signal(number, signal.SIG_IGN)  # cleanup is not interrupted again
        received.append(number)
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, end)
    return received


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return the exit code."""
    with kept_streams() as results:
        code = _ended(list(arguments))
        results.flush()
        if results.fault is None:
            return code
        _complain(_unprinted(results.fault))
        return code or STATUS["engine"].exit


def _ended(arguments: list[str]) -> int:
    """Run a command and return its exit code; report the error that stopped it."""
    if arguments in (["--version"], ["-V"]):
        sys.stdout.write(f"sfumato {__version__}\n")
        return 0
    try:
        return _call(arguments)
    except SfumatoError as error:
        _complain(error)
        return error.status.exit
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted: nothing was written.\n")
        return INTERRUPTED
    except Exception as error:  # the message may quote data: only type and location are reported
        failure = _unforeseen(error)
        _complain(failure)
        return failure.status.exit


def _unprinted(fault: OSError) -> SfumatoError:
    return EngineError("output", text=fault.strerror or fault)


def _unforeseen(error: Exception) -> SfumatoError:
    import traceback
    from pathlib import Path

    if isinstance(error, MemoryError):
        return EngineError("memory")
    if isinstance(error, OSError) and error.strerror:
        return _of_system(error)
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(last.filename).name}, line {last.lineno}"
    # Whether anything was written is unknown here.
    return InternalError("unforeseen", name=type(error).__name__, where=where)


def _of_system(error: OSError) -> SfumatoError:
    """Convert an error of the operating system: a missing file, one that cannot be written, an invalid name."""
    from pathlib import Path

    if error.errno == ENAMETOOLONG:
        return PlanError("name")
    place = Path(error.filename).name if isinstance(error.filename, str) else "a file or connection"
    return EngineError("system", place=place, strerror=error.strerror)


def _call(arguments: list[str]) -> int:
    import typer

    # Typer contains its own copy of click: the base class of its usage errors is reached through one of them.
    usage_error: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
    try:
        command = typer.main.get_command(application(arguments))
        take_plainly(command)
        outcome = command(args=arguments, prog_name="sfumato", standalone_mode=False)
    except typer.Abort:
        raise KeyboardInterrupt from None
    except usage_error as error:
        error.show()
        return STATUS["plan"].exit
    except SystemExit as end:
        # Typer ends a command with a broken pipe with 1, which here means that a model is violated.
        raise (end.__context__ if isinstance(end.__context__, BrokenPipeError) else end) from None
    # Typer handles interrupted commands itself; this replaces its message with ours.
    if outcome == INTERRUPTED:
        raise KeyboardInterrupt
    return outcome if isinstance(outcome, int) else 0


def application(arguments: Sequence[str], loaded: bool = False) -> "typer.Typer":
    """Return the application with the requested command; with all, described or loaded, if none is requested."""
    import typer

    app = typer.Typer(
        help="Publish data about people without betraying anyone.",
        no_args_is_help=True,
        add_completion=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback()(_options(typer))
    words = _words_so_far() if COMPLETING in os.environ else arguments
    word = next((word for word in words if not word.startswith("-")), None)
    if COMPLETING in os.environ and word not in COMMANDS:
        for name in COMMANDS:  # only their names are needed, not their options: nothing needs to be imported
            app.command(name)(lambda: None)
        return app
    if word in COMMANDS:
        app.command(word, epilog=epilog(word))(_function(word))
        return app
    for name in COMMANDS:
        app.command(name, epilog=epilog(name))(_function(name) if loaded else _described(name))
    return app


def _words_so_far() -> list[str]:
    """Return the words after the program's name on the line that a shell completes, without the one being typed."""
    line = next((os.environ[name] for name in LINES if os.environ.get(name)), "")
    words = line.split()[1:]
    return words if line[-1:].isspace() or "COMP_CWORD" in os.environ else words[:-1]


def _options(typer: Any) -> Callable[[bool], None]:
    """Add the options without a command."""
    flag = typer.Option(False, "--version", "-V", help="Print the version and exit.")

    def options(version: bool = flag) -> None:
        """Anonymize data about people before publication."""
        if version:
            sys.stdout.write(f"sfumato {__version__}\n")
            raise typer.Exit

    return options


def _described(name: str) -> Callable[[], None]:
    """Return a stand-in for a command that has only its description, read without importing the command."""
    import ast
    from pathlib import Path

    tree = ast.parse(Path(__file__).with_name(f"{_module(name)}.py").read_text(encoding="utf-8"))
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "command")

    def command() -> None: ...

    command.__doc__ = next((ast.get_docstring(function) for function in functions), None)
    return command


def _function(name: str) -> Any:
    return import_module(f"sfumato.cli.{_module(name)}").command


def _module(name: str) -> str:
    return name.replace("-", "_")


def _complain(error: SfumatoError) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, highlight=False, soft_wrap=True)
    console.print(Text("Error: ", style="bold red") + Text(error.message))
    if error.hint:
        console.print(Text(f"       {error.hint}"))
    console.print(Text(f"       ({error.code})", style="dim"))
