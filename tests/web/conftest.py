"""A real browser on the pages of a real server; screenshots are stored in SFUMATO_ARTIFACTS."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

sys.path.insert(0, str(Path(__file__).parent))  # helpers that walk through the pages are in this folder

ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
ARGUMENTS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
# The pages of a visitor share a process, which has the scripts of earlier pages in memory.
ARGUMENTS += ["--renderer-process-limit=1"]
# Animations are switched off while tests wait.
STILL = """addEventListener("DOMContentLoaded", () => {
  const still = document.createElement("style");
  still.textContent = "*, *::before, *::after { transition: none !important; animation: none !important; }";
  document.head.append(still);
});"""
MOST_BYTES = 200_000
# The first runs of a new installation compile their loops.
WAITING_SECONDS = float(os.environ.get("SFUMATO_WAITING_SECONDS", "150"))


@pytest.fixture(scope="session")
def chromium():
    """The path of Chromium, preferably the headless shell, which costs half; Debian's is installed if possible."""
    shell = "chromium-headless-shell"
    if shutil.which(shell) is None and shutil.which("apt-get") and os.geteuid() == 0:
        for command in (["update"], ["install", "-y", "--no-install-recommends", shell]):
            quick = ["-o", "Acquire::Retries=0", "-o", "Acquire::http::Timeout=10"]
            subprocess.run(["apt-get", *quick, *command], check=False, capture_output=True, timeout=280)
    found = shutil.which(shell) or shutil.which("chromium")
    if found is None:
        pytest.skip("Chromium is not installed and cannot be installed here")
    return found


@pytest.fixture(scope="session")
def browser(chromium):
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield opened
        opened.close()


def wait_for(base, process):
    """Wait until a server responds."""
    deadline = time.monotonic() + WAITING_SECONDS
    with httpx.Client(trust_env=False) as client:  # a shared client, because each would read all certificates again
        while time.monotonic() < deadline:
            try:
                if client.get(f"{base}/health/live").status_code == 200:
                    break
            except httpx.TransportError:
                assert process.poll() is None, "the server did not start"
                time.sleep(0.1)


@contextmanager
def serving(folder, *options, log=subprocess.DEVNULL):
    """Run `sfumato serve` in a separate process, with its jobs in a folder and its log in an open file."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    code = "import sys; from sfumato.cli.main import main; main(sys.argv[1:])"
    command = [sys.executable, "-c", code, "serve", "--port", str(port), "--jobs", str(folder), *options]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=log, env={**os.environ, "PYTHONWARNINGS": ""})
    base = f"http://127.0.0.1:{port}"
    try:
        wait_for(base, process)
        yield base, process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
        process.wait()


@pytest.fixture(scope="session")
def server():
    return serving


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pages") / "jobs"


@pytest.fixture(scope="session")
def log_file(tmp_path_factory):
    """The log of the server of most tests."""
    return tmp_path_factory.mktemp("pages") / "log"


@pytest.fixture(scope="session")
def started(folder, log_file):
    """The server of most tests: its address and its process."""
    with (
        log_file.open("wb") as log,
        serving(folder, "--job-slots", "2", "--max-upload-bytes", str(MOST_BYTES), log=log) as (address, process),
    ):
        yield address, process


@pytest.fixture(scope="session")
def base(started):
    return started[0]


@pytest.fixture
def no_new_workers(started):
    """Pause the template process within the context, so that no job of the server begins."""

    @contextmanager
    def halted():
        template = next(pid for pid in children(started[1].pid) if b"workers.process" in command_of(pid))
        os.kill(template, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(template, signal.SIGCONT)

    return halted


def children(parent):
    """Return the processes that a process has started, by any of its threads."""
    return [int(pid) for told in Path(f"/proc/{parent}/task").glob("*/children") for pid in told.read_text().split()]


def command_of(pid):
    return Path(f"/proc/{pid}/cmdline").read_bytes()


@pytest.fixture(scope="session")
def most_bytes():
    """The largest upload that the server accepts."""
    return MOST_BYTES


@pytest.fixture(scope="session")
def artifacts(tmp_path_factory):
    """The folder of screenshots: SFUMATO_ARTIFACTS, or a temporary folder of the run."""
    given = os.environ.get("SFUMATO_ARTIFACTS")
    place = Path(given) if given else tmp_path_factory.mktemp("screenshots")
    place.mkdir(parents=True, exist_ok=True)
    return place


@pytest.fixture(scope="session")
def visitors(browser):
    """Visitors for all tests, whose state is cleared between tests; see `visitors.py`."""
    from visitors import Visitors

    return Visitors(browser, STILL, WAITING_SECONDS)


@pytest.fixture
def open_page(visitors, artifacts, request):
    """Opens pages, each with a separate visitor; they may only request addresses of this server."""
    present = []

    def opened(address, width=1100, **more):
        visitor = visitors.enters(**more)
        present.append(visitor)
        page = visitor.context.new_page()
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(address)
        return page

    yield opened
    for number, visitor in enumerate(present):
        for page in visitor.pages() if "SFUMATO_ARTIFACTS" in os.environ else ():
            page.screenshot(path=artifacts / f"{request.node.name}-{number}.png", full_page=True)
    asked = [url for visitor in present for url in visitors.leaves(visitor)]
    foreign = [url for url in asked if not url.startswith(("http://127.0.0.1:", "data:", "blob:", "file:", "about:"))]
    assert foreign == []


@pytest.fixture(scope="session")
def axe(tmp_path_factory):
    """The source of axe-core: SFUMATO_AXE names the file, or npm installs it."""
    given = os.environ.get("SFUMATO_AXE")
    if given:
        return Path(given).read_text(encoding="utf-8")
    if shutil.which("npm") is None:
        pytest.skip("axe-core cannot be had: npm is not installed")
    place = tmp_path_factory.mktemp("axe")
    done = subprocess.run(["npm", "pack", "axe-core"], cwd=place, check=False, capture_output=True, timeout=120)
    packed = next(place.glob("axe-core-*.tgz"), None)
    if done.returncode or packed is None:
        pytest.skip("axe-core cannot be had: no package registry is reached")
    shutil.unpack_archive(packed, place, filter="data")
    return (place / "package" / "axe.min.js").read_text(encoding="utf-8")
