"""What published labels mean: numbers, ranges, sets of values, and the raw values that they stand for."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

BLANK = ["", "NA", "NaN", "nan", "N/A", "n/a", "#N/A", "null", "NULL", "<NA>"]
HIDDEN = {"*", "**", "***", "missing", "suppressed", ".", "?"}
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?"
RANGE = re.compile(rf"[\[(]?\s*({NUMBER})?\s*(?:[-–—…:]|\.\.|to)\s*({NUMBER})?\s*([\])]?)", re.I)
BELOW = re.compile(rf"(<=?|≤|under|below|less than|up to|at most)\s*({NUMBER})", re.I)
ABOVE = re.compile(
    rf"(?:(?:>=?|≥|over|above|more than|at least)\s*({NUMBER})|({NUMBER})\s*(?:\+|or more|and over))", re.I
)
OTHERS = re.compile(r"[(\[<]?(all )?(others?|rest|misc|rare|else)\b", re.I)


class ImpossibleError(Exception):
    """The released file cannot answer a question."""


def rows_of(path: Path, second_header: bool = False) -> pd.DataFrame:
    """All cells as texts with one spelling, missing and hidden ones as None."""
    try:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False, na_values=BLANK, encoding="utf-8-sig")
    except UnicodeDecodeError:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False, na_values=BLANK, encoding="latin-1")
    if second_header and (frame.iloc[0] == "Response").mean() > 0.2:
        frame = frame.iloc[1:].reset_index(drop=True)
    return frame.apply(lambda cells: cells.map({cell: spelled(cell) for cell in cells.unique()}).astype(object))


def spelled(cell: Any) -> str | None:
    """One spelling per value: 1.0 is 1."""
    text = "" if pd.isna(cell) else re.sub(r"\s+", " ", str(cell)).strip()
    if not text or text.casefold() in HIDDEN:
        return None
    return re.sub(r"^(-?\d+)\.0+$", r"\1", text)


def span(label: str) -> tuple[float, float, bool] | None:
    """The ends of a number or a range, and whether it is open above."""
    text = label.replace("−", "-").replace("$", "").replace(",", "").strip()
    if re.fullmatch(NUMBER, text, re.I):
        return float(text), float(text), False
    if found := BELOW.fullmatch(text):
        return -np.inf, float(found[2]), found[1].lower() in ("<", "under", "below", "less than")
    if found := ABOVE.fullmatch(text):
        return float(found[1] or found[2]), np.inf, False
    found = RANGE.fullmatch(text)
    if not found or not (found[1] or found[2]):
        return None
    low, high = float(found[1] or -np.inf), float(found[2] or np.inf)
    return (low, high, found[3] == ")") if low <= high else None


def number(label: str) -> float:
    """A released cell as a number: the middle of a range, the end of an open one, the mean of a set."""
    if label.casefold() in ("true", "yes", "false", "no"):
        return float(label.casefold() in ("true", "yes"))
    if ends := span(re.sub(r"^[~≈]\s*", "", label)):
        low, high, _ = ends
        return high if low == -np.inf else low if high == np.inf else (low + high) / 2
    members = [part for part in re.split(r"[|;,/]| or ", label.strip("{}[]() ")) if part.strip()]
    return float(np.mean([number(part.strip()) for part in members])) if len(members) > 1 else np.nan


def in_order(levels: Iterable[str]) -> list[str]:
    """Levels in the order of numbers, or else of texts."""
    levels = list(levels)
    try:
        return sorted(levels, key=float)
    except ValueError:
        return sorted(levels)


class Categories:
    """What released labels mean in values of the raw column, and by which value each label is represented."""

    def __init__(self, raw: pd.Series, released: pd.Series) -> None:
        self.levels = in_order(raw.dropna().unique())
        self.known = {level.casefold(): level for level in self.levels}
        self.spans = {level: ends for level in self.levels if (ends := span(level))}
        labels = released.dropna()
        if labels.empty:
            raise ImpossibleError(f"{raw.name} is empty")
        self.members = {label: self._members(label) for label in labels.unique()}
        others = [label for label, found in self.members.items() if not found and OTHERS.match(label)]
        if len(others) == 1:
            self.members[others[0]] = {*self.levels}.difference(*self.members.values())
        if len(raw) == len(released):
            self._by_row(raw, released)
        self.name = self._names()
        counts, carriers = labels.value_counts(), {level: [] for level in self.levels}
        for label, members in self.members.items():
            for level in members:
                carriers[level].append((level in (self.name[label], label), counts[label], self.name[label]))
        self.of = {level: max(found)[2] if found else None for level, found in carriers.items()}
        self.rows = released.map(self.name).astype(object)

    def _members(self, label: str) -> set[str]:
        if label.casefold() in self.known:
            return {self.known[label.casefold()]}
        bracket = label[0] in "[(" and span(label) is not None
        if not bracket and len(self.levels) <= 400:
            some = "|".join(re.escape(level) for level in sorted(self.known, key=len, reverse=True))
            text = label.casefold().strip("{}[]() ")
            if re.fullmatch(rf"(?:{some})(?:\s*(?:[|;/,+&∪]|\bor\b|\band\b)\s*(?:{some}))+", text):
                return {self.known[found] for found in re.findall(some, text)}
        if ends := span(label):
            low, high, below = ends
            inside = {level for level, (a, z, _) in self.spans.items() if low <= a and z <= high}
            return {level for level in inside if not (below and self.spans[level][:2] == (high, high))}
        return set()

    def _by_row(self, raw: pd.Series, released: pd.Series) -> None:
        """Labels that nothing explains, by the rows where they stand, which may be those of the raw file."""
        unknown = [label for label, members in self.members.items() if not members]
        if not unknown:
            return
        table = pd.crosstab(raw.to_numpy(), released.to_numpy())
        sizes = table.sum(axis=1)
        for label in unknown:
            if label in table:
                self.members[label] = {*table.index[(sizes >= 3) & (table[label] >= 0.8 * sizes)]}

    def _names(self) -> dict[str, str]:
        pure = {next(iter(members)) for members in self.members.values() if len(members) == 1}
        names = {}
        for label, members in self.members.items():
            free = [level for level in self.levels if level in members and (level not in pure or len(members) == 1)]
            names[label] = free[0] if free else f"{label} (mixed)"
        return names
