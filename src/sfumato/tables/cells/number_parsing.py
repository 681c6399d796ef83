"""Parse numbers in files of tables: a text is a finite number, or none."""

import math
import re

_PLAIN = re.compile(r"^\s*[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?\s*$")


def finite(text: str) -> float | None:
    """Parse a finite number; return None if the text is not one or exceeds the range of floats.

    >>> finite("12.5"), finite("1e3"), finite("1e400"), finite("nan"), finite("1_000")
    (12.5, 1000.0, None, None, None)
    """
    # Python also reads 1_000 and digits of other scripts, which other programs may not.
    if not _PLAIN.match(text):
        return None
    value = float(text.strip())  # the pattern allows spaces that float() rejects
    return value if math.isfinite(value) else None
