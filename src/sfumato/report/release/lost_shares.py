"""Information loss of each column as one number, the same in pages, charts and the verdict."""

from collections.abc import Iterable, Mapping
from typing import Any


def lost_shares(
    losses: Mapping[str, float], published: int, hidden: int, lost_columns: Iterable[Mapping[str, Any]]
) -> dict[str, float]:
    """The mean share of each column that published rows lose.

    Args:
        losses: The same of all rows, where one that is withheld counts 1.
        published, hidden: How many rows are published, and withheld.
        lost_columns: Those of which little is left: the share that is said of them is the largest of three measures.

    >>> lost_shares({"age": 0.55, "sex": 0.1}, 90, 10, [{"column": "age", "share_lost": 0.6}])
    {'age': 0.6, 'sex': 0.0}
    """
    shares = {name: (loss * (published + hidden) - hidden) / max(published, 1) for name, loss in losses.items()}
    said = {entry["column"]: entry["share_lost"] for entry in lost_columns}
    return {name: said.get(name, share) for name, share in shares.items()} | said
