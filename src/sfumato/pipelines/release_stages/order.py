"""Remarks on the order of published rows."""

from sfumato.localization.messages import Message
from sfumato.microdata.plan.model import Plan


def order_remarks(plan: Plan) -> tuple[str, ...]:
    """Return notes on the order of the published rows."""
    if plan.output.order == "keep":
        return (Message("note.order_kept"),)
    if plan.seed is not None:
        return (Message("note.seed_named"),)
    return ()
