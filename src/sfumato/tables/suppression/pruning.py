"""Publish again, the most expensive first, the suppressed cells that no threat needs; the flows that prove it."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from sfumato.errors import UnattainableError
from sfumato.localization.messages import Message
from sfumato.tables.cells.system import AttackerKind, BoolArray
from sfumato.tables.deadline import FOREVER, Deadline
from sfumato.tables.suppression.flow_finders import local_finder_for
from sfumato.tables.suppression.linear_flows import Tableau
from sfumato.tables.suppression.problem import OUTSIDER, SLACK, Finder, Flow, SuppressionProblem, Threat
from sfumato.values import Value, replace


class ThreatProof(Value):
    """A flow as the proof that a pattern protects against a threat.

    Attributes:
        reach: How far it moves the threatened cell.
        disbelievers: The insiders who can exclude it because of their contributions to its cells.
    """

    flow: Flow
    reach: float
    disbelievers: frozenset[int]

    def avoids(self, cell: int) -> bool:
        """Return whether the flow does not move a cell."""
        return cell not in self.flow.cells

    def within(self, masked: BoolArray) -> bool:
        """Return whether all cells of the flow are suppressed."""
        return bool(masked[self.flow.cells].all())


def proof_of(problem: SuppressionProblem, threat: Threat, flow: Flow) -> ThreatProof:
    """Return a flow with the insiders who can exclude it."""
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
    """Return the attackers who can exclude all proofs; the outsider can if none reaches as far as needed."""
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
    """Return the proofs, with the reversed proofs of the opposite threat that protect against further attackers.

    Other reversed proofs are useless, and would be reversed again: their number would grow without limit.
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
    """Return the proofs without redundant ones."""
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


# Maximum number of suppressed cells for one program over all of them; with more, boxes or paths are used.
FEW_MASKED = 400
# Extra price of cells that insiders know, in programs over all cells: flows around these protect against insiders too.
KNOWN = 100.0
# Maximum number of reasons that are kept for a suppressed cell.
REMEMBERED = 6

# For each cell of a problem, the threats for which it was needed.
Reasons = dict[int, list[Threat]]


