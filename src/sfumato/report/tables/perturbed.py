"""Reports on tables whose numbers were changed: figures, a text summary, the page."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sfumato.report.page.html_parts import page, paragraph, section, table
from sfumato.tables.perturbed.perturbed import ChangedTable, Perturbed
from sfumato.version import __version__

MOST_ROWS = 500
NO_PROMISE = "No rule calls a cell unsafe, so nothing is promised; below stands what a reader computes."
HANDOUT = (
    "Hand out table-external.csv and this page. table.csv holds the true values, and report.json tells how far they "
    "are off: both are for the house, and so is the secret."
)


def figures(changed: ChangedTable) -> dict[str, Any]:
    """The figures of report.json."""
    method = changed.plan.perturbation
    return {
        "version": __version__,
        "method": "" if method is None else method.name,
        "cells": len(changed.source),
        "groups": len(changed.parts),
        **_details(changed.parts),
        "noise": noise(changed.parts),
        "additivity": additivity(changed.parts),
        "reader": reader(changed.parts),
        "holds": changed.holds,
        "warnings": [] if changed.promised else [NO_PROMISE],
        "seconds": {stage: round(seconds, 4) for stage, seconds in changed.seconds.items()},
    }


def _details(parts: Sequence[Perturbed]) -> dict[str, Any]:
    """What the method says of itself: of the one table, or of each group."""
    return dict(parts[0].figures) if len(parts) == 1 else {"parts": [dict(part.figures) for part in parts]}


def noise(parts: Sequence[Perturbed]) -> dict[str, Any]:
    """How far published cells are off: how many, their mean (the bias), variance, mean and largest distance."""
    change = np.concatenate([part.change for part in parts]) if parts else np.zeros(0)
    values = np.concatenate([np.abs(part.part.table.values[part.shown]) for part in parts]) if parts else np.zeros(0)
    size = np.abs(change)
    return {
        "changed": int((size > 1e-9).sum()),
        "bias": _tidy(change.mean()) if len(change) else 0,
        "variance": _tidy(change.var()) if len(change) else 0,
        "mean_absolute": _tidy(size.mean()) if len(change) else 0,
        "largest": _tidy(size.max(initial=0.0)),
        "sum_absolute": _tidy(size.sum()),
        "share_of_values": _tidy(size.sum() / max(values.sum(), 1e-300)),
    }


def additivity(parts: Sequence[Perturbed]) -> dict[str, Any]:
    """How many published totals are not the sum of their published parts, and by how much at most."""
    off = np.concatenate([part.off for part in parts]) if parts else np.zeros(0)
    return {"relations": len(off), "broken": int((off > 1e-6).sum()), "largest": _tidy(off.max(initial=0.0))}


def reader(parts: Sequence[Perturbed]) -> dict[str, Any]:
    """What a reader computes: cells known exactly, the narrowest range, and unsafe cells below what rules ask for."""
    widths = [part.ranges.high - part.ranges.low for part in parts]
    moving = np.concatenate([width[~part.exact] for width, part in zip(widths, parts, strict=True)] or [np.zeros(0)])
    moving = moving[np.isfinite(moving)]
    return {
        "exact": sum(int((part.exact & part.shown).sum()) for part in parts),
        "narrowest": _tidy(moving.min()) if len(moving) else None,
        "median_width": _tidy(float(np.median(moving))) if len(moving) else None,
        "computed": sum(int(part.attained.sum()) for part in parts),
        "not_computed": sum(int((~part.attained).sum()) for part in parts),
        "unsafe": sum(int(part.part.table.unsafe.sum()) for part in parts),
        "unsafe_exact": sum(int((part.exact & part.part.table.unsafe).sum()) for part in parts),
        "unsafe_too_narrow": sum(int(part.too_narrow.sum()) for part in parts),
    }


def _tidy(value: float) -> float | int:
    number = float(value)
    return int(number) if number == int(number) else round(number, 6)


def summary(report: Mapping[str, Any]) -> str:
    """The figures in a few lines of text."""
    off, sums, reader = report["noise"], report["additivity"], report["reader"]
    lines = [
        f"{off['changed']:,} of {report['cells']:,} cells changed by {method_words(report)}: "
        f"by {off['mean_absolute']:,} on average, {off['largest']:,} at most; "
        f"bias {off['bias']:,}, variance {off['variance']:,}.",
        additivity_line(sums),
        reader_line(reader),
        *_proof(report),
        *_differences(report),
        *_informed_reader(report),
        *report.get("remarks", []),
        *report["warnings"],
    ]
    return "\n".join(lines)


def method_words(report: Mapping[str, Any]) -> str:
    """The method with what tells its variants apart."""
    if report["method"] != "rounding" or "kind" not in report:
        return str(report["method"])
    further = f", {report['further_steps']} further steps" if report.get("further_steps") else ""
    return f"{report['kind']} rounding to base {report['base']:g}{further}"


def additivity_line(sums: Mapping[str, Any]) -> str:
    """Whether published totals add up, in one sentence."""
    if not sums["broken"]:
        return f"All {sums['relations']:,} relations hold."
    broken = f"{sums['broken']:,} of {sums['relations']:,} totals"
    return f"{broken} are not the sum of their parts, by {sums['largest']:,} at most."


def reader_line(reader: Mapping[str, Any]) -> str:
    """What a reader computes, in one sentence."""
    narrow_cells = f"{reader['unsafe_too_narrow']:,} too narrow."
    unsafe = (
        f" Of {reader['unsafe']:,} unsafe cells {reader['unsafe_exact']:,} are exact, {narrow_cells}"
        if reader["unsafe"]
        else ""
    )
    narrow = (
        "" if reader["narrowest"] is None else f", the narrowest range of the others is {reader['narrowest']:,} wide"
    )
    left = reader.get("not_computed", 0)
    open_ends = (
        f" The time was over before the ranges of {left:,} cells were exact: a reader may know these more closely."
        if left
        else ""
    )
    return f"A reader knows {reader['exact']:,} true values exactly{narrow}.{unsafe}{open_ends}"


def _proof(report: Mapping[str, Any]) -> list[str]:
    if "proved_optimal" not in report:
        return []
    bound = f"; none changes less than {report['bound']:,}" if not report["proved_optimal"] else ""
    return [
        "Proved to be the least change." if report["proved_optimal"] else f"Not proved to be the least change{bound}."
    ]


def _differences(report: Mapping[str, Any]) -> list[str]:
    found = report.get("differences")
    if not found or not found["attacks"]:
        return []
    return [
        f"Differences: {found['attacks']:,} attempts to compute a small count from its total and the other parts; "
        f"{found['right']:,} are right, and {found['right_without']:,} of the published counts themselves."
    ]


def _informed_reader(report: Mapping[str, Any]) -> list[str]:
    """What the largest move of an adjusted table would give away."""
    reader = report.get("informed_reader")
    if not reader:
        return []
    return [
        "Do not hand out how far cells moved: a reader who is told that none moved by more than "
        f"{reader['largest_move']:,g} knows {reader['unsafe_too_narrow']:,} unsafe cells more closely than the rules "
        f"allow ({reader['unsafe_exact']:,} exactly), and {reader['exact']:,} values of all."
    ]


def html(changed: ChangedTable, report: Mapping[str, Any]) -> str:
    """The whole report as one page; it shows what is published and what any reader computes, no true value."""
    public = changed.external
    rows = list(zip(*public.texts.values(), strict=True))
    # How far cells are off, and how many are unsafe, would tell about hidden values: that stays in report.json.
    shown = [
        ("cells", report["cells"]),
        ("method", method_words(report)),
        ("totals", additivity_line(report["additivity"])),
    ]
    verdict = "No reader knows an unsafe cell more closely than the rules allow." if changed.promised else NO_PROMISE
    more = f"{len(rows) - MOST_ROWS:,} more rows are in table-external.csv."
    return page(
        "Table with changed numbers",
        [
            "<h1>Table with changed numbers</h1>",
            paragraph(f"Sfumato {report['version']}", soft=True),
            f'<div class="verdict">{paragraph(verdict)}</div>',
            section("Figures", table(["figure", "value"], shown)),
            section("Published table", table(list(public.texts), rows[:MOST_ROWS])),
            *([paragraph(more, soft=True)] if len(rows) > MOST_ROWS else []),
            paragraph(HANDOUT, soft=True),
        ],
    )
