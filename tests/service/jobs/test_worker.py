"""What a worker does for a job, without a server around it."""

import sys

from sfumato.service.jobs.worker import rehearse


def test_the_rehearsal_does_a_whole_job() -> None:
    rehearse()  # a template goes on without it, and every job would load what it needs
    assert "sfumato.pipelines.release" in sys.modules
