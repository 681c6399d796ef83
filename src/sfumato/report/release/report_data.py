"""The input data of every report on a release."""

from collections.abc import Mapping
from dataclasses import field
from datetime import date
from pathlib import Path

from sfumato.dataclass import dataclass
from sfumato.localization.messages import Messages, words_in, words_on_persons
from sfumato.microdata.methods.full_domain.trade_off import TradeOffPoint
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.release_report import Report
from sfumato.report.release.sections.column_evidence import ReleaseEvidence


@dataclass(frozen=True, slots=True)
class ReportData:
    """What is known about a release; reports leave out what is missing.

    Attributes:
        plan: The plan; evidence: findings about the rows; others: releases that were not chosen.
        checksums: Checksums (SHA-256) of the other files of the folder, by report key.
        house: The other internal files of its folder.
        day: Date of the release; language: of the report, if it is not the plan's.
        home: Base of the paths in plan.yaml, shown in the report; by default where the plan was read.
    """

    report: Report
    plan: Plan | None = None
    evidence: ReleaseEvidence | None = None
    others: tuple[TradeOffPoint, ...] = ()
    checksums: Mapping[str, str] = field(default_factory=dict)
    day: date | None = None
    language: str | None = None
    home: Path | None = None
    house: tuple[str, ...] = ("plan.yaml", "recoding.json", "report.json")

    @property
    def words(self) -> Messages:
        """The messages in the requested language, or else the plan's; for persons if these are counted."""
        language = self.language or (self.plan.language if self.plan else "en")
        return words_on_persons(language) if self.report.counts_persons else words_in(language)

    @property
    def star_rows(self) -> bool:
        """Whether there are suppressed rows with `*` in every quasi-identifier."""
        return self.report.star_rows and self.report.suppressed_rows > 0

    def under_promise(self, column: str) -> bool:
        """Return whether a model refers to a column."""
        return any(promise.column == column for promise in self.report.models)

    def about(self) -> dict[str, str]:
        """Who released for what purpose, as the plan states it, by plan key."""
        return {} if self.plan is None else self.plan.release.stated()
