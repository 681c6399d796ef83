"""What is proved of a release: how far its loss may be from the least, and what a search over sets publishes."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from sfumato.microdata.outcome import Report
from sfumato.report.before_after import shown_as
from sfumato.report.html_parts import paragraph, section, table
from sfumato.texts.numbers import percent

MOST_LABELS = 30
ALIKE = "Published in values of its own or merged ones, alike for all rows."


Labels = Sequence[str | None]


def published(report: Report) -> Mapping[str, Labels]:
    """The labels of each column, for a method that chooses them for all rows alike."""
    labels: Mapping[str, Labels] = report.details.get("published") or {}
    return labels


def fate(labels: Labels, values: int | None) -> str:
    """What labels that hold for all rows do to a column of so many different values, in words."""
    if list(labels) == ["*"]:
        return "Withheld: every row has * here."
    if len(labels) == values:
        return "Published as it is:"
    return f"Published as one of {len(labels):,} values, alike for all rows:"


def chips(labels: Labels) -> str:
    """Labels one after the other; of many the first ones."""
    if list(labels) == ["*"]:
        return ""
    shown = [f'<span class="chip">{escape(shown_as(label))}</span>' for label in labels[:MOST_LABELS]]
    more = [f"… {len(labels) - MOST_LABELS:,} more"] if len(labels) > MOST_LABELS else []
    return f'<div class="labels">{" ".join([*shown, *more])}</div>' if labels else ""


def quality(report: Report) -> str:
    """How good the answer of a search with a bound is; nothing for others."""
    bound = report.details.get("bound")
    if bound is None:
        return ""
    rows = [("loss of this release", report.loss.value), ("no other can lose less than", float(bound))]
    return section("How good the answer is", paragraph(_quality_text(report, float(bound))), *_figures(report, rows))


def _quality_text(report: Report, bound: float) -> str:
    if report.proved_optimal:
        return (
            "This release is proved to be the best of its kind: every other choice was searched, or ruled out because "
            "it must lose at least as much."
        )
    why = "The search was interrupted" if report.details.get("interrupted") else "The time for the search was over"
    gap = _gap(report.loss.value, bound)
    return (
        f"{why} before the best was proved. This release is the best that was found; any other of its kind loses at "
        f"most {percent(gap)} less. More time may find a better one, or prove that there is none."
    )


def _gap(loss: float, bound: float) -> float:
    """By which share of the loss the least may lie lower."""
    return 0.0 if loss <= 0 else min(max(0.0, 1.0 - bound / loss), 1.0)


def _figures(report: Report, rows: list[tuple[str, float]]) -> list[str]:
    if report.proved_optimal:
        return []
    shown: list[tuple[str, Any]] = [
        *rows,
        ("the best loses less by at most", percent(_gap(*(value for _, value in rows)))),
    ]
    return [table(["", report.loss.name], ((name, _text(value)) for name, value in shown))]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:,.6g}"
