"""Requests find a worker whatever happened to the workers while nobody asked."""

import asyncio

import pytest

from sfumato.service.settings import Limits
from sfumato.service.workers.frames import Call
from sfumato.service.workers.lanes import Lanes
from sfumato.service.workers.template import Template

QUESTION = Call("sfumato.errors:did_you_mean", ("a", ["b"]))


@pytest.fixture
def template():
    own = Template()
    yield own
    own.close()


async def answers(template, between) -> list[str]:
    """What two requests are told, with something happening between them."""
    lanes = Lanes(Limits(workers=1), QUESTION, template)
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
