"""Minimality attack on full-domain releases: infer classes one level finer, given the original table."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.localization.messages import Message
from sfumato.microdata.attacks.coded_rows import Columns, codes_of
from sfumato.microdata.attacks.minimality import Finer, attack_minimality
from sfumato.microdata.attacks.minimality import SensitiveTarget as Attacked
from sfumato.microdata.attacks.result import Absence, AttackResult
from sfumato.microdata.models.k_anonymity import KAnonymity
from sfumato.microdata.models.model import is_global
from sfumato.pipelines.attacks.target import AttackTarget, in_one_text, ladders_of

NAME = "minimality"
Places = npt.NDArray[np.int64]
MOST_ROWS = 50_000


def minimality(
    target: AttackTarget, raw: Columns, random: np.random.Generator, absences: list[Absence]
) -> list[AttackResult]:
    """Attack each column with privacy models."""
    why = _why_not(target, raw)
    if why:
        absences.append(Absence(NAME, why))
        return []
    plan, report = target.plan, target.report
    assert plan is not None and report is not None
    groups = _groups(target, raw)
    attacks = []
    for column in dict.fromkeys(model.column for model in plan.privacy if model.column):
        texts, codes = codes_of(in_one_text(raw, plan)[column])
        models = tuple(model for model in plan.privacy if model.column == column and not is_global(model))
        finer = [[Finer(parts, codes[rows].astype(np.int64)) for rows, parts in group] for group in groups]
        attacks.append(attack_minimality(finer, Attacked(column, texts, models), random))
    return attacks


def _why_not(target: AttackTarget, raw: Columns) -> str:
    plan, report = target.plan, target.report
    if plan is None or report is None or not report.get("levels"):
        return Message("note.attack_levels")
    if not any(model.column for model in plan.privacy):
        return Message("note.attack_promise")
    if getattr(plan.method, "hide_minimality", False):
        return Message("note.attack_hidden")
    if report.get("suppressed_rows"):
        return Message("note.attack_suppressed")
    return Message("note.attack_many") if len(next(iter(raw.values()))) > MOST_ROWS else ""


def _groups(target: AttackTarget, raw: Columns) -> list[list[tuple[Places, Places]]]:
    """Return for each column with a finer level the rows of each class with their parts, if all parts are large."""
    plan, report = target.plan, target.report
    assert plan is not None and report is not None
    typed = in_one_text(raw, plan)
    ladders, levels = ladders_of(plan, typed), dict(report["levels"])
    k = max((model.k for model in plan.privacy if isinstance(model, KAnonymity)), default=1)
    classes = _labels(typed, ladders, levels)
    groups = []
    for name, level in levels.items():
        if level <= plan.columns[name].min_level:
            continue
        finer = _labels(typed, ladders, levels | {name: level - 1})
        if np.bincount(finer).min() < k:
            continue  # the class sizes explain the level
        members = [np.flatnonzero(classes == one) for one in range(int(classes.max()) + 1)]
        groups.append([(rows, np.unique(finer[rows], return_inverse=True)[1].ravel()) for rows in members])
    return groups


def _labels(typed: Columns, ladders: Mapping[str, Hierarchy], levels: Mapping[str, int]) -> Places:
    """Return the class of each row at the given levels."""
    columns = [
        [ladders[name].published(text, level) if text is not None else None for text in typed[name]]
        for name, level in levels.items()
    ]
    places: dict[tuple[str | None, ...], int] = {}
    rows = zip(*columns, strict=True)
    return np.array([places.setdefault(labels, len(places)) for labels in rows], np.int64)
