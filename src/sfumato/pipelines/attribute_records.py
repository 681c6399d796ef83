"""Read records from a file: encoding, decimal mark and dates are detected from its content."""

from collections import Counter
from pathlib import Path
from typing import Any

from sfumato.delimited.dialect import Dialect
from sfumato.delimited.header import read_head
from sfumato.engines.record_io import read_records
from sfumato.errors import DataError
from sfumato.hierarchies.datetimes import Datetimes, read_moments
from sfumato.hierarchies.role_detection.date_formats import date_hierarchy
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.pipelines.plan_suggestion.file_checks import likely_encoding, writes_commas

Records = list[dict[str, Any]]
# Date formats that are ISO 8601 already.
_ISO = ("%Y-%m-%d", "%Y-%m-%dT%H:%M:%S")


def read_attribute_records(path: Path) -> Records:
    """Read the records of a file, with decimal points and ISO 8601 dates.

    Raises:
        PlanError: The first line looks like data.
        DataError: The file cannot be read or does not match its extension.
    """
    if path.suffix.lower() != ".csv":
        return read_records(path)
    encoding, records = _first_reading(path)
    commas_divide = read_head(path, Dialect(encoding=encoding)).separator == ","
    if writes_commas(_texts(records), thousands=commas_divide):
        records = read_records(path, decimal=",", encoding=encoding)
    return _with_iso_dates(records)


def _first_reading(path: Path) -> tuple[str, Records]:
    """Return the encoding (UTF-8, or the likely one) and the records as written."""
    try:
        return "utf-8", read_records(path)
    except DataError as error:
        if error.code == "data.encoding" and (likely := likely_encoding(path)) is not None:
            return likely, read_records(path, encoding=likely)
        raise


def _texts(records: Records) -> dict[str, Counter[str | None]]:
    return {name: Counter(record[name] for record in records) for name in (records[0] if records else ())}


def _with_iso_dates(records: Records) -> Records:
    """Return the records with date columns of any format in ISO 8601."""
    written = {name: _iso_texts(name, counts) for name, counts in _texts(records).items()}
    return [{name: written[name].get(value, value) for name, value in record.items()} for record in records]


def _iso_texts(name: str, counts: Counter[str | None]) -> dict[str, str]:
    """Return the ISO texts of a date column; invalid dates remain and are reported later."""
    values = {text: rows for text, rows in counts.items() if text}
    suggested = date_hierarchy(Profile(name, values, sum(values.values())), named=False) if values else None
    if suggested is None or "%d" not in suggested[1]["format"]:
        return {}
    _, hierarchy = suggested
    iso: dict[str, str] = {}
    for format_ in (hierarchy["format"], *hierarchy.get("formats", ())):
        left = [text for text in values if text not in iso]
        moments = read_moments(left, format_, hierarchy.get("latest_year"))
        iso |= {} if format_ in _ISO else _written(left, moments, timed="%H" in format_)
    return iso


def _written(texts: list[str], moments: Datetimes, timed: bool) -> dict[str, str]:
    unit = "datetime64[s]" if timed else "datetime64[D]"
    iso = moments.micros.astype("datetime64[us]").astype(unit).astype(str).tolist()
    return {text: day for text, day, valid in zip(texts, iso, moments.valid.tolist(), strict=True) if valid}
