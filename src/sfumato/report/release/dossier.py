"""The input data of every report on a release."""

from collections.abc import Mapping
from dataclasses import field
from datetime import date
from pathlib import Path

from sfumato.dataclass import dataclass
from sfumato.microdata.methods.full_domain.alternatives import Alternative
from sfumato.microdata.outcome import Report
from sfumato.microdata.plan.model import Plan
from sfumato.report.release.sections.before_after import Evidence
from sfumato.texts.words import Words, words_in, words_on_persons


@dataclass(frozen=True, slots=True)
class Dossier:
    """What is known of a release; the more, the more a report tells.

    Attributes:
        plan: What was asked; evidence: what was seen of the rows; others: releases that were not chosen.
        seals: SHA-256 of the other files of the folder, by the report's key for each.
        house: The other files of its folder that stay in the house.
        day: When it was released; language: of the report, where it is not the plan's.
        home: Where the paths of plan.yaml start, which the report prints; where the plan was read by default.
    """

    report: Report
    plan: Plan | None = None
    evidence: Evidence | None = None
    others: tuple[Alternative, ...] = ()
    seals: Mapping[str, str] = field(default_factory=dict)
    day: date | None = None
    language: str | None = None
    home: Path | None = None
    house: tuple[str, ...] = ("plan.yaml", "recoding.json", "report.json")

    @property
    def words(self) -> Words:
        """The words of the language that is asked for, or else the plan's; about persons where these are counted."""
        language = self.language or (self.plan.language if self.plan else "en")
        return words_on_persons(language) if self.report.counts_persons else words_in(language)

    @property
    def star_rows(self) -> bool:
        """Whether there are rows with `*` in every quasi-identifier because they were suppressed."""
        return self.report.star_rows and self.report.suppressed_rows > 0

    def under_promise(self, column: str) -> bool:
        """Whether a promise is made about a column."""
        return any(promise.column == column for promise in self.report.models)

    def about(self) -> dict[str, str]:
        """Who released for what, as the plan says it, by the plan's keys; only what it says."""
        return {} if self.plan is None else self.plan.release.stated()
