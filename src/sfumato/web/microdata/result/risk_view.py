"""The remaining risk: attackers, population, class sizes, disclosure, special uniques; and attacks on request."""

import asyncio
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from nicegui import events, ui

from sfumato.errors import SfumatoError
from sfumato.formats import UPLOADS
from sfumato.localization.messages import Messages, from_json
from sfumato.microdata.measures.population import LARGEST_POPULATION, uniqueness
from sfumato.microdata.measures.risk import attacker
from sfumato.microdata.models.equivalence_classes import Counts, Floats
from sfumato.microdata.models.re_identification_risk import expected_risks
from sfumato.report.checks import HEAD, attack_words, beside, policy_section, verdict, why_words
from sfumato.report.html_page import listing, table
from sfumato.report.plots import Pair, bars, histogram, legend
from sfumato.report.release.column_evidence import ReportData
from sfumato.report.release.findings import unique_rows
from sfumato.report.release.measures import disclosure, origins
from sfumato.service.problems import RefusedError
from sfumato.service.workers.messages import CancelledWorkError, CrashedError
from sfumato.values import Value
from sfumato.web import components
from sfumato.web.job_progress import watched
from sfumato.web.microdata.result.result_figures import Figures, attacked
from sfumato.web.projects.workspace import Run, Workspace

ESTIMATORS = ("dankar", "pitman", "zayatz", "snb")
Sizes = Mapping[int, int]
# Number of column sets listed with the rows that they single out.
MOST_TELLING = 5


class Distribution(Value):
    """Distribution of class sizes: number of classes and rows per size; sizes count persons if there are any."""

    classes: Sizes
    rows: Sizes

    @property
    def whole(self) -> int:
        """Return the sum of the sizes of all classes."""
        return sum(size * count for size, count in self.classes.items())


class AttackerSummary(Value):
    """The success of an attacker: highest and mean risk of a row, and the expected number of rows found."""

    highest: float
    average: float
    expected: float


def distribution_of(risk: Mapping[str, Any]) -> Distribution:
    """Return the distribution of class sizes in a report; rows equal sizes unless the report has its own.

    >>> distribution_of({"sizes": {"5": 2}, "rows_of_sizes": {"5": 30}})
    Distribution(classes={5: 2}, rows={5: 30})
    """
    classes = {int(size): int(count) for size, count in (risk.get("sizes") or {}).items()}
    told = {int(size): int(rows) for size, rows in (risk.get("rows_of_sizes") or {}).items()}
    return Distribution(classes, told or {size: size * count for size, count in classes.items()})


def attacker_risks(spread: Distribution, population: int | None) -> dict[str, AttackerSummary]:
    """Return the risk of the three attacker models by name; without a population, these rows count as the whole of it.

    >>> alike = distribution_of({"sizes": {"1": 1, "3": 1}})
    >>> found = attacker_risks(alike, None)
    >>> found["prosecutor"] == found["journalist"] == AttackerSummary(1.0, 0.5, 2.0)
    True
    >>> attacker_risks(alike, 400)["journalist"].highest < 0.1
    True
    """
    sizes, rows = (np.array([*part], np.int64) for part in (spread.rows, spread.rows.values()))
    known = _attack(rows, 1 / np.maximum(sizes, 1))
    if population is None or population <= spread.whole or not spread.whole:
        return {"prosecutor": known, "journalist": known, "marketer": known}
    persons: Floats = (sizes * (population / spread.whole)).astype(np.float64)
    guessed = _attack(rows, expected_risks(sizes, persons))
    return {"prosecutor": known, "journalist": guessed, "marketer": guessed}


def estimates(spread: Distribution, population: int) -> dict[str, float | None]:
    """Return the estimated number of population uniques, by estimator; None if undefined."""
    counts = np.repeat(np.array([*spread.classes], np.int64), np.array([*spread.classes.values()], np.int64))
    found = uniqueness(counts, max(population, int(counts.sum())))
    return {name: getattr(found, name).uniques for name in ESTIMATORS}


