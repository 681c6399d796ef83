"""The dataset type: coded columns, made chunk by chunk, and the plan for them."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from sfumato.engines.duckdb.writing import Cell, Chunk, write_coded
from sfumato.errors import PlanError, did_you_mean, missing_extra
from sfumato.formats import CSV, PARQUET, format_named
from sfumato.values import Value

Format = Literal["csv", "parquet"]
# Number of rows shown in a notebook.
FIRST_ROWS = 5
DEFAULT_METHOD = {"name": "optimal", "loss": "loss-metric", "suppression": 0.02}


class Dataset(Value):
    """Rows about persons, with a plan for them.

    Attributes:
        name: Name of the dataset.
        categories: The values of each column; a row has their indices (codes).
        generate: Generates the rows in chunks of codes, identical each time.
        separator: The column separator of its CSV file.
    """

    name: str
    rows: int
    categories: Mapping[str, Sequence[Cell]]
    generate: Callable[[], Iterator[Chunk]]
    column_plans: Mapping[str, Mapping[str, Any]]
    separator: str = ";"

    def __repr__(self) -> str:
        return f"Dataset({self.name}; {self.rows:,} rows; {', '.join(self.categories)})"

    def _repr_html_(self) -> str:
        """Return its name and first rows, for a notebook."""
        first = next(self.generate(), {})
        names = [*self.categories]
        heads = "".join(f"<th>{escape(name)}</th>" for name in names)
        cells = ([self.categories[name][code] for code in first.get(name, ())[:FIRST_ROWS]] for name in names)
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>"
            for row in zip(*cells, strict=True)
        )
        return f"<div><p><b>{escape(repr(self)[8:-1])}</b></p><table><tr>{heads}</tr>{rows}</table></div>"

    def codes(self) -> dict[str, npt.NDArray[Any]]:
        """Return all rows as codes, column by column."""
        chunks = list(self.generate())
        return {name: np.concatenate([chunk[name] for chunk in chunks]) for name in self.categories}

    def columns(self) -> dict[str, list[Cell]]:
        """Return all rows as values, column by column."""
        return {name: [self.categories[name][code] for code in codes] for name, codes in self.codes().items()}

    def records(self) -> list[dict[str, Cell]]:
        """Return all rows as records."""
        columns = self.columns()
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def to_pandas(self) -> Any:
        """Return all rows as a pandas frame."""
        return _imported("pandas").DataFrame(self.columns())

    def to_polars(self) -> Any:
        """Return all rows as a Polars frame."""
        return _imported("polars").DataFrame(self.columns())

    def to_arrow(self) -> Any:
        """Return all rows as an Arrow table."""
        return _imported("pyarrow").table(self.columns())

    def write(self, path: Path | str) -> None:
        """Write all rows to a CSV or Parquet file, as its name says.

        Raises:
            PlanError: The name ends in neither .csv nor .parquet.
            EngineError: The file cannot be written.
        """
        target, format_ = Path(path), format_of(Path(path))
        write_coded(self.categories, self.generate(), target, format_, self.separator)

    def plan(
        self,
        source: str,
        k: int = 5,
        method: Mapping[str, Any] | None = None,
        quasi_identifiers: Collection[str] | None = None,
        seed: int | None = None,
    ) -> dict[str, Any]:
        """Return a plan that releases the dataset from a file.

        Args:
            source: The file with the rows, as the plan names it.
            k: Minimum number of rows of an equivalence class.
            method: The plan's method; by default `optimal` by loss metric with 2 % suppression.
            quasi_identifiers: Names of the quasi-identifiers; by default those of the dataset.
            seed: The plan's seed, only for reproducible runs.
        """
        separator = {} if format_of(Path(source)) == "parquet" else {"separator": self.separator}
        return {
            "version": 1,
            "data": {"source": source} | separator,
            "columns": self._column_plans(quasi_identifiers),
            "privacy": [{"model": "k-anonymity", "k": k}],
            "method": dict(DEFAULT_METHOD if method is None else method),
            "output": {"format": format_of(Path(source))},
        } | ({} if seed is None else {"seed": seed})

    def _column_plans(self, quasi_identifiers: Collection[str] | None) -> dict[str, dict[str, Any]]:
        if quasi_identifiers is None:
            return {name: _shown(plan) for name, plan in self.column_plans.items()}
        for name in quasi_identifiers:
            if "hierarchy" not in self.column_plans.get(name, {}):
                possible = [other for other, plan in self.column_plans.items() if "hierarchy" in plan]
                raise PlanError("column.cannot_quasi_identifier_here", hint=did_you_mean(name, possible), name=name)
        return {name: _with_role(plan, name in quasi_identifiers) for name, plan in self.column_plans.items()}


def quasi_identifier(hierarchy: str, column_type: str | None = None, **parameters: Any) -> dict[str, Any]:
    """Return the plan of a quasi-identifier.

    >>> quasi_identifier("digits", length=5)
    {'role': 'quasi-identifier', 'hierarchy': {'type': 'digits', 'length': 5}}
    """
    typed = {"type": column_type} if column_type else {}
    return {"role": "quasi-identifier", **typed, "hierarchy": {"type": hierarchy, **parameters}}


def coded_dataset(
    name: str,
    columns: Mapping[str, Sequence[Cell]],
    column_plans: Mapping[str, Mapping[str, Any]],
    separator: str = ";",
) -> Dataset:
    """Return a dataset from columns of values."""
    categories = {column: tuple(dict.fromkeys(values)) for column, values in columns.items()}
    chunk = {column: _codes(categories[column], values) for column, values in columns.items()}
    rows = len(next(iter(columns.values())))
    return Dataset(name, rows, categories, lambda: iter((chunk,)), column_plans, separator)


def format_of(path: Path) -> Format:
    """Return the format that a file's name indicates.

    Raises:
        PlanError: If it indicates none.
    """
    form = format_named(path)
    if form not in (CSV, PARQUET):
        raise PlanError("format.neither_csv_nor_parquet", name=path.name)
    return "csv" if form is CSV else "parquet"


def _codes(categories: Sequence[Cell], values: Sequence[Cell]) -> npt.NDArray[np.uint32]:
    places = {value: place for place, value in enumerate(categories)}
    return np.fromiter((places[value] for value in values), np.uint32, len(values))


def _shown(plan: Mapping[str, Any]) -> dict[str, Any]:
    """Return a column's plan as written in a plan: only quasi-identifiers have a hierarchy."""
    return {key: value for key, value in plan.items() if key != "hierarchy" or plan["role"] == "quasi-identifier"}


def _with_role(plan: Mapping[str, Any], asked: bool) -> dict[str, Any]:
    """Return a column's plan as quasi-identifier or not; a column that loses that role becomes sensitive."""
    if asked:
        return {**plan, "role": "quasi-identifier"}
    return _shown({**plan, "role": "sensitive"} if plan["role"] == "quasi-identifier" else plan)


def _imported(package: str) -> Any:
    from importlib import import_module

    try:
        return import_module(package)
    except ImportError:
        raise missing_extra(package, "frames") from None
