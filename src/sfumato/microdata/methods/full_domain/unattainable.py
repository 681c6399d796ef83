"""What a search returns without a releasable node: an error with attainable parameters, or a first release in time."""

import math
from typing import Any

from sfumato.errors import SfumatoError, UnattainableError
from sfumato.localization.messages import Message
from sfumato.microdata.counts.grouping import Node
from sfumato.microdata.methods.class_assessment import beyond_limits
from sfumato.microdata.methods.full_domain.problem import LatticeProblem, NodeSolution
from sfumato.microdata.methods.search_result import GRACE, Deadline, NodeEvaluation, out_of_time
from sfumato.microdata.models.model import PrivacyModel

# Maximum number of nodes examined to find what would be attainable.
MAX_NODES = 2_000
MOST_SECONDS = 1.0


def unattainable(problem: LatticeProblem) -> SfumatoError:
    """Return the error: why no release is possible and what to change, or that the search timed out."""
    error = beyond_limits(problem.models, problem.table.whole)
    if error is not None:
        return error
    if problem.deadline.over and problem.evaluate(problem.highest).certain_rows <= problem.limit:
        return out_of_time(problem.time_limit)
    nearest = least_suppression(problem, problem.highest)
    if nearest is not None and nearest.suppressed_rows < problem.table.rows:
        return UnattainableError(
            "budget",
            share=_share(problem.limit, problem),
            asked=_asked(problem),
            share2=_share(nearest.suppressed_rows, problem),
            suppressed_rows=nearest.suppressed_rows,
            reachable=_reachable(problem, problem.highest),
        )
    return UnattainableError(
        "top.not_even_highest_levels", asked=_asked(problem), reachable=_reachable(problem, problem.highest)
    )


def only_top(problem: LatticeProblem, best: NodeEvaluation) -> SfumatoError:
    """Return the error for a model of a sensitive column that is satisfied only if all rows are identical.

    Args:
        best: The node that was found, which may not be released.
    """
    if not best.satisfied:
        return unattainable(problem)
    asked: dict[str, Any] = {"limit": _share(problem.limit, problem), "asked": _asked(problem)}
    nearest = least_suppression(problem, problem.highest)
    # A node within the limit that is still not offered needs no further rows.
    if nearest is None or not problem.limit < nearest.suppressed_rows < problem.table.rows:
        return UnattainableError("top.nothing", **asked)
    return UnattainableError(
        "top.would",
        **asked,
        share=_share(nearest.suppressed_rows, problem),
        suppressed_rows=nearest.suppressed_rows,
        reachable=_reachable(problem, nearest.node),
    )


def least_suppression(problem: LatticeProblem, top: Node) -> NodeEvaluation | None:
    """Return the node that suppresses the fewest rows, from a top node down, among those that distinguish rows.

    A node is skipped if finer nodes must suppress more rows than the best one found.
    """
    waiting, seen, deadline = [top], {top}, Deadline(MOST_SECONDS)
    best: NodeEvaluation | None = None
    for node in waiting:
        if deadline.over:
            break
        judgment = problem.evaluate(node)
        fewer = best is None or judgment.suppressed_rows < best.suppressed_rows
        if fewer and judgment.classes and judgment.tells:
            best = judgment
        if best is not None and judgment.certain_rows >= best.suppressed_rows:
            continue
        finer = [below for below in problem.neighbors(node, -1) if below not in seen]
        seen.update(finer)
        waiting.extend(finer[: max(MAX_NODES - len(waiting), 0)])
    return best


