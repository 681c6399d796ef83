"""The trade-off between loss and suppression, in words."""

from sfumato.localization.messages import Messages
from sfumato.microdata.methods.full_domain.trade_off import NEAR, TradeOffPoint
from sfumato.microdata.release_report import Report


def trade_off_sentences(
    words: Messages, alternatives: tuple[TradeOffPoint, ...], report: Report, limit: int
) -> list[str]:
    """Return the alternatives in words."""
    lines = [_budget(words, entry, report) for entry in alternatives if entry.suppression_limit is not None]
    return [line for line in lines if line] + [
        _neighbor(words, entry, report, limit) for entry in alternatives if entry.changed is not None
    ]


def _losses(words: Messages, entry: TradeOffPoint, report: Report) -> dict[str, str]:
    """Return the losses of the release and of an alternative, as a mean if the objective is a sum of it."""
    means = [report.mean_of(entry.loss), report.mean_of(report.loss.value)]
    kind = words["report.figures.objective"].format(name=report.loss.name)
    if None in means:
        other, own, what = f"{entry.loss:.4g}", f"{report.loss.value:.4g}", kind
    else:
        # Finer than other percentages, because neighbors may differ by little.
        (other, own), what = (f"{100 * (mean or 0.0):.4g} %" for mean in means), words["loss"]
    return {"other": words.figure(other), "loss": words.figure(own), "what": what}


def _budget(words: Messages, entry: TradeOffPoint, report: Report) -> str:
    rows, loss = report.rows, report.loss.value
    if abs(entry.loss - loss) <= NEAR:
        return ""
    return words["report.budget_less" if entry.loss < loss else "report.budget_more"].format(
        share=f"{100 * (entry.suppression_limit or 0.0):.0f} %",
        **_losses(words, entry, report),
        suppressed=words.count(entry.suppressed_rows),
        rows=words.count(rows),
    )


def _neighbor(words: Messages, entry: TradeOffPoint, report: Report, limit: int) -> str:
    within = words["report.within" if entry.suppressed_rows <= limit else "report.beyond"]
    return words["report.neighbor"].format(
        column=entry.changed,
        level=entry.levels[entry.changed or ""],
        suppressed=words.count(entry.suppressed_rows),
        share=words.figure(f"{100 * entry.suppressed_rows / max(report.rows, 1):.1f}"),
        within=within.format(limit=words.count(limit)),
        **_losses(words, entry, report),
    )
