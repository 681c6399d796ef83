"""Figures about jobs, servers, workers, disk and store, computed when the metrics are requested."""

import shutil
import time
from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from sfumato.service.jobs.pool import STORE_FAULTS, Pool
from sfumato.service.workers.request_queue import RequestQueue


class ServiceFigures(Collector):
    """Metrics in addition to request counts; jobs and servers are those of the whole store."""

    def __init__(self, lanes: RequestQueue, pool: Pool | None) -> None:
        self._lanes, self._pool = lanes, pool

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield the current metrics, without those of a store that does not answer."""
        workers = GaugeMetricFamily("sfumato_workers", "Processes that answer requests.", labels=["state"])
        for state, number in self._lanes.counts().items():
            workers.add_metric([state], number)
        yield workers
        if self._pool is not None:
            yield from self._of_jobs(self._pool)

    def _of_jobs(self, pool: Pool) -> Iterator[GaugeMetricFamily]:
        jobs = GaugeMetricFamily("sfumato_jobs", "Jobs in the store.", labels=["state"])
        started, answers = time.perf_counter(), float(pool.writes_store())
        waiting = servers = 0.0
        try:
            for state, number in pool.store.counts().items():
                jobs.add_metric([state], number)
            waiting, servers = pool.store.longest_wait(), float(len(pool.leases.live()))
        except STORE_FAULTS:
            answers = 0.0
        yield jobs
        disk = shutil.disk_usage(pool.settings.folder)
        for name, about, value in (
            ("sfumato_queue_seconds", "How long the oldest job that waits has waited.", waiting),
            ("sfumato_servers", "Servers that share the store.", servers),
            ("sfumato_store_up", "Whether the store answers and can be written.", answers),
            ("sfumato_store_seconds", "How long the store took to answer.", time.perf_counter() - started),
            ("sfumato_job_processes", "Processes that do jobs of this server.", float(pool.running())),
            ("sfumato_job_threads", "Threads of this server that care for jobs.", float(pool.threads_alive())),
            ("sfumato_disk_free_bytes", "Room on the disk of jobs.", float(disk.free)),
            ("sfumato_disk_bytes", "Size of the disk of jobs.", float(disk.total)),
        ):
            yield GaugeMetricFamily(name, about, value=value)
