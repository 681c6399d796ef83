"""What an attack came to: how many statements were judged, and which of them a stranger refutes."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Outcome:
    """Of one case: how it ended, how often a kind of statement was judged, what refutes it."""

    kind: str
    seed: int
    ended: str = ""
    judged: Counter[str] = field(default_factory=Counter)
    refuted: dict[str, str] = field(default_factory=dict)

    def add(self, what: str, reason: str | None, wrong: object = True) -> None:
        """Count a statement as judged, and as refuted where it is wrong for a reason."""
        self.judged[what] += 1
        if wrong and reason is not None:
            self.refuted.setdefault(what, reason)


def lines(outcomes: Sequence[Outcome]) -> list[str]:
    """Counts of each kind, and what was refuted, with the seed by which it is run again."""
    counts, seeds = Counter(f"{one.kind}: {one.ended}" for one in outcomes), list[str]()
    for one in outcomes:
        counts.update({f"{one.kind}, judged: {what}": count for what, count in one.judged.items()})
        counts.update(f"REFUTED {what}" for what in one.refuted)
        seeds += [f"  --kind {one.kind} --seed {one.seed}: {what}: {why}" for what, why in one.refuted.items()]
    counted = [f"{what}: {count}" for what, count in sorted(counts.items(), key=lambda one: (one[0][0] == "R", one))]
    return [*counted, *seeds, f"{len(seeds)} statements refuted in {len(outcomes)} cases"]
