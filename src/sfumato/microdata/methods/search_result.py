"""The result of a method, and the time limit that every search keeps."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Timer
from time import monotonic
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.errors import EngineError
from sfumato.localization.messages import Message
from sfumato.microdata.counts.grouping import Node
from sfumato.microdata.losses.loss import LossTerms
from sfumato.microdata.plan.methods import Method
from sfumato.microdata.recoding.mapping import Recoding
from sfumato.values import Value, field

DIGITS = 10
ProgressCallback = Callable[[int, int], None]


class ClassSizeSummary(Value):
    """Class sizes of a node before suppression."""

    classes: int
    smallest: int
    largest: int


class NodeEvaluation(Value):
    """The evaluation of a node after grouping.

    Attributes:
        loss_terms: The parts of its loss.
        suppressed_rows: Rows in classes that fail some model.
        certain_rows: A lower bound of the rows that every finer node must suppress.
        classes: Number of classes that are kept.
        smallest: Size of the smallest class.
        largest: Size of the largest class.
        satisfied: Whether it may be released: all models are satisfied within the suppression limit.
        certain_suppression: A lower bound of the loss by suppression at every finer node.
        before: Its class sizes before suppression.
    """

    node: Node
    loss_terms: LossTerms
    loss: float
    suppressed_rows: int
    certain_rows: int
    classes: int
    smallest: int
    largest: int
    satisfied: bool
    certain_suppression: float = 0.0
    before: ClassSizeSummary = ClassSizeSummary(0, 0, 0)

    @property
    def tells(self) -> bool:
        """Whether it distinguishes any rows."""
        return self.before.classes > 1

    @property
    def rank(self) -> tuple[float, bool, int, int, Node]:
        """Sort key: least loss first; ties by the smaller gap between class sizes, the larger k, the lower levels.

        A node with a single class has no gap and would win every tie: it comes after all others of its loss.
        """
        return (round(self.loss, DIGITS), not self.tells, self.largest - self.smallest, -self.smallest, self.node)


class Result(Value):
    """The recoding that a method found, and what is known about it.

    Attributes:
        levels: The level of each column, for methods that choose one.
        nodes: Evaluated nodes, if the result includes them.
        checked: Number of evaluated nodes.
        total: Number of all nodes.
        details: Further entries for the report, by name.
        cut_short: Whether the search timed out.
        method: The method of the recoding, if several were tried.
    """

    recoding: Recoding
    loss_name: str
    loss: float
    per_column: Mapping[str, float]
    proved_optimal: bool
    checked: int
    total: int
    levels: Mapping[str, int] = field(default_factory=dict)
    nodes: tuple[NodeEvaluation, ...] = ()
    notes: tuple[Message, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    cut_short: bool = False
    method: Method | None = None


Flag = npt.NDArray[np.int64]
# Extra seconds in which a search may still finish a first release, because without one it has no result.
GRACE = 0.6


def out_of_time(seconds: float) -> EngineError:
    """Return the error of a search that timed out without a result: it is unknown whether one exists."""
    return EngineError("time-limit", seconds=seconds)


class Deadline:
    """A deadline some seconds from now.

    >>> Deadline(0.0).over, Deadline(60.0).over
    (True, False)
    """

    __slots__ = ("until",)

    def __init__(self, seconds: float) -> None:
        self.until = monotonic() + seconds

    @property
    def over(self) -> bool:
        return monotonic() >= self.until

    @property
    def left(self) -> float:
        """Remaining seconds, never less than 0."""
        return max(self.until - monotonic(), 0.0)

    def later(self, seconds: float) -> "Deadline":
        """Return the deadline extended by some seconds; counted from now if it is already over.

        >>> Deadline(0.0).later(10.0).over
        False
        """
        return Deadline(self.left + seconds)

    @contextmanager
    def flag(self) -> Iterator[Flag]:
        """Yield a flag that is set (1) once the time is over."""
        flag = np.array([int(self.over)], np.int64)
        timer = Timer(min(self.left, 1e6), flag.__setitem__, (0, 1))
        timer.daemon = True
        timer.start()
        try:
            yield flag
        finally:
            timer.cancel()
