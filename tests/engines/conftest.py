"""What tests of engines share: a Spark session with two cores."""

import os
import shutil
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

SPARK = {
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
}


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A session with two cores: the real engine."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java, which is not installed")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Spark's own, about the versions of other libraries
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2]").appName("sfumato-tests")
        for key, value in SPARK.items():
            builder = builder.config(key, value)
        session = builder.getOrCreate()
        yield session
        session.stop()
