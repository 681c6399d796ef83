"""Remarks on the order of published rows."""

from sfumato.microdata.plan.model import Plan


def order_remarks(plan: Plan) -> tuple[str, ...]:
    """Return notes on the order of the published rows."""
    if plan.output.order == "keep":
        return (
            "Rows are in the order of the raw file (order: keep): anyone who knows that order can "
            "identify rows. order: shuffle prevents this.",
        )
    if plan.seed is not None:
        return (
            "The plan names its seed: anyone who knows it can restore the row order of the raw "
            "file. Omit the seed unless runs must be repeatable.",
        )
    return ()
