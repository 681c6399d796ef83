"""The statements with which DuckDB counts combinations: by texts, or by codes where columns lie in dictionaries.

Grouping by eight texts costs several times as much as grouping by one number. Where a column lies in dictionaries, as
those of Parquet do, its few texts are found and its values turned into codes for nearly nothing (entry_lists.py); the
codes of a row are packed as in packing.py, and rows are grouped by that.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from sfumato.engines import sql
from sfumato.engines.duckdb.apply import as_text, filtered
from sfumato.engines.duckdb.entry_lists import MAX_TEXTS, Picker
from sfumato.engines.engine import Reading
from sfumato.microdata.counts.packing import Packing, packing_of

# Columns with too many texts are told by so many rows, before all are looked through.
SAMPLED_ROWS = 20_000
Texts = tuple[str | None, ...]


@dataclass(frozen=True)
class TextCounting:
    """Group the rows by texts, then number each column's texts."""

    table: str
    columns: tuple[str, ...]
    reading: Reading
    strip: bool

    def group(self) -> str:
        """Make the table of combinations."""
        chosen = sql.listed(f"{as_text(column, self.strip)} AS t{place}" for place, column in enumerate(self.columns))
        return (
            f"CREATE OR REPLACE TEMP TABLE combinations AS SELECT {chosen}, count(*) AS n FROM {self.table} AS s"
            f"{filtered(self.reading, self.strip)} GROUP BY ALL"
        )

    def texts(self) -> Iterator[str]:
        """Ask for the texts of each column, in their order."""
        for place in range(len(self.columns)):
            yield f"SELECT t{place} FROM combinations GROUP BY t{place} ORDER BY t{place} NULLS LAST"

    def codes(self) -> str:
        """The combinations with codes for texts; each column's few texts are numbered apart, which is far cheaper than
        ranking all combinations by each column."""
        codes = sql.listed(f"e{place}.code AS c{place}" for place in range(len(self.columns)))
        joins = [
            f" JOIN (SELECT t{place} AS text, CAST(row_number() OVER (ORDER BY t{place} NULLS LAST) - 1 AS INTEGER)"
            f" AS code FROM (SELECT DISTINCT t{place} FROM combinations)) AS e{place}"
            f" ON combinations.t{place} IS NOT DISTINCT FROM e{place}.text"
            for place in range(len(self.columns))
        ]
        return f"SELECT {codes}{', ' if self.columns else ''}n FROM combinations{''.join(joins)}"

    def forget(self) -> str:
        """Drop the table of combinations."""
        return "DROP TABLE combinations"


@dataclass(frozen=True)
class Looking:
    """Look for the texts of columns that lie in dictionaries, which may be too many for codes."""

    table: str
    columns: tuple[str, ...]
    reading: Reading
    strip: bool

    def sampled(self) -> str:
        """Count the texts of each column among the first rows, roughly."""
        rows = f"SELECT {self._texts()} FROM {self.table} AS s{filtered(self.reading, self.strip)} LIMIT {SAMPLED_ROWS}"
        numbers = sql.listed(f"approx_count_distinct(t{place})" for place in range(len(self.columns)))
        return f"SELECT {numbers} FROM ({rows})"

    def whole(self) -> str:
        """Ask for a list of each column's texts."""
        rows = f"SELECT {self._texts()} FROM {self.table} AS s{filtered(self.reading, self.strip)}"
        return f"SELECT {sql.listed(f'list(DISTINCT t{place})' for place in range(len(self.columns)))} FROM ({rows})"

    def _texts(self) -> str:
        return sql.listed(f"{as_text(column, self.strip)} AS t{place}" for place, column in enumerate(self.columns))


def in_order(found: Sequence[Sequence[str | None] | None]) -> tuple[Texts, ...] | None:
    """The texts of each column, in their order; None where there are no rows, or too many texts for codes."""
    if any(texts is None or len(texts) > MAX_TEXTS for texts in found):
        return None
    return tuple(tuple(sorted(texts or (), key=lambda text: (text is None, text or ""))) for texts in found)


@dataclass(frozen=True)
class CodeCounting:
    """Group the rows by the packed codes of their texts.

    Attributes:
        texts: The texts of each column, each standing at its code.
        kinds: DuckDB's types of the columns.
    """

    table: str
    columns: tuple[str, ...]
    reading: Reading
    strip: bool
    texts: tuple[Texts, ...]
    kinds: Mapping[str, str]

    @cached_property
    def packing(self) -> Packing:
        """Where each column's code lies."""
        return packing_of([len(texts) for texts in self.texts])

    @cached_property
    def _pickers(self) -> tuple[Picker, ...]:
        return tuple(
            Picker(f"counted{place}", as_text(name, self.strip), texts, self.kinds[name], sql.name(name))
            for place, (name, texts) in enumerate(zip(self.columns, self.texts, strict=True))
        )

    def types(self) -> Iterator[str]:
        """Make the enumerations that are used."""
        for picker in self._pickers:
            yield from picker.types()

    def group(self) -> str:
        """The packed codes of each combination, and its rows; a text that is not known gives no code."""
        parts: list[list[str]] = [[] for _ in range(self.packing.words)]
        for place, picker in enumerate(self._pickers):
            shift = int(self.packing.shift[place])
            entries = [str(code << shift) for code in range(len(self.texts[place]))]
            parts[int(self.packing.word[place])].append(picker.picked(entries, "UBIGINT"))
        keys = sql.listed(f"{' | '.join(part)} AS k{word}" for word, part in enumerate(parts))
        return f"SELECT {keys}, count(*) AS n FROM {self.table} AS s{filtered(self.reading, self.strip)} GROUP BY ALL"
