"""The trade-off in words."""

from sfumato.microdata.methods.full_domain.alternatives import NEAR, Alternative
from sfumato.texts.words import Words


def trade_off_sentences(
    words: Words, alternatives: tuple[Alternative, ...], loss: float, rows: int, limit: int
) -> list[str]:
    """What the alternatives mean, for people."""
    lines = [_budget(words, entry, loss, rows) for entry in alternatives if entry.budget is not None]
    return [line for line in lines if line] + [
        _neighbor(words, entry, loss, rows, limit) for entry in alternatives if entry.changed is not None
    ]


def _budget(words: Words, entry: Alternative, loss: float, rows: int) -> str:
    if abs(entry.loss - loss) <= NEAR:
        return ""
    return words["report.budget_less" if entry.loss < loss else "report.budget_more"].format(
        share=f"{100 * (entry.budget or 0.0):.0f} %",
        loss=words.figure(f"{loss:.4g}"),
        other=words.figure(f"{entry.loss:.4g}"),
        suppressed=words.count(entry.suppressed_rows),
        rows=words.count(rows),
    )


def _neighbor(words: Words, entry: Alternative, loss: float, rows: int, limit: int) -> str:
    within = words["report.within" if entry.suppressed_rows <= limit else "report.beyond"]
    return words["report.neighbor"].format(
        column=entry.changed,
        level=entry.levels[entry.changed or ""],
        suppressed=words.count(entry.suppressed_rows),
        share=words.figure(f"{100 * entry.suppressed_rows / max(rows, 1):.1f}"),
        within=within.format(limit=words.count(limit)),
        other=words.figure(f"{entry.loss:.4g}"),
        loss=words.figure(f"{loss:.4g}"),
    )
