"""Write published rows again with other values in some columns."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.engines import sql
from sfumato.engines.duckdb.apply import as_text
from sfumato.engines.duckdb.sources import ROW, Source
from sfumato.engines.duckdb.writing import copy_statement
from sfumato.engines.keyed_hashes import PERSON, PERSONS_FILE
from sfumato.engines.postprocessing.number_types import are_decimals, are_whole
from sfumato.errors import EngineError

# Types whose replaced values remain numbers; those in WHOLE remain integers.
WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
NUMBERS = (*WHOLE, "FLOAT", "DOUBLE", "DECIMAL")


def replacing(
    source: Source, kinds: Mapping[str, str], columns: Mapping[str, Sequence[str | None]], target: Path
) -> str:
    """Return the statement that writes rows with texts of the table `replacing` (place, r0, r1, …) in some columns."""
    values = []
    for column in source.columns:
        value = f"s.{sql.name(column)}"
        if column in columns:
            value = f"r.r{[*columns].index(column)}"
            kind = kinds.get(column, "").lstrip("U")
            if kind.startswith(NUMBERS):
                value = f"CAST({value} AS {_kind_of(kind, columns[column])})"
        values.append(f"{value} AS {sql.name(column)}")
    rows = f"{source.with_numbers} AS s JOIN replacing AS r ON r.place = s.{ROW}"
    select = f"SELECT {sql.listed(values)} FROM {rows} ORDER BY s.{ROW}"
    return copy_statement(select, target, source.separator)


def _kind_of(kind: str, texts: Sequence[str | None]) -> str:
    """Return the type of a numeric column after replacement: the same if all values fit, otherwise the widest."""
    if kind.startswith(WHOLE):
        return "BIGINT" if are_whole(texts) else "DOUBLE"
    if kind.startswith("DECIMAL("):
        precision, scale = (int(part) for part in kind[len("DECIMAL(") : -1].split(","))
        return kind if are_decimals(texts, precision, scale) else "DOUBLE"
    return "DOUBLE"


class ReplacesColumns:
    """Methods of the embedded engine that read columns of published rows and replace them."""

    def texts(self: Any, column: str) -> Sequence[str | None]:
        """Return a column of the rows as texts."""
        table = self._person_rows if column == PERSON else self.source.table
        with self.faults(reads=True):
            arrays = self._connection.execute(f"SELECT {as_text(column)} AS t FROM {table} AS s").fetchnumpy()
        values: list[str | None] = arrays["t"].tolist()  # None if a text is masked
        return values

    def floats(self: Any, column: str) -> npt.NDArray[np.float64] | None:
        """Return the numbers of a double-precision column, else None."""
        if column == PERSON or self._kinds().get(column) != "DOUBLE":
            return None
        with self.faults(reads=True):
            arrays = self._connection.execute(f"SELECT {sql.name(column)} AS n FROM {self.source.table}").fetchnumpy()
        return np.ma.filled(arrays["n"], np.nan)

    def replaced(self: Any, columns: Mapping[str, Sequence[str | None]], target: Path | None) -> Any:
        """Write the same rows with other texts in some columns."""
        if target is None:
            raise EngineError("no-target")
        arrays = {f"r{place}": np.array(texts, object) for place, texts in enumerate(columns.values())}
        with self.faults():
            rows = len(next(iter(arrays.values())))
            self._load("replacing", arrays | {"place": np.arange(1, rows + 1)})
            self._run(replacing(self.source, self._kinds(), columns, target))
            self._run("DROP TABLE replacing")
        published = type(self).of_published(target, self.columns, self.source.separator, self.plan)
        if self.person_column is not None:
            published.attach_persons(target.with_name(PERSONS_FILE))
        return published

    def _kinds(self: Any) -> dict[str, str]:
        """Return the DuckDB types of all columns."""
        return {str(row[0]): str(row[1]) for row in self._run(f"DESCRIBE SELECT * FROM {self.source.table}")}
