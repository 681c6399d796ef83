"""The error for promises that no node can keep, with what would be attainable instead."""

from sfumato.errors import UnattainableError
from sfumato.microdata.methods.problem import Problem


def unattainable(problem: Problem) -> UnattainableError:
    """Says why nothing can be released, and what could be."""
    for model in problem.models:
        why = model.limits(problem.table.whole)
        if why:
            return UnattainableError(why, "Ask for less, or add rows.", model.name)
    top = problem.judge(problem.highest)
    if top.suppressed_rows < problem.table.rows:
        needed = top.suppressed_rows
        return UnattainableError(
            f"No combination of levels keeps the promises with at most {problem.limit} suppressed rows.",
            f"At the highest levels {needed} rows would have to be suppressed "
            f"({needed / problem.table.rows:.1%} of them): allow that, raise max_level, or ask for less.",
            "budget",
        )
    return UnattainableError(
        "Not even the highest levels allowed keep the promises.", "Raise max_level, or ask for less.", "top"
    )
