"""Shared fixtures: the command line in process, PostgreSQL, Spark, and the distribution of tests to workers."""

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import warnings
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))  # the sizes of tests are there
# Workers share few processors: threads of sklearn and BLAS that wait for each other would burn them.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")
SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"

SPARK = {
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}
# Java programs of tests are short: the client compiler and the serial collector halve the CPU time, and skipping
# class verification saves another fifth.
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"

settings.register_profile("sfumato", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.load_profile("sfumato")


def pytest_configure(config: pytest.Config) -> None:
    """Restore Ctrl-C, which a run in the background ignores, as would the programs that tests interrupt."""
    from shown import OnlyShown

    config.pluginmanager.register(OnlyShown())
    os.environ.setdefault("SPARK_SUBMIT_OPTS", JAVA)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if "PYTEST_XDIST_WORKER" not in os.environ:
        # Loops whose sources changed are built once, before any test.
        subprocess.run([sys.executable, "-m", "sfumato.native.build"], check=False, capture_output=True)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Assign whole units to workers with `--dist loadfile`."""
    if config.getvalue("dist") != "loadfile":
        return None
    from units import Units

    return Units(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if "PYTEST_XDIST_WORKER" in os.environ:
        from units import places

        items[:] = [items[place] for place in places([item.nodeid for item in items])]
    absent = pytest.mark.skip(reason="the measuring data do not lie beside the project")
    for item in items:
        if item.get_closest_marker("shared") and not SHARED.exists():
            item.add_marker(absent)


@pytest.fixture(scope="session")
def shared() -> Path:
    return SHARED


class Ran:
    """The output of a command and its exit code."""

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


@pytest.fixture(scope="session")
def complete() -> Callable[..., Any]:
    """Run a coroutine in a separate thread, because the browser of another test may have a running loop in this one."""

    def run(coroutine: Coroutine[Any, Any, Any], seconds: float = 60) -> Any:
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, coroutine).result(seconds)

    return run


# Folders whose releases take databases that are idle, whatever files they open, and those of their files that do not.
ANY_DATABASE = ("attacks", "engines", "hierarchies", "microdata", "pipelines", "policies", "report", "tables")
OWN_DATABASES = ("test_beyond_memory", "test_confined_databases", "test_service_paths", "test_spares")


@pytest.fixture(scope="module", autouse=True)
def one_database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let databases open all files of the tests, so that the next release takes one that is idle.

    Starting one costs more than most releases of tests. That a release opens no file but its own is tested by those
    named above, and by all releases of the other folders: cli, frozen cases, service, web, the documentation.
    """
    folder = request.path.relative_to(Path(__file__).parent).parts[0]
    if folder not in ANY_DATABASE or request.path.stem in OWN_DATABASES:
        yield
        return
    from sfumato.engines.duckdb import database

    places, started = (tmp_path_factory.getbasetemp(), Path(gettempdir())), database._started
    database.SPARES.end()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "_started", lambda plan, paths: started(plan, (*paths, *places)))
        yield
    database.SPARES.end()


@dataclass(frozen=True)
class Server:
    """A PostgreSQL server for the tests."""

    folder: Path
    port: int
    programs: Path

    @property
    def url(self) -> str:
        return f"postgresql://tester@127.0.0.1:{self.port}/postgres"

    def run(self, program: str, *arguments: str) -> None:
        """Run one of PostgreSQL's programs, which refuse to run as root."""
        command = [str(self.programs / program), *arguments]
        if os.geteuid() == 0:
            command = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *command]
        subprocess.run(command, check=True, capture_output=True, timeout=120, cwd="/")

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off"
        log = str(self.folder / "log")
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-w", "-t", "60", "-l", log, "-o", options, "start")

    def stop(self, mode: str = "fast") -> None:
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-m", mode, "-w", "stop")


def _programs() -> Path | None:
    """Return the folder of PostgreSQL's programs."""
    found = shutil.which("initdb")
    candidates = [Path(found).resolve().parent] if found else []
    candidates += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in candidates if (folder / "pg_ctl").exists()), None)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """Run a real server on a free port, in its own folder."""
    programs = _programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = Server(Path(mkdtemp(prefix="sfumato-postgresql-")), port, programs)
    if os.geteuid() == 0:
        shutil.chown(server.folder, "postgres", "postgres")
    try:
        server.run(
            "initdb", "-D", str(server.folder / "data"), "-U", "tester", "-E", "UTF8", "--locale=C", "-A", "trust"
        )
        server.start()
        yield server
        server.stop("immediate")
    finally:
        shutil.rmtree(server.folder, ignore_errors=True)


@pytest.fixture(scope="session")
def spark_settings() -> dict[str, str]:
    """Return settings that keep Spark small."""
    return dict(SPARK)


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """Start a Spark session with two cores."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java, which is not installed")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings of Spark about the versions of other libraries
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2]").appName("sfumato-tests")
        for key, value in SPARK.items():
            builder = builder.config(key, value)
        session = builder.getOrCreate()
        yield session
        session.stop()
