"""Parse numbers in files of tables: a text is a finite number, or none."""

import math
import re

_PLAIN = re.compile(r"^\s*[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?\s*$")


def finite(text: str) -> float | None:
    """The number that a text is; None where it is none, or is more than a number can be.

    >>> finite("12.5"), finite("1e3"), finite("1e400"), finite("nan"), finite("1_000")
    (12.5, 1000.0, None, None, None)
    """
    # Python reads 1_000 and digits of other scripts too, a reader of the table may not.
    if not _PLAIN.match(text):
        return None
    value = float(text.strip())  # spaces that float does not take off, the pattern allows
    return value if math.isfinite(value) else None
