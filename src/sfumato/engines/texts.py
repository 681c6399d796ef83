"""The text of a value: the same on every engine."""

from datetime import date, datetime
from typing import Any

import numpy as np


def as_text(value: Any) -> str | None:
    """The text of a value; None for a missing one.

    >>> as_text(True), as_text(7), as_text(1.5), as_text(float("nan")), as_text(-0.0)
    ('true', '7', '1.5', None, '0.0')
    """
    if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:  # noqa: PLR0124  (only NaN is unlike itself)
        return None
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.isoformat(" ")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float | np.floating):
        return repr(float(value) + 0.0)  # -0.0 is 0.0
    return str(value)
