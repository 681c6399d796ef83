"""Anonymize the attributes of records or of a frame, and return the same kind."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sfumato.attributes.anonymize import Anonymized, anonymize_columns, anonymize_records
from sfumato.attributes.configuration import Configuration, check_allowed, inline
from sfumato.attributes.fetching import Fetcher
from sfumato.attributes.operations.scales import BucketRule
from sfumato.attributes.sources import Sources, read_file
from sfumato.delimited.dialect import Dialect
from sfumato.delimited.header import read_head
from sfumato.engines.record_io import read_records
from sfumato.errors import DataError
from sfumato.formats import CSV, format_named
from sfumato.hierarchies.dates import Datetimes, read_moments
from sfumato.hierarchies.role_detection.date_formats import date_hierarchy
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.pipelines.plan_suggestion.file_checks import likely_encoding, writes_commas
from sfumato.schema.files import load

Source = Configuration | Mapping[str, Any] | str | Path
INLINE_SUFFIXES = frozenset({".yaml", ".yml"})


def anonymize_attributes(
    data: Any,
    configuration: Source,
    *,
    ontology: str | None = None,
    data_class: str | None = None,
    buckets: BucketRule | None = None,
    pass_through: bool | None = None,
    seed: int | None = None,
    sources: Sources | None = None,
) -> Anonymized:
    """Mask, generalize or randomize the attributes of records, as the service does.

    Args:
        data: A sequence of records (mappings), or a frame of pandas, Polars, Arrow or another kind that narwhals knows.
        configuration: The operation and data type of each attribute, or a YAML or JSON file with these (inline form).
            Alternatively, the URL or file of a knowledge graph (JSON-LD, Turtle).
        ontology: Name or URL of an ontology that must allow each operation.
        data_class: The class of the records in a knowledge graph, if it has several.
        buckets: `unique99`, `sqrt` or a number; by default `unique99` with a graph and `sqrt` with the inline form.
        pass_through: Whether attributes without an operation are published unchanged; by default they are with a graph,
            and are refused with the inline form.
        seed: Makes the noise repeatable; for tests only.
        sources: The sources of URLs and ontologies; by default public hosts and the bundled ontologies.

    Raises:
        PlanError: The configuration is invalid, or does not fit the data or the ontology.
        DataError: There is no data, or a value does not fit its operation.

    >>> anonymize_attributes([{"name": "Ada"}], {"name": {"anonymisationType": "Masking", "dataType": "String"}}).data
    [{'name': '*****'}]
    """
    places = sources or Sources(Fetcher())
    resolved = _configuration(configuration, places, ontology, data_class).with_options(buckets, pass_through)
    if isinstance(data, Sequence) and not isinstance(data, str | bytes):
        if not all(isinstance(record, Mapping) for record in data):
            raise DataError("record")
        return anonymize_records(data, resolved, seed)
    return _frame(data, resolved, seed)


def _configuration(source: Source, places: Sources, ontology: str | None, data_class: str | None) -> Configuration:
    allowed = places.ontology(ontology) if ontology else None
    objects = allowed.objects if allowed else ()
    if isinstance(source, Configuration):
        configuration = source
    elif isinstance(source, Mapping):
        configuration = inline(source, objects)
    elif isinstance(source, str) and "://" in source:
        configuration = places.configuration(source, data_class)
    else:
        configuration = _from_file(Path(source), places, data_class)
    if allowed:
        check_allowed(configuration, allowed.allowed)
    return configuration


def _from_file(path: Path, places: Sources, data_class: str | None) -> Configuration:
    """Read a file: JSON-LD keys or Turtle are a knowledge graph, anything else is the inline form."""
    document = read_file(path)
    if document.media_type == "text/turtle":
        return places.configuration_of(document, data_class)
    content = load(path)
    if path.suffix.lower() not in INLINE_SUFFIXES and _is_graph(content):
        return places.configuration_of(document, data_class)
    return inline(content.get("configuration", content) if isinstance(content, Mapping) else content)


def _is_graph(content: Any) -> bool:
    return isinstance(content, list) or (
        isinstance(content, Mapping) and bool({"@context", "@graph", "@id"} & {*content})
    )


def _frame(data: Any, configuration: Configuration, seed: int | None) -> Anonymized:
    from sfumato.engines.dataframes.sources import with_index
    from sfumato.engines.record_io import columns_of, frame_like

    data, _ = with_index(data)
    columns, rows = columns_of(data)
    answer, kpis, warnings = anonymize_columns(columns, configuration, rows, seed)
    published = {answer[name].name: answer[name].values for name in columns}
    return Anonymized(frame_like(data, published), kpis, warnings)


Records = list[dict[str, Any]]
# Date formats that are ISO 8601 already.
_ISO = ("%Y-%m-%d", "%Y-%m-%dT%H:%M:%S")


def read_attribute_records(path: Path) -> Records:
    """Read the records of a file, with decimal points and ISO 8601 dates.

    Raises:
        PlanError: The first line looks like data.
        DataError: The file cannot be read or does not match its extension.
    """
    if format_named(path) is not CSV:
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
