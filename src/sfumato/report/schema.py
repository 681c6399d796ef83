"""The JSON Schemas of the reports that programs may rely on.

Keys may be added to report.json, none is removed. report-external.json is closed: nothing outside its schema may be
published.
"""

from typing import Any

from sfumato.microdata.plan.model import ROLES
from sfumato.microdata.questions.verdict import VERDICTS

Schema = dict[str, Any]
DRAFT = "https://json-schema.org/draft/2020-12/schema"
NUMBER: Schema = {"type": "number"}
COUNT: Schema = {"type": "integer", "minimum": 0}
TEXT: Schema = {"type": "string"}
SHA256: Schema = {"type": "string", "pattern": "^[0-9a-f]{64}$"}


def _object(required: dict[str, Schema], more: dict[str, Schema] | None = None, about: str = "") -> Schema:
    shape: Schema = {"type": "object", "properties": required | (more or {}), "required": list(required)}
    return shape | ({"description": about} if about else {})


def _map(value: Schema, about: str = "") -> Schema:
    return {"type": "object", "additionalProperties": value} | ({"description": about} if about else {})


def _list(value: Schema, about: str = "") -> Schema:
    return {"type": "array", "items": value} | ({"description": about} if about else {})


MESSAGE = _object(
    {"code": TEXT, "values": {"type": "object"}, "text": TEXT},
    about="a message: code, values, English text",
)
LEVELS = _map(COUNT, "the level of each quasi-identifier, for methods that choose one")
RISK = _object(
    {"rows": COUNT, "classes": COUNT, "smallest": COUNT, "largest": COUNT}
    | {"highest": NUMBER, "average": NUMBER, "uniques": COUNT}
)
SAMPLE = _object(
    {"before": {"type": "object"}},
    {"after": {"type": "object"}},
    "risk by weights and households: highest, average and expected number of re-identified rows and households",
)
PROMISE = _object(
    {"model": TEXT, "requested": NUMBER, "achieved": {"type": ["number", "null"]}, "satisfied": {"type": "boolean"}},
    {"column": TEXT, "parameters": {"type": "object"}},
)
ATTRIBUTE = _object(
    {"classes": COUNT, "homogeneous_classes": COUNT, "homogeneous_rows": COUNT, "l": COUNT, "t": NUMBER},
    {
        "spellings": COUNT | {"description": "written values beyond the distinct meanings"},
        "l_without_spelling_variants": {
            "type": ["integer", "null"],
            "description": "the smallest l with spelling variants counted as one value",
        },
        "blank_classes": COUNT | {"description": "classes in which all rows are blank"},
        "blank_rows": COUNT | {"description": "the rows in them"},
        "part_blank_classes": COUNT | {"description": "classes of blanks and one value, the same in all other rows"},
        "part_blank_rows": COUNT | {"description": "the rows in them"},
    },
    about="classes with one value and their rows, the smallest l and the largest t, whether or not requested",
)
ALTERNATIVE = _object(
    {"levels": LEVELS, "loss": NUMBER, "suppressed_rows": COUNT},
    {
        "finer": TEXT | {"description": "the column that is one level finer than in the release"},
        "budget": NUMBER | {"description": "the suppression limit, as a share of the rows"},
    },
    "a release that was not chosen",
)
DAY: Schema = {"type": "string", "format": "date"}
RELEASE = {"by": TEXT, "purpose": TEXT, "recipient": TEXT, "basis": TEXT}
SHARE: Schema = {"type": ["number", "null"], "minimum": 0, "maximum": 1}
SIZES = _list(_object({"rows": TEXT, "before": SHARE, "after": SHARE}), "share of rows by the size of their class")
VALUE_SHARES = _list(
    _list({"type": ["string", "number", "null"]}),
    "values (null: missing) with their shares of the rows before and after",
)
COLUMN = _object(
    {"level": {"type": ["integer", "null"]}, "top": COUNT, "distinct_before": COUNT, "distinct_after": COUNT},
    {
        "shares": _list(_list({"type": ["string", "number"]}), "labels with their shares of the rows before and after"),
        "distribution": _list(
            _list({"type": ["string", "number"]}),
            "values with their shares before, and after as a data user would estimate",
        ),
    },
)


