"""Redact log lines: no path or query that a client sent, no header, no body, no error text.

The HTTP server and libraries log whole addresses and error texts, which may quote data, and browsers may send lines of
their own. What remains of such a line is the logger, the kind of the error, and a place in the code.
"""

import json
import logging
import traceback

# What is written here was made for the log.
OWN = "sfumato"
SERVER = "uvicorn.error"
# Loggers of the server beneath, and of what the pages are made with.
FOREIGN = (SERVER, "nicegui", "asyncio", "engineio.server", "socketio", "socketio.server")


def keep_log_plain() -> None:
    """Let the lines of the server beneath pass the filter."""
    logging.getLogger("uvicorn.access").disabled = True  # it writes addresses alone; our own log says what may be said
    for name in FOREIGN:
        logging.getLogger(name).addFilter(plain)  # a filter that is there already is not added again


def start_log() -> None:
    """The log of a process of the service's own: every line passes the filter, whoever writes it."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    for handler in logging.getLogger().handlers:
        handler.addFilter(plain)


def place(error: BaseException) -> str:
    """Where in the code an error came from."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "unknown"


def plain(record: logging.LogRecord) -> bool:
    """Make a line plain; whether it is written at all."""
    if record.name.partition(".")[0] == OWN or hasattr(record, "plain"):
        return True
    if record.name == SERVER and not record.exc_info and not _of_connection(record):
        return True  # starting, stopping, and why it cannot start
    if record.levelno < logging.WARNING:
        return False
    _reduce(record)
    return True


def _of_connection(record: logging.LogRecord) -> bool:
    """Whether a line tells of a browser's connection, with its address."""
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
