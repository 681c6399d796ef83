"""Parse measurements written as text: heights in feet and inches, blood pressure as two numbers."""

from sfumato.patterns import regex

# Systolic and diastolic value.
PRESSURE = regex(r"(?:[6-9]\d|1\d\d|2[0-5]\d) ?/ ?(?:[3-9]\d|1[0-5]\d)")
FEET = regex(r"""([3-7]) ?(?:'|’|′|ft\.?|-) ?(0?\d|1[01])(?:[.]5)? ?(?:"|”|″|''|in\.?)?""")
# More distinct heights than persons have, half inches included.
_INCHES = 12


def inches(text: str) -> int:
    """Return the inches of a height in feet and inches.

    >>> inches("5'04\\""), inches("6-1"), inches("5 ft 11 in")
    (64, 73, 71)
    """
    match = FEET.fullmatch(text.strip())
    return _INCHES * int(match[1]) + int(match[2]) if match else 0