def _closed(required: dict[str, Schema], more: dict[str, Schema] | None = None, about: str = "") -> Schema:
    return _object(required, more, about) | {"additionalProperties": False}


def external_schema() -> Schema:
    """Return the JSON Schema of report-external.json."""
    role = {"enum": [*ROLES]}
    label = _closed({"value": TEXT, "meaning": TEXT})
    matrix = _map(_map(_map(NUMBER)), "transition probabilities of categories, in each stratum")
    values = _list(label, "what published values mean")
    column = _closed({"role": role, "what": TEXT, "values": values}, {"matrices": matrix})
    promise = _closed(
        {"model": TEXT, "requested": NUMBER, "satisfied": {"type": "boolean"}, "statement": TEXT}, {"column": TEXT}
    )
    bound = {
        "enum": [0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0],
        "description": "upper bound of the share of suppressed rows",
    }
    content = {
        "version": TEXT,
        "edition": {"const": "external"},
        "language": {"enum": ["en", "de"]},
        "release": _closed({}, RELEASE),
        "satisfied": {"type": "boolean"},
        "counts_persons": {"type": "boolean", "description": "whether guarantees count persons, not rows"},
        "checked": TEXT | {"description": "how the guarantees were verified"},
        "models": _list(promise, "each guarantee, with its requested parameter only"),
        "columns": _map(column, "what was done to each column"),
        "max_suppressed": bound,
        "analysis": _list(TEXT, "how to analyze the file; it depends on the method and the columns of the plan alone"),
        "limits": _list(TEXT, "what the guarantees do not protect against"),
    }
    head = {"$schema": DRAFT, "title": "Sfumato release report for publication"}
    names = _list(TEXT, "kinds of attacks")
    attack = _closed(
        {"attacks": names, "not_run": names, "attempts": COUNT, "found": COUNT}
        | {"not_counted": COUNT | {"description": "successful attempts that no guarantee covers"}}
        | {"risk_at_most": NUMBER, "familywise_error": NUMBER}
    ) | {"description": "result of the attacks, if the release was attacked"}
    seal = TEXT | {"description": "checksum of the published file"}
    return head | _closed(content, {"date": DAY, "output_sha256": seal, "attack": attack})


CODED = _object({"code": TEXT, "values": {"type": "object"}, "text": TEXT})
ESTIMATE = _object({"estimate": NUMBER, "low": NUMBER, "high": NUMBER}, {"rows": COUNT}, "with its 95 % interval")
ANSWER = _object(
    {"rows": COUNT, "family": TEXT, "estimates": _map(ESTIMATE, "each term of a model, or each group of a table")}
)

