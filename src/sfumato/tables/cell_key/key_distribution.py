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

# The probability that one test rejects uniform keys; those for records and cells together stay below 1e-9.
CHANCE = 1e-10
# Number of equal parts into which the range is divided.
BINS = 64
# Up to this many keys are examined individually.
FEW = 64
# Keys that are multiples of one number need at least this many possible values.
POINTS = 32
# Maximum average number of records that share a key.
REPEATS = 50


@dataclass(frozen=True, slots=True)
class KeySpread:
    """The distribution of keys over their range.

    Attributes:
        bins: Number of different keys in each part of the range, by its position; empty parts may be missing.
        records: Number of records, or cells, that have a key.
        few: All different keys if there are few.
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
        """Whether the keys may come from a uniform distribution."""
        if not self.size:
            return True
        # An integer represents all fractions up to the next one.
        slack = 1 / self.modulus
        widest = math.sqrt(math.log(2 / CHANCE) / (2 * self.size)) + slack
        low = (self.largest / self.modulus + slack) ** self.size < CHANCE
        return self.distance <= widest and not (low or self._clustered or self.scarce)

    @property
    def scarce(self) -> bool:
        """Whether too few different keys occur, or are possible."""
        return self._coarse or self._repeated

    @property
    def fault(self) -> str:
        """What is wrong with keys that are not sound."""
        if self.scarce:
            return f"have only {self.size:,} different values in {self.records:,} places"
        return f"are not spread over their range (0 to below {self.modulus})"

    @property
    def _clustered(self) -> bool:
        """Whether keys lie in fewer parts of the range than by chance."""
        parts = sum(many > 0 for many in self.bins.values())
        return math.log(math.comb(BINS, parts)) + self.size * math.log(parts / BINS) < math.log(CHANCE)

    @property
    def _coarse(self) -> bool:
        """Whether all keys are multiples of one number that has few multiples."""
        unit = math.gcd(self.modulus, *self.few) if self.few else 1
        return unit > 1 and self.modulus < POINTS * unit and -self.size * math.log(unit) < math.log(CHANCE)

    @property
    def _repeated(self) -> bool:
        """Whether more records share a key than those of one person would, or all records share one."""
        different = (
            -self.modulus * math.expm1(self.records * math.log1p(-1 / self.modulus)) if self.modulus > 1 else 1.0
        )
        same = self.size == 1 and (1 - self.records) * math.log(self.modulus) < math.log(CHANCE)
        return same or self.size * REPEATS < different * (1 - 1e-9)

    @property
    def distance(self) -> float:
        """The largest distance between the distribution of the keys and the uniform one, at the borders of parts."""
        below, distance = 0, 0.0
        for place in range(BINS):
            below += self.bins.get(place, 0)
            distance = max(distance, abs(below / self.size - (place + 1) / BINS))
        return distance


def distribution_of(keys: Iterable[int], modulus: int) -> KeySpread:
    """Return the distribution of keys from 0 to below the modulus; repeated keys count once for their
    position.

    Records of one person in several years share a key and say nothing about how keys were drawn.

    >>> distribution_of([3, 2**63, 2**63 + 2**62], 2**64).sound, distribution_of([1, 2, 3], 2**64).sound
    (True, False)
    """
    listed = list(keys)
    own = set(listed)
    bins = dict(Counter(key * BINS // modulus for key in own))
    few = tuple(sorted(own)) if len(own) <= FEW else ()
    return KeySpread(bins, max(own, default=0), modulus, len(listed), few)


def check_spread(spread: KeySpread, where: str, do: str) -> None:
    """Refuse keys that are not uniformly distributed.

    Args:
        spread: The distribution of the keys.
        where: What has the keys, for the message.
        do: The hint.
    """
    if spread.sound:
        return
    raise DataError("key-spread", hint=do, where=where, fault=spread.fault)
