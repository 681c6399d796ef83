"""The hierarchy `digits`: mask the characters of a code one after the other (postcodes, phone numbers, ICD codes)."""

from collections.abc import Sequence
from functools import partial
from itertools import filterfalse, pairwise
from typing import Annotated, Literal

from sfumato.dataclass import dataclass
from sfumato.hierarchies.explicit_domains import PathFree
from sfumato.hierarchies.hierarchy import ROOT, BoundHierarchy, assemble
from sfumato.hierarchies.levels import Level, level_above, level_of_labels, root_level
from sfumato.localization.messages import Message
from sfumato.schema.dataclass_schema import KeyInfo

# A hierarchy has one level per character: longer texts are no codes.
MAX_LENGTH = 64
Side = Literal["right", "left"]
Shown = Annotated[int, KeyInfo(minimum=1, maximum=MAX_LENGTH)]


@dataclass(frozen=True, slots=True)
class CharacterMasking(PathFree):
    """One character is masked per level, until `*****` is left.

    Without a length, the longest value sets it, and shorter ones are treated as if already masked at the missing end:
    `AB1` together with `AB123` is `AB1**` up to the level at which `AB123` becomes that, too.

    With `shown` and without a length, codes are cut to the first of its numbers, and shorter ones are rejected: with
    `shown: [5, 4]` both `27511` and `27511-1234` are `27511` at the first level.

    Attributes:
        length: The number of characters; values of another length are rejected.
        side: The end at which characters are masked first.
        character: The masking character; the root consists of stars in any case.
        shown: The number of characters shown at each level, in decreasing order; by default one less per level.

    >>> CharacterMasking(length=5).fit(["72021"]).hierarchy.rows()
    [('72021', '7202*', '720**', '72***', '7****', '*****')]
    """

    length: Annotated[
        int | None, KeyInfo("Characters of a code; others are rejected.", minimum=1, maximum=MAX_LENGTH)
    ] = None
    side: Annotated[Side, KeyInfo("The end at which characters vanish first.", key="from")] = "right"
    character: Annotated[str, KeyInfo("What masks a character.")] = ROOT
    shown: Annotated[tuple[Shown, ...], KeyInfo("How many characters each level shows, from many to few.")] = ()

    def __post_init__(self) -> None:
        if len(self.character) != 1:
            raise ValueError(Message("error.value.mask_sign"))
        shown = self.shown if self.length is None else (self.length, *self.shown)
        if any(high <= low for high, low in pairwise(shown)) and self.shown:
            raise ValueError(Message("error.value.fewer_signs"))

    @property
    def is_rule_based(self) -> bool:
        return self.length is not None or bool(self.shown)

    def fit(self, values: Sequence[str]) -> BoundHierarchy:
        """Return the hierarchy of the values of the correct length, sorted by text."""
        domain = sorted(filter(self._fits, values))
        length = self.length or max(self.shown or map(len, domain), default=1) or 1
        return BoundHierarchy(assemble(domain, self._levels(domain, length)), tuple(filterfalse(self._fits, values)))

    def _fits(self, value: str) -> bool:
        if self.length is None:
            return (self.shown[0] if self.shown else 0) <= len(value) <= MAX_LENGTH
        return len(value) == self.length

    def _levels(self, values: Sequence[str], length: int) -> list[Level]:
        if length == 1 and not self.shown:
            return [root_level(len(values))]
        first, *others = self.shown or range(length - 1, 0, -1)
        levels = [level_of_labels([self._masked(length, first, value) for value in values])]
        for shown in others:
            levels.append(level_above(levels[-1], partial(self._masked, length, shown)))
        return [*levels, root_level(len(values), ROOT * length)]

    def _masked(self, length: int, shown: int, value: str) -> str:
        if self.side == "right":
            return value[:shown].ljust(length, self.character)
        return value.rjust(length, self.character)[-shown:].rjust(length, self.character)
