"""Texts of a published table: ranges, and the reason for each suppressed cell in English or German."""

import math
from collections.abc import Sequence
from enum import StrEnum
from typing import Literal

from sfumato.localization.messages import Message, first_names, words_in
from sfumato.values import Value

Language = Literal["en", "de"]
LANGUAGES: tuple[Language, ...] = ("en", "de")
MASK = "*"
# What the sixth decimal may be off before an end is rounded away from the range: noise of the programs.
NOISE = 1e-3


# So many cells are named in a message.
MOST_NAMED = 5
# The marks that stand for a suppressed cell; anything else in a published table must be a number or a range.
MASKS = frozenset({"*", "**", "x", "X", "c", "C", ":", ".", "/", "•", "[c]", "[x]"})


def cells_named(names: Sequence[str]) -> Message:
    """The first of some cells in a message, and how many more there are.

    >>> print(cells_named(["area a", "area b"]), cells_named(list("abcdefg")), sep="\\n")
    area a; area b
    a; b; c; d; e and 2 more
    """
    return first_names(names, MOST_NAMED, "semicolons")


class SuppressionReason(StrEnum):
    """Why a cell is masked, as the case column says; the original counts further cases, `A11` to `C1`."""

    PRIMARY = "primär"
    SENSITIVE = "primary"
    COMPLEMENT = "secondary"


class Unit(Value):
    """A unit of a level; the grand total has neither."""

    level: str
    code: str

    def text(self, language: Language) -> str:
        return f"{self.level} {self.code}".strip() or words_in(language)["masked.total"]


def primary(small: bool, language: Language) -> str:
    """The reason of a primary cell: of the range rule, or of any other."""
    return words_in(language)["masked.small" if small else "masked.unsafe"]


def primary_reasons() -> set[str]:
    """The reasons of primary cells in all languages."""
    return {primary(small, language) for small in (True, False) for language in LANGUAGES}


def inference(unit: Unit, language: Language) -> str:
    """The reason of a cell that would give others away in a unit."""
    return words_in(language)["masked.inference"].format(place=unit.text(language))


def complement(language: Language) -> str:
    """The reason of a secondary cell."""
    return words_in(language)["masked.complement"]


def number(value: float) -> str:
    """A number without a needless decimal point; empty when unbounded.

    >>> number(3.0), number(2.5), number(float("inf"))
    ('3', '2.5', '')
    """
    if not math.isfinite(value):
        return ""
    near = round(value)
    if abs(value - near) <= 1e-6 + 1e-12 * abs(value):
        return str(int(near))
    return f"{value:.6f}".rstrip("0").rstrip(".")


def span(low: float, high: float, dash: str = "-") -> str:
    """A range as text, open ends with a sign.

    >>> span(6, 8), span(1, 3, "–"), span(4, float("inf"))
    ('6-8', '1–3', '≥4')
    """
    if not number(high):
        return f"≥{number(low)}" if number(low) else MASK
    return f"{number(low)}{dash}{number(high)}" if number(low) else f"≤{number(high)}"


def lower_end(value: float) -> str:
    """A lower end as text, never rounded up into the range."""
    return number(value) if _plain(value) else number(math.floor(value * 1e6 + NOISE) / 1e6)


def upper_end(value: float) -> str:
    """An upper end as text, never rounded down into the range."""
    return number(value) if _plain(value) else number(math.ceil(value * 1e6 - NOISE) / 1e6)


def _plain(value: float) -> bool:
    return "." not in number(value)


NAMES = {
    "plain": ("_published", "_lower", "_upper", "_case", "_reason"),
    "original": ("_korr", "_min", "_max", "_fall", "_fallLang"),
}


# The original prints the ranges of primary cells with another dash than those of all others.
PRIMARY_DASH = "–"
