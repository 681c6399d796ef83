"""What all tests share: where the measuring data lie, and running the command line in process."""

import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"

settings.register_profile("sfumato", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.load_profile("sfumato")


def pytest_configure() -> None:
    """A run in the background ignores Ctrl-C, and so would the programs that tests interrupt: listen again."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    absent = pytest.mark.skip(reason="the measuring data do not lie beside the project")
    for item in items:
        if item.get_closest_marker("shared") and not SHARED.exists():
            item.add_marker(absent)


@pytest.fixture
def shared() -> Path:
    return SHARED


class Ran:
    """What a command printed and how it ended."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def sfumato(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Run the command line."""
    from sfumato.cli.main import run

    def call(*arguments: object) -> Ran:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return Ran(code, printed.out, printed.err)

    return call
