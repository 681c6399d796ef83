"""The row orders that installed data frame libraries produce from a seed."""

from importlib.util import find_spec

import numpy as np

from sfumato.microdata.attacks.seeded_shuffles import Order, Shuffle


def frame_shuffles() -> tuple[tuple[str, Shuffle], ...]:
    """Return the installed libraries by name; pandas shuffles like NumPy."""
    return (("Polars", _by_polars),) if find_spec("polars") is not None else ()


def _by_polars(seed: int, number: int) -> Order:
    """Return the order of `sample(fraction=1, shuffle=True)` and `shuffle` in Polars."""
    import polars

    order: Order = polars.Series(np.arange(number)).shuffle(seed=seed % 2**64).to_numpy()
    return order
