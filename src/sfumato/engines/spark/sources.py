"""Sources of Spark: frames or files, and expressions that count their values; columns are addressed by position."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from glob import escape
from pathlib import Path
from typing import Any

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812

from sfumato.confinement import check_open
from sfumato.delimited.dialect import COMMA_NUMBER, DecimalMark
from sfumato.engines.canonical_text import WHITE_SPACE, no_text
from sfumato.engines.engine import MissingRules
from sfumato.engines.files import Records, files_in, format_of, head_of, records_in
from sfumato.engines.sql import check_names
from sfumato.errors import DataError, EngineError
from sfumato.formats import CSV, PARQUET, format_named
from sfumato.hierarchies.spellings import SIGNS
from sfumato.localization.messages import Message
from sfumato.microdata.data_plan import DataPlan, code_numbers, code_texts
from sfumato.values import Value, replace

ROW = "sfumato_row"
FILE, INDEX = "sfumato_file", "sfumato_index"
# Types without a text that is the same on every engine.
TEXTLESS = ("binary", "array", "map", "struct", "variant")
INFERENCE = "spark.sql.sources.partitionColumnTypeInference.enabled"


class SparkSource(Value):
    """Rows that Spark can read.

    Attributes:
        frame: The rows, with columns named s0, s1, ….
        columns: The original column names.
        separator: The separator of a CSV file, also used for the release.
        number: Returns the rows with their numbers (from 1) in the column `sfumato_row`; None without a stable order.
        notes: Notes on the columns for data users.
        hidden: Names of further columns of the frame that are not published.
        textless: Columns whose values have no text and cannot be read.
        records: The records of text files, counted independently of Spark; else None.
    """

    frame: Any
    columns: tuple[str, ...]
    separator: str = ","
    number: Callable[[], Any] | None = None
    notes: tuple[Message, ...] = ()
    hidden: tuple[str, ...] = ()
    textless: tuple[str, ...] = ()
    records: Records | None = None

    def numbered(self) -> Any:
        """Return the rows with their numbers.

        Raises:
            EngineError: They have none.
        """
        if self.number is None:
            raise EngineError("no-row-number.the_rows_of_a_spark")
        return self.number()

    def kind(self, place: int) -> Any:
        """Return the type of a column; every read of a column asks for it first.

        Raises:
            DataError: Its values have no text.
        """
        if place < len(self.columns) and self.columns[place] in self.textless:
            raise no_text(*self.textless)
        return self.frame.schema.fields[place].dataType


def of_frame(frame: Any, hidden: tuple[str, ...] = ()) -> SparkSource:
    """Return the source for a frame, whose last columns may be hidden."""
    columns = tuple(name for name in frame.columns if name not in hidden)
    return SparkSource(_checked(frame, hidden), columns, hidden=hidden, textless=_textless_in(frame))


def of_path(spark: Any, path: str, plan: DataPlan, names: Sequence[str]) -> SparkSource:
    """Return the source for files; the path may be an address of Spark's file systems (s3a://, hdfs://)."""
    address = "://" in path
    if not address:
        check_open(path)
    folder = address or Path(path).is_dir()
    form = PARQUET if plan.format is None and folder else format_of(Path(path), plan)
    read = form.reader("spark")
    if read is None:
        raise EngineError("format.read", other=form.name)
    source: SparkSource = read(spark, path, plan, names)
    return source


def of_published(spark: Any, path: Path, columns: Sequence[str], separator: str) -> SparkSource:
    """Return the source for files that were just written."""
    if format_named(path) is CSV:
        frame = _read_csv(spark, [path], columns, separator, DataPlan())
        records = records_in([path], separator, len(columns))
        return SparkSource(frame.toDF(*_places(columns)), tuple(columns), separator, records=records)
    return read_parquet(spark, str(path), DataPlan(), ())


def read_parquet(spark: Any, path: str, _plan: DataPlan, _names: Sequence[str]) -> SparkSource:
    with _partitions_are_texts(spark):
        # Otherwise the columns of one file would be used for all, and further columns ignored.
        frame = spark.read.option("mergeSchema", "true").parquet(path)
    columns = tuple(frame.columns)
    return SparkSource(_checked(frame), columns, number=lambda: _by_file(frame, columns), textless=_textless_in(frame))


@contextmanager
def _partitions_are_texts(spark: Any) -> Iterator[None]:
    """Read folder names such as zip=00712 as texts, as on the other engines."""
    before = spark.conf.get(INFERENCE)
    spark.conf.set(INFERENCE, "false")
    try:
        yield
    finally:
        spark.conf.set(INFERENCE, before)


