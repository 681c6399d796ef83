"""The statements with which DuckDB counts rows and publishes them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.engines import sql
from sfumato.engines.engine import Reading
from sfumato.engines.picking import MAX_TEXTS, Picker
from sfumato.engines.sources import Source
from sfumato.microdata.frequencies import DROPPED
from sfumato.microdata.packing import Packing, packing_of
from sfumato.microdata.recoding import STAR, ClassRecoding, Division, Handling, LevelRecoding, Recoding, numbered


@dataclass(frozen=True, slots=True)
class Counting:
    """What to run to count combinations: group the rows, then number each column's texts."""

    group: str
    texts: tuple[str, ...]
    codes: str
    rows: str
    forget: str


def as_text(column: str, strip: bool = False, table: str = "s") -> str:
    """The text of a column's value."""
    cast = f"CAST({table}.{sql.name(column)} AS VARCHAR)"
    return f"trim({cast})" if strip else cast


def counting(table: str, columns: Sequence[str], reading: Reading, strip: bool) -> Counting:
    """Count the distinct combinations of columns."""
    chosen = sql.listed(f"{as_text(column, strip)} AS t{place}" for place, column in enumerate(columns))
    group = (
        f"CREATE OR REPLACE TEMP TABLE combinations AS SELECT {chosen}, count(*) AS n FROM {table} AS s"
        f"{_required(reading, strip)} GROUP BY ALL"
    )
    texts = tuple(
        f"SELECT t{place} FROM combinations GROUP BY t{place} ORDER BY t{place} NULLS LAST"
        for place in range(len(columns))
    )
    return Counting(
        group,
        texts,
        _coded(len(columns)),
        f"SELECT count(*) FROM {table}",
        "DROP TABLE combinations",
    )


def _coded(columns: int) -> str:
    """The combinations with codes for texts; each column's few texts are numbered apart, which is far cheaper than
    ranking all combinations by each column."""
    codes = sql.listed(f"e{place}.code AS c{place}" for place in range(columns))
    joins = [
        f" JOIN (SELECT t{place} AS text, CAST(row_number() OVER (ORDER BY t{place} NULLS LAST) - 1 AS INTEGER) AS code"
        f" FROM (SELECT DISTINCT t{place} FROM combinations)) AS e{place}"
        f" ON combinations.t{place} IS NOT DISTINCT FROM e{place}.text"
        for place in range(columns)
    ]
    return f"SELECT {codes}{', ' if columns else ''}n FROM combinations{''.join(joins)}"


def required(reading: Reading, strip: bool) -> str:
    """The test that no required value is missing; empty where none is required."""
    tests = []
    for column in reading.required:
        value = as_text(column, strip)
        tests.append(f"{value} IS NOT NULL")
        if reading.missing:
            tests.append(f"{value} NOT IN ({sql.listed(map(sql.text, reading.missing))})")
    return " AND ".join(tests)


