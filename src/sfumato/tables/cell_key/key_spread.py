"""Test whether record keys are uniformly distributed; clustered keys would draw the same noise for all cells.

Sound keys are uniform. Each test fails for sound keys with probability at most `CHANCE`: the largest distance of their
distribution from the uniform one (Dvoretzky, Kiefer and Wolfowitz with Massart's constant, doi:10.1214/aop/1176990746);
for few keys, whether all of them are at the beginning of the range, in few parts of it, or on few equidistant points
(0.5; 0.2, 0.4, 0.6), whose sums are such points again. Records may share a key, such as those of a person in several
years, but most must not. The tests do not detect uniform keys that others know nevertheless, such as hashes of names
without a secret.
"""

import math
from collections import Counter
from collections.abc import Iterable

from sfumato.dataclass import dataclass
from sfumato.errors import DataError

# The chance that one test refuses sound keys: those of the records and of the cells together stay below 1e-9.
CHANCE = 1e-10
# Into how many parts of the same size a range is divided.
BINS = 64
# So many keys, and no more, are looked at one by one.
FEW = 64
# Keys that are multiples of one number have at least so many values.
POINTS = 32
# How many records share a key at most, on average.
REPEATS = 50


@dataclass(frozen=True, slots=True)
class KeySpread:
    """How keys lie in their range.

    Attributes:
        bins: How many different keys lie in each part of the range, by its place; parts without any may be left out.
        largest: The largest key.
        modulus: What keys are counted up to.
        records: How many records, or cells, have a key.
        few: All different keys, where there are few.
    """

    bins: dict[int, int]
    largest: int
    modulus: int
    records: int = 0
    few: tuple[int, ...] = ()

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
        low = (self.largest / self.modulus + slack) ** self.size < CHANCE
        return self.distance <= widest and not (low or self._clustered or self.scarce)

    @property
    def scarce(self) -> bool:
        """Whether there are too few different keys, or too few that there might be."""
        return self._coarse or self._repeated

    @property
    def fault(self) -> str:
        """What is wrong with keys that are not sound."""
        if self.scarce:
            return f"have only {self.size:,} different values in {self.records:,} places"
        return f"are not spread over their range (0 to below {self.modulus})"

    @property
    def _clustered(self) -> bool:
        """Whether keys lie in fewer parts of the range than they would by chance."""
        parts = sum(many > 0 for many in self.bins.values())
        return math.log(math.comb(BINS, parts)) + self.size * math.log(parts / BINS) < math.log(CHANCE)

    @property
    def _coarse(self) -> bool:
        """Whether all keys are multiples of one number, and it has few of them."""
        unit = math.gcd(self.modulus, *self.few) if self.few else 1
        return unit > 1 and self.modulus < POINTS * unit and -self.size * math.log(unit) < math.log(CHANCE)

    @property
    def _repeated(self) -> bool:
        """Whether more records share a key than those of a person do, or all of them one."""
        different = (
            -self.modulus * math.expm1(self.records * math.log1p(-1 / self.modulus)) if self.modulus > 1 else 1.0
        )
        same = self.size == 1 and (1 - self.records) * math.log(self.modulus) < math.log(CHANCE)
        return same or self.size * REPEATS < different * (1 - 1e-9)

    @property
    def distance(self) -> float:
        """How far the share of keys below a border of two parts is from the border, at most."""
        below, distance = 0, 0.0
        for place in range(BINS):
            below += self.bins.get(place, 0)
            distance = max(distance, abs(below / self.size - (place + 1) / BINS))
        return distance


def spread_of(keys: Iterable[int], modulus: int) -> KeySpread:
    """How keys lie in the range from 0 to below a number; where they lie, one that stands several times counts once.

    Rows of the same person in several years have the same key, and say nothing new of how keys were drawn.

    >>> spread_of([3, 2**63, 2**63 + 2**62], 2**64).sound, spread_of([1, 2, 3], 2**64).sound
    (True, False)
    """
    listed = list(keys)
    own = set(listed)
    bins = dict(Counter(key * BINS // modulus for key in own))
    few = tuple(sorted(own)) if len(own) <= FEW else ()
    return KeySpread(bins, max(own, default=0), modulus, len(listed), few)


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
        f"{where} {spread.fault}: all cells would have the same noise.",
        do,
        "key-spread",
    )
