"""What nobody attacked, as reports say it."""

from collections.abc import Iterable

from sfumato.tables.cells.parts import Part

UNATTACKED = "Not attacked, so that nothing is promised:"


def unattacked(parts: Iterable[Part]) -> list[str]:
    """What nobody attacked in some parts, each once."""
    said = dict.fromkeys(what for part in parts for what in part.unattacked)
    return [f"{UNATTACKED} {what}" for what in said]
