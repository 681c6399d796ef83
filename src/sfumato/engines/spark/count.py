"""Expressions by which Spark counts: keys and texts of values, and rows without missing required values."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from pyspark.sql import functions as F  # noqa: N812

from sfumato.engines.canonical_text import WHITE_SPACE
from sfumato.engines.engine import MissingRules
from sfumato.engines.spark.sources import SparkSource
from sfumato.hierarchies.person_keys import SIGNS
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.missing_codes import code_numbers, code_texts


def is_float(kind: Any) -> bool:
    """Return whether a type is floating-point; its texts are Python's, so values are grouped and joined as numbers."""
    return str(kind.typeName()) in ("float", "double")


def key_of(column: Any, kind: Any, strip: bool) -> Any:
    """Return the expression that groups and joins a column's values: their text, or the number; null for NaN."""
    if is_float(kind):
        return F.when(~F.isnan(column), column + F.lit(0.0).cast(kind))  # -0.0 becomes 0.0
    text = _in_utc(column) if str(kind.typeName()) == "timestamp" else column.cast("string")
    return stripped(text) if strip else text


def stripped(text: Any) -> Any:
    """Return a text without white space at its ends; null if it is empty."""
    bare = F.trim(text, F.lit(WHITE_SPACE))
    return F.when(bare != "", bare)


def _in_utc(column: Any) -> Any:
    """Return the text of a timestamp in UTC, instead of the time zone of the session."""
    seconds = (F.unix_micros(column).cast("decimal(20,0)") / 1_000_000).cast("decimal(18,6)")
    since = F.make_dt_interval(F.lit(0), F.lit(0), F.lit(0), seconds)
    moment = F.lit("1970-01-01 00:00:00").cast("timestamp_ntz") + since
    return F.concat(moment.cast("string"), F.lit("+00"))


def text_of(column: Any, kind: Any, strip: bool) -> Any:
    """Return the text of a column's values."""
    key = key_of(column, kind, strip)
    if not is_float(kind):
        return key
    return F.udf(_writer(str(kind.typeName()) == "float"), "string", useArrow=False)(key)


def plain_key_of(text: Any) -> Any:
    """Return the normalized key of a person."""
    text = text.cast("string")
    bare = F.regexp_replace(F.lower(text), SIGNS, "")
    return F.when(text.startswith("-") | (bare == ""), text).otherwise(bare)


def _writer(single: bool) -> Callable[[float | None], str | None]:
    """Return a function that formats numbers as canonical_text.py does, for executors that may lack Sfumato."""

    def written(number: float | None) -> str | None:
        import struct

        for digits in range(6, 9) if single and number is not None else ():
            near = float(f"{number:.{digits}g}")
            if struct.unpack("f", struct.pack("f", near))[0] == number:
                return repr(near)
        return None if number is None else repr(float(f"{number:.9g}") if single else number)

    return written


def present(frame: Any, source: SparkSource, reading: MissingRules, strip: bool) -> Any:
    """Return the rows in which no required value is missing."""
    for column in reading.required:
        place = source.columns.index(column)
        text = text_of(F.col(f"s{place}"), source.kind(place), strip)
        frame = frame.where(text.isNotNull())
        if reading.missing:
            frame = frame.where(~text.isin(*reading.missing))
    return frame


def without_codes(source: SparkSource, data: DataPlan) -> SparkSource:
    """Return the source with codes that mean missing in one column replaced by null."""
    codes = {name: codes for name, codes in data.codes.items() if name in source.columns}
    places = {source.columns.index(name): name for name in codes if name not in source.textless}
    if not places:
        return source

    def emptied(rows: Any) -> Any:
        for place, name in places.items():
            column = F.col(f"s{place}")
            coded = _is_code(column, source.kind(place), codes[name], data.strip)
            rows = rows.withColumn(f"s{place}", F.when(coded, F.lit(None)).otherwise(column))
        return rows

    number = source.number
    return replace(source, frame=emptied(source.frame), number=None if number is None else lambda: emptied(number()))


def _is_code(column: Any, kind: Any, codes: Sequence[str], strip: bool) -> Any:
    """Return whether a value is one of some codes; floating-point values are compared as numbers."""
    if is_float(kind):
        return column.isin(*(F.lit(number).cast(kind) for number in code_numbers(codes)))
    return key_of(column, kind, strip).isin(*code_texts(codes, decimals=str(kind.typeName()) == "decimal"))
