"""Write JSON that people can read, with long lists on one line, fast for a million entries."""

import json
from typing import Any

# Nobody reads more entries than these one by one.
MANY_ENTRIES = 10_000


def readable(value: Any, ensure_ascii: bool = False) -> str:
    """A value as JSON, each entry on a line of its own but for those of long lists and tables.

    >>> print(readable({"a": [1, 2], "b": {}}))
    {
     "a": [
      1,
      2
     ],
     "b": {}
    }
    >>> readable([0] * MANY_ENTRIES).count("\\n")
    0
    """
    if isinstance(value, dict | list) and len(value) >= MANY_ENTRIES:
        return json.dumps(value, ensure_ascii=ensure_ascii)
    if not isinstance(value, dict) or not value or not all(isinstance(key, str) for key in value):
        return json.dumps(value, indent=1, ensure_ascii=ensure_ascii)
    entries = (
        f"{json.dumps(key, ensure_ascii=ensure_ascii)}: {readable(entry, ensure_ascii)}" for key, entry in value.items()
    )
    # No text of JSON holds a line break, so that what is inside can be moved to the right as a whole.
    return "{\n " + ",\n".join(entries).replace("\n", "\n ") + "\n}"