def _by_file(frame: Any, columns: Sequence[str]) -> Any:
    """Number the rows of Parquet files, with the files sorted by name."""
    if len(frame.inputFiles()) == 1:
        return frame.select("*", F.col("_metadata.row_index") + 1).toDF(*_places(columns), ROW)
    located = frame.select("*", F.col("_metadata.file_path"), F.col("_metadata.row_index"))
    return _through_files(located.toDF(*_places(columns), FILE, INDEX), columns)


def _by_text_file(read: Any, columns: Sequence[str]) -> Any:
    """Number the rows of CSV files likewise; one task reads a file from beginning to end."""
    located = read.select("*", F.col("_metadata.file_path"), F.monotonically_increasing_id())
    within = Window.partitionBy(FILE).orderBy(INDEX)
    rows = located.toDF(*_places(columns), FILE, INDEX)
    return _through_files(rows.withColumn(INDEX, F.row_number().over(within) - 1), columns)


def _through_files(rows: Any, columns: Sequence[str]) -> Any:
    """Number rows from 1 across files sorted by name, given each row's file and position."""
    from urllib.parse import unquote

    lengths = rows.groupBy(FILE).agg((F.max(INDEX) + 1).alias("n")).collect()
    begins, begin = [], 1
    for file, length in sorted(lengths, key=lambda entry: unquote(entry[0])):
        begins.append((file, begin))
        begin += length
    known = rows.sparkSession.createDataFrame(begins or [("", 1)], f"{FILE} string, sfumato_begin bigint")
    found = rows.join(F.broadcast(known), FILE)
    number = (F.col("sfumato_begin") + F.col(INDEX)).alias(ROW)
    return found.select(*_places(columns), number)


def read_csv(spark: Any, path: str, plan: DataPlan, names: Sequence[str]) -> SparkSource:
    files = files_in(Path(path), CSV)
    head = head_of(files, plan, names)
    if head.lines > 1:
        raise DataError("second-header", name=files[0].name)
    read = _read_csv(spark, files, head.columns, head.separator, plan)
    places = _places(head.columns)
    # In the source an empty field is missing, quoted or not.
    empty = [F.when(F.col(place) != "", _with_point(F.col(place), plan.decimal)).alias(place) for place in places]
    frame = read.toDF(*places).select(*empty)

    def numbered() -> Any:
        # A file with possible line breaks in values is read by one task, so its rows are in file order.
        if len(files) == 1:
            return frame.select("*", (F.monotonically_increasing_id() + 1).alias(ROW))
        return _by_text_file(read, head.columns).select(*empty, ROW)

    records = records_in(files, head.separator, len(head.columns), plan.quote, plan.encoding, head.lines)
    return SparkSource(frame, head.columns, head.separator, numbered, head.notes, records=records)


def _with_point(column: Any, decimal: DecimalMark) -> Any:
    """Return a column with decimal points in numbers written with a comma."""
    number = F.trim(column).rlike(f"^(?:{COMMA_NUMBER})$")
    return column if decimal == "." else F.when(number, F.translate(column, ",.", ".")).otherwise(column)


def _read_csv(spark: Any, files: Sequence[Path], columns: Sequence[str], separator: str, plan: DataPlan) -> Any:
    from pyspark.sql.types import StringType, StructField, StructType

    schema = StructType([StructField(name, StringType()) for name in columns])
    return (
        spark.read.schema(schema)
        .option("header", str(plan.header is not False).lower())
        .option("sep", separator)
        .option("quote", plan.quote)
        .option("escape", plan.quote)
        .option("encoding", plan.encoding)
        .option("multiLine", "true")
        .option("mode", "FAILFAST")
        # A row with too many fields is detected only if all of it is read.
        .option("columnPruning", "false")
        .option("enforceSchema", "true")
        .option("maxCharsPerColumn", "-1")
        .csv([escape(str(file)) for file in files])
    )


def _checked(frame: Any, hidden: tuple[str, ...] = ()) -> Any:
    """Return the frame with columns named by position, after checking their names and that some have texts."""
    columns = tuple(frame.columns)
    check_names([name for name in columns if name not in hidden])
    textless = _textless_in(frame)
    if textless and len(textless) == len(columns) - len(hidden):
        raise no_text(*textless)
    return frame.toDF(*_places(columns))


def _textless_in(frame: Any) -> tuple[str, ...]:
    """Return the columns whose types have no text."""
    kinds = {field.name: field.dataType for field in frame.schema.fields}
    return tuple(
        name for name, kind in kinds.items() if str(kind.typeName()) in TEXTLESS or "interval" in kind.simpleString()
    )


def _places(columns: Sequence[str]) -> list[str]:
    return [f"s{place}" for place in range(len(columns))]


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
