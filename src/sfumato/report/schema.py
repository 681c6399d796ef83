"""The JSON Schemas of the reports that programs may rely on.

Keys may be added to report.json, none is removed. report-external.json is closed: nothing outside its schema may be
published.
"""

from typing import Any

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


LEVELS = _map(COUNT, "the level of each quasi-identifier, for methods that choose one")
RISK = _object(
    {"rows": COUNT, "classes": COUNT, "smallest": COUNT, "largest": COUNT}
    | {"highest": NUMBER, "average": NUMBER, "uniques": COUNT}
)
SAMPLE = _object(
    {"before": {"type": "object"}},
    {"after": {"type": "object"}},
    "what weights and households say: highest, average and expected number found, of rows and households",
)
PROMISE = _object(
    {"model": TEXT, "asked": NUMBER, "reached": {"type": ["number", "null"]}, "holds": {"type": "boolean"}},
    {"column": TEXT, "parameters": {"type": "object"}},
)
ATTRIBUTE = _object(
    {"classes": COUNT, "one_value_classes": COUNT, "one_value_rows": COUNT, "l": COUNT, "t": NUMBER},
    {
        "spellings": COUNT | {"description": "more values are written than are likely meant"},
        "meant_l": {
            "type": ["integer", "null"],
            "description": "the least l with spellings of one value taken for one",
        },
        "blank_classes": COUNT | {"description": "classes in which all rows are blank"},
        "blank_rows": COUNT | {"description": "the rows in them"},
        "part_blank_classes": COUNT | {"description": "classes of blanks and one value, the same in all other rows"},
        "part_blank_rows": COUNT | {"description": "the rows in them"},
    },
    about="the classes of one value and the rows in them, the least l and the greatest t, promised or not",
)
ALTERNATIVE = _object(
    {"levels": LEVELS, "loss": NUMBER, "suppressed_rows": COUNT},
    {
        "finer": TEXT | {"description": "the column that is one level finer than in the release"},
        "budget": NUMBER | {"description": "the share of rows that might be suppressed"},
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
            _list({"type": ["string", "number"]}), "values with their shares before, and after as a reader would guess"
        ),
    },
)


def _closed(required: dict[str, Schema], more: dict[str, Schema] | None = None, about: str = "") -> Schema:
    return _object(required, more, about) | {"additionalProperties": False}


