"""Counts and times of requests as Prometheus text; no label holds anything that a client sent.

Worker processes put their figures into files of one folder, so that whichever of them is asked tells the sum of all.
"""

import json
import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
Labels = tuple[str, str, str]  # method, route, status


@dataclass(slots=True)
class Series:
    """The figures of one kind of request: how many took at most each bound, and their time and size in all."""

    buckets: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    seconds: float = 0.0
    records: int = 0

    def add(self, other: "Series") -> None:
        self.buckets = [mine + theirs for mine, theirs in zip(self.buckets, other.buckets, strict=True)]
        self.seconds += other.seconds
        self.records += other.records


class Metrics:
    """The figures of one process, and of its siblings where a folder is given."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._own: dict[Labels, Series] = {}
        self._lock = threading.Lock()
        self._changed = False

    def count(self, labels: Labels, seconds: float, records: int = 0) -> None:
        """Count one request."""
        with self._lock:
            series = self._own.setdefault(labels, Series())
            series.buckets[sum(seconds > bound for bound in BOUNDS)] += 1
            series.seconds += seconds
            series.records += records
            self._changed = True

    def text(self) -> str:
        """All figures in Prometheus' text format."""
        lines = [
            "# HELP sfumato_request_seconds Time to answer a request.",
            "# TYPE sfumato_request_seconds histogram",
        ]
        summed = sorted(self._summed().items())
        for labels, series in summed:
            lines += _histogram(labels, series)
        lines += ["# HELP sfumato_records_total Records anonymized.", "# TYPE sfumato_records_total counter"]
        lines.append(f"sfumato_records_total {sum(series.records for _, series in summed)}")
        return "\n".join(lines) + "\n"

    def share(self) -> None:
        """Put this process' figures where its siblings find them, if there are new ones."""
        if self._folder is None or not self._changed:
            return
        with self._lock:
            content = [[list(labels), s.buckets, s.seconds, s.records] for labels, s in self._own.items()]
            self._changed = False
        path = self._folder / f"{os.getpid()}.json"
        temporary = path.with_suffix(".part")
        with suppress(OSError):
            temporary.write_text(json.dumps(content), encoding="utf-8")
            temporary.replace(path)

    def _summed(self) -> dict[Labels, Series]:
        total: dict[Labels, Series] = {}
        with self._lock:
            for labels, series in self._own.items():
                total.setdefault(labels, Series()).add(series)
        for labels, series in self._siblings():
            total.setdefault(labels, Series()).add(series)
        return total

    def _siblings(self) -> Iterator[tuple[Labels, Series]]:
        for path in sorted(self._folder.glob("*.json")) if self._folder else ():
            if path.stem == str(os.getpid()):
                continue
            with suppress(OSError, ValueError):
                for (method, route, status), buckets, seconds, records in json.loads(path.read_text(encoding="utf-8")):
                    yield (method, route, status), Series(buckets, seconds, records)


def _histogram(labels: Labels, series: Series) -> list[str]:
    shown = ",".join(f'{name}="{value}"' for name, value in zip(("method", "route", "status"), labels, strict=True))
    lines, below = [], 0
    for bound, count in zip((*map(str, BOUNDS), "+Inf"), series.buckets, strict=True):
        below += count
        lines.append(f'sfumato_request_seconds_bucket{{{shown},le="{bound}"}} {below}')
    lines.append(f"sfumato_request_seconds_sum{{{shown}}} {series.seconds:.6f}")
    lines.append(f"sfumato_request_seconds_count{{{shown}}} {below}")
    return lines
