"""Remarks on the order of published rows."""

from sfumato.microdata.plan.model import Plan


def order_remarks(plan: Plan) -> tuple[str, ...]:
    """Return notes on the order of the published rows."""
    if plan.output.order == "keep":
        return (
            "The rows stand in the order of the raw file (order: keep): whoever knows that order knows whose row is "
            "whose. order: shuffle hides it.",
        )
    if plan.seed is not None:
        return (
            "The plan names its seed: whoever knows it can put the published rows back into the order of the raw file. "
            "Leave the seed out unless runs must repeat.",
        )
    return ()
