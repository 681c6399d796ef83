"""Write Spark frames: Parquet as a folder of files, CSV as one file; a failed write leaves nothing behind."""

import csv
import shutil
from pathlib import Path
from typing import Any

from pyspark.sql import functions as F  # noqa: N812

from sfumato.engines.spark.count import text_of


def write(frame: Any, target: Path, separator: str) -> None:
    """Write a frame.

    Args:
        target: A path whose extension determines the format; all executors must be able to reach it.
        separator: The separator of a CSV file.
    """
    parts = target.with_name(f".{target.name}.parts")
    try:
        if target.suffix == ".parquet":
            frame.write.option("compression", "zstd").parquet(str(parts))
            # Spark's own metadata files are not part of a release and confuse other readers of the folder.
            for note in (*parts.glob(".*"), *parts.glob("_*")):
                note.unlink()
            parts.rename(target)
        else:
            _write_texts(frame, parts, separator)
            _join(frame.columns, parts, target, separator)
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    finally:
        shutil.rmtree(parts, ignore_errors=True)


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