class SuppressionPruning:
    """Finds the superfluous suppressed cells of a problem; flows are over the suppressed cells only.

    `reasons` holds the threats for which earlier patterns of the problem needed a suppression, the latest first; the
    search adds new ones. The search tries these threats first, because a suppression is usually needed for the same
    threat again, and one successful attack is enough to keep it. If programs cover all suppressed cells, the reasons do
    not change the result.
    """

    def __init__(
        self,
        problem: SuppressionProblem,
        masked: BoolArray,
        proofs: Mapping[Threat, list[ThreatProof]],
        reasons: Reasons | None = None,
    ) -> None:
        self._whole, self._masked = problem, masked
        self._reasons = {} if reasons is None else reasons
        self._cells = np.flatnonzero(masked)
        self._part = problem.part(self._cells, proofs)
        prices = self._part.costs / max(float(problem.costs.max(initial=0.0)), 1e-9) * 1e3 + 1e-3
        if self._part.size <= FEW_MASKED:
            prices[self._part.known] += KNOWN
        few = self._part.size <= FEW_MASKED
        self._finder: Finder = Tableau(self._part, prices) if few else local_finder_for(self._part, prices, FEW_MASKED)
        self._exposure = QuickCheck(self._part)
        self._proofs: dict[Threat, list[ThreatProof]] = {}
        self._numbers = {threat: number for number, threat in enumerate(self._part.threats)}
        # For each cell, the numbers of the threats whose proofs move it, or did.
        self._users: list[set[int]] = [set() for _ in range(self._part.size)]
        self._failures: dict[Threat, int] = {}
        self._end = FOREVER
        for threat, own in zip(proofs, self._part.threats, strict=True):
            kept = needed(problem, threat, proofs[threat])
            self._keep(own, [replace(proof, flow=self._moved(proof.flow)) for proof in kept])

    def _moved(self, flow: Flow) -> Flow:
        return Flow(np.searchsorted(self._cells, flow.cells), flow.amounts)

    def _keep(self, threat: Threat, proofs: list[ThreatProof]) -> None:
        self._proofs[threat] = proofs
        number = self._numbers[threat]
        for proof in proofs:
            for cell in proof.flow.cells.tolist():
                self._users[cell].add(number)

    def run(
        self, deadline: Deadline, tell: Callable[[int], None] | None = None
    ) -> tuple[BoolArray, dict[Threat, list[ThreatProof]]]:
        """Return the pattern without superfluous suppressions, as far as the time allows, and its proofs."""
        kept, self._end = self._masked.copy(), deadline
        free = np.flatnonzero(~self._part.forced)
        for place, cell in enumerate(free[np.argsort(-self._part.costs[free], kind="stable")].tolist()):
            if deadline.over:
                break
            if tell is not None:
                tell(len(free) - place)
            if self._removed(cell):
                kept[self._cells[cell]] = False
        # A cell that no proof moves is not needed, even if there was no time to try it.
        kept[self._cells[~self._used() & ~self._part.forced]] = False
        return kept, self._answer()

    def _used(self) -> BoolArray:
        """Return the cells that some proof moves."""
        used = np.zeros(self._part.size, bool)
        for proofs in self._proofs.values():
            for proof in proofs:
                used[proof.flow.cells] = True
        return used

    def _removed(self, cell: int) -> bool:
        """Publish a cell if the pattern protects against all threats without it; return whether it does."""
        if self._exposure.exposes(cell):
            return False
        self._finder.reopen(cell, 0.0)
        stuck = isinstance(self._finder, Tableau) and self._finder.stuck
        changes = None if stuck else self._rerouted(cell)
        if changes is None:
            self._finder.reopen(cell, 1.0)
            return False
        self._exposure.remove(cell)
        for threat, proofs in changes.items():
            self._keep(threat, proofs)
        return True

    def _rerouted(self, cell: int) -> dict[Threat, list[ThreatProof]] | None:
        """Return new proofs for all threats whose proofs move a cell; None if a threat has no other."""
        changes: dict[Threat, list[ThreatProof]] = {}
        for threat in self._in_doubt(cell):
            proofs = [proof for proof in self._proofs[threat] if proof.avoids(cell)]
            if len(proofs) == len(self._proofs[threat]):
                continue
            found = self._proved(threat, proofs, cell, changes)
            if found is None:
                self._remember(cell, threat)
                return None
            changes[threat] = found
        return changes

    def _in_doubt(self, cell: int) -> list[Threat]:
        """Return the threats whose proofs move a cell, or did; first those that are likely to need it."""
        reasons = self._reasons.get(int(self._cells[cell]), [])
        ranks = {(reason.cell, reason.sign): place for place, reason in enumerate(reasons)}

        def rank(threat: Threat) -> tuple[int, int, int, int]:
            known = ranks.get((int(self._cells[threat.cell]), threat.sign), REMEMBERED)
            return known, -self._failures.get(threat, 0), threat.cell, threat.sign

        return sorted((self._part.threats[number] for number in self._users[cell]), key=rank)

    def _remember(self, cell: int, threat: Threat) -> None:
        """Record that a suppression is needed for a threat."""
        self._failures[threat] = self._failures.get(threat, 0) + 1
        reason, place = self._in_whole(threat), int(self._cells[cell])
        others = [other for other in self._reasons.get(place, []) if other != reason]
        self._reasons[place] = [reason, *others][:REMEMBERED]

    def _in_whole(self, threat: Threat) -> Threat:
        return replace(threat, cell=int(self._cells[threat.cell]))

    def _proved(
        self, threat: Threat, proofs: list[ThreatProof], cell: int, changes: Mapping[Threat, list[ThreatProof]]
    ) -> list[ThreatProof] | None:
        """Return proofs of a threat without a cell: existing ones, reversed opposite ones, then new ones."""
        if open_attackers(self._part, threat, proofs):
            opposite = changes.get(threat.opposite, self._proofs.get(threat.opposite, []))
            avoiding = [proof for proof in opposite if proof.avoids(cell)]
            proofs = with_turned(self._part, threat, proofs, avoiding)
        while left := open_attackers(self._part, threat, proofs):
            attack = threat if left[0] == OUTSIDER else self._part.with_insiders(threat, left[0])
            flow = self._finder.find(attack, self._end) if attack is not None else None
            if flow is None:
                return None
            proofs = [*proofs, proof_of(self._part, threat, flow)]
        return needed(self._part, threat, proofs)

    def _answer(self) -> dict[Threat, list[ThreatProof]]:
        """Return the proofs in the cells of the whole problem."""
        return {
            self._in_whole(threat): [
                replace(proof, flow=Flow(self._cells[proof.flow.cells], proof.flow.amounts)) for proof in proofs
            ]
            for threat, proofs in self._proofs.items()
        }


class QuickCheck:
    """The suppressed cells of each linear constraint, updated as cells are published one by one.

    A cell that is suppressed alone in a constraint can be computed; of two, an insider who knows one computes the
    other.
    """

    def __init__(self, problem: SuppressionProblem) -> None:
        rows, columns = problem.matrix.tocsr(), problem.columns
        self._members = [set(part.tolist()) for part in np.split(rows.indices, rows.indptr[1:-1])]
        self._of = [part.tolist() for part in np.split(columns.indices, columns.indptr[1:-1])]
        self._attacked = {threat.cell for threat in problem.threats}
        self._problem = problem

    def remove(self, cell: int) -> None:
        """Publish a cell."""
        for relation in self._of[cell]:
            self._members[relation].discard(cell)

    def exposes(self, cell: int) -> bool:
        """Return whether publishing a cell discloses a sensitive one through single constraints."""
        gone, waiting = {cell}, [cell]
        while waiting:
            for relation in self._of[waiting.pop()]:
                left = self._members[relation] - gone
                if len(left) == 1:
                    alone = next(iter(left))
                    if alone in self._attacked:
                        return True
                    gone.add(alone)
                    waiting.append(alone)
                elif len(left) == 2 and self._known_to_other(*left):
                    return True
        return False

    def _known_to_other(self, one: int, other: int) -> bool:
        """Return whether an insider who alone knows one of two cells attacks the other."""
        return self._tells(one, other) or self._tells(other, one)

    def _tells(self, one: int, cell: int) -> bool:
        if cell not in self._attacked:
            return False
        return any(
            up == 0.0 and down == 0.0 and self._problem.attacks(place, cell)
            for place, up, down in self._problem.insiders.get(one, ())
        )
