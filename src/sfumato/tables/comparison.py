"""The result of comparing methods that protect one table."""

from dataclasses import asdict
from typing import Any

from sfumato.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class TableRun:
    """One way to protect a table.

    Attributes:
        method: Its name, with what tells its variants apart.
        masked: Cells that are not published.
        value_lost: The share of all values that the masked cells hold.
        changed: Cells whose published number is not the true one.
        mean_change, largest_change: How far these are off.
        broken: Totals that are not the sum of their published parts.
        unsafe_exact: Unsafe cells whose true value an attacker computes.
        unsafe_too_narrow: Unsafe cells that an attacker knows more closely than the rules allow.
        median_width: The median width of what an attacker holds possible of an unsafe cell, as a share of its value.
        attackers: Who attacked.
        seconds: How long it took.
        error: Why there is no answer; empty where there is one.
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
    def holds(self) -> bool:
        """Whether there is an answer, and no attacker knows more than the rules allow."""
        return not self.error and not self.unsafe_too_narrow

    def to_dict(self) -> dict[str, Any]:
        """In plain values."""
        return {**asdict(self), "attackers": list(self.attackers), "holds": self.holds}


@dataclass(frozen=True, slots=True)
class TableRuns:
    """A comparison.

    Attributes:
        cells: How many cells the table has.
        unsafe: How many are unsafe by themselves.
        runs: The ways that were tried.
        redesign: Proposals of coarser tables, in words.
        language: The language of its page.
    """

    cells: int
    unsafe: int
    runs: tuple[TableRun, ...]
    redesign: tuple[str, ...] = ()
    language: str = "en"

    def to_dict(self) -> dict[str, Any]:
        """In plain values, as compare.json has them."""
        return {
            "cells": self.cells,
            "unsafe": self.unsafe,
            "runs": [run.to_dict() for run in self.runs],
            "redesign": list(self.redesign),
        }
