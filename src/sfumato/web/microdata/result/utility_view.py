"""What each column preserved: original and published distribution next to each other, and the detail that is left."""

from dataclasses import replace
from html import escape
from typing import Any

from nicegui import ui

from sfumato.localization.messages import Messages
from sfumato.report.plots import Pair, histogram, legend, meter, short_names
from sfumato.report.release.columns import coded_columns
from sfumato.report.release.measures import forcing_sentences
from sfumato.web import components
from sfumato.web.microdata.result.result_figures import KeptColumn, kept_columns
from sfumato.web.projects.workspace import Workspace


def build(workspace: Workspace, report: dict[str, Any]) -> None:
    """Build the card of columns, and why values had to be generalized."""
    words = workspace.words
    with components.card():
        with ui.element("div").classes("sf-head"):
            ui.html(f"<h3>{escape(words['kept'])}</h3>", sanitize=False).classes("sf-title")
            ui.label(words["kept_hint"]).classes("sf-soft sf-small")
            ui.html(legend(words), sanitize=False)
        lines = "".join(line(words, _shown(workspace, column)) for column in kept_columns(report))
        ui.html(lines, sanitize=False).classes("w-full")
    coded = "".join(coded_columns(words, report))
    if coded:
        with components.card(words["coded"]):
            ui.html(coded, sanitize=False).classes("w-full sf-prose sf-table sf-wrapped").props('tabindex="0"')
    why = list(forcing_sentences(words, report["risk"], report["levels"]))
    if why:
        with components.card(words["why"]):
            for sentence in why:
                ui.label(sentence)


def _shown(workspace: Workspace, column: KeptColumn) -> KeptColumn:
    """Return a column with its values formatted for display."""
    loaded, words = workspace.loaded, workspace.words
    if loaded is None:
        return column
    pairs = (replace(pair, name=loaded.shown(column.name, pair.name, words)) for pair in column.shares)
    return replace(column, shares=tuple(pairs))


def line(words: Messages, column: KeptColumn) -> str:
    """Return the line of a column; expanded, it shows a large chart of its distribution."""
    key = "kept_one_value" if column.after == 1 else "kept_values"
    values = words[key].format(before=words.count(column.before), after=words.count(column.after))
    note = words["kept_lost"] if column.lost else values
    bar = meter(words, column.share) if column.share is not None else ""
    head = (
        f'<div class="sf-kept"><b class="name">{escape(column.name)}</b>{pair_bars(column.shares)}<div>{bar}</div>'
        f'<span class="sf-soft sf-small">{escape(note)}</span></div>'
    )
    if len(column.shares) < 2:
        return head
    about = f"{column.name}: {words['report.distributions']}"
    drawn = histogram(words, short_names(column.shares), "", about)
    return f"<details><summary>{head}</summary>{drawn}</details>"


def pair_bars(pairs: tuple[Pair, ...], width: float = 132.0, height: float = 26.0) -> str:
    """Draw a small chart of a distribution before and after: two paths of adjacent bars."""
    top = max((share for pair in pairs for share in (pair.before, pair.after) if share), default=1.0)
    step = width / max(len(pairs), 4)
    paths = []
    for kind, left in (("before", 0.0), ("after", 0.42)):
        shown = "".join(
            f"M{(place + left) * step:.4g} {height:g}v-{share / top * height:.4g}h{step * 0.38:.3g}"
            f"v{share / top * height:.4g}z"
            for place, pair in enumerate(pairs)
            if (share := getattr(pair, kind))
        )
        paths.append(f'<path class="{kind}" d="{shown}"/>')
    box = f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}"'
    return f'<svg class="sf-pair" {box} aria-hidden="true">{"".join(paths)}</svg>'
