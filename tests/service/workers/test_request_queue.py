"""Requests find a worker whatever happened to the workers while nobody asked."""

import asyncio
import sys

import pytest

from sfumato.service.problems import RefusedError
from sfumato.service.settings import Limits
from sfumato.service.workers import request_queue as lanes_module
from sfumato.service.workers.fork_server import Template
from sfumato.service.workers.messages import WorkerCall
from sfumato.service.workers.request_queue import RequestQueue

QUESTION = WorkerCall("sfumato.errors:did_you_mean", ("a", ["b"]))


@pytest.fixture
def template():
    own = Template()
    yield own
    own.close()


async def answers(template, between) -> list[str]:
    """What two requests are told, with something happening between them."""
    lanes = RequestQueue(Limits(workers=1), QUESTION, template)
    await lanes.start()
    try:
        first = await lanes.run(QUESTION, 1)
        await asyncio.to_thread(between)
        return [first, await lanes.run(QUESTION, 1)]
    finally:
        await lanes.close()


def end_workers(template) -> None:
    for worker in list(template._workers.values()):
        worker.kill()
        assert worker.ended.wait(10)


@pytest.mark.parametrize("end", [end_workers, Template.close], ids=["worker", "template"])
def test_a_worker_that_ended_while_it_waited_is_replaced(template, end, complete) -> None:
    replies = complete(answers(template, lambda: end(template)))
    assert replies == ["Valid: b."] * 2


async def told_without_processes(template, monkeypatch) -> list[str | None]:
    """What the lanes tell while the system starts no process, and after."""
    monkeypatch.setattr(lanes_module, "TRYING_SECONDS", 0.1)
    lanes = RequestQueue(Limits(workers=2), QUESTION, template)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", "/nonexistent")
        await lanes.start()
        with pytest.raises(RefusedError) as refusal:
            await lanes.run(QUESTION, 1)
        told = [lanes.fault(), f"{refusal.value.status} {refusal.value.headers['retry-after']}"]
    try:
        while lanes.fault() is not None:
            await asyncio.sleep(0.05)
        return [*told, await lanes.run(QUESTION, 1)]
    finally:
        await lanes.close()


def test_a_system_that_starts_no_process_is_told_and_tried_again(template, complete, monkeypatch, caplog) -> None:
    """Requests waited without end, and nothing said why."""
    told = complete(told_without_processes(template, monkeypatch))
    assert told == ["no process can be started", "503 10", "Valid: b."]
    assert [record.getMessage() for record in caplog.records].count('{"workers": "no process can be started"}') == 1
