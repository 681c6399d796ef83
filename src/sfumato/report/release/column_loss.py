"""Information loss of each column as one number, the same in pages, charts and the verdict."""

from collections.abc import Iterable, Mapping
from typing import Any


def lost_shares(
    losses: Mapping[str, float], published: int, hidden: int, lost_columns: Iterable[Mapping[str, Any]]
) -> dict[str, float]:
    """Return the mean loss of each column over published rows.

    Args:
        losses: The same over all rows, with 1 for a suppressed row.
        published, hidden: Numbers of published and suppressed rows.
        lost_columns: Heavily generalized columns, whose loss is the largest of three measures.

    >>> lost_shares({"age": 0.55, "sex": 0.1}, 90, 10, [{"column": "age", "share_lost": 0.6}])
    {'age': 0.6, 'sex': 0.0}
    """
    shares = {name: (loss * (published + hidden) - hidden) / max(published, 1) for name, loss in losses.items()}
    said = {entry["column"]: entry["share_lost"] for entry in lost_columns}
    return {name: said.get(name, share) for name, share in shares.items()} | said
