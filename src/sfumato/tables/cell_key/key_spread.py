"""Whether keys fill the range they are counted in: those that lie close together draw the same noise for all cells.

Sound keys are uniform. Two tests look for others, each of which sound keys fail with a chance of at most `CHANCE`:
the largest distance of their distribution from the uniform one (Dvoretzky, Kiefer and Wolfowitz with Massart's
constant, doi:10.1214/aop/1176990746), and, of few keys, whether all of them lie at the beginning of the range. They
do not find keys that fill their range and are known to others nevertheless, such as hashes of names without a secret.
"""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from sfumato.errors import DataError

# The chance that one test refuses sound keys: two tests of the records and two of the cells stay below 1e-9.
CHANCE = 2e-10
# Into how many parts of the same size a range is divided.
BINS = 64


@dataclass(frozen=True, slots=True)
class KeySpread:
    """How keys lie in their range.

    Attributes:
        bins: How many different keys lie in each part of the range, by its place; parts without any may be left out.
        largest: The largest key.
        modulus: What keys are counted up to.
    """

    bins: dict[int, int]
    largest: int
    modulus: int

    @property
    def size(self) -> int:
        """The number of different keys."""
        return sum(self.bins.values())

    @property
    def sound(self) -> bool:
        """Whether keys of a uniform distribution may lie so."""
        if not self.size:
            return True
        # A whole number stands for all fractions up to the next one.
        slack = 1 / self.modulus
        widest = math.sqrt(math.log(2 / CHANCE) / (2 * self.size)) + slack
        return self.distance <= widest and (self.largest / self.modulus + slack) ** self.size >= CHANCE

    @property
    def distance(self) -> float:
        """How far the share of keys below a border of two parts is from the border, at most."""
        below, distance = 0, 0.0
        for place in range(BINS):
            below += self.bins.get(place, 0)
            distance = max(distance, abs(below / self.size - (place + 1) / BINS))
        return distance


def spread_of(keys: Iterable[int], modulus: int) -> KeySpread:
    """How keys lie in the range from 0 to below a number; one that stands several times counts once.

    Rows of the same person in several years have the same key, and say nothing new of how keys were drawn.

    >>> spread_of([3, 2**63, 2**63 + 2**62], 2**64).sound, spread_of([1, 2, 3], 2**64).sound
    (True, False)
    """
    listed = set(keys)
    return KeySpread(dict(Counter(key * BINS // modulus for key in listed)), max(listed, default=0), modulus)


def check_spread(spread: KeySpread, where: str, do: str) -> None:
    """Refuse keys that do not fill their range.

    Args:
        spread: How they lie.
        where: What has the keys, for the message.
        do: What to do.

    Raises:
        DataError: They do not.
    """
    if spread.sound:
        return
    raise DataError(
        f"{where} are not spread over their range (0 to below {spread.modulus}): all cells would have the same noise.",
        do,
        "key-spread",
    )
