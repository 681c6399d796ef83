"""How Spark publishes rows: lookups joined to them, broadcast when small; no row comes to the driver.

Each quasi-identifier's key is looked up in a table of its own, which gives a code and, where every column has its
level, the label. The codes of a row, packed as in packing.py, are looked up in the table of classes. All joins are
null-safe. A value or combination that the recoding does not know finds no partner: the recount sees the difference.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.engines.arrow_counts import arrow
from sfumato.engines.duckdb.statements import Application
from sfumato.engines.engine import Reading
from sfumato.engines.files.sources import Source
from sfumato.engines.spark.sources import ROW, SparkSource
from sfumato.engines.texts import WHITE_SPACE
from sfumato.microdata.counts.frequencies import DROPPED
from sfumato.microdata.recoding.recoding import STAR, Division, Handling, LevelRecoding, Recoding

# Beyond so many entries a lookup is joined like any other table instead of being sent to every executor.
MAX_BROADCAST = 2_000_000


def is_float(kind: Any) -> bool:
    """Whether a type is one of floating numbers: their text is Python's, so they are grouped and joined as numbers."""
    return str(kind.typeName()) in ("float", "double")


def key_of(column: Any, kind: Any, strip: bool) -> Any:
    """What a column's values are grouped and looked up by: their text, or the number itself; null for NaN."""
    from pyspark.sql import functions as F  # noqa: N812

    if is_float(kind):
        return F.when(~F.isnan(column), column + F.lit(0.0).cast(kind))  # -0.0 is 0.0
    text = _in_utc(column) if str(kind.typeName()) == "timestamp" else column.cast("string")
    return stripped(text) if strip else text


def stripped(text: Any) -> Any:
    """A text without white space at its ends; null where nothing is left."""
    from pyspark.sql import functions as F  # noqa: N812

    bare = F.trim(text, F.lit(WHITE_SPACE))
    return F.when(bare != "", bare)


def _in_utc(column: Any) -> Any:
    """The text of a moment, which Spark would write in the zone of its session."""
    from pyspark.sql import functions as F  # noqa: N812

    seconds = (F.unix_micros(column).cast("decimal(20,0)") / 1_000_000).cast("decimal(18,6)")
    since = F.make_dt_interval(F.lit(0), F.lit(0), F.lit(0), seconds)
    moment = F.lit("1970-01-01 00:00:00").cast("timestamp_ntz") + since
    return F.concat(moment.cast("string"), F.lit("+00"))


def text_of(column: Any, kind: Any, strip: bool) -> Any:
    """The text of a column's values."""
    from pyspark.sql import functions as F  # noqa: N812

    key = key_of(column, kind, strip)
    if not is_float(kind):
        return key
    return F.udf(_writer(str(kind.typeName()) == "float"), "string", useArrow=False)(key)


def _writer(single: bool) -> Callable[[float | None], str | None]:
    """What writes a number as texts.py does; sent by value, since the executors need not have Sfumato."""

    def written(number: float | None) -> str | None:
        import struct

        for digits in range(6, 9) if single and number is not None else ():
            near = float(f"{number:.{digits}g}")
            if struct.unpack("f", struct.pack("f", near))[0] == number:
                return repr(near)
        return None if number is None else repr(float(f"{number:.9g}") if single else number)

    return written


def present(frame: Any, source: SparkSource, reading: Reading, strip: bool) -> Any:
    """The rows in which no required value is missing."""
    from pyspark.sql import functions as F  # noqa: N812

    for column in reading.required:
        place = source.columns.index(column)
        text = text_of(F.col(f"s{place}"), source.kind(place), strip)
        frame = frame.where(text.isNotNull())
        if reading.missing:
            frame = frame.where(~text.isin(*reading.missing))
    return frame


