"""Tabulate microdata into the cells of a table."""

from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.delimited.dialect import DecimalMark, check_decimal, encoding_of
from sfumato.errors import PlanError
from sfumato.microdata.data_plan import DataPlan
from sfumato.tables.tabulate import shaped, table_of


def tabulate(
    data: Any,
    dimensions: Sequence[str] | Mapping[str, Any],
    *,
    value: str | None = None,
    weight: str | None = None,
    holding: str | None = None,
    top: int = 2,
    decimal: DecimalMark = ".",
    encoding: str | None = None,
    record: str | None = None,
    secret: str | None = None,
    digits: int | None = None,
    request: str | None = None,
) -> Any:
    """The table of microdata with every total, ready for `protect`.

    Args:
        data: A frame, or the path of a CSV, Parquet or JSON file.
        dimensions: Column names, or dimensions as in a plan (levels, or a column with a hierarchy).
        value: The column to be summed; a table of counts without it.
        weight: A column that says how many respondents of its value a record stands for; the count is of records.
        holding: The column that says which holding or person a record belongs to.
        decimal: The decimal mark of a CSV file.
        encoding: Of a CSV file; UTF-8 by default.
        record: For the cell key method: the column that names a record, from which with the secret its key is made; or,
            without a secret, the column that holds the records' keys.
        secret: What keys are made of, the same for all tables; it stays in the house.
        digits: Digits of decimal keys; whole numbers of 64 bits without it.
        request: A column that says who asked for protection (1, true, yes, y or x), for the rule of this name: the
            table has a column of the same name, 1 in cells where one who contributes most did, 0 elsewhere.
        top: How many of the contributions that are largest by absolute size are kept beside a sum.

    Returns:
        A frame of the kind that came in, totals first: the dimensions, `count`, and with a value its sum under the
        value's name, `top1`, … and, with a holding, `top1_id`, … (whose they are) and `holdings`, how many there
        are; of counts, a holding contributes its records. With records' keys, `key` is their sum modulo 2^64, as text.

    Raises:
        PlanError: A request is asked for without a value to contribute to.
        DataError: A code is missing or unknown, or a value is no number.

    >>> import pandas
    >>> tabulate(pandas.DataFrame({"sex": ["m", "w", "w"]}), ["sex"])["count"].tolist()
    [3, 1, 2]
    """
    from sfumato.engines.tabulation.record_keys import RecordKeys
    from sfumato.engines.tabulation.tabulation import base_of, frame_of

    made = shaped(dimensions)
    names = [name for dimension in made.values() for name in (dimension.levels or (dimension.column or "",))]
    if secret is not None and not secret.strip():
        raise PlanError("the secret is blank: anybody could compute the keys.", "Give a long random text.", "secret")
    records = None if record is None else RecordKeys(record, secret, digits)
    reading = DataPlan(decimal=check_decimal(decimal), encoding=encoding_of(encoding or DataPlan().encoding))
    marks = [] if request is None else [request]
    base = base_of(data, [*names, *marks], value, weight, holding, top if value or holding else 0, reading, records)
    return frame_of(data, table_of(base, made, value, top, with_holdings=holding is not None, requests=marks))
