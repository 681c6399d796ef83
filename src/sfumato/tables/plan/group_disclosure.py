"""Group disclosure in tables of counts: nearly all persons of a group are in the same few categories.

Then everyone in the group is known to be in these categories. Hundepool et al., Statistical Disclosure Control (2012),
doi:10.1002/9781118348239, chapter 5. The rule does not protect against an attacker who knows that a category must be
empty.
"""

from typing import Annotated, ClassVar

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.errors import PlanError
from sfumato.schema.dataclass_schema import KeyInfo
from sfumato.tables.cells.cells import BoolArray, Numbers, Places
from sfumato.tables.plan.rule_inputs import RuleInputs
from sfumato.tables.plan.rules import RuleResult, evaluate


@dataclass(frozen=True, slots=True)
class GroupDisclosure:
    """If the `n` largest parts of a total along a dimension have at least k percent of it, the next part is sensitive;
    its interval must allow their proportion to be below k percent.
    """

    name: ClassVar[str] = "group-disclosure"
    dimension: Annotated[str, KeyInfo("the dimension that must not be learnt")]
    k: Annotated[float, KeyInfo("percent", minimum=50, maximum=100)] = 100.0
    n: Annotated[int, KeyInfo("how many categories count together", minimum=1)] = 1

    def apply(self, facts: RuleInputs) -> RuleResult:
        if not (facts.counts or facts.records) or self.dimension not in facts.lines:
            raise PlanError("no-dimension", dimension=self.dimension)
        above = facts.lines[self.dimension]
        other, total, top = _lines(facts.values, above, self.n)
        # With this many more in the next part, moved from the largest or added, their proportion falls below k percent.
        more = np.floor(top * 100.0 / self.k - total + 1e-9) + 1.0
        held = (total > 0) & (top >= total * self.k / 100.0 - 1e-9)
        need = np.zeros(len(above))
        need[other[held]] = more[held]
        return evaluate(_at(other[held], len(above)), np.zeros(len(above)), need)


def _lines(values: Numbers, above: Places, largest: int) -> tuple[Places, Numbers, Numbers]:
    """For each total with more parts than the largest: the next part, the total, and what the largest have together.

    In a published file, suppressed values are not a number. A suppressed part may have nearly all of its total, and is
    known to where all others are published zeros; lines of which nobody can say it are left out.
    """
    size = np.where(np.isnan(values), np.inf, values)
    parts = np.flatnonzero(above >= 0)
    order = parts[np.lexsort((-size[parts], above[parts]))]
    starts = np.flatnonzero(np.diff(above[order], prepend=-1))
    ends = starts + np.diff(starts, append=len(order))
    every = [size[order[start:end]] for start, end in zip(starts, ends, strict=True)]
    certain = [len(line) > largest and (line[0] < np.inf or not line[largest:].any()) for line in every]
    starts, lines = starts[np.array(certain, bool)], [line for line, told in zip(every, certain, strict=True) if told]
    total, sums = values[above[order[starts]]], np.array([line.sum() for line in lines])
    total = np.where(np.isnan(total), np.where(np.isinf(sums), 1.0, sums), total)
    top = np.array([line[:largest].sum() for line in lines])
    return order[starts + largest], total, np.where(np.isinf(top), total, top)


def _at(cells: Places, size: int) -> BoolArray:
    mask = np.zeros(size, bool)
    mask[cells] = True
    return mask
