"""What a worker does for a job, without a server around it."""

import sys

from sfumato.service.jobs.worker import warm_up_kernels


def test_the_rehearsal_does_a_whole_job() -> None:
    warm_up_kernels()  # a template goes on without it, and every job would load what it needs
    assert "sfumato.pipelines.release" in sys.modules
