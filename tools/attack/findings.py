"""What an attack came to: how many statements were judged, and which of them a stranger refutes."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Outcome:
    """Of one case: how it ended, how often a kind of statement was judged, what refutes it."""

    kind: str
    seed: int
    ended: str = "refused"
    judged: Counter[str] = field(default_factory=Counter)
    refuted: dict[str, str] = field(default_factory=dict)

    def add(self, what: str, wrong: str | None) -> None:
        """Count a statement as judged; with what is wrong about it, as refuted, too."""
        self.judged[what] += 1
        if wrong is not None:
            self.refuted.setdefault(what, wrong)


def lines(outcomes: Sequence[Outcome]) -> list[str]:
    """Counts of each kind, and what was refuted, with the seed by which it is run again."""
    printed = []
    for kind in sorted({one.kind for one in outcomes}):
        own = [one for one in outcomes if one.kind == kind]
        ends, judged = Counter(one.ended for one in own), Counter[str]()
        for one in own:
            judged.update(one.judged)
        printed.append(f"{kind}: {len(own)} cases; " + ", ".join(f"{end}: {n}" for end, n in sorted(ends.items())))
        printed += [f"  judged {what}: {n}" for what, n in sorted(judged.items())]
    refuted = Counter(what for one in outcomes for what in one.refuted)
    printed += [f"REFUTED {what}: {number}" for what, number in sorted(refuted.items())]
    for one in outcomes:
        printed += [f"  --kind {one.kind} --seed {one.seed}: {what}: {told}" for what, told in one.refuted.items()]
    return [*printed, f"{refuted.total()} statements refuted in {len(outcomes)} cases"]
