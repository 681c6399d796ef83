"""Regular expressions that are compiled on first use, because a command loads dozens and uses few."""

import re
from typing import Any

# Methods of a regular expression.
_METHODS = ("fullmatch", "match", "search", "sub", "split", "findall", "finditer")


def regex(text: str, flags: int = 0) -> re.Pattern[str]:
    """Like `re.compile`, but compiled when a method of the result is first called.

    >>> regex("a+").fullmatch("aa") is not None
    True
    """
    later: Any = _Later(text, flags)
    return later  # type: ignore[no-any-return]


class _Later:
    """Placeholder for a regular expression that compiles it on first use of a method."""

    def __init__(self, text: str, flags: int) -> None:
        self.pattern = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self.pattern, self._flags)
        vars(self).update({method: getattr(compiled, method) for method in _METHODS})
        return getattr(compiled, name)

    def __reduce__(self) -> tuple[Any, ...]:
        return regex, (self.pattern, self._flags)