def _share(rows: int, problem: LatticeProblem) -> str:
    """Return rows as a share of all, rounded up to a sufficient value."""
    if rows == 0:
        return "0 %"
    percent = 100 * rows / problem.table.rows
    for digits in (0, 1, 2, 3):
        step = 10**-digits
        up = -(-percent // step) * step
        if up <= 1.1 * percent or digits == 3:
            return f"{up:.{digits}f} %"
    raise AssertionError


def _asked(problem: LatticeProblem) -> Message:
    return Message("joined", parts=tuple(_guarantee(model) for model in problem.models))


def _guarantee(model: PrivacyModel) -> Message:
    """Return a requested model with the column it refers to."""
    values = {"symbol": _symbol(model), "number": model.requested, "model": model.name}
    if model.column is None:
        return Message("phrase.requested", **values)
    return Message("phrase.requested_of", **values, column=model.column)


def _symbol(model: PrivacyModel) -> str:
    """Return the plan key of a model's parameter."""
    from sfumato.values import fields

    own: Any = getattr(model, "model", model)  # one that counts persons is about another
    numbers = [name for name in fields(own) if getattr(own, name) == model.requested]
    return numbers[0] if numbers else Message("phrase.limit")


def _reachable(problem: LatticeProblem, node: Node) -> Message | str:
    """Return what could be requested instead: the achieved parameter of each violated model without suppression."""
    classes = problem.classes(problem.grouper.at(node))
    whole = problem.table.whole
    achieved = [
        (model, model.achieved(classes, whole)) for model in problem.models if model.violating(classes, whole).any()
    ]
    reached = {
        _parameter(problem, model, _rounded(number, model.requested)): None
        for model, number in achieved
        if _promises(model, number)
    }
    return Message("phrase.reachable", parts=tuple(reached)) if reached else ""


def _parameter(problem: LatticeProblem, model: PrivacyModel, number: str) -> Message:
    """Return a parameter of a model, with the column it refers to if several models refer to columns."""
    several = sum(other.column is not None for other in problem.models) > 1
    if several and model.column:
        return Message("phrase.parameter_of", symbol=_symbol(model), number=number, column=model.column)
    return Message("phrase.parameter", symbol=_symbol(model), number=number)


def _promises(model: PrivacyModel, reached: float) -> bool:
    """Return whether a parameter value is meaningful: every class has at least one row and one value."""
    return math.isfinite(reached) and (reached > 1 or _symbol(model) not in ("k", "l"))


def _rounded(reached: float, asked: float) -> str:
    """Return a parameter value in few digits, rounded to the side that is still attainable."""
    if reached == int(reached):
        return str(int(reached))
    scaled = reached * 10_000
    return f"{(math.ceil(scaled) if reached > asked else math.floor(scaled)) / 10_000:g}"


REMARK = "{seconds:g} s were over before a release was found: this one is the first from the top down."


def releasable(problem: LatticeProblem, solution: NodeSolution) -> NodeSolution:
    """Return a releasable solution: itself or, after a timeout, the first one from the top down.

    Nodes that distinguish rows are tried from the top down for a short extra time; the first releasable one is
    returned. If none is found, it is unknown whether one exists, and the error says so instead of claiming that there
    is none.

    Raises:
        UnattainableError: No level below the top satisfies the models.
        EngineError: The time was over before anything was found.
    """
    if problem.offers(solution.best):
        return solution
    if not solution.cut_short:
        raise only_top(problem, solution.best)
    return first_release(problem, solution.checked)


def first_release(problem: LatticeProblem, checked: int = 0) -> NodeSolution:
    """Return the first releasable node from the top down.

    Raises:
        UnattainableError: There is none.
        EngineError: There was no time to find it.
    """
    top, deadline = problem.evaluate(problem.highest), Deadline(GRACE)
    waiting, seen = [top], {top.node}
    for judgment in waiting:
        if problem.offers(judgment):
            return _solution(problem, judgment, checked + len(seen))
        if judgment.certain_rows > problem.limit:
            continue
        for node in problem.neighbors(judgment.node, -1):
            if deadline.over:
                raise out_of_time(problem.time_limit)
            if node not in seen:
                seen.add(node)
                waiting.append(problem.evaluate(node))
    raise only_top(problem, top)


def _solution(problem: LatticeProblem, first: NodeEvaluation, checked: int) -> NodeSolution:
    remark = Message("note.last_resort", seconds=problem.time_limit)
    return NodeSolution(first, False, min(checked, problem.size), problem.size, notes=(remark,), cut_short=True)
