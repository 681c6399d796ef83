"""Parse column arguments: several names, or a single one."""

from collections.abc import Sequence


def listed(names: Sequence[str] | None) -> Sequence[str] | None:
    """Return column names as a sequence; a single text is one name.

    >>> listed("zip"), listed(["zip", "sex"]), listed(None)
    (('zip',), ['zip', 'sex'], None)
    """
    return (names,) if isinstance(names, str) else names