def _attack(rows: Counts, risks: Floats) -> AttackerSummary:
    figures = attacker(rows, risks, 1.0)
    return AttackerSummary(figures.highest, figures.average, figures.average * int(rows.sum()))


def show_risks(dossier: ReportData, report: dict[str, Any]) -> None:
    """Build all views, one below the other."""
    words = dossier.words
    _attackers(words, report)
    with ui.element("div").classes("sf-halves"):
        _sizes(words, report)
        _special(words, report["risk"].get("special_uniques") or {}, report["risk"].get("special_uniques_after") or {})
    _policy(words, report.get("policy") or {})
    _disclosure(words, dossier)
    _origins(words, report)


def _attackers(words: Messages, report: dict[str, Any]) -> None:
    """Show the attacker models with their risk; those without knowledge of participation depend on the population."""
    sides = {side: distribution_of(report["risk"][side]) for side in ("before", "after")}
    rows = sides["before"].whole
    with components.card(words["risk.attackers"]):
        field = ui.number(words["risk.population"], min=rows, max=LARGEST_POPULATION, precision=0, format="%d")
        field.classes("sf-population").props("dense outlined clearable debounce=300")
        components.with_tooltip(field, words["risk.population.help"])
        container = ui.column().classes("w-full gap-3").props('aria-live="polite"')

        def show(population: int | None) -> None:
            with components.refilled(container):
                _attacker_cards(words, sides, population)

        async def change(event: events.ValueChangeEventArguments[Any]) -> None:
            population = int(event.value) if event.value and event.value >= rows else None
            # The first call loads compiled loops; other visitors should not wait for it.
            await asyncio.to_thread(attacker_risks, sides["after"], population)
            show(population)

        field.on_value_change(change)
        show(None)


def _attacker_cards(words: Messages, sides: Mapping[str, Distribution], population: int | None) -> None:
    before, after = (attacker_risks(sides[side], population) for side in ("before", "after"))
    with ui.element("div").classes("sf-thirds"):
        for name in ("prosecutor", "journalist", "marketer"):
            _attacker_card(words, name, before[name], after[name])
    if population is None:
        ui.label(words["risk.same"]).classes("sf-soft sf-small")
        return
    try:
        found = [estimates(sides[side], population) for side in ("before", "after")]
    except SfumatoError as error:
        components.notice(components.error_text(error, words), good=False)
        return
    ui.label(words["risk.population_uniques"]).classes("font-bold")
    rows = [(words[f"risk.estimator.{name}"], *(_estimate(words, side[name]) for side in found)) for name in ESTIMATORS]
    content = table([words["risk.estimator"], words["report.before"], words["report.after"]], rows, words)
    ui.html(content, sanitize=False).classes("sf-table").props('tabindex="0"')


def _estimate(words: Messages, persons: float | None) -> str:
    return words["risk.no_estimate"] if persons is None else words.count(round(persons))


def _attacker_card(words: Messages, name: str, before: AttackerSummary, after: AttackerSummary) -> None:
    main = "average" if name == "marketer" else "highest"
    figure = f"{words.percent(getattr(before, main))} → {words.percent(getattr(after, main))}"
    sentences = [words[f"risk.attacker.{main}"]]
    if main == "highest":
        means = {"before": words.percent(before.average), "after": words.percent(after.average)}
        sentences.append(words["risk.attacker.mean"].format(**means))
    found = {"before": words.count(round(before.expected)), "after": words.count(round(after.expected))}
    sentences.append(words["risk.attacker.found"].format(**found))
    lines = "".join(f"<span>{escape(line)}</span><br>" for line in sentences)
    content = (
        f'<h4>{escape(words[f"risk.attacker.{name}"])}</h4><p class="sf-soft sf-small">'
        f"{escape(words[f'risk.attacker.{name}.says'])}</p><b>{escape(figure)}</b>{lines}"
    )
    ui.html(content, sanitize=False).classes("tile sf-attacker")


