"""Result of an attack: success rates of attacker, baseline and control group, and the resulting risk.

Rates have Wilson intervals. The risk is the excess over the control, relative to what was left to reach: max(0,
(r_attack − r_control) / (1 − r_control)), with the intervals carried over. Giomi et al. (2023),
https://doi.org/10.56553/popets-2023-0055.

The own row of a person improves a guess in every class, even in a well protected one. For sensitive values, evidence is
therefore only what the rows of other persons add beyond the control (`without_own_row`).

An attack that does no better than its control or its baseline is reported as failed. That is neither evidence of a
disclosure nor a proof of safety.
"""

from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import Any

from sfumato.localization.messages import Message
from sfumato.values import Value, field, replace

CONFIDENCE = 0.95
# Joint probability that all attacks together wrongly accuse a sound release.
FAMILYWISE_ERROR = 0.01
FAILED = "attack failed, no evidence"
TOO_FEW = "no evidence: too few attempts to tell"
# With a wider interval an attack is neither a failure nor a success.
WIDEST = 0.25
NOTHING_TRIED = "not applicable: no attempt was possible"
# Why attacks with knowledge of sensitive values do not count against a release.
SENSITIVE_KNOWN = (
    "Who knows a sensitive value, too, may find a row by it: promises about that column do not exclude it."
)
SUCCEEDED = "attack succeeded: evidence, measured and not proved"


class Rate(Value):
    """A success rate; successes may be expected values, so they need not be integers."""

    successes: float
    attempts: int

    @property
    def share(self) -> float:
        return self.successes / self.attempts if self.attempts else 0.0

    def interval(self, confidence: float = CONFIDENCE) -> tuple[float, float]:
        """Return Wilson's interval.

        >>> [round(end, 4) for end in Rate(5, 10).interval()]
        [0.2366, 0.7634]
        """
        if not self.attempts:
            return 0.0, 1.0
        z = NormalDist().inv_cdf(0.5 + confidence / 2)
        share, size = self.share, self.attempts
        middle = (share + z * z / (2 * size)) / (1 + z * z / size)
        half = z / (1 + z * z / size) * (share * (1 - share) / size + z * z / (4 * size * size)) ** 0.5
        return max(0.0, middle - half), min(1.0, middle + half)

    def to_dict(self) -> dict[str, Any]:
        return {
            "rate": self.share,
            "interval": list(self.interval()),
            "successes": self.successes,
            "attempts": self.attempts,
        }


class AttackResult(Value):
    """The result of one attack.

    Attributes:
        name: Kind of attack.
        variant: What distinguishes this attack from others of its kind.
        baseline: Success rate of a guesser who ignores the release.
        control: Success rate of the same attack on control rows, which were never published.
        certain: Persons about whom something is then known for certain, which chance cannot explain.
        counted: Whether a success counts against the release; other attacks are outside every guarantee.
        evidence: Whether it succeeded more often than chance, control and baseline explain.
        without_own_row: Success rate with the target's own row left out of the guess, for targets protected by others;
            None if it makes no difference. If present, success is evaluated by it.
        details: Further metrics.
        remark: A note for the reader of the report.
    """

    name: str
    variant: Message
    attack: Rate
    baseline: Rate
    control: Rate | None = None
    certain: int = 0
    counted: bool = True
    evidence: bool = False
    without_own_row: Rate | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    remark: str = ""

    @property
    def reference(self) -> Rate:
        """The rate that success is compared with: the control, or the baseline if there is none."""
        return self.baseline if self.control is None else self.control

    @property
    def risk(self) -> float:
        """How much more often than on the control the attack succeeds."""
        return _risk(self.attack.share, self.reference.share)

    @property
    def risk_interval(self) -> tuple[float, float]:
        """The risk with both intervals carried over."""
        low, high = self.attack.interval(), self.reference.interval()
        return _risk(low[0], high[1]), _risk(low[1], high[0])

    @property
    def comparable(self) -> bool:
        """Whether any attempt was possible."""
        return self.attack.attempts > 0 or self.certain > 0

    @property
    def verdict(self) -> str:
        if not self.comparable:
            return NOTHING_TRIED
        if self.evidence:
            return SUCCEEDED
        return TOO_FEW if is_too_few(self.attack.interval()) else FAILED

    def judged(self, tests: int) -> "AttackResult":
        """Return the attack with its evidence, corrected for the number of attacks evaluated together."""
        confidence = 1 - 2 * FAMILYWISE_ERROR / max(tests, 1)
        rivals = (self.baseline,) if self.control is None else (self.baseline, self.control)
        least = (self.without_own_row or self.attack).interval(confidence)[0]
        better = self.attack.attempts > 0 and all(least > rival.interval(confidence)[1] for rival in rivals)
        return replace(self, evidence=better or self.certain > 0)

    def to_dict(self) -> dict[str, Any]:
        return {
            "attack": self.name,
            "variant": self.variant,
            "verdict": self.verdict,
            "evidence": self.evidence,
            "comparable": self.comparable,
            "counted": self.counted,
            "risk": self.risk,
            "risk_interval": list(self.risk_interval),
            **self.attack.to_dict(),
            "baseline": self.baseline.to_dict(),
            "control": None if self.control is None else self.control.to_dict(),
            "without_own_row": None if self.without_own_row is None else self.without_own_row.to_dict(),
            "certain": self.certain,
            "details": dict(self.details),
            "remark": self.remark,
        }


def is_too_few(interval: Sequence[float]) -> bool:
    """Return whether an interval is so wide that its attempts are too few for a conclusion.

    >>> is_too_few(Rate(0, 3).interval()), is_too_few(Rate(0, 1000).interval())
    (True, False)
    """
    return interval[1] - interval[0] > WIDEST


def _risk(attack: float, control: float) -> float:
    return max(0.0, (attack - control) / (1 - control)) if control < 1 else 0.0


class Absence(Value):
    """An attack that was not run, and why."""

    name: str
    why: Message

    def to_dict(self) -> dict[str, str]:
        return {"attack": self.name, "why": self.why}


def judged_together(attacks: tuple[AttackResult, ...]) -> tuple[AttackResult, ...]:
    """Return attacks with their evidence, at a joint false alarm rate of one in a hundred."""
    tests = sum(attack.counted and attack.comparable for attack in attacks)
    return tuple(attack.judged(tests) for attack in attacks)
