"""The compiled loop of rank swapping."""

from sfumato.native.array_types import Float64, Int64
from sfumato.native.dispatch import compiled


@compiled
def swap_ranks(reach: int, draws: Float64, partners: Int64):
    """Give each rank a partner at most `reach` ranks away: from the lowest on, a free one drawn above it.

    Args:
        draws: (n,) from 0 to 1; partners: (n,) -1 before, the partner of each rank after, or itself.
    """
    count = len(partners)
    for rank in range(count):
        if partners[rank] != -1:
            continue
        most = min(reach, count - 1 - rank)
        partners[rank] = rank
        start = int(draws[rank] * most)
        for step in range(most):
            other = rank + 1 + (start + step) % most
            if partners[other] == -1:
                partners[rank], partners[other] = other, rank
                break
