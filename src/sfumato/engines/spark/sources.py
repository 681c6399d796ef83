"""Sources of Spark: a frame, or files; columns are addressed by position, so that any name is allowed."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from glob import escape
from pathlib import Path
from typing import Any

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812

from sfumato.confinement import check_open
from sfumato.dataclass import dataclass
from sfumato.delimited.decimal_marks import COMMA_NUMBER
from sfumato.delimited.dialect import DecimalMark
from sfumato.engines.canonical_text import no_text
from sfumato.engines.files import files_in, format_of, head_of
from sfumato.engines.identifier_checks import check_names
from sfumato.engines.lines import Records, records_in
from sfumato.errors import EngineError
from sfumato.microdata.data_plan import DataPlan

ROW = "sfumato_row"
FILE, INDEX = "sfumato_file", "sfumato_index"
# Types without a text that is the same on every engine.
TEXTLESS = ("binary", "array", "map", "struct", "variant")
INFERENCE = "spark.sql.sources.partitionColumnTypeInference.enabled"


@dataclass(frozen=True)
class SparkSource:
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
    notes: tuple[str, ...] = ()
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
    form = plan.format or ("parquet" if folder else format_of(Path(path), plan))
    if form == "parquet":
        return _parquet(spark, path)
    if form == "csv":
        return _csv(spark, Path(path), plan, names)
    raise EngineError("format", other=form)


def of_published(spark: Any, path: Path, columns: Sequence[str], separator: str) -> SparkSource:
    """Return the source for files that were just written."""
    if path.suffix == ".csv":
        frame = _read_csv(spark, [path], columns, separator, DataPlan())
        records = records_in([path], separator, len(columns))
        return SparkSource(frame.toDF(*_places(columns)), tuple(columns), separator, records=records)
    return _parquet(spark, str(path))


def _parquet(spark: Any, path: str) -> SparkSource:
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


def _csv(spark: Any, path: Path, plan: DataPlan, names: Sequence[str]) -> SparkSource:
    files = files_in(path, "csv")
    head = head_of(files, plan, names)
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

    header = plan.header is not False
    records = records_in(files, head.separator, len(head.columns), plan.quote, plan.encoding, header)
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
