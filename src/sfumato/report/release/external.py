"""The report for publication with a release: it contains nothing that weakens the protection.

Left out on purpose: original values and their counts, sizes of single classes beyond the guarantee, exact numbers of
suppressed rows, the seed (it would undo a shuffled order), the checksum of the original data (it would confirm a
guess), the exact loss and whether it is the minimum (anyone who knows that a release is minimal can rule out some of
its possible originals: Wong, R. et al. (2007). Minimality attack in privacy preserving data publishing, VLDB), levels
and the plan itself. The meaning of published values is included, because the data cannot be used without it; for
groups, all values of the hierarchy are listed, whether or not they occur in the data.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from sfumato.localization.messages import Messages
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.mapping import is_plain
from sfumato.microdata.verdict import Guarantee
from sfumato.report import html_page as approval
from sfumato.report.checks import framed, outside, summary
from sfumato.report.html_page import (
    definitions,
    folded,
    labels_html,
    listing,
    page,
    paragraph,
    raw_table,
    section,
    sentence_html,
    table,
)
from sfumato.report.release import findings, measures, sections, sentences
from sfumato.report.release.column_evidence import ReportData
from sfumato.report.release.columns import LabelMeaning
from sfumato.report.release.findings import columns_alike

Matrix = Mapping[str, Mapping[str, float]]
Counts = Mapping[str, int]
DECIMALS = 2
# Roles of columns whose codes for missing values are published unchanged.
KEEP_MISSING_WORDS = ("sensitive", "insensitive", "weight")
# Categories with fewer rows are not named.
FEWEST = 3
# The checksum of the published file; that of the original data would confirm a guess.
DATA_SEAL = "output_sha256"
# Glossary terms of this edition; levels and losses are internal.
GLOSSARY = ("quasi-identifier", "identifier", "sensitive", "class", "suppress", "hash")


def html(dossier: ReportData) -> str:
    """Return the report for publication as one page."""
    words, report = dossier.words, dossier.report
    head = [words["external.model"], words["report.column"], words["external.asked"]]
    promises = [(model, columns, asked) for model, asked, columns in sentences.requested(words, report.models)]
    figures_of_attack = report.details.get("attack")
    body = [
        f"<h1>{escape(words['external.title'])}</h1>",
        paragraph(words["external.subtitle"].format(version=report.version), True),
        _document(dossier),
        sections.verdict(dossier, outside=True),
        sections.limits(dossier, outside=True),
        section(words["report.columns"], _columns(dossier)),
        _meanings(dossier),
        *(_matrix(dossier, name) for name in _plan(dossier).columns),
        section(words["external.rows"], paragraph(_suppressed(dossier))),
        section(words["analysis.title"], listing(sentences.analysis(words, _plan(dossier)))),
        section(words["external.promises"], table(head, promises, words)),
        framed(outside(figures_of_attack, words) if figures_of_attack else ""),
        _hashes(dossier),
        section(words["external.glossary"], definitions(_glossary(dossier))),
    ]
    return page(f"Sfumato: {words['external.title']}", [part for part in body if part], words.language)


def metrics(dossier: ReportData) -> dict[str, Any]:
    """Return the same as plain values, for report-external.json."""
    words, report, plan = dossier.words, dossier.report, _plan(dossier)
    return {
        "version": report.version,
        "edition": "external",
        "language": words.language,
        **({"date": dossier.day.isoformat()} if dossier.day else {}),
        "release": dossier.about(),
        "satisfied": report.satisfied,
        "counts_persons": report.counts_persons,
        "checked": words["report.checked"],
        "models": [_model(dossier, promise) for promise in report.models],
        "columns": {name: _column(dossier, name) for name in plan.columns},
        "max_suppressed": _bound(dossier),
        "analysis": sentences.analysis(words, plan),
        **({DATA_SEAL: dossier.checksums[DATA_SEAL]} if DATA_SEAL in dossier.checksums else {}),
        "limits": [
            *findings.inferred(words, report),
            *findings.persons_uncounted(words, report),
            *findings.shared_identifiers(words, report, outside=True),
            *findings.rare_values(words, report, outside=True),
            *sentences.limits(words, tuple(promise.model for promise in report.models), plan),
        ],
        **({"attack": summary(report.details["attack"])} if "attack" in report.details else {}),
    }


def _hashes(dossier: ReportData) -> str:
    """Return the checksums that tie the report to the published file."""
    words, seal = dossier.words, dossier.checksums.get(DATA_SEAL)
    if seal is None:
        return ""
    rows = [(words["external.data_file"], seal)]
    return section(
        words["external.hashes"],
        paragraph(words["external.hashes_text"]),
        table([words["annex.file"], "SHA-256"], rows, words),
    )


def _glossary(dossier: ReportData) -> list[tuple[str, str]]:
    """Return the terms used in this edition: of roles and classes, and of its models."""
    persons = ["person"] * dossier.report.counts_persons
    names = [*GLOSSARY, *persons, *(promise.model for promise in dossier.report.models)]
    used = {dossier.words[f"glossary.{name}"] for name in names if f"glossary.{name}" in dossier.words}
    return [entry for entry in approval.glossary_entries(dossier.words) if entry[0] in used]


def _plan(dossier: ReportData) -> Plan:
    if dossier.plan is None:
        raise ValueError("a report to hand out needs the plan of the release")
    return dossier.plan


def _document(dossier: ReportData) -> str:
    rows = approval.rows_outside(dossier.words, dossier.day, dossier.report.version, dossier.about())
    return table(["", ""], rows, dossier.words)


def _model(dossier: ReportData, promise: Guarantee) -> dict[str, Any]:
    column = {"column": promise.column} if promise.column else {}
    says = sentences.promised(dossier.words, promise, dossier.plan, dossier.star_rows, outside=True)
    told = {"model": promise.model, "requested": promise.requested, "satisfied": promise.satisfied}
    return told | column | {"statement": says}


def _column(dossier: ReportData, name: str) -> dict[str, Any]:
    told = dossier.evidence.meanings.get(name, ()) if dossier.evidence else ()
    values = [{"value": one.label, "meaning": one.stands_for} for one in (*told, *_missing_words(dossier, name))]
    entry = {"role": _plan(dossier).columns[name].role, "what": _what(dossier, name), "values": values}
    matrices = _matrices(dossier, name)
    return entry | ({"matrices": matrices} if matrices else {})


def _matrices(dossier: ReportData, name: str) -> dict[str, Any]:
    """Return the transition probabilities of categories, so that analysts can correct their estimates.

    Those of strata are internal: their names are original values, and the matrix of a small stratum reveals its rows.
    In others, rare categories are combined and probabilities rounded, so that they do not reveal few rows.
    """
    operations = (dossier.report.details.get("perturbation") or {}).get("operations", ())
    own = next((entry for entry in operations if "matrices" in entry and name in entry["columns"]), None)
    if own is None or set(own["matrices"]) != {""}:
        return {}
    counts = (own.get("rows_before", {}), own.get("rows_after", {}))
    shown = shown_matrix(own["matrices"][""], *counts, _fewest(dossier), dossier.words["external.other"])
    return {"": shown} if shown else {}


def _fewest(dossier: ReportData) -> int:
    """Return the minimum number of rows of a named category: k, and at least three."""
    return max([FEWEST, *(int(one.requested) for one in dossier.report.models if one.model == "k-anonymity")])


def _matrix(dossier: ReportData, name: str) -> str:
    """Return the transition probabilities of a column, one line for each original category."""
    words = dossier.words
    parts = [
        table(
            [words["external.from"], *row_names],
            [(old, *(words.figure(f"{row.get(new, 0):g}") for new in row_names)) for old, row in matrix.items()],
            words,
        )
        for matrix in _matrices(dossier, name).values()
        for row_names in [list(dict.fromkeys(new for row in matrix.values() for new in row))]
    ]
    title = words["external.matrix"].format(column=name)
    return section(title, paragraph(words["external.matrix_text"]), *parts) if parts else ""


def _columns(dossier: ReportData) -> str:
    words = dossier.words
    joint = sentences.coded_together(words, _plan(dossier))
    told = ((name, (_role(dossier, name), joint.get(name) or _what(dossier, name))) for name in _plan(dossier).columns)
    rows = [
        (f"<td><b>{sentence_html(names)}</b></td>", f"<td>{escape(role)}</td>", f"<td>{sentence_html(what)}</td>")
        for names, (role, what) in columns_alike(words, told)
    ]
    return raw_table([words["report.column"], words["external.role"], words["report.what"]], rows)


def _role(dossier: ReportData, name: str) -> str:
    return dossier.words[_plan(dossier).columns[name].role].partition(":")[0]


def _meanings(dossier: ReportData) -> str:
    """Return the meaning of published values: a line for each column, with one entry per rule that made labels."""
    words = dossier.words
    told = dossier.evidence.meanings if dossier.evidence else {}
    rows = [(f"<td><b>{escape(name)}</b></td>", f"<td>{_read(words, own)}</td>") for name, own in told.items() if own]
    head = [words["report.column"], words["external.values"]]
    parts = [raw_table(head, rows)] if rows else []
    missing = dict.fromkeys(one.label for name in _plan(dossier).columns for one in _missing_words(dossier, name))
    if missing:
        parts.append(f"<p>{escape(words['external.missing_words'])} {labels_html([*missing], words)}</p>")
    return section(words["external.read"], *parts) if parts else ""


def _missing_words(dossier: ReportData, name: str) -> list[LabelMeaning]:
    """Return the codes for missing values in a published column; a quasi-identifier has none."""
    plan = _plan(dossier)
    if plan.columns[name].role not in KEEP_MISSING_WORDS or name in plan.removed_columns:
        return []
    # Other codes of a plan may be remarks of single rows, which the file does not contain.
    published = dossier.evidence.missing.get(name, ()) if dossier.evidence else ()
    # For columns with a model the codes in the file are known; the others are published unchanged.
    counted = dossier.evidence is not None and name in plan.promise_columns
    words = (word for word in plan.data.missing if word and (word in published or (is_plain(word) and not counted)))
    return [LabelMeaning(word, dossier.words["external.missing"]) for word in words]


def _read(words: Messages, entries: Sequence[LabelMeaning]) -> str:
    """Return how to read the labels of a column; of many lines the first are visible."""
    alike: dict[tuple[str, str], list[LabelMeaning]] = {}
    for entry in entries:
        alike.setdefault((entry.rule, "" if entry.rule else entry.label), []).append(entry)
    lines = [_line(words, group) for group in alike.values()]
    return folded(words, lines, lambda part: "".join(f"<div>{line}</div>" for line in part))


def _line(words: Messages, alike: Sequence[LabelMeaning]) -> str:
    """Return the labels of one rule: the first with its meaning, verbatim from the file, then the others."""
    first, *others = alike
    label = f"<code>{escape(first.label)}</code>" if first.label else escape(words["external.empty"])
    more = escape(words["external.likewise"]) + labels_html([other.label for other in others], words) if others else ""
    return f"{label}: {escape(first.stands_for)}{more}"


def _what(dossier: ReportData, name: str) -> str:
    """Return what was done to a column, in words."""
    told = sentences.untouched(dossier.words, _plan(dossier), name, dossier.report, dossier.under_promise(name))
    return told or _fate(dossier, name)


def _fate(dossier: ReportData, name: str) -> str:
    words, report = dossier.words, dossier.report
    if alike := sentences.fate_of_all(words, report, name):
        return alike
    if name in measures.published(report):
        return words["report.alike"]
    return words["external.coarser"] if name in report.levels else _by_class(dossier, name)


def _by_class(dossier: ReportData, name: str) -> str:
    """Return what happened to a quasi-identifier with different levels in different rows."""
    told = sentences.by_class(dossier.words, dossier.report, dossier.plan, name)
    return dossier.words["external.by_class"] if told == dossier.words["report.by_class"] else told


def _suppressed(dossier: ReportData) -> str:
    words, report = dossier.words, dossier.report
    if not report.suppressed_rows:
        return words["external.no_rows"]
    key = "external.rows_starred" if report.star_rows else "external.rows_dropped"
    return words[key].format(share=f"{100 * _bound(dossier):.0f} %")


def _bound(dossier: ReportData) -> float:
    """Return a rounded upper bound of the share of suppressed rows, because the exact number would be disclosive."""
    share = dossier.report.suppressed_rows / max(dossier.report.rows, 1)
    return next((bound for bound in (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5) if share <= bound), 1.0)


def shown_matrix(matrix: Matrix, before: Counts, after: Counts, fewest: int, other: str) -> dict[str, dict[str, float]]:
    """Return the probabilities between frequent categories; the rest is one category, if frequent enough.

    The name of a category reveals that a person has it; for a rare category, the person is easy to identify.

    Args:
        before: Number of original rows of each category.
        after: Number of published rows of each category.
        other: Name of the rest.

    >>> matrix = {name: {"a": 0.8, "b": 0.1, "c": 0.1} for name in "abc"}
    >>> shown_matrix(matrix, {"a": 9, "b": 9, "c": 1}, {"a": 9, "b": 9, "c": 1}, 3, "other")["a"]
    {'a': 0.8, 'b': 0.1, 'other': 0.1}
    """
    names = {name for row in matrix.values() for name in row} | set(matrix)
    public = {name for name in names if after.get(name, 0) >= fewest}
    groups: dict[str, list[str]] = {}
    for name in matrix:
        groups.setdefault(name if name in public and before.get(name, 0) >= fewest else other, []).append(name)
    enough = {name: rows for name, rows in groups.items() if sum(before.get(row, 0) for row in rows) >= fewest}
    return {
        name: _together([matrix[row] for row in rows], _shares(rows, before), public, other)
        for name, rows in enough.items()
    }


def _shares(names: list[str], before: Counts) -> list[float]:
    """Return the proportions of some categories."""
    rows = sum(before.get(name, 0) for name in names)
    return [before.get(name, 0) / rows for name in names]


def _together(rows: list[Mapping[str, float]], shares: list[float], public: set[str], other: str) -> dict[str, float]:
    """Return the joint probabilities of several categories, summed over targets that are not shown."""
    sums: dict[str, float] = {}
    for row, share in zip(rows, shares, strict=True):
        for name, probability in row.items():
            shown = name if name in public else other
            sums[shown] = sums.get(shown, 0.0) + share * probability
    return {name: round(probability, DECIMALS) for name, probability in sums.items()}
