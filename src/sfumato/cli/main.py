"""The entry point: find the command, run it, and turn every error into one message and exit code."""

import atexit
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from errno import ENAMETOOLONG
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from sfumato.cli.commands import COMMANDS
from sfumato.errors import STATUS, EngineError, InternalError, PlanError, SfumatoError
from sfumato.version import __version__

if TYPE_CHECKING:
    import typer


# Exit code of Python if the last output cannot be written.
UNWRITTEN = 120


def leave(code: int) -> NoReturn:
    """End the process like Python, but leave its memory to the system, which saves a tenth of a second.

    Thread pools get the signal to end before the process waits for them, as in Python. Idle databases are only memory.
    """
    threading._shutdown()  # type: ignore[attr-defined]
    spares = sys.modules.get("sfumato.engines.duckdb.database")
    if spares is not None:
        atexit.unregister(spares.SPARES.end)
    atexit._run_exitfuncs()
    os._exit(code if _flushed() else code or UNWRITTEN)


def _flushed() -> bool:
    """Return whether the output was written; streams that are missing or closed have no output."""
    written = True
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except OSError:
            written = False
    return written


class Stream:
    """A stream that stores write errors instead of raising them.

    A reader that closes the pipe (`sfumato … | head`) is not an error. Characters missing from the stream's encoding
    are written as `?`.

    Attributes:
        fault: The error that prevented writing, or None.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self.fault: OSError | None = None

    def write(self, text: str) -> int:
        """Write a text, or store the reason why it cannot be written."""
        if self._stream is None:
            self.fault = self.fault or OSError("standard output is closed")
            return len(text)
        try:
            return self._write(self._stream, text)
        except OSError as error:
            self._give_up(error)
            return len(text)

    @staticmethod
    def _write(stream: TextIO, text: str) -> int:
        try:
            return stream.write(text)
        except UnicodeEncodeError as error:
            return stream.write(text.encode(error.encoding, "replace").decode(error.encoding))

    def flush(self) -> None:
        """Flush the buffer, or store the reason why it cannot be written."""
        if self._stream is None:
            return
        try:
            self._stream.flush()
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        """Redirect the stream to the null device, so that its buffer does not fail again when the program ends."""
        if not isinstance(error, BrokenPipeError):
            self.fault = self.fault or error
        with suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())  # type: ignore[union-attr]
            os.close(nowhere)

    def isatty(self) -> bool:
        return self._stream is not None and self._stream.isatty()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def kept_streams() -> Iterator[Stream]:
    """Store errors of standard output and error while a command runs; yield standard output."""
    before = sys.stdout, sys.stderr
    results, talk = Stream(sys.stdout), Stream(sys.stderr)
    sys.stdout, sys.stderr = results, talk
    try:
        yield results
    finally:
        results.flush()
        talk.flush()
        sys.stdout, sys.stderr = before


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


# Set by a shell that requests completions; the line is in one of the others.
COMPLETING = "_SFUMATO_COMPLETE"
LINES = ("COMP_WORDS", "_TYPER_COMPLETE_ARGS")
INTERRUPTED = 130
SUFFIX = "_command"  # of the functions of commands
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
        app.command(word, epilog=COMMANDS[word].epilog)(_function(word))
        return app
    for name, about in COMMANDS.items():
        app.command(name, epilog=about.epilog)(_function(name) if loaded else _described(name))
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

    def command() -> None: ...

    command.__doc__ = _descriptions(COMMANDS[name].module)[_function_name(name)]
    return command


@cache
def _descriptions(module: str) -> dict[str, str | None]:
    """Return the descriptions of a module's commands by the name of their function."""
    import ast

    tree = ast.parse(Path(__file__).with_name(f"{module}.py").read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.endswith(SUFFIX)]
    return {function.name: ast.get_docstring(function) for function in functions}


def _function(name: str) -> Any:
    return getattr(import_module(f"sfumato.cli.{COMMANDS[name].module}"), _function_name(name))


def _function_name(command: str) -> str:
    return command.replace("-", "_") + SUFFIX


def _complain(error: SfumatoError) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, highlight=False, soft_wrap=True)
    console.print(Text("Error: ", style="bold red") + Text(error.message))
    if error.hint:
        console.print(Text(f"       {error.hint}"))
    console.print(Text(f"       ({error.code})", style="dim"))
