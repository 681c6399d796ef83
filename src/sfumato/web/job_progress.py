"""Following a job on a page: a bar that fills, a button that cancels, and what is done when it has ended."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from nicegui import ui

from sfumato.errors import SfumatoError
from sfumato.service.http.problems import RefusedError
from sfumato.service.jobs.store import Job, Kind
from sfumato.web import components
from sfumato.web.visit import Visit

LOOKING_SECONDS = 0.3
Then = Callable[[Job], Awaitable[None]]


async def run_job(
    visit: Visit, kind: Kind, plan: Mapping[str, Any], files: Mapping[str, Path], room: Any, then: Then
) -> None:
    """Start a job, and show in a container how far it is; what refuses it is told."""
    visit.touch()
    try:
        job = await asyncio.to_thread(visit.submit, kind, plan, files)
    except (SfumatoError, RefusedError) as error:
        components.alarm(components.error_text(error, visit.words))
        return
    with room:
        follow(visit, job, then)


def follow(visit: Visit, job: Job, then: Then) -> None:
    """Show how far a job is, in the container at hand, until it has ended."""
    words = visit.words
    with ui.card().classes("sf-card").props('role="status"') as card:
        label = ui.label(words["waiting"])
        bar = ui.linear_progress(0, show_value=False).props("indeterminate")
        bar.props["aria-label"] = words["progress"]
        components.button(words["cancel"], lambda: asyncio.to_thread(visit.pool.cancel, job), color="secondary")

    async def look() -> None:
        visit.touch()
        now = await asyncio.to_thread(visit.pool.store.find, job.id)
        if now is not None and not now.ended:
            label.text = words.get(now.stage or "waiting", now.stage or "")
            bar.props(remove="indeterminate") if now.whole > 1 else bar.props("indeterminate")
            bar.value = now.done / now.whole if now.whole > 1 else 0
            return
        timer.cancel()
        card.clear()
        with card:
            await _concluded(visit, now, card, then)

    timer = ui.timer(LOOKING_SECONDS, look)


async def _concluded(visit: Visit, job: Job | None, card: ui.card, then: Then) -> None:
    words = visit.words
    if job is None or job.state == "cancelled":
        ui.label(words["cancelled"])
    elif job.state == "failed":
        with ui.column().props('role="alert"'):
            ui.label(words["failed"]).classes("font-bold text-negative")
            ui.label(job.message or "")
    else:
        card.set_visibility(False)
        with card.parent_slot.parent if card.parent_slot else card:
            await then(job)
