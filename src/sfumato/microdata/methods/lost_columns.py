"""Columns that a release has lost: altogether, or by more than half; and what it would take to keep them."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import numpy as np

from sfumato.microdata.counts.frequencies import FrequencyTable
from sfumato.microdata.losses.loss_metric import LossMetric
from sfumato.microdata.methods.full_domain.lattice.problem import Problem
from sfumato.microdata.methods.full_domain.search import problem_of
from sfumato.microdata.methods.result import Result
from sfumato.microdata.models.classes import Floats
from sfumato.microdata.plan.methods import Greedy
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.recoding import STAR, LevelRecoding, Recoding

# A column that keeps less than this share is lost.
HALF = 0.5


@dataclass(frozen=True, slots=True)
class LostColumn:
    """A quasi-identifier of which little is left.

    Attributes:
        share_lost: The mean over published rows of what they lose of it: 1 where nothing is left.
        labels: Labels that are published, `*` not counted; values: distinct values that the data have.
        rows_to_withhold: So many more rows withheld would keep it, where that is known.
    """

    column: str
    share_lost: float
    labels: int
    values: int
    rows_to_withhold: int | None = None

    @property
    def share_of_values_left(self) -> float:
        return self.labels / max(self.values, 1)

    @property
    def remedy(self) -> str:
        """What would keep the column, in a sentence; nothing where that is not known."""
        if self.rows_to_withhold is None:
            return ""
        rows = "1 more row" if self.rows_to_withhold == 1 else f"{self.rows_to_withhold:,} more rows"
        return f"{rows} withheld would keep {self.column}."

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"share_of_values_left": self.share_of_values_left, "remedy": self.remedy}


def lost_columns(plan: Plan, table: FrequencyTable, result: Result) -> tuple[LostColumn, ...]:
    """The columns that a result has lost by more than half, in the order of the table."""
    return tuple(_lost_columns(plan, table, result))


def _lost_columns(plan: Plan, table: FrequencyTable, result: Result) -> Iterator[LostColumn]:
    recoding = result.recoding
    kept_rows = int(recoding.sizes[~recoding.suppressed].sum())
    problem = cache(lambda: problem_of(plan, Greedy(), table))
    for place, name in enumerate(table.columns):
        share = _share_lost(table, result, place, kept_rows)
        if share is not None and share > HALF:
            labels = _labels(recoding, place)
            values = int((table.marginal(place) > 0).sum())
            if values > 1:
                yield LostColumn(name, share, labels, values, _rows_to_withhold(problem, table, recoding, place))


def _labels(recoding: Recoding, place: int) -> int:
    """Labels of a column that tell something."""
    codes = np.unique(recoding.classes[~recoding.suppressed, place])
    return sum(recoding.labels[place][code] != STAR for code in codes.tolist())


def _share_lost(table: FrequencyTable, result: Result, place: int, kept_rows: int) -> float | None:
    """What published rows lose of a column on average; None where the method does not know."""
    recoding = result.recoding
    if result.loss_name == "loss-metric" and result.per_column:
        hidden = table.rows - kept_rows
        return (result.per_column[table.columns[place]] * table.rows - hidden) / max(kept_rows, 1)
    if isinstance(recoding, LevelRecoding):
        losses = LossMetric(table.ladders).kept(place, recoding.node[place])[recoding.classes[:, place]]
        kept = ~recoding.suppressed
        return float((losses[kept] * recoding.sizes[kept]).sum() / max(kept_rows, 1))
    return None


def _rows_to_withhold(
    problem: Callable[[], Problem], table: FrequencyTable, recoding: Recoding, place: int
) -> int | None:
    """How many more rows withheld would keep half of a column: at a finer level, or without its coarsest rows."""
    if isinstance(recoding, LevelRecoding):
        return _at_finer_level(problem(), table, recoding, place)
    losses = _label_losses(table, recoding, place)
    if losses is None:
        return None
    of_class = losses[recoding.classes[:, place]]
    kept = np.flatnonzero(~recoding.suppressed)
    order = kept[np.argsort(-of_class[kept], kind="stable")]
    rows = recoding.sizes[order]
    left = rows.sum() - np.cumsum(rows)
    lost = (of_class[order] * rows).sum() - np.cumsum(of_class[order] * rows)
    enough = np.flatnonzero((lost <= HALF * left) & (left > 0))
    return int(rows[: enough[0] + 1].sum()) if len(enough) else None


def _at_finer_level(problem: Problem, table: FrequencyTable, recoding: LevelRecoding, place: int) -> int | None:
    ladder, rows = table.ladders[place], table.marginal(place)
    hidden = int(recoding.sizes[recoding.suppressed].sum())
    for level in range(recoding.node[place] - 1, problem.lowest[place] - 1, -1):
        mean = float((ladder.penalties[level][ladder.codes[level]] * rows).sum()) / max(table.rows, 1)
        if mean <= HALF:
            node = (*recoding.node[:place], level, *recoding.node[place + 1 :])
            more = problem.judge(node).suppressed_rows - hidden
            return more if 0 < more < table.rows - hidden else None
    return None


def _label_losses(table: FrequencyTable, recoding: Recoding, place: int) -> Floats | None:
    """What each label of a column loses, where all are labels of its hierarchy."""
    ladder = table.ladders[place]
    losses = {
        text: float(loss)
        for labels, penalties in zip(reversed(ladder.labels), reversed(ladder.penalties), strict=True)
        for text, loss in zip(labels, penalties, strict=True)
    }
    labels = recoding.labels[place]
    return np.array([losses[text] for text in labels]) if all(text in losses for text in labels) else None
