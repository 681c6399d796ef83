"""Redact log lines: no path or query that a client sent, no header, no body, no error text.

The HTTP server and libraries log whole addresses and error texts, which may quote data, and browsers may send lines of
their own. What remains of such a line is the logger, the kind of the error, and a place in the code.
"""

import json
import logging
import traceback

# Loggers of this package, whose lines were written for the log.
OWN = "sfumato"
SERVER = "uvicorn.error"
# Loggers of the HTTP server and of the libraries of the pages.
FOREIGN = (SERVER, "nicegui", "asyncio", "engineio.server", "socketio", "socketio.server")


def keep_log_plain() -> None:
    """Filter the log lines of the HTTP server."""
    logging.getLogger(
        "uvicorn.access"
    ).disabled = True  # it logs whole addresses; the service's own log has what is permitted
    for name in FOREIGN:
        logging.getLogger(name).addFilter(plain)  # an existing filter is not added again


def start_log() -> None:
    """Start the log of a process of the service; every line passes the filter."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    for handler in logging.getLogger().handlers:
        handler.addFilter(plain)


def place(error: BaseException) -> str:
    """Return where in the code an error occurred."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "unknown"


def plain(record: logging.LogRecord) -> bool:
    """Redact a log record, and return whether it is written."""
    if record.name.partition(".")[0] == OWN or hasattr(record, "plain"):
        return True
    if record.name == SERVER and not record.exc_info and not _of_connection(record):
        return True  # start, stop, and why the server cannot start
    if record.levelno < logging.WARNING:
        return False
    _reduce(record)
    return True


def _of_connection(record: logging.LogRecord) -> bool:
    """Return whether a record is about a browser's connection, with its address."""
    return "websockets" in record.pathname.replace("\\", "/").split("/")


def _reduce(record: logging.LogRecord) -> None:
    error = _error(record)
    line = {"log": record.name, "at": f"{record.pathname}:{record.lineno}"}
    if error is not None:
        line |= {"error": type(error).__name__, "at": place(error)}
    record.msg, record.args = json.dumps(line), ()
    record.exc_info = record.exc_text = record.stack_info = None
    record.plain = True


def _error(record: logging.LogRecord) -> BaseException | None:
    if isinstance(record.exc_info, tuple) and record.exc_info[1] is not None:
        return record.exc_info[1]
    return record.msg if isinstance(record.msg, BaseException) else None
