"""Attack results as evidence of a release: measured before it is saved, or added to its folder."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sfumato.atomic_folders import make_private, write_text
from sfumato.errors import DataError, PlanError
from sfumato.localization.messages import words_in
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.plan.resolve import released_plan
from sfumato.pipelines.attacks.attack import AttackReport, attack
from sfumato.pipelines.release_folder import HANDED_OUT, Release
from sfumato.pipelines.release_stages import checksums
from sfumato.report.checks import placed, summary
from sfumato.report.release.report import external_checksums

REPORTS = ("report.json", "report.html", "report-external.json", "report-external.html")


def attacked(release: Release, raw: Any = None, **options: Any) -> Release:
    """Return a release with attack results in its report.

    Args:
        release: A release that is not saved yet.
        raw: The rows behind it; by default the source that its plan names.
        options: Further options of the attack.

    Raises:
        PlanError: The plan names no file.
    """
    if raw is None or (isinstance(raw, str) and "://" in raw):
        raw = source_of(release.resolved)
    report = attack(release, raw, **options)
    details = {**release.report.details, "attack": report.to_dict()}
    return replace(release, report=replace(release.report, details=details))


def source_of(plan: Plan) -> Path:
    """Return the file of raw rows that a plan names.

    Raises:
        PlanError: It names none, or a table of a database.
    """
    source = plan.data.source
    if source is None or source.is_address:
        raise PlanError("raw.the_plan_names_no")
    return source.within(plan.folder)


def raw_of(release: Path) -> Path:
    """Return the raw rows behind a release folder: the source of its plan.

    Raises:
        PlanError: It is no release folder, or its plan names no file.
    """
    if not (release / "plan.yaml").exists():
        raise PlanError("raw.is_no_release_folder_2", name=release.name)
    checksums.check_single(release)
    return source_of(released_plan(release))


def add_to_folder(folder: Path, report: AttackReport) -> None:
    """Add attack results to the reports of a release folder, and write all details to attack.json.

    Raises:
        DataError: It is no release folder.
    """
    figures = report.to_dict()
    try:
        texts = {name: (folder / name).read_text(encoding="utf-8") for name in REPORTS if (folder / name).exists()}
        content = json.loads(texts["report.json"])
        language = released_plan(folder).language
    except (OSError, ValueError, KeyError):
        raise DataError("no-report", name=folder.name) from None
    words = words_in(language)
    if "report.html" in texts:
        texts["report.html"] = placed(texts["report.html"], figures, words)
    if "report-external.json" in texts:
        handed_out = json.loads(texts["report-external.json"])
        texts["report-external.json"] = _json({**handed_out, "attack": summary(figures)})
        texts["report-external.html"] = placed(texts["report-external.html"], figures, words, to_hand_out=True)
    sealed = {**content, "attack": figures, **external_checksums(texts)}
    texts |= {"report.json": _json(sealed), "attack.json": _json(figures)}
    for name, text in texts.items():
        _replace(folder / name, text)


def _json(content: Mapping[str, Any]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _replace(path: Path, text: str) -> None:
    """Replace a file atomically; internal files remain private."""
    draft = path.with_name(f".{path.name}")
    write_text(draft, text)
    if path.name not in HANDED_OUT:
        make_private(draft)
    draft.replace(path)
