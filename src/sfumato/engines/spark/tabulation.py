"""Tabulate microdata by the finest codes in Spark: one group-by, and the largest contributions of each group."""

from collections.abc import Sequence
from typing import Any

from sfumato.engines.record_keys import LARGEST, PATTERNS, POWER, RecordKeys
from sfumato.tables.noise.cell_key import BINS, FEW

# White space removed at both ends of a code, as in every engine.
BLANKS = " \t\r\n"


def grouped_rows(
    frame: Any, keys: Sequence[str], factors: Sequence[str | None], top: int, records: RecordKeys | None
) -> list[tuple[Any, ...]]:
    """Return for each group: codes, sum of record keys if any, number of invalid amounts, rows, sum, largest values.

    The rows have the layout that DuckDB returns for a file; `top` is 0 if a group is one holding.
    """
    from pyspark.sql import functions as F  # noqa: N812
    from pyspark.sql.window import Window

    value, weight = (F.expr(f"try_cast(`{name}` as double)") if name else F.lit(1.0) for name in factors)
    amount = value * weight
    named = [_text(name).alias(f"_code{place}") for place, name in enumerate(keys)]
    columns = [value.alias("_value"), weight.alias("_weight"), amount.alias("_amount")]
    if records is not None:
        columns.append(record_key(records).alias("_key"))
    if records is not None:
        _check_records(frame, records)
    base = frame.select(*named, *columns)
    groups = [f"_code{place}" for place in range(len(keys))]
    broken = F.sum(F.when(F.col("_amount").isNull() | F.isnan("_amount"), 1).otherwise(0))
    whole = [broken.alias("_broken"), F.count(F.lit(1)).alias("_rows"), F.sum("_amount").alias("_sum")]
    if records is not None:
        total = F.when(F.count("_key") == F.count(F.lit(1)), F.sum(F.col("_key").cast("decimal(38,0)")))
        whole.insert(0, total.cast("string").alias("_keys"))
    counts = {tuple(row[: len(groups)]): row for row in base.groupBy(*groups).agg(*whole).collect()}
    order = [F.abs("_value").desc(), F.col("_value").desc()]
    ranked = base.withColumn("_rank", F.row_number().over(Window.partitionBy(*groups).orderBy(*order)))
    tops: dict[tuple[Any, ...], list[list[float]]] = {}
    for row in ranked.where(F.col("_rank") <= top).orderBy("_rank").collect() if top else []:
        tops.setdefault(tuple(row[: len(groups)]), []).append([row["_value"], row["_weight"]])
    rows = []
    for codes_, row in sorted(counts.items()):
        own = [] if records is None else [None if row["_keys"] is None else str(int(row["_keys"]) % records.modulus)]
        largest = tops.get(codes_, []) if top else [[row["_sum"], 1.0]]
        rows.append((*codes_, *own, row["_broken"], row["_rows"], row["_sum"], largest))
    return rows


def _check_records(frame: Any, records: RecordKeys) -> None:
    """Refuse duplicate record names, and keys that do not fill their range."""
    from pyspark.sql import functions as F  # noqa: N812

    if records.secret is not None:
        twins = F.count(F.lit(1)) - F.countDistinct(_name(records.column))
        records.refuse_twins(int(frame.select(twins).first()[0]))
        return
    keys = frame.select(record_key(records).alias("_key")).where("_key is not null")
    counted = keys.groupBy("_key").agg(F.count(F.lit(1)).alias("_many"))
    place = F.floor(F.col("_key").cast("double") * BINS / float(records.modulus)).alias("_place")
    bins = counted.groupBy(place).agg(F.count(F.lit(1)), F.max("_key").cast("string"), F.sum("_many"))
    few = counted.select(F.col("_key").cast("string")).limit(FEW + 1)
    records.refuse_narrow(records.spread_of_bins(bins.collect(), few.collect()))


def _text(name: str) -> Any:
    """Return a column as text without blanks at its ends, empty if missing."""
    from pyspark.sql import functions as F  # noqa: N812

    return F.coalesce(F.trim(F.col(f"`{name}`").cast("string"), F.lit(BLANKS)), F.lit(""))


def _name(column: str) -> Any:
    """Return the name of a record; integers have no decimals, whatever their type."""
    from pyspark.sql import functions as F  # noqa: N812

    number = f"try_cast(`{column}` as double)"
    floating = F.expr(f"typeof(`{column}`) in ('double', 'float') and {number} = floor({number})")
    whole = F.when(floating, F.expr(f"cast(try_cast(`{column}` as decimal(38,0)) as string)"))
    text = _text(column)
    power = F.when(text.rlike(POWER), text).cast("double")
    large = F.when((power == F.floor(power)) & (F.abs(power) < LARGEST), power.cast("decimal(38,0)")).cast("string")
    rest = text
    for pattern in PATTERNS:
        rest = F.regexp_replace(rest, pattern, "$1")
    return F.coalesce(whole, large, rest)


def record_key(records: RecordKeys) -> Any:
    """Return the key of a record as a decimal number; null if it has none."""
    from pyspark.sql import functions as F  # noqa: N812

    text = _name(records.column)
    if records.secret is not None:
        digest = F.sha2(F.concat(F.lit(records.prefix), text), 256)
        key = F.conv(F.substring(digest, 1, 16), 16, 10).cast("decimal(20,0)")
        return F.when(text != "", key)
    whole = F.when(text.rlike("^[0-9]+$"), text.cast("decimal(38,0)"))
    if records.digits is not None:
        part = F.rpad(F.regexp_extract(text, "^0?[.]([0-9]+)$", 1), records.digits, "0").cast("decimal(38,0)")
        whole = F.coalesce(whole, F.when(text.rlike(f"^0?[.][0-9]{{1,{records.digits}}}$"), part))
    return F.when(whole < F.lit(str(records.modulus)).cast("decimal(38,0)"), whole)
