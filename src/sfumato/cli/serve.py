"""`sfumato serve`: run the web service until it is stopped; its options may be in a TOML file."""

import inspect
import ipaddress
import json
import logging
import os
import signal
import socket
import sys
import threading
import time
import tomllib
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, NoReturn, get_type_hints
from urllib.parse import urlsplit

import typer

from sfumato.errors import EngineError, PlanError, did_you_mean, missing_extra
from sfumato.service.settings import (
    JobSettings,
    Limits,
    Option,
    Settings,
    erase_abandoned,
    options,
    temporary_folder,
    to_environment,
)
from sfumato.values import defaults

# Options that only make sense on the command line and may not be in a configuration file.
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
            raise PlanError("configuration.unknown_option", hint=did_you_mean(name, names), name=name)
    context.default_map = {**(context.default_map or {}), **content}
    return path


def _content(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        raise PlanError("configuration.configuration_cannot_read", name=path.name) from None
    except tomllib.TOMLDecodeError as error:
        raise PlanError("configuration.configuration_no_toml", name=path.name, error=error) from None


ERASING_SECONDS = 10.0
LOG = logging.getLogger("sfumato.service")


def serve_command(
    host: Annotated[str, typer.Option(help="Address to listen on.", envvar="SFUMATO_HOST")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.", envvar="SFUMATO_PORT")
    ] = 8000,
    workers: Annotated[
        int,
        typer.Option(
            min=1, help="Number of processes; the web interface requires exactly one.", envvar="SFUMATO_WORKERS"
        ),
    ] = 1,
    new_api_key: Annotated[
        str | None, typer.Option(metavar="NAME", help="Print a new key and its line for the file, and stop.")
    ] = None,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the web interface in the browser.")] = False,
    config: Annotated[
        Path | None,
        typer.Option(
            help="File of options (TOML); environment variables and command-line options take precedence.",
            is_eager=True,
            callback=read_configuration,
            envvar="SFUMATO_CONFIG",
            dir_okay=False,
        ),
    ] = None,
    **chosen: Any,
) -> int | None:
    """Run the service: attributes, jobs, and the web interface."""
    del config  # its callback has read it
    if new_api_key is not None:
        return _print_key(new_api_key)
    with temporary_folder() as folder:
        threading.Thread(target=_keep_erasing, args=(folder.parent,), daemon=True).start()
        chosen["jobs"] = chosen["jobs"] or folder / "jobs"
        limits = Limits(**_fields(Limits, chosen))
        settings = Settings(**_fields(Settings, chosen), limits=limits)
        jobs = JobSettings(**_fields(JobSettings, chosen | {"pages": chosen["pages"] and workers == 1}))
        if open_browser and jobs.pages:
            here = "127.0.0.1" if host in ("0.0.0.0", "::") else host
            threading.Thread(target=_open_when_ready, args=(f"http://{here}:{port}/app",), daemon=True).start()
        figures = {"PROMETHEUS_MULTIPROC_DIR": str(folder)} if workers > 1 else {}
        _run(to_environment(settings, jobs) | figures, host, port, workers, limits.seconds, jobs.pages)
    return None


def _keep_erasing(root: Path) -> None:
    """Erase files of killed servers repeatedly, because at the start processes of these may still use them."""
    while True:
        time.sleep(ERASING_SECONDS)
        erase_abandoned(root)


def _parameter(option: Option) -> str:
    """Return the name of the command's parameter for an option."""
    return option.flag.partition("/")[0].removeprefix("--").replace("-", "_")


def _parameters(kind: type[Any]) -> Iterator[inspect.Parameter]:
    """Yield the parameters for the fields of settings that an operator may set."""
    hints = get_type_hints(kind)
    usual = defaults(kind)
    for name, option in options(kind).items():
        default: Any = usual.get(name)
        hint: Any = {Path: Path | None, frozenset[str]: list[str]}.get(hints[name], hints[name])
        shown = typer.Option(
            option.flag,
            help=option.help,
            min=option.min,
            max=option.max,
            file_okay=name in ("api_keys", "audit_log", "openid_secret"),
            exists=name in ("ontologies", "sources"),
            resolve_path=True,
            envvar=f"SFUMATO_{_parameter(option).upper()}",
        )
        if default == frozenset():
            default = []
        elif option.unit != 1:
            default /= option.unit
        annotation = Annotated[hint, shown]
        yield inspect.Parameter(
            _parameter(option), inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
        )


def _fields(kind: type[Any], chosen: dict[str, Any]) -> dict[str, Any]:
    """Return the operator's choices as fields of settings."""
    values = {name: (option.unit, chosen[_parameter(option)]) for name, option in options(kind).items()}
    return {name: value if unit == 1 else value * unit for name, (unit, value) in values.items()}


def _declare(function: Callable[..., Any]) -> None:
    """Add the options that the settings declare to the signature of the command."""
    own = [one for one in inspect.signature(function).parameters.values() if one.name != "chosen"]
    declared = [one for kind in (Settings, Limits, JobSettings) for one in _parameters(kind)]
    function.__signature__ = inspect.Signature([*own, *declared])  # type: ignore[attr-defined]
    function.__annotations__ |= {one.name: one.annotation for one in declared}


_declare(serve_command)


def _open_when_ready(address: str) -> None:
    """Open the pages in the user's browser as soon as the server responds."""
    parts = urlsplit(address)
    for _ in range(300):
        try:
            socket.create_connection((parts.hostname or "127.0.0.1", parts.port or 80), timeout=1).close()
        except OSError:
            time.sleep(0.1)
            continue
        webbrowser.open(address)
        return


def _run(environment: dict[str, str], host: str, port: int, workers: int, seconds: float, pages: bool) -> None:
    try:
        import uvicorn

        from sfumato.app import from_variables
        from sfumato.cli.web_server import PagesServer
    except ImportError:
        raise missing_extra("fastapi, uvicorn or rdflib", "web") from None
    os.environ.update(environment)
    app = from_variables()  # invalid settings raise errors here, once, before any process starts
    if app.state.door.open and not _is_own(host):
        LOG.warning(
            json.dumps({"access": "authentication is disabled and the service is reachable from other machines"})
        )
    signal.signal(signal.SIGTERM, _leave)
    options: dict[str, Any] = {
        "app": "sfumato.app:from_variables",
        "factory": True,
        "host": host,
        "port": port,
        "workers": workers,
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,  # the service itself decides whether proxy headers are trusted
        "log_config": None,
        "timeout_keep_alive": 10,
        "timeout_graceful_shutdown": int(seconds) + 5,
    }
    try:
        if pages:
            server = PagesServer(uvicorn.Config(**options))
            with suppress(KeyboardInterrupt):
                server.run()
            if not server.started:
                raise SystemExit(1)
        else:
            uvicorn.run(**options)
    except SystemExit as end:
        if end.code:
            raise EngineError("serve") from None


def _is_own(host: str) -> bool:
    """Return whether only this machine can reach an address to listen on.

    >>> [_is_own(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "10.0.0.5", "")]
    [True, True, True, False, False, False]
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _leave(*_: object) -> NoReturn:
    """Signal handler that ends normally; the server calls it when current requests are finished."""
    raise SystemExit(0)


def _print_key(name: str) -> int:
    from sfumato.service.access.keys import new_key

    key, line = new_key(name)
    sys.stderr.write("The key, shown once (send it as X-API-Key), then the line for the file of keys:\n")
    sys.stdout.write(f"{key}\n{line}\n")
    return 0
