"""The statements with which DuckDB finds rows and publishes them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.engines import sql
from sfumato.engines.duckdb.picking import MAX_TEXTS, Picker
from sfumato.engines.engine import Reading
from sfumato.engines.files.sources import Source
from sfumato.engines.texts import WHITE_SPACE
from sfumato.microdata.counts.frequencies import DROPPED
from sfumato.microdata.counts.packing import Packing, packing_of
from sfumato.microdata.recoding.recoding import (
    STAR,
    ClassRecoding,
    Division,
    Handling,
    LevelRecoding,
    Recoding,
    numbered,
)


def as_text(column: str, strip: bool = False, table: str = "s") -> str:
    """The text of a column's value."""
    cast = f"CAST({table}.{sql.name(column)} AS VARCHAR)"
    return f"nullif(trim({cast}, {sql.text(WHITE_SPACE)}), '')" if strip else cast


def required(reading: Reading, strip: bool) -> str:
    """The test that no required value is missing; empty where none is required."""
    tests = []
    for column in reading.required:
        value = as_text(column, strip)
        tests.append(f"{value} IS NOT NULL")
        if reading.missing:
            tests.append(f"{value} NOT IN ({sql.listed(map(sql.text, reading.missing))})")
    return " AND ".join(tests)


def filtered(reading: Reading, strip: bool) -> str:
    """The clause that drops rows in which a required value is missing; empty where none is required."""
    test = required(reading, strip)
    return f" WHERE {test}" if test else ""


def locating(table: str, column: str, texts: Sequence[str], limit: int, strip: bool) -> str:
    """Find the first rows that hold one of some texts."""
    numbers = f"SELECT row_number() OVER () AS place, {as_text(column, strip)} AS value FROM {table} AS s"
    wanted = sql.listed(map(sql.text, texts))
    return f"SELECT place FROM ({numbers}) WHERE value IN ({wanted}) ORDER BY place LIMIT {int(limit)}"


@dataclass(frozen=True, slots=True)
class Application:
    """A recoding to be applied to the rows of a source.

    Each quasi-identifier's text is looked up in a table of its own, which gives a code, or picked from a list where the
    columns lie in dictionaries (picking.py); the codes of a row, packed as in packing.py, are looked up in the table of
    classes.

    Attributes:
        kinds: DuckDB's types of columns that lie in dictionaries, as those of Parquet do.
    """

    source: Source
    recoding: Recoding
    handling: Handling
    reading: Reading
    strip: bool = False
    partition: tuple[str, ...] = ()
    kinds: Mapping[str, str] = field(default_factory=dict)

    @property
    def published_columns(self) -> tuple[str, ...]:
        more = (self.handling.class_column,) if self.handling.class_column else ()
        return (*self.source.columns, *more)

    @property
    def packing(self) -> Packing:
        if isinstance(self.recoding, LevelRecoding):
            return packing_of([len(labels) for labels in self.recoding.labels])
        return packing_of([coding.ladder.size for coding in self.recoding.codings])

    @property
    def division(self) -> Division | None:
        return self.recoding.division if isinstance(self.recoding, ClassRecoding) else None

    @property
    def picks(self) -> bool:
        """Whether codes are picked from lists instead of being joined."""
        return bool(self.kinds) and all(len(coding.texts) <= MAX_TEXTS for coding in self.recoding.codings)

    def pickers(self) -> tuple[Picker, ...]:
        """What picks entries for the values of each quasi-identifier."""
        pairs = enumerate(zip(self.recoding.columns, self.recoding.codings, strict=True))
        return tuple(
            Picker(f"texts{place}", as_text(name, self.strip), coding.texts, self.kinds.get(name, ""), sql.name(name))
            for place, (name, coding) in pairs
        )

    def column_lookup(self, place: int) -> dict[str, Any]:
        """Text and code of each value of a column whose rows are not dropped."""
        codes = self.key_codes(place)
        kept = np.flatnonzero(codes != DROPPED)
        texts = np.array([self.recoding.codings[place].texts[row] for row in kept], object)
        return {"text": texts, "code": codes[kept].astype(np.uint64)}

    def value_lookup(self, division: Division) -> dict[str, Any]:
        """Text and code of each value of the column by which rows are divided apart."""
        texts = np.array([*division.spellings], object)
        return {"text": texts, "code": np.array([*division.spellings.values()], np.int64)}

    def key_codes(self, place: int) -> npt.NDArray[np.int32]:
        """For each text of a column the code by which its class is looked up, or that its rows are dropped."""
        codes = self.recoding.codings[place].codes
        if not isinstance(self.recoding, LevelRecoding):
            return codes
        found: npt.NDArray[np.int32] = np.where(codes == DROPPED, DROPPED, self.recoding.label_codes(place)[codes])
        return found

    def class_lookup(self) -> dict[str, Any]:
        """Packed codes and labels of each class, or of each combination, or of each share of a divided one."""
        keys = self.class_keys()
        owners = keys.pop("owner")
        return keys | {name: values[owners] for name, values in self.class_labels().items() if name != "owner"}

    def class_keys(self) -> dict[str, Any]:
        """Packed codes and class of each class, or of each combination, or of each share of a divided one."""
        recoding = self.recoding
        shares: dict[str, Any] = {}
        if isinstance(recoding, LevelRecoding):
            keys, owners = recoding.classes, np.arange(len(recoding.classes), dtype=np.int32)
        elif recoding.division is None:
            keys, owners = recoding.combinations, recoding.owners
        else:
            places, owners, shares = _shares(recoding, recoding.division)
            keys = recoding.combinations[places]
        packed = self.packing.pack(keys)
        return {f"k{word}": packed[word] for word in range(len(packed))} | shares | {"owner": owners}

    def class_labels(self) -> dict[str, Any]:
        """What each class is published as, and whether it is hidden."""
        recoding = self.recoding
        hidden = recoding.suppressed
        table: dict[str, Any] = {"owner": np.arange(len(hidden), dtype=np.int32), "hidden": hidden}
        table["number"] = numbered(recoding)
        for place, labels in enumerate(recoding.labels):
            texts = np.array([*labels, None], object)[recoding.classes[:, place]]
            texts[hidden] = STAR if self.handling.suppressed == "star" else None
            table[f"p{place}"] = texts
        return table


def _shares(recoding: ClassRecoding, division: Division) -> tuple[Any, Any, dict[str, Any]]:
    """Undivided combinations and shares of divided ones: combination, class, for which ranks and value they hold."""
    whole = np.ones(len(recoding.combinations), bool)
    whole[division.combinations] = False
    undivided = np.flatnonzero(whole)
    places = np.concatenate([undivided, division.combinations])
    owners = np.concatenate([recoding.owners[undivided], division.classes]).astype(np.int32)
    none, all_ranks = np.zeros(len(undivided), np.int64), np.full(len(undivided), np.iinfo(np.int64).max)
    bounds = {
        "undivided": np.arange(len(places)) < len(undivided),
        "above": np.concatenate([none, division.ends - division.rows]),
        "upto": np.concatenate([all_ranks, division.ends]),
        "value": np.concatenate([none, division.codes]),
    }
    return places, owners, bounds


def format_of_target(application: Application, target: Path) -> str:
    """How a file is written."""
    if target.suffix == ".parquet":
        by = sql.listed(map(sql.name, application.partition))
        return "FORMAT parquet, COMPRESSION zstd" + (f", PARTITION_BY ({by})" if by else "")
    separator = sql.text(application.source.separator)
    return f"FORMAT csv, HEADER, DELIMITER {separator}, QUOTE '\"', ESCAPE '\"', NULLSTR ''"
