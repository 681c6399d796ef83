"""Import PyYAML with lazily compiled regular expressions, so that commands start quickly.

PyYAML compiles a dozen regular expressions when it is imported. The one of unprintable characters takes longer than
writing a plan, and the C reader uses none of them.
"""

import re
import sys
from typing import Any

from sfumato.patterns import regex


def yaml_library() -> Any:
    """Import the library; regular expressions that other threads compile in the meantime are compiled at once."""
    if "yaml" not in sys.modules:
        compiled_at_once = re.compile

        def compiled(pattern: Any, flags: int = 0) -> Any:
            within = str(sys._getframe(1).f_globals.get("__name__")).startswith("yaml.")
            return regex(pattern, flags) if within else compiled_at_once(pattern, flags)

        re.compile = compiled
        try:
            import yaml  # noqa: F401
        finally:
            re.compile = compiled_at_once
    return sys.modules["yaml"]