def _sizes(words: Messages, report: dict[str, Any]) -> None:
    pairs = [Pair(entry["rows"], entry["before"], entry["after"]) for entry in report.get("class_sizes") or ()]
    if not pairs:
        return
    small = words.percent(sum(pair.before or 0.0 for pair in pairs[:2]))
    about = words["report.sizes"].format(share=small)
    with components.card(words["risk.sizes"]):
        ui.label(about).classes("sf-soft sf-small")
        drawn = histogram(words, pairs, words["report.sizes_axis"], about)
        ui.html(legend(words) + drawn, sanitize=False).classes("w-full sf-plot").props('tabindex="0"')


def _special(words: Messages, special: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Show the rows that few columns single out in the original data, these columns, and the remaining rows."""
    if not special.get("rows"):
        return
    with components.card(words["risk.special"]):
        ui.label(words["risk.special.says"].format(rows=words.count(special["rows"]))).classes("sf-soft sf-small")
        if after:
            dis = {"before": words.percent(special["highest_dis"]), "after": words.percent(after["highest_dis"])}
            told = words["measure.special_after"].format(rows=words.count(after["rows"]), **dis)
            ui.label(told).classes("sf-soft sf-small")
        sizes = [_set_bar(words, size, count) for size, count in enumerate(special["sizes"], 1) if count]
        drawn = bars(sizes, words["risk.special.sets"], words["risk.special"])
        shares = [(name, share, words.percent(share)) for name, share in special["columns"].items()]
        part = bars(sorted(shares, key=lambda entry: -entry[1])[:8], words["risk.special.part"], words["risk.special"])
        ui.html(drawn + part, sanitize=False).classes("w-full sf-plot").props('tabindex="0"')


def _set_bar(words: Messages, size: int, count: int) -> tuple[str, float, str]:
    name = words["risk.special.one" if size == 1 else "risk.special.columns"].format(count=size)
    return name, float(count), words.count(count)


def _disclosure(words: Messages, dossier: ReportData) -> None:
    """Show attribute disclosure by classes, and rows that other columns single out."""
    tells = dossier.report.disclosure
    most = sorted(tells.unique_rows, key=lambda one: -one.rows)[:MOST_TELLING]
    published = dossier.report.published_rows
    lines = [unique_rows(words, one.columns, one.rows, published) for one in most if one.rows]
    parts = [*disclosure(words, tells), *([listing(lines)] if lines else [])]
    if parts:
        with components.card():
            ui.html("".join(parts), sanitize=False).classes("w-full sf-prose sf-table sf-wrapped").props('tabindex="0"')


def _policy(words: Messages, figures: Mapping[str, Any]) -> None:
    """Show the verdict by the policy of the plan."""
    if figures:
        with components.card():
            ui.html(policy_section(figures, words), sanitize=False).classes("sf-prose sf-table sf-wrapped").props(
                'tabindex="0"'
            )


def _origins(words: Messages, report: dict[str, Any]) -> None:
    parts = "".join(origins(words, report["risk"], report["levels"]))
    if parts:
        with components.card():
            ui.html(parts, sanitize=False).classes("w-full sf-prose")


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
            self._container = ui.column().classes("w-full gap-3").props('role="status" aria-live="polite"')
            with ui.expansion(words["attack.control_file"]).classes("w-full"):
                ui.label(words["attack.control_says"]).classes("sf-soft sf-small")
                most = self.workspace.pool.settings.upload_bytes
                components.upload(words["attack.control_upload"], self._uploaded, most, words, UPLOADS)
            self._button = components.button(words["attack.run"], self._attack).props("outline")
            self._button.classes("self-start")
        kept = self.run.folder / RESULT
        if kept.exists():
            self._show(from_json(kept.read_text(encoding="utf-8")))

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
        self._container.clear()
        try:
            with self._container:
                says = self.words["attack.running"]
                asked = (self.run.folder, loaded.path, self._control)
                figures = await watched(self.workspace, says, attacked, *asked, reruns=True)
        except CancelledWorkError:
            return
        except (SfumatoError, RefusedError, CrashedError) as error:
            with components.refilled(self._container):
                components.notice(components.error_text(error, self.words), good=False)
            return
        finally:
            self._button.enable()
        self._show(figures)
        self._told()

    def _show(self, figures: Figures) -> None:
        words = self.words
        with components.refilled(self._container):
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
