"""Reports on perturbed tables: metrics, and a text summary."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from sfumato.localization.messages import Message, Messages, words_in
from sfumato.report.tables.limitations import not_audited, unattacked_words
from sfumato.tables.noise.perturbed import PerturbedCells, PerturbedResult
from sfumato.version import __version__


def has_warning(report: Mapping[str, Any], code: str) -> bool:
    """Return whether a report has the warning of a code."""
    return any(isinstance(one, Message) and one.code == code for one in report["warnings"])


def metrics(changed: PerturbedResult) -> dict[str, Any]:
    """Return the metrics of report.json."""
    method, off = changed.plan.perturbation, noise(changed.parts)
    said = [] if changed.promised else [Message("noised.no_guarantee")]
    return {
        "version": __version__,
        "method": "" if method is None else method.name,
        "cells": len(changed.source),
        "groups": len(changed.parts),
        **_details(changed.parts),
        "noise": off,
        "additivity": additivity(changed.parts),
        "reader": reader(changed.parts),
        "satisfied": changed.passed and (changed.attacked or not changed.promised),
        "attacked": changed.attacked,
        "warnings": [
            *said,
            *([] if off["changed"] else [Message("noised.nothing_changed")]),
            *not_audited(part.part for part in changed.parts),
        ],
        "seconds": {stage: round(seconds, 4) for stage, seconds in changed.seconds.items()},
    }


def verdict_words(words: Messages, changed: PerturbedResult, promised: bool) -> list[str]:
    """Return whether the guarantee is satisfied, or why there is none.

    Args:
        promised: Whether there is a guarantee: by the plan alone, for publication.
    """
    if not promised:
        return [words["noised.no_guarantee"]]
    return unattacked_words(words, changed) or [words["noised.holds"]]


def _details(parts: Sequence[PerturbedCells]) -> dict[str, Any]:
    """Return the details of the method: of the one table, or of each group."""
    return dict(parts[0].figures) if len(parts) == 1 else {"parts": [dict(part.figures) for part in parts]}


def noise(parts: Sequence[PerturbedCells]) -> dict[str, Any]:
    """Return the deviation of published cells: number, mean (the bias), variance, mean and largest distance."""
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


def additivity(parts: Sequence[PerturbedCells]) -> dict[str, Any]:
    """Return how many published totals differ from the sum of their published parts, and the largest difference."""
    off = np.concatenate([part.off for part in parts]) if parts else np.zeros(0)
    return {"relations": len(off), "broken": int((off > 1e-6).sum()), "largest": _tidy(off.max(initial=0.0))}


def reader(parts: Sequence[PerturbedCells]) -> dict[str, Any]:
    """Return what an attacker computes: exact cells, the narrowest interval, and insufficiently protected cells."""
    widths = [part.ranges.high - part.ranges.low for part in parts]
    moving = np.concatenate([width[~part.exact] for width, part in zip(widths, parts, strict=True)] or [np.zeros(0)])
    moving = moving[np.isfinite(moving)]
    return {
        "exact": sum(int((part.exact & part.shown).sum()) for part in parts),
        "narrowest": _tidy(moving.min()) if len(moving) else None,
        "median_width": _tidy(float(np.median(moving))) if len(moving) else None,
        "computed": sum(int(part.attained.sum()) for part in parts),
        "not_computed": sum(int((~part.attained).sum()) for part in parts),
        "unsafe": sum(int(part.part.table.sensitive.sum()) for part in parts),
        "unsafe_exact": sum(int((part.exact & part.part.table.sensitive).sum()) for part in parts),
        "unsafe_too_narrow": sum(int(part.too_narrow.sum()) for part in parts),
    }


def _tidy(value: float) -> float | int:
    number = float(value)
    return int(number) if number == int(number) else round(number, 6)


def summary(report: Mapping[str, Any]) -> str:
    """Return the metrics in a few lines of text."""
    return "\n".join(sentences(report, words_in()))


def sentences(report: Mapping[str, Any], words: Messages) -> list[str]:
    """Return what was changed, whether totals add up, what can be computed, and further notes."""
    return [
        *loss_sentences(report, words),
        *reader_sentences(report, words),
        *(words.text(warning) for warning in report["warnings"]),
    ]


def loss_sentences(report: Mapping[str, Any], words: Messages) -> list[str]:
    """Return what was changed, whether totals add up, and whether smaller changes would suffice."""
    off = {name: words.figure(f"{figure:,}") for name, figure in report["noise"].items()}
    counts = {"cells": words.count(report["cells"]), "method": method_words(report, words)}
    return [
        words["noised.changed"].format(**counts, **off),
        additivity_line(report["additivity"], words),
        *_proof(report, words),
    ]


def reader_sentences(report: Mapping[str, Any], words: Messages) -> list[str]:
    """Return what an attacker computes, also with further knowledge."""
    return [
        reader_line(report["reader"], words),
        *_differences(report, words),
        *_informed_reader(report, words),
        *(words.text(remark) for remark in report.get("remarks", [])),
    ]


def method_words(report: Mapping[str, Any], words: Messages) -> str:
    """Return the method with the parameters that distinguish its variants."""
    if report["method"] != "rounding" or "kind" not in report:
        return words[f"noised.method.{report['method']}"]
    rounded = words["noised.rounding"].format(
        kind=words[f"noised.kind.{report['kind']}"], base=words.figure(f"{report['base']:g}")
    )
    steps = report.get("further_steps")
    return rounded + (words["noised.further_steps"].format(steps=words.count(steps)) if steps else "")


def perturbed_limits(words: Messages, promised: bool) -> Iterator[str]:
    """Yield what is not guaranteed for a perturbed table."""
    yield words["noised.not.insiders"]
    if promised:
        yield words["noised.not.safe"]
    yield words["noised.not.secret"]
    yield words["noised.not.later"]
    yield words["tabled.not.more"]


def additivity_line(sums: Mapping[str, Any], words: Messages) -> str:
    """Return whether published totals add up, in one sentence."""
    said = {"broken": words.count(sums["broken"]), "relations": words.count(sums["relations"])}
    most = words.figure(f"{sums['largest']:,}")
    return words["noised.broken" if sums["broken"] else "noised.additive"].format(**said, most=most)


def reader_line(reader: Mapping[str, Any], words: Messages) -> str:
    """Return what an attacker computes, in one or two sentences."""
    said = {name: words.figure(f"{figure:,}") for name, figure in reader.items() if figure is not None}
    narrow = "" if reader["narrowest"] is None else words["noised.narrowest"].format(**said)
    unsafe = words["noised.unsafe"].format(**said) if reader["unsafe"] else ""
    left = words["noised.not_computed"].format(**said) if reader.get("not_computed") else ""
    return words["noised.reader"].format(exact=said["exact"], narrow=narrow) + unsafe + left


def _proof(report: Mapping[str, Any], words: Messages) -> list[str]:
    if "proved_optimal" not in report:
        return []
    if report["proved_optimal"]:
        return [words["noised.proved"]]
    return [words["noised.unproved"].format(bound=words.figure(f"{report['bound']:,}"))]


def _differences(report: Mapping[str, Any], words: Messages) -> list[str]:
    attacks = report.get("differences")
    if not attacks or not attacks["attacks"]:
        return []
    return [words["noised.differences"].format(**{name: words.figure(f"{n:,}") for name, n in attacks.items()})]


def _informed_reader(report: Mapping[str, Any], words: Messages) -> list[str]:
    """Return what the largest change of an adjusted table would disclose."""
    reader = report.get("informed_reader")
    if not reader:
        return []
    figures = {name: words.figure(f"{figure:,g}") for name, figure in reader.items()}
    return [words["noised.informed"].format(**figures)]
