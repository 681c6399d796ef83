"""Result of a search that timed out before it found any releasable node.

Nodes that distinguish rows are tried from the top down for a short extra time; the first releasable one is returned. If
none is found, it is unknown whether one exists, and the error says so instead of claiming that there is none.
"""

from sfumato.localization.messages import Message
from sfumato.microdata.methods.full_domain.lattice.problem import LatticeProblem, NodeEvaluation, NodeSolution
from sfumato.microdata.methods.full_domain.unattainable import only_top
from sfumato.microdata.methods.time_limit import GRACE, Deadline, out_of_time

REMARK = "{seconds:g} s were over before a release was found: this one is the first from the top down."


def releasable(problem: LatticeProblem, solution: NodeSolution) -> NodeSolution:
    """Return a releasable solution: itself or, after a timeout, the first one from the top down.

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
