"""Commands on the installation: `doctor` checks what works on this machine, `compile` builds the compiled loops."""

import os
import platform
import re
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from sfumato.cli.options import AsJson, Quiet, progress_shown, show
from sfumato.errors import STATUS
from sfumato.values import Value, asdict
from sfumato.version import __version__

# Minimum bytes of memory for processing ordinary files in memory.
LEAST_MEMORY = 2 * 10**9
# A package requirement: name, version range, and after a semicolon a condition, such as an extra or a system.
REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)[^;]*(?:;(?:.*\bextra == ['\"](?P<extra>[^'\"]+)['\"])?.*)?")
State = Literal["fine", "absent", "fault"]
MARKS: dict[State, str] = {"fine": "ok  ", "absent": "-   ", "fault": "FAIL"}


class Check(Value):
    """The result of one check; a missing optional part is not an error."""

    name: str
    state: State
    detail: str
    do: str = ""


def doctor_command(json: AsJson = False) -> int:
    """Show what is installed and works, and what to do about the rest; exit 5 if something is broken."""
    checks = list(examine())
    sound = all(check.state != "fault" for check in checks)
    lines = [f"{MARKS[check.state]}  {check.name:<12} {check.detail}" for check in checks]
    lines += [f"      {check.name}: {check.do}" for check in checks if check.state == "fault" and check.do]
    lines.append("Everything that is needed works." if sound else "Something that is needed does not work.")
    show("\n".join(lines) + "\n", {"sound": sound, "checks": [asdict(check) for check in checks]}, json)
    return 0 if sound else STATUS["engine"].exit


def examine() -> Iterator[Check]:
    """Yield all checks, in the order of the output."""
    yield Check("sfumato", "fine", f"{__version__} at {Path(__file__).parents[1]}")
    yield Check("python", "fine", f"{platform.python_version()} on {platform.system()} {platform.machine()}")
    yield from _packages()
    yield from _engines()
    yield _cores()
    yield _memory()
    yield _loops()
    yield _writable("folder", Path.cwd())
    yield _writable("temporary", Path(tempfile.gettempdir()))


def _packages() -> Iterator[Check]:
    """Yield the required packages, and each extra with its missing packages."""
    wanted = _requirements()
    for name in wanted.pop("", []):
        version = _version(name)
        do = "Install Sfumato again: pip install --force-reinstall sfumato"
        yield Check(name, "fine", version) if version else Check(name, "fault", "is not installed", do)
    for extra, names in sorted(wanted.items()):
        lacking = [name for name in names if _version(name) is None]
        detail = f'lacks {", ".join(lacking)}: pip install "sfumato[{extra}]"' if lacking else ", ".join(names)
        yield Check(f"[{extra}]", "absent" if lacking else "fine", detail)


def _requirements() -> dict[str, list[str]]:
    """Return the packages of each extra; the required ones are under an empty name."""
    wanted: dict[str, list[str]] = defaultdict(list)
    for line in metadata.requires("sfumato") or []:
        found = REQUIREMENT.match(line)
        if found and found["name"] != "sfumato" and found["extra"] != "dev":
            wanted[found["extra"] or ""].append(found["name"])
    return wanted


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _engines() -> Iterator[Check]:
    """Yield the available engines; DuckDB, which is always needed, must respond."""
    yield _duckdb()
    frames = [name for name in ("pandas", "polars", "pyarrow") if find_spec(name)]
    yield Check("frames", "fine" if frames else "absent", ", ".join(frames) or 'pip install "sfumato[frames]"')
    java = shutil.which("java") or os.environ.get("JAVA_HOME")
    if find_spec("pyspark") is None:
        yield Check("spark", "absent", 'pip install "sfumato[spark]"')
    else:
        yield Check(
            "spark", "fine" if java else "absent", f"Java: {java}" if java else "no Java: install one, 17 or later"
        )


def _duckdb() -> Check:
    try:
        from sfumato.engines.duckdb.database import connected

        with connected(Path(tempfile.gettempdir())) as connection:
            connection.execute("SELECT count(*) FROM range(10)").fetchall()
    except Exception as error:  # whatever the error, the engine cannot be used
        do = "Install it again: pip install --force-reinstall duckdb"
        return Check("duckdb", "fault", f"does not answer: {type(error).__name__}", do)
    return Check("duckdb", "fine", "answers")


def _cores() -> Check:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return Check("cores", "fine", f"{usable} usable of {os.cpu_count()}")


def _memory() -> Check:
    if not hasattr(os, "sysconf") or "SC_AVPHYS_PAGES" not in os.sysconf_names:
        return Check("memory", "fine", "not known on this system")
    page = os.sysconf("SC_PAGE_SIZE")
    whole, free = os.sysconf("SC_PHYS_PAGES") * page, os.sysconf("SC_AVPHYS_PAGES") * page
    detail = f"{whole / 1e9:.1f} GB, {free / 1e9:.1f} GB of it free"
    return Check("memory", "fine" if whole >= LEAST_MEMORY else "fault", detail, "Set data.memory_limit in plans.")


def _loops() -> Check:
    """Check whether the compiled loops are installed."""
    from sfumato.native.dispatch import find_native

    if find_native() is not None:
        return Check("loops", "fine", "built")
    return Check("loops", "fault", "missing: everything takes a hundred times longer", "Run: sfumato compile")


def _writable(name: str, folder: Path) -> Check:
    if _accepts(folder):
        return Check(name, "fine", f"{folder} ({shutil.disk_usage(folder).free / 1e9:.0f} GB free)")
    return Check(
        name, "fault", f"{folder} cannot be written", "Choose another folder, or set TMPDIR for temporary files."
    )


def _accepts(folder: Path) -> bool:
    """Return whether a file can be created in a folder, or the folder itself if it does not exist."""
    place = next((path for path in (folder, *folder.parents) if path.exists()), folder)
    try:
        with tempfile.NamedTemporaryFile(dir=place):
            return True
    except OSError:
        return False


def compile_command(quiet: Quiet = False) -> None:
    """Build the compiled loops with a C compiler or ziglang, unless they came with the package."""
    from sfumato.native.build import build_ahead

    with progress_shown(quiet) as progress:
        build_ahead(progress.say)
    sys.stdout.write("The loops are built.\n")
