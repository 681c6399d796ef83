"""Cells of a delimited file; counts whose mark may be a thousands separator are refused, not guessed."""

from pathlib import Path

from sfumato.delimited.dialect import thousands_mark, without_gaps
from sfumato.errors import DataError
from sfumato.tables.cells.columns import TextColumns, read_columns
from sfumato.tables.plan.sections import TableSource


def read_delimited_cells(path: Path, table: TableSource) -> TextColumns:
    """Read the columns of a file with cells.

    Raises:
        DataError: The file cannot be read, or its counts are ambiguous and the plan does not declare the decimal
            mark.
    """
    columns = _without_gaps(read_columns(path, table.dialect), table)
    if table.decimal is None:
        _refuse_doubt(columns, table)
    elif table.decimal == ".":
        return _without_commas(columns, table)
    return columns


def _refuse_doubt(columns: TextColumns, table: TableSource) -> None:
    """Refuse counts that may be thousands or fractions: `1.204` is 1204 persons in Germany."""
    counts = _numbers(columns, table) if table.counts else [table.frequency]
    texts = [text for name in counts for text in columns.texts.get(name or "", ())]
    # Counts are not fractions, so not all of them need to be written alike.
    mark = thousands_mark(texts)
    if mark is not None:
        example = next(text for text in texts if mark in text)
        whole = example.replace(mark, "")
        raise DataError("thousands", example=example, whole=whole, one="." if mark == "," else ",", other=mark).about(
            values=[example]
        )


def _without_gaps(columns: TextColumns, table: TableSource) -> TextColumns:
    """Remove blanks and apostrophes between thousands from numbers."""
    plain = {name: tuple(map(without_gaps, columns.texts[name])) for name in _numbers(columns, table)}
    return TextColumns({**columns.texts, **plain})


def _without_commas(columns: TextColumns, table: TableSource) -> TextColumns:
    """Remove commas between thousands from numbers whose decimal mark is declared as a point."""
    plain = {
        name: tuple(text.replace(",", "") for text in columns.texts[name])
        for name in _numbers(columns, table)
        if thousands_mark(columns.texts[name]) == ","
    }
    return TextColumns({**columns.texts, **plain})


def _numbers(columns: TextColumns, table: TableSource) -> list[str]:
    """Return the columns with numbers; in a crosstab, all but the first."""
    names = [table.value, table.frequency, table.shadow, table.holdings, *table.contributions, *table.respondents]
    return [name for name in names if name and name in columns] if table.value in columns else list(columns.texts)[1:]