REQUIRED: dict[str, Schema] = {
    "version": TEXT,
    "method": TEXT,
    "proved_optimal": {"type": "boolean"},
    "levels": LEVELS,
    "loss": _object(
        {"name": TEXT, "value": NUMBER, "per_column": _map(NUMBER)}, about="the objective: what the method minimized"
    ),
    "rows": COUNT,
    "dropped_rows": COUNT,
    "suppressed_rows": COUNT,
    "classes": _object(
        {"count": COUNT, "smallest": COUNT, "largest": COUNT, "average": NUMBER},
        about="published classes; suppressed rows are in none (the loss average-class-size counts them as one)",
    ),
    "models": _list(PROMISE, "each guarantee, as verified on the published rows"),
    "risk": _object(
        {"before": RISK, "after": RISK}, {"matching": _object({"before": RISK, "after": RISK}), "sample": SAMPLE}
    ),
    "utility": {"type": "object"},
    "nodes": _object({"total": COUNT, "checked": COUNT}),
    "seconds": _map(NUMBER),
    "engine": TEXT,
    "seed": {"anyOf": [COUNT, {"type": "null"}]},
    "input_sha256": SHA256,
    "remarks": _list(MESSAGE),
}
MORE: dict[str, Schema] = {
    "removed_columns": _list(TEXT, "columns that are * in every row"),
    "questions": _list(
        _object(
            {"question": {"type": ["string", "object"]}, "verdict": {"enum": [*VERDICTS]}, "reasons": _list(CODED)},
            {"raw": ANSWER, "published": ANSWER},
        ),
        "the questions of the plan, answered from the raw and from the published rows",
    ),
    "warnings": _list(CODED, "warnings of the head line: answers that changed, suppression that depends on outcomes"),
    "undecided_columns": _list(TEXT, "removed columns whose role is still to be decided"),
    "column_count": COUNT | {"description": "columns of the plan, including removed ones"},
    "column_outcomes": _map(
        {"enum": ["removed", "fully_generalized", "generalized", "changed", "kept"]},
        "outcome of each column: removed, * in every row, generalized in some or all rows, transformed or perturbed, "
        "published unchanged",
    ),
    "published_rows": COUNT | {"description": "rows in the release, including those with * in every quasi-identifier"},
    "date": DAY | {"description": "when it was released"},
    "release": _object({}, RELEASE, "who released for what purpose, as in the plan"),
    "output_sha256": SHA256 | {"description": "of the published rows: data.csv or data.parquet"},
    "plan_sha256": SHA256 | {"description": "of plan.yaml"},
    "recoding_sha256": SHA256 | {"description": "of recoding.json"},
    "external_html_sha256": SHA256 | {"description": "of report-external.html"},
    "external_json_sha256": SHA256 | {"description": "of report-external.json"},
    "disclosure": _object(
        {
            "sensitive": _map(ATTRIBUTE, "attribute disclosure of each sensitive column by the classes"),
            "unique_rows": _list(_object({"columns": _list(TEXT), "rows": COUNT})),
            "not_measured": _list(TEXT),
        },
        {
            "unique_in_classes": _map(COUNT, "rows unique by a column and the quasi-identifiers as published"),
            "inference_risks": _list(
                _object(
                    {
                        "column": TEXT,
                        "quasi_identifier": TEXT,
                        "level": COUNT,
                        "guessed_by_label": NUMBER,
                        "guessed_with_column": NUMBER,
                    }
                ),
                "columns that predict a quasi-identifier; shares of correct guesses by its label, and with the column",
            ),
            "pair_inferences": _list(
                _object({"column": TEXT, "quasi_identifiers": _list(TEXT), "share": NUMBER}),
                "columns nearly determined by two quasi-identifiers, or by one and another published column",
            ),
            "largest_share": NUMBER | {"description": "the largest share of a class's rows that belong to one person"},
            "column_sets": _object(
                {"columns": COUNT, "known": COUNT, "rows": NUMBER, "all_rows": COUNT},
                about="rows unique by the quasi-identifiers and some other columns, and by all other columns",
            ),
        },
        about="disclosure outside the guarantees",
    ),
    "candidates": _list({"type": "object"}, "nodes that the method compared"),
    "mean_loss": {
        "type": ["number", "null"],
        "description": "mean information loss of a value, from 0 to 1; a suppressed row counts 1",
    },
    "class_sizes": SIZES,
    "columns": _map(COLUMN, "what happened to each quasi-identifier"),
    "advice": {"type": "object"}
    | {"description": "tested changes of the plan that lose less, and the cost of each model; only on request"},
    "heavily_generalized_columns": _list({"type": "object"}, "columns that lost more than half of their information"),
    "counts_persons": {"type": "boolean", "description": "whether guarantees and risks count persons, not rows"},
    "persons_uncounted": _list(
        _object({"column": TEXT, "rows_each": NUMBER}),
        "removed columns that identify persons, although guarantees count each row as another person",
    ),
    "shared_identifiers": _list(
        _object({"column": TEXT, "rows": COUNT, "looked_at": COUNT}),
        "removed columns with values that several rows share, each counted by guarantees: such rows, of those examined",
    ),
    "rare_values": _list(
        _object({"column": TEXT}, {"labels": COUNT, "fewer_than": COUNT, "means": COUNT}),
        "columns with labels that name exact values of fewer rows (or persons), or with means that nearly reveal one",
    ),
    "levels_allowed": _object(
        {"columns": _map(_list(COUNT), "the finest and the coarsest level"), "combinations": COUNT},
        about="where the plan limits levels (min_level, max_level): what proved_optimal and alternatives are about",
    ),
    "missing_codes": _map(_list(TEXT), "codes that were read as missing values in one column only"),
    "columns_with_few_values": _list(
        _object({"column": TEXT, "values": COUNT, "left": COUNT}),
        "columns whose transforms (publish) reduce more values to one or two",
    ),
    "coded_columns": _list(
        _object(
            {"column": TEXT, "values": COUNT, "left": COUNT, "deviation": NUMBER, "labeled": NUMBER},
            {"mean_change": {"type": ["number", "null"]}, "shares": VALUE_SHARES},
        ),
        "columns whose transforms (publish) change numbers: distinct ones before and after, the mean change of those "
        "still published as numbers, the standard deviation before, the share of rows with a label instead; shares of "
        "original numbers, and of those that a data user would estimate",
    ),
    "sensitive_shares": _map(
        _object({"shares": VALUE_SHARES, "others": COUNT}),
        "the most frequent values of other sensitive columns, or bins of numbers, and how many others there are",
    ),
    "households": _object(
        {},
        {"k": COUNT, "fewest": COUNT, "classes": COUNT, "rows": COUNT, "all_classes": COUNT},
        "if rows name households, which guarantees do not count: the fewest in a class, and classes with fewer than k; "
        "empty if they were not counted",
    ),
    "perturbation": _object(
        {"operations": _list({"type": "object"})},
        {"measures": {"type": "object"}, "unchanged": _list(TEXT, "columns in which no row changed")},
        "the perturbation of columns, how often rows are re-identified, and the information loss",
    ),
    "local_suppression": {
        "type": "object",
        "description": "values published as missing, their cost, a bound on it and the gap",
    },
    "microaggregation": {"type": "object", "description": "groups of all quasi-identifiers, and their loss"},
    "methods_tried": _list({"type": "object"}, "the result of each method, if several were tried"),
    "minimality": _object({"least_loss": NUMBER, "cost": NUMBER}, about="the cost of preventing minimality attacks"),
    "policy": {"type": "object", "description": "the result of evaluating the policy of the plan, clause by clause"},
    "release_check": _object(
        {
            "satisfied": {"type": "boolean"},
            "inferences": _list(_object({"columns": _list(TEXT), "quasi_identifier": TEXT, "rows": COUNT})),
            "models": _list({"type": "object"}, "guarantees violated by inference, with their achieved parameters"),
            "unchecked": _list(MESSAGE),
            "sentences": _list(MESSAGE),
        },
        about="quasi-identifiers that an attacker infers from other published columns, and what was not checked",
    ),
    "previous": {"type": "object", "description": "the comparison with earlier releases, and suppressed persons"},
    "attack": {"type": "object", "description": "result of the attacks, if the release was attacked"},
    "alternatives": _list(ALTERNATIVE, "other suppression limits, and neighbors that are finer in one column"),
}


def report_schema() -> Schema:
    """Return the JSON Schema of report.json."""
    return {"$schema": DRAFT, "title": "Sfumato release report"} | _object(REQUIRED, MORE)
