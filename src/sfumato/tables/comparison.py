"""The result of comparing methods that protect one table."""

from dataclasses import asdict
from typing import Any

from sfumato.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class TableRun:
    """One method to protect a table, and its result.

    Attributes:
        method: Its name, with what distinguishes its variants.
        masked: Number of suppressed cells.
        value_lost: Proportion of the sum of all values that the suppressed cells hold.
        changed: Number of cells whose published number is not the true one.
        mean_change, largest_change: How far these are off.
        broken: Number of totals that are not the sum of their published parts.
        unsafe_exact: Number of sensitive cells whose true value an attacker computes.
        unsafe_too_narrow: Number of sensitive cells whose feasibility interval is too narrow.
        median_width: Median width of the feasibility intervals of sensitive cells, as a proportion of the value.
        attackers: The audited attackers.
        seconds: Time taken.
        error: Why there is no result; empty if there is one.
    """

    method: str
    masked: int = 0
    value_lost: float = 0.0
    changed: int = 0
    mean_change: float = 0.0
    largest_change: float = 0.0
    broken: int = 0
    unsafe_exact: int = 0
    unsafe_too_narrow: int = 0
    median_width: float | None = None
    attackers: tuple[str, ...] = ()
    seconds: float = 0.0
    error: str = ""

    @property
    def passed(self) -> bool:
        """Whether there is a result and no sensitive cell is disclosed."""
        return not self.error and not self.unsafe_too_narrow

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {**asdict(self), "attackers": list(self.attackers), "satisfied": self.passed}


@dataclass(frozen=True, slots=True)
class TableRuns:
    """A comparison of methods.

    Attributes:
        cells: Number of cells of the table.
        unsafe: Number of sensitive cells.
        runs: The methods that were tried.
        redesign: Proposals of coarser tables, in words.
        language: The language of its page.
    """

    cells: int
    unsafe: int
    runs: tuple[TableRun, ...]
    redesign: tuple[str, ...] = ()
    language: str = "en"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as in compare.json."""
        return {
            "cells": self.cells,
            "unsafe": self.unsafe,
            "runs": [run.to_dict() for run in self.runs],
            "redesign": list(self.redesign),
        }
