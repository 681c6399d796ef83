"""Documents of an existing release folder: the annex for an impact assessment, reports as PDF, attack results."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

from sfumato.atomic_folders import make_private, write_text
from sfumato.errors import DataError, EngineError, PlanError
from sfumato.localization.messages import from_json, to_json, words_in
from sfumato.microdata.measures.attribute_disclosure import (
    AttributeDisclosureMetrics,
    Disclosure,
    SeveralKnown,
    UniqueRows,
)
from sfumato.microdata.measures.inference import InferenceRisk, PairInference
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.plan.read import released_plan
from sfumato.microdata.release_report import ClassFigures, LossFigure, Report, Timings, metrics
from sfumato.microdata.verdict import Guarantee
from sfumato.pipelines.attack import AttackReport, attack
from sfumato.pipelines.release_folder import HANDED_OUT, Release
from sfumato.pipelines.release_stages import checksums
from sfumato.pipelines.release_stages.checksums import refuse_several
from sfumato.pipelines.tables.table_release import read_annex as annex_of_tables
from sfumato.report.annex import Annex
from sfumato.report.checks import placed, summary
from sfumato.report.files import text as text_of_files
from sfumato.report.release.column_evidence import ReportData
from sfumato.report.release.report import external_checksums
from sfumato.report.release.sign_off import rows_annex
from sfumato.report.tables.report import summary as text_of_table
from sfumato.schema.files import load
from sfumato.values import fields, replace

# Executables of browsers that can print, the most likely first.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome", "msedge")
PRINTING_SECONDS = 120
# Details that only some releases have, for reports and pages.
DETAILS = (
    "heavily_generalized_columns",
    "advice",
    "levels_allowed",
    "counts_persons",
    "persons_uncounted",
    "shared_identifiers",
    "rare_values",
    "columns_with_few_values",
    "missing_codes",
    "coded_columns",
    "households",
    "column_count",
    "undecided_columns",
    "column_outcomes",
    "policy",
    "previous",
    "attack",
    "perturbation",
    "local_suppression",
    "satisfying_nodes",
    "published",
    "bound",
    "interrupted",
    "release_check",
)
CHECKSUMS = ("output_sha256", "plan_sha256", "recoding_sha256", "persons_sha256")
Made = TypeVar("Made")
QUIET = ("--headless", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--no-pdf-header-footer")


def is_of_tables(folder: Path) -> bool:
    """Return whether a folder is a release of one or several tables."""
    plan = load(folder / "plan.yaml") if (folder / "plan.yaml").exists() else None
    return isinstance(plan, Mapping) and bool({"table", "tables"} & plan.keys())


def read_tables_report(folder: Path) -> str:
    """Return the report of a protected table's folder as text.

    Raises:
        DataError: It contains no report.
    """
    return _made(folder, lambda content: text_of_table(content) + "\n")


def read_annex(folder: Path) -> Annex:
    """Return the annex for an impact assessment of a release of rows or tables.

    Raises:
        DataError: It is no release folder.
        PlanError: It is a release of several files.
    """
    if is_of_tables(folder):
        return _made(folder, lambda content: annex_of_tables(folder, content))
    return rows_annex(read_dossier(folder))


def read_files_report(folder: Path) -> str | None:
    """Return the report of a release of several files as text; None for any other folder."""
    plan = released_plan(folder) if (folder / "plan.yaml").exists() else None
    return _made(folder, text_of_files) if plan is not None and plan.files else None


def _made(folder: Path, make: Callable[[dict[str, Any]], Made]) -> Made:
    """Return the result of a function applied to a folder's report.json."""
    try:
        return make(from_json((folder / "report.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError):
        raise DataError("no-report", name=folder.name) from None


def read_dossier(folder: Path) -> ReportData:
    """Return the report data of a release folder.

    Raises:
        DataError: It is no release folder.
        PlanError: It is a release of several files.
    """
    plan = released_plan(folder) if (folder / "plan.yaml").exists() else None
    if plan is not None:
        refuse_several(folder, plan)
    report, content = _made(folder, lambda content: (_report(content), content))
    day = date.fromisoformat(content["date"]) if "date" in content else None
    checksums = {key: content[key] for key in CHECKSUMS if key in content}
    return ReportData(report, plan or released_plan(folder), checksums=checksums, day=day, home=folder)


def _report(content: Mapping[str, Any]) -> Report:
    """Return the report of a report.json, as far as it is complete."""
    return Report(
        **{key: content[key] for key in ("version", "method", "proved_optimal", "levels", "rows", "dropped_rows")},
        **{key: content[key] for key in ("suppressed_rows", "nodes", "engine", "seed", "input_sha256")},
        loss=LossFigure(**content["loss"]),
        classes=ClassFigures(**content["classes"]),
        models=tuple(_promise(entry) for entry in content["models"]),
        risk=metrics(content["risk"]),
        utility=metrics(content["utility"]),
        seconds=Timings(**{key: content["seconds"].get(key, 0.0) for key in fields(Timings)}),
        notes=tuple(content["remarks"]),
        removed_columns=tuple(content.get("removed_columns", ())),
        disclosure=_disclosure(content.get("disclosure") or {}),
        details={key: content[key] for key in DETAILS if key in content},
        star_rows=content["published_rows"] == content["rows"] and content["suppressed_rows"] > 0,
    )


def _disclosure(content: Mapping[str, Any]) -> Disclosure:
    sensitive = {name: AttributeDisclosureMetrics(**entry) for name, entry in content.get("sensitive", {}).items()}
    unique = tuple(UniqueRows(tuple(entry["columns"]), entry["rows"]) for entry in content.get("unique_rows", ()))
    tells = tuple(InferenceRisk(**entry) for entry in content.get("inference_risks", ()))
    unmeasured = tuple(content.get("not_measured", ()))
    joint = tuple(
        PairInference(entry["column"], (entry["quasi_identifiers"][0], entry["quasi_identifiers"][1]), entry["share"])
        for entry in content.get("pair_inferences", ())
    )
    share, several = content.get("largest_share"), content.get("column_sets")
    known = None if several is None else SeveralKnown(**several)
    return Disclosure(sensitive, unique, unmeasured, content.get("unique_in_classes", {}), tells, joint, share, known)


def _promise(entry: Mapping[str, Any]) -> Guarantee:
    achieved = float("inf") if entry["achieved"] is None else entry["achieved"]
    more = (entry.get("column"), entry.get("parameters", {}))
    return Guarantee(entry["model"], entry["requested"], achieved, entry["satisfied"], *more)


def print_page(page: Path, target: Path) -> None:
    """Print a report to PDF with an installed browser.

    Raises:
        EngineError: There is no browser, or it does not print.
    """
    browser = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise EngineError("browser.none_that_prints", name=page.name)
    # Browsers refuse their sandbox to root; the page is generated here, has no script and loads nothing.
    root = ("--no-sandbox",) if hasattr(os, "geteuid") and os.geteuid() == 0 else ()
    with tempfile.TemporaryDirectory() as profile:
        command = [browser, *QUIET, *root, f"--user-data-dir={profile}", f"--print-to-pdf={target.absolute()}"]
        try:
            subprocess.run(
                [*command, page.absolute().as_uri()], check=True, capture_output=True, timeout=PRINTING_SECONDS
            )
        except (OSError, subprocess.SubprocessError):
            target.unlink(missing_ok=True)
    if not target.exists():
        raise EngineError("browser.did_not_print", name=Path(browser).name, name_hint=page.name)


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
        raise PlanError("raw.not_named_in_plan")
    return source.within(plan.folder)


def raw_of(release: Path) -> Path:
    """Return the raw rows behind a release folder: the source of its plan.

    Raises:
        PlanError: It is no release folder, or its plan names no file.
    """
    if not (release / "plan.yaml").exists():
        raise PlanError("raw.is_no_release_folder", name=release.name)
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
    complete = {**content, "attack": figures, **external_checksums(texts)}
    texts |= {"report.json": _json(complete), "attack.json": _json(figures)}
    for name, text in texts.items():
        _replace(folder / name, text)


def _json(content: Mapping[str, Any]) -> str:
    return to_json(content) + "\n"


def _replace(path: Path, text: str) -> None:
    """Replace a file atomically; internal files remain private."""
    draft = path.with_name(f".{path.name}")
    write_text(draft, text)
    if path.name not in HANDED_OUT:
        make_private(draft)
    draft.replace(path)
