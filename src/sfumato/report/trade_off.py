"""The trade-off in words."""

from sfumato.microdata.methods.full_domain.alternatives import NEAR, Alternative


def trade_off_sentences(alternatives: tuple[Alternative, ...], loss: float, rows: int, limit: int) -> list[str]:
    """What the alternatives mean, for people."""
    lines = [_budget(entry, loss, rows) for entry in alternatives if entry.budget is not None]
    return [line for line in lines if line] + [
        _neighbor(entry, loss, rows, limit) for entry in alternatives if entry.changed is not None
    ]


def _budget(entry: Alternative, loss: float, rows: int) -> str:
    share = f"{100 * (entry.budget or 0.0):.0f} %"
    if entry.loss < loss - NEAR:
        return (
            f"{share} suppression would cut the loss from {loss:.4g} to {entry.loss:.4g} "
            f"({entry.suppressed_rows:,} of {rows:,} rows would be withheld)."
        )
    if entry.loss > loss + NEAR:
        return f"With {share} suppression the loss would be {entry.loss:.4g} instead of {loss:.4g}."
    return ""


def _neighbor(entry: Alternative, loss: float, rows: int, limit: int) -> str:
    share = 100 * entry.suppressed_rows / max(rows, 1)
    within = "still within what the plan allows" if entry.suppressed_rows <= limit else f"the plan allows {limit:,}"
    return (
        f"{entry.changed} one level finer (level {entry.levels[entry.changed or '']}) would put "
        f"{entry.suppressed_rows:,} rows ({share:.1f} %) into classes that fail a promise ({within}); the loss would "
        f"be {entry.loss:.4g} instead of {loss:.4g}."
    )
