"""Masking: every value, of any type, is published as the same five stars.

It hides the value, not its presence: a missing value remains missing.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sfumato.attributes.operations.operation import ALL_KINDS, MASK, OperationResult, Task, operation


@operation("masking", *ALL_KINDS)
class Masking:
    """Publishes `*****` for every value."""

    range_suffix = ""
    graph_suffix = ""

    def apply(self, values: Sequence[Any], task: Task) -> OperationResult:  # noqa: ARG002
        return OperationResult((MASK,), np.zeros(len(values), np.int64), 1)
