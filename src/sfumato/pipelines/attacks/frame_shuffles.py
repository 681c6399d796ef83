"""The row orders that installed data frame libraries produce from a seed."""

from importlib.util import find_spec

import numpy as np

from sfumato.microdata.attacks.seeded_shuffles import Order, Shuffle


def frame_shuffles() -> tuple[tuple[str, Shuffle], ...]:
    """The libraries by name; pandas draws by NumPy."""
    return (("Polars", _by_polars),) if find_spec("polars") is not None else ()


def _by_polars(seed: int, number: int) -> Order:
    """What `sample(fraction=1, shuffle=True)` and `shuffle` of Polars give."""
    import polars

    order: Order = polars.Series(np.arange(number)).shuffle(seed=seed % 2**64).to_numpy()
    return order
