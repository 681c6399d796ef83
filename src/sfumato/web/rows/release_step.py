"""The step of the release: downloads, and the command line and Python that would do the same."""

from nicegui import ui

from sfumato.shapes.files import written
from sfumato.web import components
from sfumato.web.rows.area import Area


def build(area: Area) -> None:
    """The step, for an area."""
    visit, words = area.visit, area.visit.words
    if area.needs_data():
        return
    if visit.result is None:
        ui.label(words["no_result"])
        area.ways("result", None)
        return
    folder = visit.result
    data = next(path for path in folder.iterdir() if path.name in ("data.csv", "data.parquet"))
    files = [(words["download_data"], data), (words["download_report"], folder / "report.html")]
    files += [(words["download_external"], folder / "report-external.html")]
    files += [(words["download_all"], folder.parent / "result.zip")]
    files += [(name, path) for name, path in visit.extra.items() if name in _plan(area)]
    with ui.card().classes("sf-card"):
        if visit.outdated:
            components.notice(words["earlier"], good=None)
        ui.label(words["download"]).classes("font-bold")
        with ui.row():
            for text, path in files:
                components.button(text, lambda path=path: ui.download.file(path))
            components.button(words["download_plan"], lambda: ui.download.content(_plan(area), "plan.yaml"))
    with ui.card().classes("sf-card mt-2"):
        ui.label(words["same"]).classes("font-bold")
        ui.code("sfumato anonymize plan.yaml --out release", language="bash").classes("w-full")
        ui.label(words["same_python"]).classes("font-bold")
        ui.code(PYTHON, language="python").classes("w-full")
        ui.code(_plan(area), language="yaml").classes("w-full")
    area.ways("result", None)


PYTHON = """import sfumato as sf

release = sf.anonymize(None, "plan.yaml")
release.save("release")"""


def _plan(area: Area) -> str:
    """The plan as it was run, to lie beside the data."""
    return written(area.visit.released)
