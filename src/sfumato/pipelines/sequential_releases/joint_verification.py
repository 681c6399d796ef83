"""Evaluate several releases together: each by itself, and whether comparing them separates persons."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from sfumato.dataclass import dataclass
from sfumato.errors import PlanError, UnattainableError
from sfumato.microdata.plan.resolve import released_plan
from sfumato.microdata.release_histories import judge_histories
from sfumato.microdata.verdict import Verdict
from sfumato.pipelines.sequential_releases.earlier_releases import joint_k, opened_release, read_chain
from sfumato.pipelines.sequential_releases.repeated_draws import check_drift
from sfumato.pipelines.verify import verify


@dataclass(frozen=True, slots=True)
class JointVerdict:
    """The joint verdict on releases of the same persons.

    Attributes:
        verdicts: The verdict on each release, by its folder.
        k: The requested size of history groups: the greatest k of all releases.
        persons: The number of persons in any release.
        groups: The number of groups of persons with the same history.
        smallest: The number of persons in the smallest group.
        below_k: The number of persons in groups smaller than k.
        erased_rows: Published rows of persons erased from the records; groups count them if they fit.
        fault: Why the releases cannot be evaluated together, or an empty text.
    """

    verdicts: dict[str, Verdict]
    k: int
    persons: int = 0
    groups: int = 0
    smallest: int = 0
    below_k: int = 0
    erased_rows: int = 0
    fault: str = ""

    @property
    def satisfied(self) -> bool:
        """Whether each release satisfies its models, and comparing them singles out nobody."""
        together = not self.fault and self.smallest >= self.k
        return together and all(verdict.satisfied for verdict in self.verdicts.values())

    def to_dict(self) -> dict[str, Any]:
        return {
            "satisfied": self.satisfied,
            "releases": {name: verdict.to_dict() for name, verdict in self.verdicts.items()},
            "together": {
                "k": self.k,
                "persons": self.persons,
                "groups": self.groups,
                "smallest_group": self.smallest,
                "persons_below_k": self.below_k,
                "erased_rows": self.erased_rows,
                "fault": self.fault,
            },
        }

    def text(self) -> str:
        """Return one line for each release, and the result of comparing them."""
        lines = [
            f"{'holds        ' if one.satisfied else 'DOES NOT HOLD'}  {name}" for name, one in self.verdicts.items()
        ]
        mark = "holds        " if not self.fault and self.smallest >= self.k else "DOES NOT HOLD"
        seen = self.fault or (
            f"{self.persons:,} persons in {self.groups:,} groups of one history, the smallest of {self.smallest:,} "
            f"(asked {self.k}); {self.below_k:,} can be told apart by comparing releases"
            + (f"; {self.erased_rows:,} rows of erased persons are published still" if self.erased_rows else "")
        )
        return "\n".join([*lines, f"{mark}  together: {seen}"]) + "\n"


def verify_together(folders: Sequence[str | Path]) -> JointVerdict:
    """Verify release folders of the same persons together, the first one first."""
    paths = [Path(folder) for folder in folders]
    verdicts = {path.name: verify(path) for path in paths}
    plans = [released_plan(path) for path in paths]
    k = joint_k(plans)
    try:
        releases = read_chain(paths, plans[0].quasi_identifiers, plans[0].promise_columns)
        for place, release in enumerate(releases[1:], 1):
            with closing(opened_release(release.folder, release.plan.output.quotes_formulas)) as rows:
                check_drift(release.plan, rows, paths[:place])
    except (PlanError, UnattainableError) as error:
        return JointVerdict(verdicts, k, fault=error.text)
    left = [release.erased for release in releases]
    shared = judge_histories([release.classes for release in releases], left, k)
    erased = sum(release.erased_rows for release in releases)
    return JointVerdict(verdicts, k, shared.persons, shared.groups, shared.smallest, shared.below, erased)
