"""The cluster engine: rows in Spark frames or files are counted and recoded by Spark jobs in place."""

import csv
import hashlib
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812

from sfumato.engines.canonical_text import are_decimals, are_whole, arrow, text_counts
from sfumato.engines.engine import LOOKED_AT_ROWS, MissingRules, ReadsSource
from sfumato.engines.files import checksum
from sfumato.engines.join_keys import PERSON, PERSONS_FILE
from sfumato.engines.spark.apply import RecodingApplier
from sfumato.engines.spark.session import faults, session
from sfumato.engines.spark.sources import (
    ROW,
    SparkSource,
    key_of,
    of_frame,
    of_path,
    of_published,
    plain_key_of,
    present,
    text_of,
    without_codes,
)
from sfumato.errors import EngineError
from sfumato.formats import CSV, format_named
from sfumato.microdata.counts.frequency_table import ValueCounts
from sfumato.microdata.counts.persons import PersonCount, added_persons
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.recoding.mapping import Recoding, SuppressionHandling

if TYPE_CHECKING:
    from sfumato.engines.duckdb.engine import DuckDBEngine


def write(frame: Any, target: Path, separator: str) -> None:
    """Write a frame.

    Args:
        target: A path whose extension determines the format; all executors must be able to reach it.
        separator: The separator of a CSV file.
    """
    parts = target.with_name(f".{target.name}.parts")
    try:
        form = format_named(target) or CSV
        writer = form.writer("spark")
        if writer is None:
            raise EngineError("format.written", other=form.name)
        writer(frame, parts, target, separator)
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    finally:
        shutil.rmtree(parts, ignore_errors=True)


def write_parquet(frame: Any, parts: Path, target: Path, _separator: str) -> None:
    frame.write.option("compression", "zstd").parquet(str(parts))
    # Spark's own metadata files are not part of a release and confuse other readers of the folder.
    for note in (*parts.glob(".*"), *parts.glob("_*")):
        note.unlink()
    parts.rename(target)


def write_csv(frame: Any, parts: Path, target: Path, separator: str) -> None:
    _write_texts(frame, parts, separator)
    _join(frame.columns, parts, target, separator)


def _write_texts(frame: Any, parts: Path, separator: str) -> None:
    """Write every value as its canonical text."""
    fields = frame.schema.fields
    places = [f"s{place}" for place in range(len(fields))]
    texts = [text_of(F.col(place), field.dataType, False) for place, field in zip(places, fields, strict=True)]
    options = {
        "sep": separator,
        "quote": '"',
        "escape": '"',
        "nullValue": "",
        "emptyValue": '""',
        "ignoreLeadingWhiteSpace": "false",
        "ignoreTrailingWhiteSpace": "false",
        "header": "false",
    }
    frame.toDF(*places).select(*texts).write.options(**options).csv(str(parts))


def _join(columns: list[str], parts: Path, target: Path, separator: str) -> None:
    """Join all parts into one file with a header."""
    with target.open("w", encoding="utf-8", newline="") as head:
        csv.writer(head, delimiter=separator, lineterminator="\n").writerow(columns)
    with target.open("ab") as whole:
        for part in sorted(parts.glob("part-*")):
            with part.open("rb") as rows:
                shutil.copyfileobj(rows, whole, 1 << 20)


# Types whose replaced values remain numbers; those in WHOLE remain integers.
WHOLE = ("byte", "short", "integer", "long")
NUMBERS = (*WHOLE, "float", "double", "decimal")


