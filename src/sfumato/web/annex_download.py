"""Download the annex for an impact assessment, of rows and tables, as Markdown or Word."""

import asyncio
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

from nicegui import ui

from sfumato.localization.messages import Messages
from sfumato.pipelines.report_folder import read_annex
from sfumato.report.annex import ANNEX, WORD_ANNEX, document, markdown
from sfumato.web import components


def annex_buttons(folder: Path, words: Messages) -> None:
    """Build the buttons that create the annex of a release folder; Word only if its package is installed."""

    async def word() -> None:
        ui.download.content(await asyncio.to_thread(_word_annex, folder), WORD_ANNEX)

    def text() -> None:
        ui.download.content(markdown(read_annex(folder)), ANNEX)

    for key, run in (("download_annex", text), *((("download_annex_word", word),) if find_spec("docx") else ())):
        components.with_tooltip(components.button(words[key], run).props("outline"), words[f"tip.{key}"])


def _word_annex(folder: Path) -> bytes:
    stream = BytesIO()
    document(read_annex(folder)).save(stream)
    return stream.getvalue()
