"""Publish rows with Spark: lookups are joined to them, broadcast if small; no row is collected by the driver.

The key of each quasi-identifier is looked up in a table of its own, which yields a code and, if every column has one
level, the label. The codes of a row, packed as in combinations.py, are looked up in the table of classes. All joins are
null-safe. A value or combination that the recoding does not know finds no partner: the recount detects the difference.
"""

from typing import Any

import numpy as np
from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812

from sfumato.engines.canonical_text import arrow
from sfumato.engines.engine import MissingRules
from sfumato.engines.join_keys import PERSON, JoinTables
from sfumato.engines.spark.sources import ROW, SparkSource, is_float, key_of, plain_key_of, present, stripped, text_of
from sfumato.microdata.counts.frequency_table import DROPPED
from sfumato.microdata.keyed_random import ORDER_DIGITS, ROWS_A_HASH
from sfumato.microdata.recoding.mapping import STAR, Division, LevelRecoding

# Maximum number of rows of a lookup table to broadcast; larger ones are joined like any other table.
MAX_BROADCAST = 2_000_000
# Number of rows sorted at a time.
ROWS_A_PART = 1_000_000
# The column with the sort key of a row, and the number of its digits that determine the partition.
PLACE, PART_DIGITS = "sfumato_place", 6
_SHARED_BITS = ROWS_A_HASH.bit_length() - 1
# The lookup key of missing values; no file contains it, so a row still has a single key.
MISSING = "\0missing"


