"""Help inside the server: how the pages are used, the words of the field, the documentation; no network is needed."""

import re

from nicegui import ui

from sfumato.manual import pages, title
from sfumato.report.page.html_parts import definitions
from sfumato.report.release.sign_off import glossary_entries
from sfumato.web import components
from sfumato.web.shell import Shell

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
    shelf = pages()
    if shelf:
        with components.card(words["help_documents"]):
            for path in shelf.values():
                with ui.expansion(title(path)).classes("w-full"):
                    ui.markdown(
                        _PICTURE.sub("", path.read_text(encoding="utf-8")), extras=["tables", "fenced-code-blocks"]
                    )
