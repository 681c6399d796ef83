"""Choose a policy on the page: its clauses, and who attests those that cannot be measured."""

from collections.abc import Callable
from typing import Any

from nicegui import ui

from sfumato.errors import SfumatoError
from sfumato.policies.policy import Clause
from sfumato.policies.presets import policies
from sfumato.service.http.problems import RefusedError
from sfumato.service.workers.messages import CancelledWorkError
from sfumato.web import components
from sfumato.web.job_progress import watched
from sfumato.web.microdata.policy_promises import asked_promises
from sfumato.web.projects.workspace import Workspace

NONE = ""


class PolicyChoice:
    """The choice of a policy; `adopted` is called when it changed the models, `changed` after other changes."""

    def __init__(self, workspace: Workspace, adopted: Callable[[], Any], changed: Callable[[], Any]) -> None:
        self.workspace, self.words = workspace, workspace.words
        self._adopted, self._changed = adopted, changed

    @property
    def name(self) -> str:
        """Return the policy of the plan."""
        said = self.workspace.plan.get("policy") or NONE
        return str(said["name"] if isinstance(said, dict) else said)

    def build(self) -> None:
        """Build the choice, and the clauses of the current policy."""
        words = self.words
        offered = {NONE: words["policy.none"]}
        offered |= {policy.id: policy.title for policy in policies().values() if policy.about == "rows"}
        choice = ui.select(offered, label=words["policy.choose"], value=self.name if self.name in offered else NONE)
        components.with_tooltip(choice, words["tip.policy"]).classes("w-full").props("dense outlined")
        choice.on_value_change(lambda event: self._choose(str(event.value or NONE)))
        self._room = ui.column().classes("w-full")
        if self.name in offered and self.name != NONE:
            policy = policies()[self.name]
            ui.label(words["policy.source"].format(source=policy.source)).classes("sf-soft sf-small")
            for clause in policy.clauses:
                self._clause(clause)

    def _clause(self, clause: Clause) -> None:
        """Show a clause: measured on the release, or attested by a person."""
        if clause.op != "attested":
            limit = "" if clause.value is None else f" ({clause.op} {self.words.figure(f'{clause.value:g}')})"
            components.notice(clause.says + limit, good=None)
            return
        label = self.words["policy.attest"].format(says=clause.says)
        field = (
            ui.input(label, value=self._attested().get(clause.name, "")).classes("w-full").props("dense debounce=300")
        )
        field.on_value_change(lambda event: self._attest(clause.name, str(event.value or "")))

    def _attested(self) -> dict[str, str]:
        said = self.workspace.plan.get("policy")
        return dict(said.get("attested") or {}) if isinstance(said, dict) else {}

    def _attest(self, name: str, who: str) -> None:
        attested = {key: text for key, text in {**self._attested(), name: who}.items() if text}
        self.workspace.plan["policy"] = {"name": self.name} | ({"attested": attested} if attested else {})
        self.workspace.touch()
        self._changed()

    async def _choose(self, name: str) -> None:
        """Set a policy with its required models, or none."""
        plan = {key: value for key, value in self.workspace.plan.items() if key != "policy"}
        if name != NONE and self.workspace.loaded is not None:
            plan["policy"] = {"name": name}
            loaded = self.workspace.loaded
            try:
                with self._room:
                    says, asked = self.words["reading"], (loaded.path, loaded.read, plan)
                    plan["privacy"] = await watched(self.workspace, says, asked_promises, *asked)
            except CancelledWorkError:
                self._adopted()  # the current policy stays and is shown again
                return
            except (SfumatoError, RefusedError) as error:
                components.alarm(components.error_text(error, self.words))
                return
        self.workspace.change_plan(plan)
        self._adopted()