@dataclass(frozen=True)
class Publishing:
    """A recoding to be applied to the rows of a Spark source."""

    source: SparkSource
    recoding: Recoding
    handling: Handling
    reading: Reading
    strip: bool

    @property
    def application(self) -> Application:
        source = Source("", self.source.columns)
        return Application(source, self.recoding, self.handling, self.reading, self.strip)

    @property
    def columns(self) -> tuple[str, ...]:
        return self.application.published_columns

    def frame(self) -> Any:
        """The published rows."""
        rows = self._looked_up(present(self._rows(), self.source, self.reading, self.strip))
        if isinstance(self.recoding, LevelRecoding):
            rows = self._with_hidden(rows)
        else:
            rows = self._with_classes(rows, self.application.division)
        return self._ordered(rows).select(*self._published()).toDF(*self.columns)

    def _rows(self) -> Any:
        from pyspark.sql import functions as F  # noqa: N812

        if self.application.division is not None or (self.source.number is not None and self._shuffles):
            return self.source.numbered()
        if self._shuffles:
            return self.source.frame.select("*", F.monotonically_increasing_id().alias(ROW))
        return self.source.frame

    @property
    def _shuffles(self) -> bool:
        return self.handling.shuffle_seed is not None

    @property
    def _hides(self) -> bool:
        """Whether rows must be compared with classes: some are hidden, or their numbers are published."""
        return bool(self.recoding.suppressed.any()) or self.handling.class_column is not None

    def _needs(self, place: int) -> bool:
        """Whether a column's values must be looked up."""
        drops = bool((self.recoding.codings[place].codes == DROPPED).any())
        return drops or not self.recoding.identical[place] or self._hides

    def _looked_up(self, rows: Any) -> Any:
        for place, column in enumerate(self.recoding.columns):
            if self._needs(place):
                lookup = self.application.column_lookup(place)
                rows = self._joined(rows, column, lookup["text"], self._codes_and_labels(place, lookup["code"]))
        return rows

    def _codes_and_labels(self, place: int, codes: Any) -> dict[str, Any]:
        """The codes of a column's values and, for a level, their labels."""
        pa = arrow()
        found = {f"c{place}": pa.array(codes.view(np.int64))}
        if isinstance(self.recoding, LevelRecoding):
            labels = self.recoding.labels[place]
            found[f"p{place}"] = pa.array([labels[code] for code in codes.tolist()], pa.string())
        return found

    def _joined(self, rows: Any, column: str, texts: Any, known: dict[str, Any]) -> Any:
        """Rows with what is known of their value of a column, given for each of its texts."""
        from pyspark.sql import functions as F  # noqa: N812

        pa, at = arrow(), self.source.columns.index(column)
        kind = self.source.kind(at)
        number = {"float": pa.float32(), "double": pa.float64()}.get(str(kind.typeName()))
        keys = texts.tolist() if number is None else [None if text is None else float(text) for text in texts]
        lookup = self._loaded({"sfumato_text": pa.array(keys, number or pa.string())} | known)
        key = key_of(F.col(f"s{at}"), kind, self.strip)
        return rows.join(lookup, key.eqNullSafe(lookup["sfumato_text"])).drop("sfumato_text")

    def _loaded(self, columns: dict[str, Any]) -> Any:
        from pyspark.sql import functions as F  # noqa: N812

        table = arrow().table(columns)
        frame = self.source.frame.sparkSession.createDataFrame(table)
        return F.broadcast(frame) if table.num_rows <= MAX_BROADCAST else frame

    def _with_hidden(self, rows: Any) -> Any:
        """Rows with their class's number, or with whether they are hidden; nothing where neither is asked for."""
        from pyspark.sql import functions as F  # noqa: N812

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
        """Rows with what their class is published as."""
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
        """Rows with their rank among those of the same combination and value, by the hash of their number."""
        from pyspark.sql import Window
        from pyspark.sql import functions as F  # noqa: N812

        if division.column is None:
            rows = rows.withColumn("sfumato_value", F.lit(0).cast("long"))
        else:
            lookup = self.application.value_lookup(division)
            rows = self._joined(rows, division.column, lookup["text"], {"sfumato_value": arrow().array(lookup["code"])})
        within = Window.partitionBy(*self._keys(), "sfumato_value").orderBy(_hash(division.seed))
        return rows.withColumn("sfumato_rank", F.row_number().over(within).cast("long"))

    def _keys(self) -> list[Any]:
        """The packed codes of a row."""
        from pyspark.sql import functions as F  # noqa: N812

        packing = self.application.packing
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
        """Some columns of the table of classes, for the wanted ones."""
        pa = arrow()
        found = self.application.class_lookup()
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
        return rows if self.handling.shuffle_seed is None else rows.orderBy(_hash(self.handling.shuffle_seed))

    def _published(self) -> list[Any]:
        from pyspark.sql import functions as F  # noqa: N812

        columns = [self._published_column(place, name) for place, name in enumerate(self.source.columns)]
        if self.handling.class_column is not None:
            columns.append(F.col("number"))
        return [column.alias(f"o{place}") for place, column in enumerate(columns)]

    def _published_column(self, place: int, name: str) -> Any:
        from pyspark.sql import functions as F  # noqa: N812

        raw, kind = F.col(f"s{place}"), self.source.kind(place)
        if is_float(kind):
            raw = key_of(raw, kind, False)
        bare = stripped(raw) if self.strip and str(kind.typeName()) == "string" else raw
        star = F.lit(STAR)
        stars = self.handling.suppressed == "star" and bool(self.recoding.suppressed.any())
        if name in self.handling.withheld_columns:
            return star
        if name in self.recoding.columns:
            at = self.recoding.columns.index(name)
            if self.recoding.identical[at] and not stars:
                return bare
            return F.when(F.col("hidden"), star).otherwise(F.col(f"p{at}")) if stars else F.col(f"p{at}")
        if name in self.handling.veiled_columns:
            return F.when(F.col("hidden"), star).otherwise(text_of(raw, kind, self.strip))
        return bare


def _hash(seed: int) -> Any:
    from pyspark.sql import functions as F  # noqa: N812

    return F.md5(F.concat(F.lit(f"{seed}:"), F.col(ROW).cast("string")))
