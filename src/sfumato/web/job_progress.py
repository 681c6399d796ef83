"""Progress of jobs on a page: a progress bar, the remaining time, a cancel button; reconnects after leaving."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakSet

from nicegui import ui

from sfumato.errors import SfumatoError
from sfumato.localization.messages import Messages
from sfumato.service.jobs.store import Job, Kind
from sfumato.service.problems import RefusedError
from sfumato.service.workers.fork_server import CallHandle
from sfumato.web import components
from sfumato.web.projects.workspace import Workspace

LOOKING_SECONDS = 0.3
# The remaining time is estimated only after this many seconds and from this proportion on.
TELLING_SECONDS, TELLING_SHARE = 3.0, 0.05
Result = TypeVar("Result")
Then = Callable[[Job], Awaitable[None]]
# Containers that show the progress of a job.
_under_way: WeakSet[Any] = WeakSet()


async def start_job(workspace: Workspace, kind: Kind, plan: Mapping[str, Any], files: Mapping[str, Path]) -> Job | None:
    """Start a job; show an error if it is refused."""
    workspace.touch()
    try:
        return await asyncio.to_thread(workspace.submit, kind, plan, files)
    except (SfumatoError, RefusedError) as error:
        components.alarm(components.error_text(error, workspace.words))
        return None


async def run_job(
    workspace: Workspace, kind: Kind, plan: Mapping[str, Any], files: Mapping[str, Path], container: Any, then: Then
) -> None:
    """Start a job and show its progress in a container; meanwhile no second job is started there."""
    if container in _under_way:
        return
    _under_way.add(container)
    job = await start_job(workspace, kind, plan, files)
    if job is None:
        _under_way.discard(container)
        return

    async def conclude(ended: Job) -> None:
        _under_way.discard(container)
        await then(ended)

    with container:
        follow(workspace, job, conclude, lambda: _under_way.discard(container))


def follow(workspace: Workspace, job: Job, then: Then, failed: Callable[[], None] = lambda: None) -> None:
    """Show the progress of a job in the current container until it has ended; `failed` is called if it fails."""
    words = workspace.words
    bar = _Bar(words, words["waiting"], lambda: asyncio.to_thread(workspace.pool.cancel, job))
    card = bar.card

    async def look() -> None:
        workspace.touch()
        now = await asyncio.to_thread(workspace.pool.store.find, job.id)
        if now is not None and not now.ended:
            bar.tell(now.stage, now.done, now.whole)
            return
        timer.cancel()
        card.clear()
        if now is None or now.state != "done":
            failed()
        with card:
            await _conclude(workspace, now, card, then)

    timer = ui.timer(LOOKING_SECONDS, look)


async def watched(
    workspace: Workspace, says: str, function: Callable[..., Result], *arguments: Any, reruns: bool = False
) -> Result:
    """Run a function that reports its progress; show it in the current container, with a button to cancel.

    Args:
        says: The initial text.
        reruns: Whether a plan is run again, which needs as much time and memory as a job.

    Raises:
        SfumatoError, RefusedError: The function failed.
        CancelledWorkError: The function was cancelled.
    """
    watch = CallHandle()
    bar = _Bar(workspace.words, says, watch.cancel)

    def look() -> None:
        if (progress := watch.progress) is not None:
            bar.tell(progress.stage, progress.done, progress.whole)

    with bar.card:
        timer = ui.timer(LOOKING_SECONDS, look)
    try:
        return await workspace.aside(function, *arguments, watch=watch, reruns=reruns)
    finally:
        timer.cancel()
        if not bar.card.is_deleted:
            bar.card.delete()


class _Bar:
    """A card with the current stage, the progress, the remaining time, and a cancel button.

    Attributes:
        card: The element of the card.
    """

    def __init__(self, words: Messages, says: str, cancel: Callable[[], Any]) -> None:
        self._words, self._began, self._share = words, time.monotonic(), 0.0
        with ui.element("div").classes("sf-card").props('role="status"') as self.card:
            self._label = ui.label(says)
            self._bar = ui.linear_progress(0, show_value=False).props("indeterminate")
            self._bar.props["aria-label"] = words["progress"]
            components.button(words["cancel"], cancel).props("outline").classes("self-start")

    def tell(self, stage: str | None, done: int, whole: int) -> None:
        """Report the progress of a stage."""
        share = done / whole if whole > 1 else 0.0
        if share < self._share:  # another stage with its own duration has begun
            self._began = time.monotonic()
        self._share = share
        self._label.text = stage_words(self._words, stage) + left(self._words, time.monotonic() - self._began, share)
        self._bar.props(remove="indeterminate") if share else self._bar.props("indeterminate")
        self._bar.value = share


def stage_words(words: Messages, stage: str | None) -> str:
    """Describe the current stage of a job, by its name or in a sentence of its own.

    >>> from sfumato.localization.messages import Message, words_in
    >>> stage = Message("reason.comparing_run", method="samarati", k=5, share=0.02, runs=3)
    >>> stage_words(words_in("de"), None), stage_words(words_in("de"), stage)
    ('Warten …', 'samarati, k = 5, Zurückhaltung 0,02, noch zu tun 3')
    """
    return words.get(stage or "waiting") or words.text(stage or "")


def left(words: Messages, seconds: float, share: float) -> str:
    """Return the estimated remaining time of a stage as text, or an empty text if unknown.

    >>> from sfumato.localization.messages import words_in
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
            ui.label(words.text(job.message or ""))
    else:
        card.set_visibility(False)
        with card.parent_slot.parent if card.parent_slot else card:
            await then(job)
