"""Anonymize records for the page in a worker process that does not load the page library."""

from typing import Any

from sfumato.errors import DataError
from sfumato.pipelines.attributes import anonymize_attributes

MOST_RECORDS = 10_000
Records = list[dict[str, Any]]


def anonymized(records: Records, configuration: dict[str, Any]) -> dict[str, Any]:
    """Return the response for records and a configuration, both as plain values."""
    if not isinstance(records, list) or len(records) > MOST_RECORDS:
        raise DataError("records.too_many", count=MOST_RECORDS)
    answer = anonymize_attributes(records, configuration)
    return {"data": answer.data, "kpis": answer.kpis, "warnings": list(answer.warnings)}