def _required(reading: Reading, strip: bool) -> str:
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

    def lookups(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The tables to be loaded: one a column, unless codes are picked, and the one of classes."""
        for place in range(0 if self.picks else len(self.recoding.columns)):
            yield f"d{place}", self.column_lookup(place)
        yield "keyed", self.class_keys()
        yield "labeled", self.class_labels()

    def column_lookup(self, place: int) -> dict[str, Any]:
        """Text and code of each value of a column whose rows are not dropped."""
        codes = self.key_codes(place)
        kept = np.flatnonzero(codes != DROPPED)
        texts = np.array([self.recoding.codings[place].texts[row] for row in kept], object)
        return {"text": texts, "code": codes[kept].astype(np.uint64)}

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
    undivided = np.setdiff1d(np.arange(len(recoding.combinations)), division.combinations)
    places = np.concatenate([undivided, division.combinations])
    owners = np.concatenate([recoding.owners[undivided], division.classes]).astype(np.int32)
    none, all_ranks = np.zeros(len(undivided), np.int64), np.full(len(undivided), np.iinfo(np.int64).max)
    texts = [None] * len(undivided) + [division.values[code] for code in division.codes]
    bounds = {
        "undivided": np.arange(len(places)) < len(undivided),
        "above": np.concatenate([none, division.ends - division.rows]),
        "upto": np.concatenate([all_ranks, division.ends]),
        "value": np.array(texts, object),
    }
    return places, owners, bounds


def joining(application: Application) -> Iterator[str]:
    """Make the table of classes from the keys and the labels that were loaded, labels as enumerations.

    Rows are sorted with their labels, and a code is much quicker to sort than its text. They are turned back before
    they are written: DuckDB 2.0 now and then writes an empty text to a Parquet file for a value of an enumeration.
    """
    for picker in application.pickers() if application.picks else ():
        yield from picker.types()
    places = range(len(application.recoding.columns))
    yield "DROP TABLE IF EXISTS classes"
    for place in places:
        texts = f"SELECT DISTINCT p{place} FROM labeled WHERE p{place} IS NOT NULL"
        yield f"DROP TYPE IF EXISTS labels{place}"
        yield f"CREATE TYPE labels{place} AS ENUM ({texts} UNION SELECT '{STAR}')"
    labels = sql.listed(f"CAST(p{place} AS labels{place}) AS p{place}" for place in places)
    joined = f"SELECT keyed.* EXCLUDE (owner), hidden, number, {labels} FROM keyed JOIN labeled USING (owner)"
    yield f"CREATE TEMP TABLE classes AS {joined}"


def publishing(application: Application, target: Path) -> str:
    """Write the published rows to a file."""
    handling = application.handling
    columns = {column: _published(application, column) for column in application.source.columns}
    if handling.class_column:
        columns[handling.class_column] = "c.number"
    tests = [] if handling.suppressed == "star" else [" WHERE NOT c.hidden"]
    named = sql.listed(f"{value} AS v{place}" for place, value in enumerate(columns.values()))
    rows = f"SELECT {named} FROM {_rows(application)}{''.join(tests)} ORDER BY {_order(handling)}"
    written = sql.listed(
        f"{f'CAST(v{place} AS VARCHAR)' if value.startswith('c.p') else f'v{place}'} AS {sql.name(column)}"
        for place, (column, value) in enumerate(columns.items())
    )
    statement = f"SELECT {written} FROM ({rows})"
    return f"COPY ({statement}) TO {sql.text(str(target))} ({format_of_target(application, target)})"


def _numbered_rows(application: Application) -> str:
    rows = f"SELECT row_number() OVER () AS sfumato_row, * FROM {application.source.table} AS s"
    return f"(SELECT * FROM ({rows}) AS s{_required(application.reading, application.strip)})"


def _published(application: Application, column: str) -> str:
    recoding, handling = application.recoding, application.handling
    raw = f"s.{sql.name(column)}"
    if column in handling.starred:
        return sql.text(STAR)
    if column in recoding.columns:
        place = recoding.columns.index(column)
        hides = handling.suppressed == "star" and bool(recoding.suppressed.any())
        if recoding.identical[place] and not hides:
            return as_text(column, strip=True) if application.strip else raw
        return f"c.p{place}"
    if column in handling.veiled:
        return f"CASE WHEN c.hidden THEN '{STAR}' ELSE {as_text(column, application.strip)} END"
    return as_text(column, strip=True) if application.strip else raw


def _rows(application: Application) -> str:
    """The rows, each with its class."""
    rows = f"{_numbered_rows(application)} AS s{_column_joins(application)}"
    keys = _keys(application)
    if application.division is None:
        return f"{rows} JOIN classes AS c ON {' AND '.join(f'c.k{word} = {key}' for word, key in enumerate(keys))}"
    ranked = _ranked(application, application.division, rows, keys)
    tests = [f"c.k{word} = s.sfumato_key{word}" for word in range(len(keys))]
    tests.append("(c.undivided OR c.value IS NOT DISTINCT FROM s.sfumato_value)")
    tests.append("s.sfumato_rank > c.above AND s.sfumato_rank <= c.upto")
    return f"({ranked}) AS s JOIN classes AS c ON {' AND '.join(tests)}"


def _ranked(application: Application, division: Division, rows: str, keys: Sequence[str]) -> str:
    """The rows with their packed codes and their rank among those of the same combination and value."""
    named = [f"{key} AS sfumato_key{word}" for word, key in enumerate(keys)]
    value = "NULL"
    if division.column is not None:
        value = as_text(division.column, application.strip)
        if application.reading.missing:
            missing = sql.listed(map(sql.text, application.reading.missing))
            value = f"CASE WHEN {value} IN ({missing}) THEN NULL ELSE {value} END"
    within = sql.listed([*keys, value])
    rank = f"row_number() OVER (PARTITION BY {within} ORDER BY {_hash(division.seed)})"
    return f"SELECT s.*, {sql.listed(named)}, {value} AS sfumato_value, {rank} AS sfumato_rank FROM {rows}"


def _column_joins(application: Application) -> str:
    if application.picks:
        return ""
    columns = [
        f" JOIN d{place} ON {as_text(column, application.strip)} IS NOT DISTINCT FROM d{place}.text"
        for place, column in enumerate(application.recoding.columns)
    ]
    return "".join(columns)


def _keys(application: Application) -> list[str]:
    """The packed codes of a row."""
    packing = application.packing
    parts: list[list[str]] = [[] for _ in range(packing.words)]
    pickers = application.pickers() if application.picks else ()
    for place in range(len(application.recoding.columns)):
        shift = int(packing.shift[place])
        part = f"(d{place}.code << {shift})"
        if pickers:
            # A value whose rows are dropped has no code: such a row finds no class.
            entries = ["NULL" if code == DROPPED else str(int(code) << shift) for code in application.key_codes(place)]
            part = pickers[place].picked(entries, "UBIGINT")
        parts[int(packing.word[place])].append(part)
    return [f"({' | '.join(part)})" for part in parts]


def _order(handling: Handling) -> str:
    if handling.shuffle_seed is None:
        return "s.sfumato_row"
    return _hash(handling.shuffle_seed)


def _hash(seed: int) -> str:
    return f"md5(concat({sql.text(f'{seed}:')}, s.sfumato_row))"


def format_of_target(application: Application, target: Path) -> str:
    """How a file is written."""
    if target.suffix == ".parquet":
        by = sql.listed(map(sql.name, application.partition))
        return "FORMAT parquet, COMPRESSION zstd" + (f", PARTITION_BY ({by})" if by else "")
    separator = sql.text(application.source.separator)
    return f"FORMAT csv, HEADER, DELIMITER {separator}, QUOTE '\"', ESCAPE '\"', NULLSTR ''"
