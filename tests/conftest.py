"""What all tests share: where the measuring data lie, and running the command line in process."""

import signal
from collections.abc import Callable, Iterator
from dataclasses import fields
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


def order_by_default(order: str) -> None:
    """What `output.order` is in plans of this process that do not name it."""
    from sfumato.microdata.plan.model import OutputPlan

    names = [part.name for part in fields(OutputPlan)]
    start = len(names) - len(OutputPlan.__init__.__defaults__)
    OutputPlan.__init__.__defaults__ = tuple(
        order if name == "order" else value
        for name, value in zip(names[start:], OutputPlan.__init__.__defaults__, strict=True)
    )


@pytest.fixture(scope="session", autouse=True)
def raw_order() -> None:
    """Rows in the order of the raw file, so that most tests can compare them one by one (see `default_order`)."""
    order_by_default("keep")


@pytest.fixture(scope="module")
def default_order() -> Iterator[None]:
    """Rows in the order that a plan without one has."""
    order_by_default("shuffle")
    yield
    order_by_default("keep")


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
