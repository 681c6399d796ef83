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
    """Tabulate microdata with every total, ready for `protect`.

    Args:
        data: A frame, or the path of a CSV, Parquet or JSON file.
        dimensions: Column names, or dimensions as in a plan (levels, or a column with a hierarchy).
        value: The column to be summed; a table of counts without it.
        weight: The sampling weight: how many respondents with its value a record represents; `count` counts records.
        holding: The column with the holding or person of a record.
        decimal: The decimal mark of a CSV file.
        encoding: The encoding of a CSV file; UTF-8 by default.
        record: For the cell key method: the column that identifies a record, from which the secret derives its key.
            Without a secret, the column with the record keys.
        secret: The secret from which keys are derived, the same for all tables; it is internal.
        digits: Digits of decimal keys; 64-bit integers without it.
        request: A column that marks who requested protection (1, true, yes, y or x), for the rule of this name. The
            table gets a column of the same name, 1 in cells whose largest contributors include one who did, else 0.
        top: How many of the contributions that are largest by absolute value are kept in addition to a sum.

    Returns:
        A frame of the kind that came in, totals first: the dimensions and `count`. With a value, its sum under the
            value's name, and `top1`, …. With a holding, `top1_id`, … with the contributors, and `holdings` with their
            number; for counts, a holding contributes its records. With record keys, `key` is their sum modulo 2^64, as
            text.

    Raises:
        PlanError: A request column is given without a value.
        DataError: A code is missing or unknown, or a value is not a number.

    >>> import pandas
    >>> tabulate(pandas.DataFrame({"sex": ["m", "w", "w"]}), ["sex"])["count"].tolist()
    [3, 1, 2]
    """
    from sfumato.engines.record_keys import RecordKeys
    from sfumato.engines.tabulation import base_of, frame_of

    made = shaped(dimensions)
    names = [name for dimension in made.values() for name in (dimension.levels or (dimension.column or "",))]
    if secret is not None and not secret.strip():
        raise PlanError("secret")
    records = None if record is None else RecordKeys(record, secret, digits)
    reading = DataPlan(decimal=check_decimal(decimal), encoding=encoding_of(encoding or DataPlan().encoding))
    marks = [] if request is None else [request]
    base = base_of(data, [*names, *marks], value, weight, holding, top if value or holding else 0, reading, records)
    return frame_of(data, table_of(base, made, value, top, with_holdings=holding is not None, requests=marks))