def external_schema() -> Schema:
    """The JSON Schema of report-external.json."""
    role = {"enum": ["identifier", "person", "quasi-identifier", "sensitive", "insensitive", "weight", "household"]}
    label = _closed({"value": TEXT, "stands_for": TEXT})
    matrix = _map(_map(_map(NUMBER)), "by which probabilities categories were changed, in each stratum")
    values = _list(label, "how published values are to be read")
    column = _closed({"role": role, "what": TEXT, "values": values}, {"matrices": matrix})
    promise = _closed({"model": TEXT, "asked": NUMBER, "holds": {"type": "boolean"}, "says": TEXT}, {"column": TEXT})
    bound = {
        "enum": [0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0],
        "description": "no greater share of rows is suppressed",
    }
    content = {
        "version": TEXT,
        "edition": {"const": "external"},
        "language": {"enum": ["en", "de"]},
        "release": _closed({}, RELEASE),
        "holds": {"type": "boolean"},
        "counts_persons": {"type": "boolean", "description": "whether promises count persons, not rows"},
        "checked": TEXT | {"description": "how the promises were checked"},
        "models": _list(promise, "each promise, with what was asked alone"),
        "columns": _map(column, "what was done to each column"),
        "suppressed_at_most": bound,
        "limits": _list(TEXT, "what the promises do not protect against"),
    }
    head = {"$schema": DRAFT, "title": "Sfumato release report to hand out"}
    names = _list(TEXT, "kinds of attacks")
    attack = _closed(
        {"attacks": names, "not_run": names, "tries": COUNT, "found": COUNT}
        | {"beside": COUNT | {"description": "how many succeeded in what no promise is about"}}
        | {"risk_at_most": NUMBER, "familywise_error": NUMBER}
    ) | {"description": "what an attacker reached, where the release was attacked"}
    seal = TEXT | {"description": "the hash of the file that is handed out"}
    return head | _closed(content, {"date": DAY, "output_sha256": seal, "attack": attack})


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
    "models": _list(PROMISE, "each promise, as found in the published rows"),
    "risk": _object(
        {"before": RISK, "after": RISK}, {"matching": _object({"before": RISK, "after": RISK}), "sample": SAMPLE}
    ),
    "utility": {"type": "object"},
    "nodes": _object({"total": COUNT, "checked": COUNT}),
    "seconds": _map(NUMBER),
    "engine": TEXT,
    "seed": {"anyOf": [COUNT, {"type": "null"}]},
    "input_sha256": SHA256,
    "remarks": _list(TEXT),
}
MORE: dict[str, Schema] = {
    "withheld_columns": _list(TEXT, "columns that are * in every row"),
    "column_count": COUNT | {"description": "columns that the plan knows, those withheld included"},
    "column_fates": _map(
        {"enum": ["removed", "withheld", "coarser", "changed", "kept"]},
        "what became of each column: not published, no value told, coarser in some or all rows, coded or changed by "
        "chance, as it was",
    ),
    "published_rows": COUNT | {"description": "rows in the release, those with * in every quasi-identifier included"},
    "date": DAY | {"description": "when it was released"},
    "release": _object({}, RELEASE, "who released for what, as the plan says it"),
    "output_sha256": SHA256 | {"description": "of the published rows: data.csv or data.parquet"},
    "plan_sha256": SHA256 | {"description": "of plan.yaml"},
    "recoding_sha256": SHA256 | {"description": "of recoding.json"},
    "external_html_sha256": SHA256 | {"description": "of report-external.html"},
    "external_json_sha256": SHA256 | {"description": "of report-external.json"},
    "disclosure": _object(
        {
            "sensitive": _map(ATTRIBUTE, "what the classes tell of each sensitive column"),
            "unique_rows": _list(_object({"columns": _list(TEXT), "rows": COUNT})),
            "unmeasured": _list(TEXT),
        },
        {
            "unique_in_classes": _map(COUNT, "rows unique by a column and the quasi-identifiers as published"),
            "tells": _list(
                _object(
                    {
                        "column": TEXT,
                        "quasi_identifier": TEXT,
                        "level": COUNT,
                        "by_label": NUMBER,
                        "with_column": NUMBER,
                    }
                ),
                "columns that give a quasi-identifier away, and how often: by its label alone, and with the column",
            ),
            "joint_tells": _list(
                _object({"column": TEXT, "quasi_identifiers": _list(TEXT), "share": NUMBER}),
                "columns that are nearly computed from two quasi-identifiers, or from one and another published column",
            ),
            "largest_share": NUMBER | {"description": "the largest share of a class's rows that are one person's"},
            "several": _object(
                {"columns": COUNT, "known": COUNT, "rows": NUMBER, "all_rows": COUNT},
                about="rows unique by some columns besides the quasi-identifiers and these, and by all such columns",
            ),
        },
        about="what the rows tell besides what was promised",
    ),
    "candidates": _list({"type": "object"}, "nodes that the method compared"),
    "mean_loss": {
        "type": ["number", "null"],
        "description": "what a cell lost on average, from 0 to 1; a withheld row counts 1",
    },
    "class_sizes": SIZES,
    "columns": _map(COLUMN, "what happened to each quasi-identifier"),
    "lost_columns": _list({"type": "object"}, "columns lost by more than half, each with what would keep it"),
    "counts_persons": {"type": "boolean", "description": "whether promises and risks count persons, not rows"},
    "persons_uncounted": _list(
        _object({"column": TEXT, "rows_each": NUMBER}),
        "withheld columns that name persons though promises count their rows, each as another person",
    ),
    "shared_identifiers": _list(
        _object({"column": TEXT, "rows": COUNT, "looked_at": COUNT}),
        "removed columns whose values several rows share, which promises count each: rows that do, of those looked at",
    ),
    "rare_values": _list(
        _object({"column": TEXT}, {"labels": COUNT, "fewer_than": COUNT, "means": COUNT}),
        "columns whose labels name exact values that fewer rows (or persons) have, or whose means nearly reveal one",
    ),
    "levels_allowed": _object(
        {"columns": _map(_list(COUNT), "the finest and the coarsest level"), "combinations": COUNT},
        about="where the plan limits levels (min_level, max_level): what proved_optimal and alternatives are about",
    ),
    "missing_codes": _map(_list(TEXT), "codes that were read as missing values in one column alone"),
    "few_values_left": _list(
        _object({"column": TEXT, "values": COUNT, "left": COUNT}),
        "columns whose operations (publish) leave one or two of more values",
    ),
    "coded_columns": _list(
        _object(
            {"column": TEXT, "values": COUNT, "left": COUNT, "deviation": NUMBER, "labeled": NUMBER},
            {"mean_change": {"type": ["number", "null"]}, "shares": VALUE_SHARES},
        ),
        "columns whose operations (publish) change numbers: different ones before and after, the mean change of those "
        "still published as numbers, the standard deviation before, the share of rows with a label instead; shares of "
        "raw numbers, and of those that a reader would guess",
    ),
    "sensitive_shares": _map(
        _object({"shares": VALUE_SHARES, "others": COUNT}),
        "the most frequent values of other sensitive columns, or bins of numbers, and how many others there are",
    ),
    "households": _object(
        {},
        {"k": COUNT, "fewest": COUNT, "classes": COUNT, "rows": COUNT, "all_classes": COUNT},
        "where rows name households, which promises do not count: the fewest in a class, and classes of fewer than k; "
        "empty where they were not counted",
    ),
    "perturbation": _object(
        {"operations": _list({"type": "object"})},
        {"measures": {"type": "object"}, "unchanged": _list(TEXT, "columns in which every row has what it had")},
        "what was done to columns that are perturbed, how often rows are found again, and what analysts lose",
    ),
    "cells": {"type": "object", "description": "cells published as missing, their cost, a bound on it and the gap"},
    "microaggregation": {"type": "object", "description": "groups of all quasi-identifiers, and the loss"},
    "tried": _list({"type": "object"}, "what each method came to, where several were tried"),
    "minimality": _object({"least_loss": NUMBER, "cost": NUMBER}, about="what hiding minimality costs"),
    "policy": {"type": "object", "description": "the verdict by the policy that the plan names, clause by clause"},
    "release_check": _object(
        {
            "holds": {"type": "boolean"},
            "inferences": _list(_object({"columns": _list(TEXT), "quasi_identifier": TEXT, "rows": COUNT})),
            "models": _list({"type": "object"}, "guarantees that do not hold then, with what they reach"),
            "unchecked": _list(TEXT),
            "sentences": _list(TEXT),
        },
        about="quasi-identifiers that an attacker infers from other published columns, and what was not checked",
    ),
    "previous": {"type": "object", "description": "what was compared with earlier releases, and who was withheld"},
    "attack": {"type": "object", "description": "what an attacker reached, where the release was attacked"},
    "alternatives": _list(ALTERNATIVE, "other budgets, and neighbors that are finer in one column"),
}


def report_schema() -> Schema:
    """The JSON Schema of report.json."""
    return {"$schema": DRAFT, "title": "Sfumato release report"} | _object(REQUIRED, MORE)
