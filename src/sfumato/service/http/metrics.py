"""Counts and durations of requests in Prometheus format; no label contains anything that a client sent.

Worker processes keep their figures in files of one folder, so that any of them can return the sum.
"""

import os

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
# Read when the library is first imported; from then on metrics are stored in files of the folder that it names.
VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
Labels = tuple[str, str, str]  # method, route, status


class Metrics:
    """The metrics of one process, and of its siblings if they share a folder."""

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = CollectorRegistry()
        self._further: list[Collector] = []
        names = ("method", "route", "status")
        self._seconds = Histogram(
            "sfumato_request_seconds", "Time to answer a request.", names, registry=self._registry, buckets=BOUNDS
        )
        self._records = Counter("sfumato_records", "Records anonymized.", registry=self._registry)

    def count(self, labels: Labels, seconds: float, records: int = 0) -> None:
        """Count one request."""
        self._seconds.labels(*labels).observe(seconds)
        self._records.inc(records)

    def add(self, figures: Collector) -> None:
        """Add metrics that are computed on request."""
        self._registry.register(figures)
        self._further.append(figures)

    def text(self) -> str:
        """Return all metrics in the text format of Prometheus."""
        registry = self._registry
        if VARIABLE in os.environ:
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
            for figures in self._further:
                registry.register(figures)
        return generate_latest(registry).decode()
