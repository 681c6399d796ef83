"""Schemas in words: each kind of schema that plans and requests have."""

import pytest

from sfumato.docs_reference.schema_text import in_words

CASES = {
    "text": ({"type": "string"}, "text"),
    "choices": ({"enum": ["csv", "parquet"]}, "`csv`, `parquet`"),
    "one value": ({"type": "integer", "minimum": 1, "maximum": 1}, "`1`"),
    "bounds": ({"type": "number", "minimum": 0, "maximum": 1}, "number, at least 0, at most 1"),
    "a bound of the machine": ({"type": "integer", "minimum": 0, "maximum": 2**63}, "whole number, at least 0"),
    "a list": ({"type": "array", "items": {"type": "string"}}, "list of text"),
    "several kinds": ({"type": ["string", "number"]}, "text or number"),
    "few keys": ({"type": "object", "properties": {"share": {}}}, "`{share}`"),
    "many keys": ({"type": "object", "properties": dict.fromkeys("abcde")}, "mapping, see below"),
    "names of the user": ({"type": "object", "additionalProperties": {"type": "number"}}, "mapping to number"),
    "alternatives": ({"anyOf": [{"type": "number"}, {"const": "never"}]}, "number or `never`"),
    "by a tag": (
        {"oneOf": [{"properties": {"type": {"const": "any"}}}, {"properties": {"type": {"const": "file"}}}]},
        "mapping with `type`: `any`, `file`",
    ),
    "by name": ({"$ref": "#/components/schemas/Job"}, "[Job](#job)"),
    "nothing said": ({}, "anything"),
}


@pytest.mark.parametrize(("schema", "words"), CASES.values(), ids=CASES)
def test_a_schema_in_words(schema, words):
    assert in_words(schema) == words
