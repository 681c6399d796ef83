"""List what the audit did not cover, for reports."""

from collections.abc import Iterable
from typing import Any

from sfumato.localization.messages import Messages
from sfumato.tables.cells.table_part import TablePart
from sfumato.tables.table_result import TableAnswer

UNATTACKED = "Not audited, therefore not guaranteed:"


def not_audited(parts: Iterable[TablePart]) -> list[str]:
    """Return what was not audited in some parts, each once."""
    said = dict.fromkeys(what for part in parts for what in part.not_audited)
    return [f"{UNATTACKED} {what}" for what in said]


def unattacked_words(words: Messages, answer: TableAnswer[Any]) -> list[str]:
    """Return that there is no guarantee for a table, and why, if the audit was incomplete."""
    said = not_audited(one.part for one in answer.parts)
    return [words["tabled.unattacked"], *map(words.text, said)] if said else []