class SparkEngine(ReadsSource):
    """Rows that Spark reads, from a frame of the caller or from files.

    The rows of a Spark frame have no order; the release contains the same rows as on other engines. Rows of files have
    the order of their files.
    """

    name = "spark"

    def __init__(self, source: SparkSource, plan: DataPlan | None = None, path: Path | str | None = None) -> None:
        arrow()
        self.source = source
        self.plan = plan or DataPlan()
        self.path = path
        self._kept: Any = None
        self._placed: Any = None
        # The file with the person keys of written rows, or None without a person column.
        self._persons_file: Path | None = None

    @classmethod
    def of_frame(cls, frame: Any, plan: DataPlan | None = None) -> "SparkEngine":
        """Return the engine for a Spark frame."""
        with faults():
            return cls(without_codes(of_frame(frame), plan or DataPlan()), plan)

    @classmethod
    def of_path(cls, path: Path | str, plan: DataPlan | None = None, names: Sequence[str] = ()) -> "SparkEngine":
        """Return the engine for Parquet or CSV files, with the running session or a new one."""
        data = plan or DataPlan()
        spark = session(data)
        with faults(data.encoding):
            return cls(without_codes(of_path(spark, str(path), data, names), data), data, path)

    def count(self, columns: Sequence[str], reading: MissingRules) -> ValueCounts:
        if self._persons_file is not None and PERSON in columns:
            with self._beside_keys() as engine:
                return engine.count(columns, reading)
        with faults(self.plan.encoding):
            rows = present(self.source.frame, self.source, reading, self.plan.strip)
            keys = [self._key(column).alias(f"k{place}") for place, column in enumerate(columns)]
            names = [f"k{place}" for place in range(len(columns))]
            grouped = rows.select(*keys).groupBy(*names).agg(F.count(F.lit(1)).alias("n")).toArrow()
            whole = self.source.frame.count() if reading.required else None
        counted = text_counts(columns, grouped, whole)
        self.check_rows(counted.rows)
        return counted

    def count_persons(
        self, columns: Sequence[str], person: str, value: str | None, reading: MissingRules
    ) -> PersonCount:
        """Count persons in Spark; only persons with rows in several combinations are collected by the driver."""
        if self._persons_file is not None and person == PERSON:
            with self._beside_keys() as engine:
                return engine.count_persons(columns, PERSON, value, reading)
        names = [f"k{place}" for place in range(len(columns))]
        pair = ["p"] if value is None else ["p", "v"]
        with faults(self.plan.encoding):
            rows = present(self.source.frame, self.source, reading, self.plan.strip)
            keys = [self._key(column).alias(name) for column, name in zip(columns, names, strict=True)]
            values = [] if value is None else [self._told_value(value, reading).alias("v")]
            absent = F.coalesce(F.max(self._is_nobody(person, reading)), F.lit(False))
            nameless = bool(rows.agg(absent).collect()[0][0])
            distinct = rows.select(*keys, *values, self._plain_key(person).alias("p")).distinct()
            identity = [*names, *pair[1:]]
            marked = distinct.withColumn("places", F.count(F.lit(1)).over(Window.partitionBy(*pair)))
            added = marked.where("places = 1").groupBy(*identity).agg(F.count(F.lit(1)).alias("n"))
            nobody = F.lit(None).cast("string").alias("p")
            added = added.select(*identity, nobody, "n")
            single = marked.where("places > 1").select(
                *identity, F.col("p").cast("string"), F.lit(1).cast("long").alias("n")
            )
            table = added.unionByName(single).toArrow()
        return added_persons(text_counts((*columns, *([value] if value else []), person), table), nameless)

    def _told_value(self, value: str, reading: MissingRules) -> Any:
        """Return the text of a sensitive value; texts that mean missing become null."""
        place = self.columns.index(value)
        text = text_of(F.col(f"s{place}"), self.source.kind(place), self.plan.strip)
        return F.when(~text.isin("", *reading.missing), text)

    @contextmanager
    def _beside_keys(self) -> Iterator["DuckDBEngine"]:
        """Open the written rows together with the keys of their persons."""
        from sfumato.engines.duckdb.engine import DuckDBEngine

        with closing(DuckDBEngine.of_published(Path(self.path or ""), self.columns, self.source.separator)) as engine:
            engine.attach_persons(self._persons_file or Path())
            yield engine

    def first_texts(self, column: str) -> dict[str, int]:
        place = self.columns.index(column)
        with faults(self.plan.encoding):
            text = text_of(F.col(f"s{place}"), self.source.kind(place), self.plan.strip)
            rows = self.source.frame.limit(LOOKED_AT_ROWS).select(text.alias("t")).where("t IS NOT NULL")
            return {row[0]: int(row[1]) for row in rows.groupBy("t").count().collect()}

    def locate(self, column: str, texts: Sequence[str], limit: int) -> tuple[int, ...]:
        """Return row numbers if there are some; rows of a frame have none."""
        if self.source.number is None:
            return ()
        place = self.columns.index(column)
        with faults(self.plan.encoding):
            text = text_of(F.col(f"s{place}"), self.source.kind(place), self.plan.strip)
            found = self.source.numbered().where(text.isin(*texts)).orderBy(ROW).limit(limit).select(ROW).collect()
        return tuple(int(row[0]) for row in found)

    def apply(
        self, recoding: Recoding, handling: SuppressionHandling, reading: MissingRules, target: Path | None
    ) -> "SparkEngine":
        application = RecodingApplier(recoding, handling, self.source, reading, self.plan.strip)
        with faults(self.plan.encoding):
            frame = application.frame()
            if self.path is None or target is None:
                return self._handed_over(frame)
            if handling.person is None:
                return self._written(frame, target, application.columns, self.source.separator)
            # Rows and keys are written one after the other; both are persisted, so their order is the same.
            both = frame.persist()
            try:
                write(both.select(PERSON), target.with_name(PERSONS_FILE), "")
                engine = self._written(both.drop(PERSON), target, application.columns, self.source.separator)
            finally:
                both.unpersist()
        engine._persons_file = target.with_name(PERSONS_FILE)
        return engine

    def texts(self, column: str) -> Sequence[str | None]:
        if column == PERSON and self._persons_file is not None:
            with self._beside_keys() as engine:
                return engine.texts(PERSON)
        place = (*self.columns, *self.source.hidden).index(column)
        with faults(self.plan.encoding):
            text = text_of(F.col(f"s{place}"), self.source.kind(place), False)
            found = self._with_places().select(ROW, text.alias("t")).toArrow()
        texts: list[str | None] = found.sort_by(ROW).column("t").to_pylist()
        return texts

    def floats(self, _column: str) -> None:
        """Return None, because numbers are returned as texts."""

    def _with_places(self) -> Any:
        """Return the rows with increasing numbers, persisted so that repeated reads are identical."""
        if self._placed is None:
            # Spark orders the parts of a Parquet file itself; person keys are in the order of their names.
            in_turn = self.source.frame.select("*", F.monotonically_increasing_id().alias(ROW))
            self._placed = (in_turn if self.source.number is None else self.source.numbered()).persist()
        return self._placed

    def replaced(self, columns: Mapping[str, Sequence[str | None]], target: Path | None) -> "SparkEngine":
        pa = arrow()
        with faults(self.plan.encoding):
            rows = self._with_places()
            places = rows.select(ROW).toArrow().sort_by(ROW).column(ROW)
            arrays = {f"r{at}": pa.array(list(texts), pa.string()) for at, texts in enumerate(columns.values())}
            other = rows.sparkSession.createDataFrame(pa.table({ROW: places, **arrays}))
            joined = rows.join(other, ROW).orderBy(ROW)
            names = (*self.columns, *self.source.hidden)
            values = [self._replacement(place, name, columns) for place, name in enumerate(names)]
            frame = joined.select(*values).toDF(*names)
            if self.path is None or target is None:
                return self._handed_over(frame)
            engine = self._written(frame, target, self.columns, self.source.separator)
        engine._persons_file = self._persons_file
        return engine

    def _replacement(self, place: int, name: str, columns: Mapping[str, Sequence[str | None]]) -> Any:
        """Return a column unchanged, or its replacement, which remains a number if it was one."""
        if name not in columns:
            return F.col(f"s{place}").alias(f"o{place}")
        value = F.col(f"r{[*columns].index(name)}")
        own = self.source.kind(place)
        kind = str(own.typeName())
        if kind == "decimal" and are_decimals(columns[name], own.precision, own.scale):
            value = value.cast(own)
        elif kind in NUMBERS:
            value = value.cast("bigint" if kind in WHOLE and are_whole(columns[name]) else "double")
        return value.alias(f"o{place}")

    def _handed_over(self, frame: Any) -> "SparkEngine":
        """Return the published rows as a persisted frame, so that the rows returned are those recounted."""
        hidden = (PERSON,) if PERSON in frame.columns else ()
        engine = SparkEngine(of_frame(frame.persist(), hidden))
        engine._kept = frame
        return engine

    def _written(self, frame: Any, target: Path, columns: Sequence[str], separator: str) -> "SparkEngine":
        write(frame, target, separator)
        return SparkEngine(of_published(frame.sparkSession, target, columns, separator), path=target)

    def write(self, target: Path, separator: str) -> "SparkEngine":
        """Write the rows to a CSV file or a folder of Parquet files, and return an engine that reads it."""
        with faults():
            frame = self.source.frame.toDF(*self.columns, *self.source.hidden)
            if self.source.hidden:
                write(frame.select(PERSON), target.with_name(PERSONS_FILE), "")
                frame = frame.drop(PERSON)
            return self._written(frame, target, self.columns, separator)

    def data(self) -> Any:
        if self.path is not None:
            return Path(self.path)
        if self._kept is None:
            return self.source.frame.toDF(*self.columns)
        return self._kept.drop(PERSON) if self.source.hidden else self._kept

    def checksum(self) -> str:
        """Return the SHA-256 of files; for a frame, that of its columns and of sums of row hashes in any order."""
        if self.path is not None and "://" not in str(self.path):
            return checksum(Path(self.path))
        textless = [f"s{place}" for place, name in enumerate(self.columns) if name in self.source.textless]
        names = [name if name not in textless else F.col(name).cast("string") for name in self.source.frame.columns]
        hashed = F.xxhash64(*names)
        sums = [F.count(F.lit(1)), F.sum(hashed.cast("decimal(20,0)")), F.bit_xor(F.xxhash64(hashed, *names))]
        with faults():
            found = self.source.frame.agg(*sums).collect()[0]
        return hashlib.sha256(repr((self.columns, *map(str, found))).encode()).hexdigest()

    def close(self) -> None:
        """Release what Spark persists; the session belongs to the caller, or is used for the next run."""
        for kept in (self._kept, self._placed):
            if kept is not None:
                kept.unpersist()
        self._kept = self._placed = None

    def _plain_key(self, person: str) -> Any:
        """Return the normalized person key of a row."""
        place = (*self.columns, *self.source.hidden).index(person)
        return plain_key_of(text_of(F.col(f"s{place}"), self.source.kind(place), self.plan.strip))

    def _is_nobody(self, person: str, reading: MissingRules) -> Any:
        key = self._key(person)
        return key.isNull() | key.cast("string").isin(*reading.missing)

    def _key(self, column: str) -> Any:
        place = (*self.columns, *self.source.hidden).index(column)
        return key_of(F.col(f"s{place}"), self.source.kind(place), self.plan.strip)
