"""Show how well attacks on a release succeed; run on request, with control rows that were never published."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nicegui import events, ui

from sfumato.errors import SfumatoError
from sfumato.report.checks import HEAD, attack_words, beside, verdict, why_words
from sfumato.service.http.problems import RefusedError
from sfumato.service.workers.messages import CancelledWorkError, CrashedError
from sfumato.web import components
from sfumato.web.job_progress import watched
from sfumato.web.microdata.result.run_attack import Figures, attacked
from sfumato.web.projects.loaded_data import KINDS
from sfumato.web.projects.workspace import Run, Workspace

RESULT = "attack.json"


class AttackView:
    """The attacks on one release; the results are stored with it and appear in its reports and verdict.

    Attributes:
        attacked: Called after each attack.
    """

    def __init__(self, workspace: Workspace, run: Run, attacked: Callable[[], None]) -> None:
        self.workspace, self.words, self.run = workspace, workspace.words, run
        self._told = attacked
        self._control: Path | None = None

    def build(self) -> None:
        """Show the results, or the button to run the attacks."""
        words = self.words
        with components.card(words["attack.title"]):
            ui.label(words["attack.evidence"]).classes("sf-soft sf-small")
            self._room = ui.column().classes("w-full gap-3").props('role="status" aria-live="polite"')
            with ui.expansion(words["attack.control_file"]).classes("w-full"):
                ui.label(words["attack.control_says"]).classes("sf-soft sf-small")
                most = self.workspace.pool.settings.upload_bytes
                components.upload(words["attack.control_upload"], self._uploaded, most, words, KINDS)
            self._button = components.button(words["attack.run"], self._attack).props("outline")
            self._button.classes("self-start")
        kept = self.run.folder / RESULT
        if kept.exists():
            self._show(json.loads(kept.read_text(encoding="utf-8")))

    async def _uploaded(self, event: events.UploadEventArguments) -> None:
        self._control = self.workspace.place(f"control-{event.file.name}")
        await event.file.save(self._control)
        ui.notify(self.words["attack.control_taken"].format(name=event.file.name))

    async def _attack(self) -> None:
        """Run all attacks in a separate process."""
        self.workspace.touch()
        loaded = self.workspace.loaded
        assert loaded is not None
        self._button.disable()
        self._room.clear()
        try:
            with self._room:
                says = self.words["attack.running"]
                asked = (self.run.folder, loaded.path, self._control)
                figures = await watched(self.workspace, says, attacked, *asked, reruns=True)
        except CancelledWorkError:
            return
        except (SfumatoError, RefusedError, CrashedError) as error:
            self._room.clear()
            with self._room:
                components.notice(components.error_text(error, self.words), good=False)
            return
        finally:
            self._button.enable()
        self._show(figures)
        self._told()

    def _show(self, figures: Figures) -> None:
        words = self.words
        self._room.clear()
        with self._room:
            good = False if figures["found"] else None if beside(figures) else True
            components.notice(verdict(figures, words), good=good)
            heads = [(words[f"attack.{name}"], words[f"tip.attack.{name}"]) for name in HEAD]
            table = components.helped_table(heads, [_line(one, self.words) for one in figures["attacks"]])
            table.classes("sf-wrapped")
            for absence in figures["not_run"]:
                label = f"{words['attack.not_run']} {why_words(absence, words)}"
                ui.label(label).classes("sf-soft sf-small")
            for remark in figures["remarks"]:
                components.notice(words.text(remark), good=None)


def _line(attack: Figures, words: Any) -> list[tuple[str, str]]:
    """Return the row of an attack; a successful one is highlighted."""
    mark = "masked" if attack["evidence"] and attack["counted"] else ""
    return [(cell, mark) for cell in attack_words(attack, words)]
