"""Help inside the server: how the pages are used, the words of the field, the documentation; no network is needed."""

import re
from pathlib import Path

from nicegui import ui

from sfumato.report.page.html_parts import definitions
from sfumato.report.release.sign_off import glossary_entries
from sfumato.web import components
from sfumato.web.shell import Shell

# The documentation lies beside the source, or inside the package where it is installed.
PLACES = (Path(__file__).parents[4] / "docs", Path(__file__).parents[2] / "docs")
# Pictures are not served: they show what the reader has open anyway.
_PICTURE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
STEPS = ("data", "columns", "goal", "result", "release")


def build(shell: Shell) -> None:
    """The area for a workspace."""
    words = shell.workspace.words
    with components.head(words["help_area"], words["help_about"]):
        pass
    with components.card(words["help_steps"]):
        entries = [(words[step], words[f"help.{step}"]) for step in STEPS]
        ui.html(definitions(entries), sanitize=False).classes("sf-glossary")
    with components.card(words["sign.glossary"]):
        ui.html(definitions(glossary_entries(words)), sanitize=False).classes("sf-glossary")
    pages = documents()
    if pages:
        with components.card(words["help_documents"]):
            for name, path in pages.items():
                with ui.expansion(name).classes("w-full"):
                    ui.markdown(
                        _PICTURE.sub("", path.read_text(encoding="utf-8")), extras=["tables", "fenced-code-blocks"]
                    )


def documents() -> dict[str, Path]:
    """The documentation by its titles, where it is installed."""
    folder = next((place for place in PLACES if (place / "pages.md").exists()), None)
    paths = sorted(folder.glob("*.md")) if folder else []
    return {_title(path): path for path in paths}


def _title(path: Path) -> str:
    first = path.read_text(encoding="utf-8").partition("\n")[0]
    return first.lstrip("# ").strip() or path.stem