class RecodingApplier(JoinTables):
    """A recoding to apply to the rows of a Spark source."""

    source: SparkSource
    reading: MissingRules
    strip: bool

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns in the release."""
        return self.with_class_column(self.source.columns)

    def frame(self) -> Any:
        """Return the published rows."""
        rows = self._looked_up(present(self._rows(), self.source, self.reading, self.strip))
        if isinstance(self.recoding, LevelRecoding):
            rows = self._with_hidden(rows)
        else:
            rows = self._with_classes(rows, self.division)
        hidden = () if self.handling.person is None else (PERSON,)
        return self._ordered(rows).select(*self._published()).toDF(*self.columns, *hidden)

    def _rows(self) -> Any:
        if self.division is not None or self.source.number is not None:
            return self.source.numbered()
        if self._shuffles:
            return self.source.frame.select("*", F.monotonically_increasing_id().alias(ROW))
        return self.source.frame

    @property
    def _shuffles(self) -> bool:
        return self.handling.order_key is not None

    @property
    def _hides(self) -> bool:
        """Whether rows must be compared with classes, because some are suppressed or class numbers are published."""
        return bool(self.recoding.suppressed.any()) or self.handling.class_column is not None

    def _needs(self, place: int) -> bool:
        """Return whether a column's values must be looked up."""
        drops = bool((self.recoding.codings[place].codes == DROPPED).any())
        return drops or not self.recoding.identical[place] or self._hides

    def _looked_up(self, rows: Any) -> Any:
        for place, column in enumerate(self.recoding.columns):
            if self._needs(place):
                lookup = self.column_lookup(place)
                rows = self._joined(rows, column, lookup["text"], self._codes_and_labels(place, lookup["code"]))
        for place, column in enumerate(self.handling.labels):
            lookup = self.label_lookup(column)
            labels = arrow().array(lookup["label"].tolist(), arrow().string())
            rows = self._joined(rows, column, lookup["text"], {f"m{place}": labels})
        return rows

    def _codes_and_labels(self, place: int, codes: Any) -> dict[str, Any]:
        """Return the codes of a column's values and, for full-domain recoding, their labels."""
        pa = arrow()
        columns = {f"c{place}": pa.array(codes.view(np.int64))}
        if isinstance(self.recoding, LevelRecoding):
            labels = self.recoding.labels[place]
            columns[f"p{place}"] = pa.array([labels[code] for code in codes.tolist()], pa.string())
        return columns

    def _joined(self, rows: Any, column: str, texts: Any, columns: dict[str, Any]) -> Any:
        """Join rows with a lookup table by the texts of a column."""
        pa, at = arrow(), self.source.columns.index(column)
        kind = self.source.kind(at)
        number = {"float": pa.float32(), "double": pa.float64()}.get(str(kind.typeName()))
        keys = texts.tolist() if number is None else [None if text is None else float(text) for text in texts]
        lookup = self._loaded({"sfumato_text": pa.array(keys, number or pa.string())} | columns)
        key, text = key_of(F.col(f"s{at}"), kind, self.strip), lookup["sfumato_text"]
        if number is not None:
            return rows.join(lookup, key.eqNullSafe(text)).drop("sfumato_text")
        same = F.coalesce(key, F.lit(MISSING)) == F.coalesce(text, F.lit(MISSING))
        return rows.join(lookup, same).drop("sfumato_text")

    def _loaded(self, columns: dict[str, Any]) -> Any:
        table = arrow().table(columns)
        frame = self.source.frame.sparkSession.createDataFrame(table)
        return F.broadcast(frame) if table.num_rows <= MAX_BROADCAST else frame

    def _with_hidden(self, rows: Any) -> Any:
        """Add the class number of each row, or whether it is suppressed; unchanged if neither is needed."""
        if not self._hides:
            return rows
        wanted = np.ones(len(self.recoding.suppressed), bool)
        if self.handling.class_column is None:
            wanted = self.recoding.suppressed
        classes = self._classes(wanted, ("hidden", "number"))
        kind = "inner" if self.handling.class_column is not None else "left"
        joined = rows.join(classes, self._equal_keys(classes), kind)
        return self._shown(joined.withColumn("hidden", F.coalesce("hidden", F.lit(False))))

    def _with_classes(self, rows: Any, division: Division | None) -> Any:
        """Add the published labels of each row's class."""
        labels = tuple(f"p{place}" for place in range(len(self.recoding.columns)))
        if division is None:
            classes = self._classes(None, ("hidden", "number", *labels))
            return self._shown(rows.join(classes, self._equal_keys(classes)))
        classes = self._classes(None, ("hidden", "number", *labels, "undivided", "above", "upto", "value"))
        rows = self._ranked(rows, division)
        test = self._equal_keys(classes)
        test &= classes["undivided"] | (classes["value"] == rows["sfumato_value"])
        test &= (rows["sfumato_rank"] > classes["above"]) & (rows["sfumato_rank"] <= classes["upto"])
        return self._shown(rows.join(classes, test))

    def _ranked(self, rows: Any, division: Division) -> Any:
        """Add the rank of each row within its combination and value, by the hash of its number."""
        if division.column is None:
            rows = rows.withColumn("sfumato_value", F.lit(0).cast("long"))
        else:
            lookup = self.value_lookup(division)
            rows = self._joined(rows, division.column, lookup["text"], {"sfumato_value": arrow().array(lookup["code"])})
        within = Window.partitionBy(*self._keys(), "sfumato_value").orderBy(_hash(division.key))
        return rows.withColumn("sfumato_rank", F.row_number().over(within).cast("long"))

    def _keys(self) -> list[Any]:
        """Return the packed codes of a row."""
        packing = self.packing
        keys = []
        for word in range(packing.words):
            key = F.lit(0).cast("long")
            for place in range(len(self.recoding.columns)):
                if packing.word[place] == word:
                    key = key.bitwiseOR(F.shiftleft(F.col(f"c{place}"), int(packing.shift[place])))
            keys.append(key)
        return keys

    def _equal_keys(self, classes: Any) -> Any:
        tests = [classes[f"k{word}"] == key for word, key in enumerate(self._keys())]
        whole = tests[0]
        for test in tests[1:]:
            whole &= test
        return whole

    def _classes(self, wanted: Any, parts: tuple[str, ...]) -> Any:
        """Return some columns of the class table, for the wanted classes."""
        pa = arrow()
        found = self.class_lookup()
        keys = {name: values.view(np.int64) for name, values in found.items() if name.startswith("k")}
        arrays = keys | {name: found[name] for name in parts}
        texts = {name for name in arrays if name.startswith("p")}
        columns = {}
        for name, values in arrays.items():
            chosen = values if wanted is None else values[wanted]
            columns[name] = pa.array(chosen.tolist(), pa.string()) if name in texts else pa.array(chosen)
        return self._loaded(columns)

    def _shown(self, rows: Any) -> Any:
        return rows if self.handling.suppressed == "star" else rows.where("NOT hidden")

    def _ordered(self, rows: Any) -> Any:
        """Return the rows shuffled, or in file order; unshuffled rows of a frame have no order."""
        if self.handling.order_key is not None:
            return _in_places(rows, _place(self.handling.order_key), self._parts)
        return rows if self.source.number is None else rows.orderBy(ROW)

    @property
    def _parts(self) -> int:
        """The number of partitions in which the rows are sorted."""
        return int(self.recoding.sizes.sum()) // ROWS_A_PART + 1

    def _published(self) -> list[Any]:
        columns = [self._published_column(place, name) for place, name in enumerate(self.source.columns)]
        if self.handling.class_column is not None:
            columns.append(F.col("number"))
        if self.handling.person is not None:
            columns.append(self._person_key())
        return [column.alias(f"o{place}") for place, column in enumerate(columns)]

    def _person_key(self) -> Any:
        """Return the person key of a row, as in keyed_hashes.py."""
        place = self.source.columns.index(self.handling.person or "")
        key, text = F.lit(self.handling.person_key), text_of(F.col(f"s{place}"), self.source.kind(place), self.strip)
        return F.substring(F.sha2(F.concat(key, plain_key_of(text)), 256), 1, 32)

    def _published_column(self, place: int, name: str) -> Any:
        if name in self.handling.removed_columns and name != self.handling.key_column:
            return F.lit(STAR)
        raw, kind = F.col(f"s{place}"), self.source.kind(place)
        if is_float(kind):
            raw = key_of(raw, kind, False)
        bare = stripped(raw) if self.strip and str(kind.typeName()) == "string" else raw
        star = F.lit(STAR)
        if name == self.handling.key_column:
            return self._person_key()
        if name in self.recoding.columns:
            at = self.recoding.columns.index(name)
            if self.recoding.identical[at] and not self.stars:
                return bare
            return F.when(F.col("hidden"), star).otherwise(F.col(f"p{at}")) if self.stars else F.col(f"p{at}")
        if name in self.handling.labels:
            raw = bare = F.col(f"m{[*self.handling.labels].index(name)}")
        if name in self.handling.suppressed_sensitive_columns:
            text = raw if name in self.handling.labels else text_of(raw, kind, self.strip)
            return F.when(F.col("hidden"), star).otherwise(text)
        return bare


