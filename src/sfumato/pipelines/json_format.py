"""Write JSON that people can read, with long lists on one line, fast for a million entries."""

import json
from typing import Any

# Longer lists are written on one line.
MANY_ENTRIES = 10_000


def readable(value: Any, ensure_ascii: bool = False) -> str:
    """Return a value as JSON, with each entry on its own line except for long lists and tables.

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
    # JSON texts contain no line breaks, so nested lines can be indented by replacement.
    return "{\n " + ",\n".join(entries).replace("\n", "\n ") + "\n}"
