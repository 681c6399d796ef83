"""Spark sessions: the caller's, or a local one; and Spark's errors as messages without data values."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sfumato.delimited.dialect import ragged, wrong_encoding
from sfumato.errors import DataError, EngineError, SfumatoError, extra_part
from sfumato.microdata.data_plan import DataPlan

# Settings of our own session; nothing of it is reachable from outside this machine.
OWN = {
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.session.timeZone": "UTC",
}
# Set by spark-submit and by Spark Connect; then the cluster is chosen already.
CHOSEN = ("PYSPARK_GATEWAY_PORT", "SPARK_REMOTE", "MASTER")


def session(plan: DataPlan) -> Any:
    """Return the running session, or a new one on the cluster of the environment variables or on this machine."""
    with extra_part("pyspark", "spark"):
        from pyspark.sql import SparkSession
    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    builder = SparkSession.builder.appName("sfumato")
    if not any(name in os.environ for name in CHOSEN):
        builder = builder.master("local[*]")
        # Spark's workers must use the running Python, not the system's.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        for key, value in (OWN | _limits(plan)).items():
            builder = builder.config(key, value)
    try:
        return builder.getOrCreate()
    except Exception as error:
        raise _no_session(error) from None


def _limits(plan: DataPlan) -> dict[str, str]:
    """Return the plan's limits as Spark settings."""
    settings = {}
    if plan.memory_limit is not None:
        settings["spark.driver.memory"] = f"{plan.memory_bytes // 2**20}m"
    if plan.temp_folder is not None:
        settings["spark.local.dir"] = plan.temp_folder
    return settings


def _no_session(error: Exception) -> EngineError:
    return EngineError("spark-start", name=type(error).__name__)


def is_spark_frame(data: Any) -> bool:
    """Return whether a value is a Spark DataFrame, without importing Spark."""
    kind = type(data)
    return kind.__name__ == "DataFrame" and kind.__module__.startswith("pyspark.sql.")


@contextmanager
def faults(encoding: str = "utf-8") -> Iterator[None]:
    """Convert errors of Spark to Sfumato's; their texts may contain data values and are not passed on."""
    from pyspark.errors import PySparkException

    try:
        yield
    except SfumatoError:
        raise
    except Exception as error:
        if not isinstance(error, PySparkException | OSError | RuntimeError) and not _of_java(error):
            raise
        raise explained(error, encoding) from None


def _of_java(error: Exception) -> bool:
    """Return whether an error comes from the Java side of Spark."""
    return type(error).__module__.startswith("py4j.")


def explained(error: Exception, encoding: str) -> SfumatoError:
    """Return Sfumato's error for one of Spark's, without its text."""
    text = str(error)
    if "MALFORMED_RECORD" in text or "MALFORMED_CSV" in text:
        return ragged()
    if "CharConversionException" in text or "MalformedInputException" in text or "MALFORMED_CHARACTER" in text:
        return wrong_encoding(encoding)
    if "No space left" in text or "Disk quota" in text:
        return EngineError("disk.spark_disk_is_full")
    if "OutOfMemoryError" in text or "maxResultSize" in text:
        return EngineError("memory.of_spark")
    if "PATH_NOT_FOUND" in text or "FILE_NOT_EXIST" in text or "FileNotFoundException" in text:
        return DataError("no-file.files_missing")
    return EngineError("spark", name=_condition(error))


def _condition(error: Exception) -> str:
    """Return Spark's name of an error, or its type."""
    condition = getattr(error, "getCondition", lambda: None)()
    return str(condition or type(error).__name__)
