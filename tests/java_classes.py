"""Classes of Spark as Java has them in memory, kept beside the environment: who starts Java reads them in no time.

To find, read and lay out some ten thousand classes is half of what a start of Spark costs. The first run that uses
Spark writes them down when it is over; Java leaves them alone where they are of other programs than those at hand.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

SECONDS = 200


def archive() -> Path:
    """Where the classes of this Spark and this Java lie, or will."""
    java = Path(shutil.which("java") or "java").resolve()
    changed = java.stat().st_mtime_ns if java.exists() else 0
    known = hashlib.sha256(f"{java} {changed} {version('pyspark')}".encode()).hexdigest()[:12]
    return Path(sys.prefix) / f"spark-classes-{known}.jsa"


def reading() -> str:
    """The options of a Java program that takes its classes from there; none where there are none yet."""
    return f" -XX:SharedArchiveFile={archive()} -Xlog:disable" if archive().exists() else ""


def writing() -> str:
    """The options of one that writes them down at its end, under a name of its own; none where that is done."""
    return "" if archive().exists() else f" -XX:ArchiveClassesAtExit={_own()} -Xlog:disable"


def written(gateway: Any) -> None:
    """End the Java program of a session that writes; what it wrote is complete when it has ended."""
    gateway.shutdown()
    gateway.proc.stdin.close()
    try:
        gateway.proc.wait(SECONDS)
    except subprocess.TimeoutExpired:
        gateway.proc.kill()
        _own().unlink(missing_ok=True)
    if _own().exists():
        _own().replace(archive())


def _own() -> Path:
    return archive().with_suffix(f".{os.getpid()}")
