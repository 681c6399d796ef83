"""Metadata of well-known public files: columns, types and hierarchies; users provide the file itself.

Nothing is downloaded or copied: the path of the file is an argument.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sfumato.datasets.generated import Dataset, coded_dataset, quasi_identifier
from sfumato.delimited.dialect import Dialect
from sfumato.delimited.records import read_lines
from sfumato.engines.duckdb.writing import Cell
from sfumato.errors import DataError, PlanError, did_you_mean
from sfumato.values import Value

Plan = Mapping[str, Any]
MISSING = frozenset({"", "?", "NA"})
AGES = quasi_identifier("intervals", "integer", start=0, end=129, widths=[5, 10, 20])
ANY = quasi_identifier("any")
NUMBERS = quasi_identifier("order", "decimal", size=4)
SENSITIVE: Plan = {"role": "sensitive"}
WITHHELD: Plan = {"role": "identifier"}
PUBLIC: Plan = {"role": "insensitive"}


class KnownFile(Value):
    """A well-known public file.

    Attributes:
        about: Its content and where it is published.
        columns: The plan of each column, by the names in the header.
        headless: The columns in order, for copies of the file without a header; empty if there are no such copies.
    """

    about: str
    columns: Mapping[str, Plan]
    headless: tuple[str, ...] = ()


def _numbers(quasi_identifiers: Sequence[str], others: Sequence[str]) -> dict[str, Plan]:
    """Return plans of numeric columns; sensitive ones have a hierarchy, too, for plans that change their role."""
    return dict.fromkeys(quasi_identifiers, NUMBERS) | {name: {**NUMBERS, "role": "sensitive"} for name in others}


_ADULT: dict[str, Plan] = {
    "age": AGES,
    "workclass": ANY,
    "education": ANY,
    "marital-status": ANY,
    "occupation": ANY,
    "race": ANY,
    "sex": ANY,
    "native-country": ANY,
    "salary-class": SENSITIVE,
}
KNOWN: dict[str, KnownFile] = {
    "adult": KnownFile(
        "Extract of the census of the United States of 1994 (UCI Machine Learning Repository, Adult), with a header as "
        "ARX has it or without one as adult.data",
        _ADULT
        | {"fnlwgt": PUBLIC, "education-num": PUBLIC, "relationship": SENSITIVE, "capital-gain": SENSITIVE}
        | {"capital-loss": SENSITIVE, "hours-per-week": SENSITIVE},
        (
            *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"),
            *("relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country"),
            "salary-class",
        ),
    ),
    "casc-census": KnownFile(
        "1,080 records of the Current Population Survey of 1995 (CASC project, Census), 13 columns of numbers",
        {"AFNLWGT": PUBLIC}
        | _numbers(("AGI", "FEDTAX"), ("EMCONTRB", "PTOTVAL", "STATETAX", "TAXINC", "POTHVAL", "INTVAL", "PEARNVAL"))
        | _numbers((), ("FICA", "WSALVAL", "ERNVAL")),
    ),
    "tarragona": KnownFile(
        "834 companies in the area of Tarragona, 1995 (CASC project), 13 columns of numbers",
        _numbers(
            ("SALES", "LABOR.COSTS"),
            (
                *("FIXED.ASSETS", "CURRENT.ASSETS", "TREASURY", "UNCOMMITTED.FUNDS", "PAID.UP.CAPITAL"),
                *("SHORT.TERM.DEBT", "DEPRECIATION", "OPERATING.PROFIT", "FINANCIAL.OUTCOME", "GROSS.PROFIT"),
                "NET.PROFIT",
            ),
        ),
    ),
    "households": KnownFile(
        "4,580 persons in households of a survey in the Philippines (testdata of the R package sdcMicro)",
        dict.fromkeys(("urbrur", "roof", "walls", "water", "electcon", "relat", "sex", "hhcivil"), ANY)
        | {"age": AGES, "expend": SENSITIVE, "income": SENSITIVE, "savings": SENSITIVE}
        | {"ori_hid": WITHHELD, "sampling_weight": PUBLIC, "household_weights": PUBLIC},
    ),
}


def read_known(name: str, path: str | Path, hierarchies: str | Path | None = None) -> Dataset:
    """Return a well-known file as a dataset.

    Args:
        name: The name of the file in `KNOWN`.
        path: Path of the file.
        hierarchies: A folder with files `…hierarchy_<column>.csv` (the layout of ARX) for the plan; by default
            the folder of the file and its subfolders.

    Raises:
        PlanError: There is no such name.
        DataError, EngineError: The file has other columns, or cannot be read.
    """
    if name not in KNOWN:
        raise PlanError("dataset.unknown_name", hint=did_you_mean(name, KNOWN), name=name)
    file, source = KNOWN[name], Path(path)
    header, *records = _records(source)
    names = _names(file, header)
    if names is file.headless:
        records.insert(0, header)
    ladders = _ladders(source.parent if hierarchies is None else Path(hierarchies))
    plans = {column: _planned(file.columns[column], ladders.get(column)) for column in names}
    columns = {
        column: _cells([record[place] for record in records], plans[column]) for place, column in enumerate(names)
    }
    return coded_dataset(name, columns, plans)


def _records(path: Path) -> list[list[str]]:
    """Return the records of a file, without an empty last line."""
    records = [line.fields for line in read_lines(path, Dialect(strip=True)) if any(line.fields)]
    if len(records) < 2:
        raise DataError("no-rows.holds_no_rows", name=path.name)
    return [[field.strip() for field in record] for record in records]


def _names(file: KnownFile, first: Sequence[str]) -> tuple[str, ...]:
    """Return the names in the header if all of them are known, otherwise the columns of a file without a header."""
    if set(first) <= set(file.columns):
        return tuple(first)
    if file.headless and len(first) == len(file.headless):
        return file.headless
    raise DataError("other-file", about=file.about, names=", ".join(file.columns))


def _ladders(folder: Path) -> dict[str, Path]:
    """Return hierarchy files by the column at the end of their names."""
    files = [*folder.glob("*hierarchy_*.csv"), *folder.glob("*/*hierarchy_*.csv")]
    return {file.stem.partition("hierarchy_")[2]: file.resolve() for file in reversed(files)}


def _planned(plan: Plan, ladder: Path | None) -> dict[str, Any]:
    if ladder is None or "hierarchy" not in plan:
        return dict(plan)
    return {"role": plan["role"], "hierarchy": {"type": "file", "path": str(ladder)}}


def _cells(texts: Sequence[str], plan: Plan) -> list[Cell]:
    """Return the values of a column: numbers if the plan says so, None for missing values."""
    numbers = {"integer": int, "decimal": float}
    number = numbers.get(plan.get("type", ""), str)
    return [None if text in MISSING else number(text) for text in texts]
