"""Jobs on a page: a bar that fills, the time that is left, a button that cancels; who leaves finds them again."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from nicegui import ui

from sfumato.errors import SfumatoError
from sfumato.service.http.problems import RefusedError
from sfumato.service.store.jobs import Job, Kind
from sfumato.texts.words import Words
from sfumato.web import components
from sfumato.web.projects.workspace import Workspace

LOOKING_SECONDS = 0.3
# Before so many seconds, and below this share, what is left cannot be told.
TELLING_SECONDS, TELLING_SHARE = 3.0, 0.05
Then = Callable[[Job], Awaitable[None]]


async def start_job(workspace: Workspace, kind: Kind, plan: Mapping[str, Any], files: Mapping[str, Path]) -> Job | None:
    """Start a job; what refuses it is told."""
    workspace.touch()
    try:
        return await asyncio.to_thread(workspace.submit, kind, plan, files)
    except (SfumatoError, RefusedError) as error:
        components.alarm(components.error_text(error, workspace.words))
        return None


async def run_job(
    workspace: Workspace, kind: Kind, plan: Mapping[str, Any], files: Mapping[str, Path], room: Any, then: Then
) -> None:
    """Start a job, and show in a container how far it is."""
    job = await start_job(workspace, kind, plan, files)
    if job is not None:
        with room:
            follow(workspace, job, then)


def follow(workspace: Workspace, job: Job, then: Then, failed: Callable[[], None] = lambda: None) -> None:
    """Show how far a job is, in the container at hand, until it has ended; `failed` is called if in vain."""
    words, began = workspace.words, time.monotonic()
    with ui.element("div").classes("sf-card").props('role="status"') as card:
        label = ui.label(words["waiting"])
        bar = ui.linear_progress(0, show_value=False).props("indeterminate")
        bar.props["aria-label"] = words["progress"]
        components.button(words["cancel"], lambda: asyncio.to_thread(workspace.pool.cancel, job)).props(
            "outline"
        ).classes("self-start")

    async def look() -> None:
        workspace.touch()
        now = await asyncio.to_thread(workspace.pool.store.find, job.id)
        if now is not None and not now.ended:
            share = now.done / now.whole if now.whole > 1 else 0.0
            label.text = stage_words(words, now.stage) + left(words, time.monotonic() - began, share)
            bar.props(remove="indeterminate") if now.whole > 1 else bar.props("indeterminate")
            bar.value = share
            return
        timer.cancel()
        card.clear()
        if now is None or now.state != "done":
            failed()
        with card:
            await _conclude(workspace, now, card, then)

    timer = ui.timer(LOOKING_SECONDS, look)


def stage_words(words: Words, stage: str | None) -> str:
    """What a job does just now: a stage by its name, or in a sentence of its own.

    >>> from sfumato.texts.words import words_in
    >>> stage_words(words_in("de"), None), stage_words(words_in("de"), "samarati, k = 5, suppression 0.02: 3 runs left")
    ('Warten …', 'samarati, k = 5, Zurückhaltung 0,02, noch zu tun 3')
    """
    return words.get(stage or "waiting") or words.sentence(stage or "")


def left(words: Words, seconds: float, share: float) -> str:
    """How long a stage will take yet, in words; nothing where that is not known.

    >>> from sfumato.texts.words import words_in
    >>> left(words_in(), 10, 0.25), left(words_in(), 1, 0.5)
    (' (about 30 s left)', '')
    """
    if seconds < TELLING_SECONDS or share < TELLING_SHARE:
        return ""
    return " " + words["seconds_left"].format(seconds=words.count(round(seconds * (1 - share) / share)))


async def _conclude(workspace: Workspace, job: Job | None, card: Any, then: Then) -> None:
    words = workspace.words
    if job is None or job.state == "cancelled":
        ui.label(words["cancelled"])
    elif job.state == "failed":
        with ui.column().props('role="alert"'):
            ui.label(words["failed"]).classes("font-bold text-negative")
            ui.label(words.sentence(job.message or ""))
    else:
        card.set_visibility(False)
        with card.parent_slot.parent if card.parent_slot else card:
            await then(job)
