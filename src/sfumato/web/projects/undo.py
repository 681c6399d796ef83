"""Undo and redo of plans."""

from copy import deepcopy
from dataclasses import field
from typing import Any

from sfumato.dataclass import dataclass

MOST_STEPS = 200
Plan = dict[str, Any]


@dataclass
class Undo:
    """The undo history of a plan.

    >>> undo = Undo()
    >>> [undo.record({"k": k}) for k in (2, 3, 4, 4)]
    [True, True, True, False]
    >>> undo.back({"k": 4}), undo.back({"k": 3}), undo.forth({"k": 2})
    ({'k': 3}, {'k': 2}, {'k': 3})
    """

    past: list[Plan] = field(default_factory=list)
    future: list[Plan] = field(default_factory=list)

    def record(self, plan: Plan) -> bool:
        """Record a plan if it differs from the last one, and return whether it does; clears the redo history."""
        if not plan or (self.past and self.past[-1] == plan):
            return False
        self.past.append(deepcopy(plan))
        self.future.clear()
        del self.past[:-MOST_STEPS]
        return True

    def back(self, plan: Plan) -> Plan | None:
        """Return the plan before this one, or None."""
        self.record(plan)
        if len(self.past) < 2:
            return None
        self.future.append(self.past.pop())
        return deepcopy(self.past[-1])

    def forth(self, plan: Plan) -> Plan | None:
        """Return the plan that was undone last, or None if another one was made since."""
        self.record(plan)
        if not self.future:
            return None
        self.past.append(self.future.pop())
        return deepcopy(self.past[-1])
