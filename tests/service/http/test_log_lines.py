"""Lines of the log: the service's own and the server's stay, of all others only kind and place are left."""

import json
import logging
import sys

import pytest

from sfumato.service.problems import plain

SECRET = "Zaphod-7c1f"
WEBSOCKET = "/lib/uvicorn/protocols/websockets/impl.py"


def line(name, level=logging.ERROR, path="/lib/some.py", message="%s", error=None):
    """What is written of a record, or None."""
    info = (type(error), error, error.__traceback__) if error is not None else None
    record = logging.LogRecord(name, level, path, 7, message, (SECRET,), info)
    return logging.Formatter("%(message)s").format(record) if plain(record) else None


def raised():
    try:
        raise ValueError(SECRET)
    except ValueError:
        return sys.exc_info()[1]


@pytest.mark.parametrize("name", ["sfumato", "sfumato.service", "uvicorn.error"])
def test_lines_of_the_service_and_the_server_stay(name) -> None:
    assert line(name, logging.INFO) == SECRET
    assert line(name) == SECRET


@pytest.mark.parametrize("name", ["nicegui", "rdflib.term", "asyncio", "root", "sfumatos"])
def test_of_other_lines_only_the_place_is_left(name) -> None:
    assert json.loads(line(name)) == {"log": name, "at": "/lib/some.py:7"}
    assert line(name, logging.INFO) is None


@pytest.mark.parametrize("name", ["nicegui", "rdflib.term", "uvicorn.error"])
def test_an_error_is_told_by_kind_and_place(name) -> None:
    found = json.loads(line(name, error=raised()))
    assert (found["error"], found["log"]) == ("ValueError", name)
    assert found["at"].startswith(__file__)


def test_connections_of_browsers_are_not_told() -> None:
    assert line("uvicorn.error", logging.INFO, WEBSOCKET) is None
    assert SECRET not in line("uvicorn.error", logging.ERROR, WEBSOCKET)


def test_a_line_is_made_plain_once() -> None:
    record = logging.LogRecord("nicegui", logging.ERROR, "/lib/some.py", 7, raised(), (), None)
    assert plain(record)
    first = record.getMessage()
    assert plain(record)
    assert json.loads(record.getMessage())["error"] == "ValueError"
    assert record.getMessage() == first
