"""A set of flows that together leave no attacker who can exclude all of them."""

from collections.abc import Iterable, Sequence

from sfumato.dataclass import dataclass
from sfumato.errors import UnattainableError
from sfumato.localization.messages import Message
from sfumato.tables.cells.system import AttackerKind, BoolArray
from sfumato.tables.suppression.flows.flow import SLACK, Flow
from sfumato.tables.suppression.problem import OUTSIDER, SuppressionProblem, Threat


@dataclass(frozen=True, slots=True)
class ThreatProof:
    """A flow as the proof that a threat is withstood.

    Attributes:
        reach: How far it moves the threatened cell.
        disbelievers: Who knows that it cannot be, by what he knows of the cells on its way.
    """

    flow: Flow
    reach: float
    disbelievers: frozenset[int]

    def avoids(self, cell: int) -> bool:
        """Whether a cell is not on the way."""
        return cell not in self.flow.cells

    def within(self, masked: BoolArray) -> bool:
        """Whether all cells on the way are masked."""
        return bool(masked[self.flow.cells].all())


def proof_of(problem: SuppressionProblem, threat: Threat, flow: Flow) -> ThreatProof:
    """A flow with those who know that it cannot be, as far as it must reach for them."""
    reach = flow.reach(threat.cell)
    disbelievers: set[int] = set()
    known = problem.known[flow.cells] & (flow.cells != threat.cell)
    for cell, amount in zip(flow.cells[known].tolist(), flow.amounts[known].tolist(), strict=True):
        for place, up, down in problem.insiders[cell]:
            need = problem.need_of(threat, place) if place not in disbelievers else 0.0
            moved = amount * need / reach
            if moved > up * (1 + SLACK) + 1e-9 or -moved > down * (1 + SLACK) + 1e-9:
                disbelievers.add(place)
    return ThreatProof(flow, reach, frozenset(disbelievers))


def open_attackers(problem: SuppressionProblem, threat: Threat, proofs: Sequence[ThreatProof]) -> list[int]:
    """Who is not convinced by any of the proofs; the outsider by one that reaches as far as is needed."""
    full = [proof for proof in proofs if proof.reach >= threat.need * (1 - SLACK)]
    if not full:
        return [OUTSIDER]
    left = min((proof.disbelievers for proof in full), key=len)
    return sorted(place for place in left if not _convinced(problem, threat, place, proofs))


def _convinced(problem: SuppressionProblem, threat: Threat, place: int, proofs: Iterable[ThreatProof]) -> bool:
    reach = max((proof.reach for proof in proofs if place not in proof.disbelievers), default=0.0)
    return reach > 0 and (threat.need if place == OUTSIDER else problem.need_of(threat, place)) <= reach * (1 + SLACK)


def with_turned(
    problem: SuppressionProblem, threat: Threat, proofs: Sequence[ThreatProof], opposite: Iterable[ThreatProof]
) -> list[ThreatProof]:
    """The proofs, and those of the opposite threat turned round that convince somebody whom they do not.

    Others would be kept for nothing, and come back turned round once more: their number would grow without end.
    """
    kept = list(proofs)
    left = open_attackers(problem, threat, kept)
    for proof in opposite if left else ():
        flow = proof.flow.turned(min(threat.need, proof.reach), threat.cell)
        turned = proof_of(problem, threat, flow) if flow.fits(problem.up, problem.down) else None
        if turned is not None and any(_convinced(problem, threat, place, [turned]) for place in left):
            kept.append(turned)
            left = open_attackers(problem, threat, kept)
            if not left:
                break
    return kept


def needed(problem: SuppressionProblem, threat: Threat, proofs: Sequence[ThreatProof]) -> list[ThreatProof]:
    """The proofs without those that the others make superfluous."""
    kept = list(proofs)
    for proof in reversed(proofs):
        others = [other for other in kept if other is not proof]
        if others and not open_attackers(problem, threat, others):
            kept = others
    return kept


def infeasible_protection(problem: SuppressionProblem, threat: Threat) -> UnattainableError:
    """The error for a cell that no pattern protects; `rows` holds its place in the table, counted from 1."""
    if threat.attacker == OUTSIDER:
        who, help_ = "", Message("error.part.join_it_with_another")
    else:
        attacker = problem.attackers[threat.attacker]
        who = f" from {attacker.name}"
        option = "coalition: 1" if attacker.kind is AttackerKind.COALITION else f"{attacker.kind}: false"
        help_ = Message("error.part.join_it_or_leave_out_more", option=option)
    return UnattainableError("unprotectable", hint=help_, reason=who).about(rows=[int(problem.places[threat.cell]) + 1])