def _hash(key: str) -> Any:
    return F.sha2(F.concat(F.lit(key), F.col(ROW).cast("string")), 256)


def _place(key: str) -> Any:
    """Return the sort key of a row, as in keyed_hashes.py."""
    before = F.col(ROW) - 1
    shared = F.sha2(F.concat(F.lit(key), F.shiftright(before, _SHARED_BITS).cast("string")), 256)
    part = before.bitwiseAND(ROWS_A_HASH - 1).cast("int")
    return F.substring(shared, part * ORDER_DIGITS + 1, ORDER_DIGITS)


def _in_places(rows: Any, place: Any, parts: int) -> Any:
    """Sort rows by their sort keys, and equal ones by their number.

    Sort keys are uniformly distributed, so their first digits determine the partition. Spark's own sort would sample
    all rows first, computing them twice.
    """
    rows = rows.withColumn(PLACE, place)
    if parts == 1:
        return rows.repartition(1).sortWithinPartitions(PLACE, ROW)
    first = F.conv(F.substring(PLACE, 1, PART_DIGITS), 16, 10).cast("long")
    part = F.shiftright(first * parts, 4 * PART_DIGITS).cast("int")
    marks = F.lit(_marks(rows.sparkSession, parts))
    return rows.repartition(parts, marks[part]).sortWithinPartitions(PLACE, ROW)


def _marks(spark: Any, parts: int) -> list[int]:
    """Return for each partition a number that Spark's hash assigns to it."""
    partition = F.pmod(F.hash(F.col("id").cast("int")), F.lit(parts)).alias("part")
    found = spark.range(40 * parts).groupBy(partition).agg(F.min("id")).collect()
    marks = dict(map(tuple, found))
    return [int(marks.get(part, part)) for part in range(parts)]
