"""Make the screenshots of the documentation: start the server, walk through the pages, and save screenshots.

Usage: python tools/screenshots.py [FOLDER]    (docs/images by default; needs Chromium and playwright)
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
ARGUMENTS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
SIZE = {"width": 1440, "height": 900}
# Colors of a picture, frequent and rare ones: enough for pages that are mostly white, with a third of the bytes.
COLORS = 64
PATIENCE_MS = 60_000


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """Run a server with its jobs in a folder."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    code = "from sfumato.cli.main import main; main()"
    command = [sys.executable, "-c", code, "serve", "--port", str(port), "--jobs", str(folder)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        _wait(f"http://127.0.0.1:{port}/health/live")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def _wait(address: str) -> None:
    for _ in range(600):
        try:
            urllib.request.urlopen(address).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit("the server did not start")


def walk(page: Any, base: str, target: Path) -> Path:
    """Walk through the pages of microdata; return the report."""
    page.goto(f"{base}/app")
    page.get_by_role("button", name="stroke", exact=True).click()
    page.get_by_text("200 rows,").wait_for()
    _shoot(page, target, "data")
    _enter(page, "Columns")
    page.locator(".sf-columns .open", has_text="age").first.click()
    page.get_by_role("button", name="By cuts").click()
    page.locator(".sf-cut").first.wait_for()
    _shoot(page, target, "columns")
    page.get_by_role("button", name="By widths").click()
    _enter(page, "Goal")
    page.get_by_text("of the detail is left").wait_for()
    _shoot(page, target, "goal")
    _enter(page, "Result")
    page.get_by_role("button", name="Anonymize", exact=True).click()
    page.get_by_text(
        "All guarantees are satisfied in the written file. Whether you may publish it is your decision."
    ).wait_for()
    page.evaluate("scrollTo(0, 0)")
    _shoot(page, target, "result")
    _views(page, target)
    _enter(page, "Release")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Report for the house").click()
    _shoot(page, target, "release")
    return Path(waiting.value.path())


def _views(page: Any, target: Path) -> None:
    """Save the most informative views of a result."""
    page.get_by_role("tab", name="Risk").click()
    page.locator(".sf-population input").fill("40000")
    page.get_by_text("Unique in the population").wait_for()
    page.get_by_role("tab", name="Risk").scroll_into_view_if_needed()
    page.mouse.wheel(0, 600)
    _shoot(page, target, "risk")
    page.get_by_role("tab", name="Other choices").click()
    page.get_by_role("button", name="Show all combinations of levels").click()
    page.get_by_role("button", name="Lattice").click()
    page.locator(".sf-lattice .best").first.click()
    page.get_by_role("button", name="Release these levels").wait_for()
    page.mouse.move(0, 0)
    page.locator(".sf-lattice").scroll_into_view_if_needed()
    _shoot(page, target, "lattice")


def _enter(page: Any, step: str) -> None:
    page.locator(".sf-step", has_text=step).click()
    page.locator(".sf-step[aria-current=step]", has_text=step).wait_for()


def others(page: Any, base: str, target: Path, report: Path) -> None:
    """Save the tables area and the report."""
    page.goto(f"{base}/app/tables")
    page.get_by_role("button", name="Protect").click()
    page.get_by_text("cells masked").wait_for()
    page.locator(".sf-crosstab").scroll_into_view_if_needed()
    _shoot(page, target, "tables")
    shown = target / "report.html"
    shutil.copyfile(report, shown)
    page.goto(shown.resolve().as_uri())
    _shoot(page, target, "report")
    shown.unlink()


def _shoot(page: Any, target: Path, name: str, full: bool = False) -> None:
    page.wait_for_timeout(1200)  # animations end
    page.screenshot(path=target / f"{name}.png", full_page=full)
    _shrink(target / f"{name}.png")
    print(target / f"{name}.png")


def _shrink(path: Path) -> None:
    """Reduce the colors if Pillow is installed."""
    if find_spec("PIL") is None:
        return
    pictures = import_module("PIL.Image")
    with pictures.open(path) as picture:
        picture = picture.convert("RGB")  # noqa: PLW2901
        # Rare colors are kept in addition to frequent ones, because a ring or an edge is significant.
        rare = picture.quantize(COLORS, method=pictures.Quantize.MAXCOVERAGE).getpalette()[: 3 * COLORS]
        counted = sorted(picture.getcolors(picture.width * picture.height), reverse=True)
        palette = pictures.new("P", (1, 1))
        palette.putpalette([part for _, color in counted[:COLORS] for part in color] + rare)
        picture.quantize(palette=palette, dither=pictures.Dither.NONE).save(path, optimize=True)


def main(target: Path) -> None:
    """Make all screenshots."""
    chromium = shutil.which("chromium") or os.environ.get("CHROMIUM")
    if chromium is None:
        raise SystemExit("Chromium is not installed (Debian: apt-get install chromium).")
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, server(Path(folder) / "jobs") as base, sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        page = browser.new_page(viewport=SIZE, color_scheme="light")  # type: ignore[arg-type]
        page.set_default_timeout(PATIENCE_MS)
        others(page, base, target, walk(page, base, target))
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("docs/images"))
