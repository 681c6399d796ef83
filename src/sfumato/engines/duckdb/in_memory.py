"""Rows of text files that fit in memory: read once as codes, then counted (also by persons) and published."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.engines import sql
from sfumato.engines.canonical_text import Texts, numbered
from sfumato.engines.duckdb.count_statements import CodeCounting, Counting, in_order
from sfumato.engines.duckdb.database import changed
from sfumato.engines.duckdb.expressions import INTEGERS, MAX_TEXTS
from sfumato.engines.duckdb.in_memory_apply import RowCodes
from sfumato.engines.duckdb.streaming_apply import Stream
from sfumato.engines.duckdb.writing import asked, keys_statement
from sfumato.engines.files import about_rows, files_of, format_of
from sfumato.engines.join_keys import NUMBER_DIGITS, PERSON
from sfumato.hierarchies.hierarchy import present_codes
from sfumato.microdata.counts.combinations import Words, counted_words, packing_of
from sfumato.microdata.counts.frequency_table import DROPPED, ValueCounts
from sfumato.microdata.counts.persons import PersonCount, number_keys, persons_of_rows
from sfumato.microdata.data_plan import DataPlan
from sfumato.values import Value, replace

# Limits of rows in memory: their number, their approximate bytes, and the fraction 1/SHARE of a memory limit.
MOST_ROWS = 20_000_000
ROW_BYTES = 40
SHARE = 4


def fits(rows: int | None, plan: DataPlan, row_bytes: int = ROW_BYTES) -> bool:
    """Return whether codes and keys of the rows fit into memory; not if their number is unknown."""
    limit = plan.memory_bytes
    return rows is not None and rows <= MOST_ROWS and (not limit or rows * row_bytes * SHARE <= limit)


def persons_here(
    connection: Any, coding: CodeCounting, person: str, value: str | None, beside: str = ""
) -> PersonCount | None:
    """Count the persons of combinations in memory; None if keys are not integers, or some row has none.

    Each integer key is hashed once, not once per row; combinations then refer to persons by the position of their key.

    Args:
        beside: The record with the keys of all rows, in row order, if no column contains them.
    """
    found = _beside(connection, coding, beside) if beside else _among(connection, coding, person)
    if found is None:
        return None
    persons, names = number_keys(found["p"])
    nameless = not beside and _some(names, coding.reading.missing)
    return person_count(coding, *persons_of_rows(found["k"], persons, coding.value_bits(value)), nameless)


def _among(connection: Any, coding: CodeCounting, person: str) -> dict[str, Words] | None:
    """Return the packed code and the person of each row, if persons are identified by integers."""
    if coding.kinds.get(person) not in INTEGERS:
        return None
    return _whole(connection, coding.codes_of_rows(f", CAST(s.{sql.name(person)} AS BIGINT) AS p"))


def _beside(connection: Any, coding: CodeCounting, record: str) -> dict[str, Words] | None:
    """Return the same from a separate key file, read by itself, because a positional join is slow.

    64 bits distinguish random keys; two with the same hash count as one person, never as more.
    """
    codes = None if coding.reading.required else _whole(connection, coding.codes_of_rows())
    keys = None if codes is None else _whole(connection, f"SELECT hash({PERSON}) AS p FROM {record}")
    return None if codes is None or keys is None or len(codes["k"]) != len(keys["p"]) else codes | keys


def person_count(coding: CodeCounting, keys: Any, persons: Any, counts: Any, nameless: bool) -> PersonCount:
    """Return the counts for packed keys of combinations."""
    codes = coding.packing.unpack(np.asarray(keys, np.uint64).reshape(1, -1))
    counts = np.asarray(counts, np.int64)
    text_counts = ValueCounts(coding.columns, coding.values, codes, counts, int(counts.sum()))
    return PersonCount(text_counts, np.asarray(persons, np.int64), nameless)


def write_numbers(connection: Any, stream: Stream, target: Path) -> bool:
    """Write the published rows' keys as numbers, and return whether persons are identified by integers in every row.

    Published keys remain texts, and so does their record.
    """
    application = stream.application
    name = application.handling.person or ""
    if application.handling.key_column is not None or application.kinds.get(name) not in INTEGERS:
        return False
    found = _whole(connection, stream.of_rows(f"CAST(s.{sql.name(name)} AS BIGINT)"))
    if found is None:
        return False
    persons, names = number_keys(found[PERSON])
    digits = f"CAST(concat('0x', substr({application.person_key}, 1, {NUMBER_DIGITS})) AS UBIGINT)"
    with_names = {name: names.view(np.int64)}
    keys = asked(connection, with_names, f"SELECT {digits} AS key FROM given AS s")["key"]
    numbers = (np.asarray(keys, np.uint64) >> np.uint64(1)).astype(np.int64)
    asked(connection, {PERSON: numbers[persons]}, keys_statement(f"SELECT {PERSON} FROM given", target))
    return True


def _whole(connection: Any, statement: str) -> dict[str, Words] | None:
    """Return columns of integers, or None if one is missing."""
    arrays = connection.execute(statement).fetchnumpy()
    if any(np.ma.is_masked(array) for array in arrays.values()):
        return None
    return {name: np.ascontiguousarray(np.ma.getdata(array)).view(np.uint64) for name, array in arrays.items()}


def _some(names: Words, words: tuple[str, ...]) -> bool:
    """Return whether some integer is written as one of some words."""
    numbers = [int(word) for word in words if word.lstrip("-").isdecimal() and str(int(word)) == word]
    known = [number for number in numbers if -(2**63) <= number < 2**63]
    return bool(np.isin(names.view(np.int64), np.array(known, np.int64)).any())


# The texts of each column, and the codes and number of rows of each combination.
Combinations = tuple[tuple[Texts, ...], npt.NDArray[np.int32], npt.NDArray[np.int64]]
# The coding of columns, the packed codes of combinations, and their numbers of rows.
Coded = tuple[CodeCounting, Words, npt.NDArray[np.int64]]


class CountsByCodes:
    """Counts by codes if columns are dictionary-encoded with few texts."""

    def _by_codes(self: Any, counting: Counting) -> Combinations | None:
        """Return texts of columns, codes and rows of combinations; None if columns must be counted by texts."""
        kinds = self._dictionaries() if counting.columns else {}
        texts = in_order(self._run(counting.sampled())[0]) if kinds else None
        if texts is None:
            return None
        coding = counting.by_codes(texts, kinds)
        if coding.packing.words == 1 and fits(self._all_rows(), self.plan):
            coded = self._grouped_here(coding)
        else:
            coded = self._grouped(counting, kinds)
        if coded is None:
            return None
        coding, packed, counts = coded
        for name, entry in zip(counting.columns, coding.values, strict=True):
            self._known_texts[name, counting.reading.required] = entry
        return coding.values, coding.packing.unpack(packed), np.asarray(counts, np.int64)

    def _persons_by_codes(self: Any, counting: Counting, person: str, value: str | None) -> PersonCount | None:
        """Count persons by packed codes if the columns are dictionary-encoded with few texts, else return None."""
        kinds = self._dictionaries()
        texts = [self._known_texts.get((name, counting.reading.required)) for name in counting.columns]
        if not kinds or any(entry is None for entry in texts):
            return None
        values = tuple(entry for entry in texts if entry is not None)
        coding = counting.by_codes(values, kinds)
        if coding.packing.words > 1 or (value is not None and not coding.tells(value)):
            return None
        for statement in coding.types():
            self._run(statement)
        here = None
        if fits(self._rows, self.plan):
            beside = self._person_keys if person == PERSON else ""
            apart = replace(coding, table=self.source.table)
            here = persons_here(self._connection, apart, person, value, beside)
        if here is not None:
            return here
        for statement in coding.group_persons_by_codes(person, value):
            self._run(statement)
        nameless = bool(self._run(coding.nameless_of_ends())[0][0])
        self._run("DROP TABLE ends")
        arrays = self._connection.execute("SELECT * FROM combinations").fetchnumpy()
        self._run("DROP TABLE combinations")
        return person_count(coding, arrays["k"], arrays["person"], arrays["n"], nameless)

    def _coded_here(self: Any, counting: Counting, further: str) -> tuple[Any, ...]:
        """Return a small table of combinations, numbering its texts in Python, because statements would cost more."""
        arrays = self._connection.execute(f"SELECT {counting.names_of_texts}n{further} FROM combinations").fetchnumpy()
        self._run("DROP TABLE combinations")
        coded = [numbered(arrays[f"t{place}"].tolist()) for place in range(len(counting.columns))]
        counts = np.asarray(arrays["n"], np.int64)
        matrix = np.column_stack([codes for _, codes in coded]) if coded else np.zeros((len(counts), 0), np.int32)
        return tuple(texts for texts, _ in coded), matrix, counts, np.asarray(arrays.get("person", ()), np.int64)

    def _grouped_here(self: Any, coding: CodeCounting) -> Coded | None:
        """Group packed codes in memory; None if columns have too many texts.

        The first rows usually contain all texts. Otherwise the texts of rows without a code are queried.
        """
        keys = self._codes_of_rows(coding)
        if np.ma.is_masked(keys):
            further = self._run(coding.unknown())[0]
            texts = in_order([[*known, *(more or ())] for known, more in zip(coding.values, further, strict=True)])
            if texts is None:
                return None
            coding = coding.by_codes(texts, coding.kinds)
            if coding.packing.words > 1:
                grouped: Coded | None = self._grouped(coding, coding.kinds)
                return grouped
            keys = self._codes_of_rows(coding)
        words, counts = counted_words(_whole_codes(keys))
        if not _all_occur(coding, words):
            raise changed()
        return coding, words.reshape(1, -1), counts

    def _codes_of_rows(self: Any, coding: CodeCounting) -> Any:
        """Return the packed code of each row as a masked array, in which rows without a code are invalid."""
        for statement in coding.types():
            self._run(statement)
        return self._connection.execute(coding.codes_of_rows()).fetchnumpy()["k"]

    def _grouped(self: Any, counting: Counting, kinds: Mapping[str, str]) -> Coded | None:
        """Group packed codes in the database."""
        texts = in_order(self._run(counting.whole())[0])
        if texts is None:
            return None
        coding = counting.by_codes(texts, kinds)
        for statement in coding.types():
            self._run(statement)
        arrays = self._connection.execute(coding.group_by_codes()).fetchnumpy()
        packed = np.array([_whole_codes(arrays[f"k{word}"]) for word in range(coding.packing.words)])
        return coding, packed, arrays["n"]


def _all_occur(coding: CodeCounting, words: Words) -> bool:
    """Return whether each text of each column occurs in some combination."""
    codes = coding.packing.unpack(words.reshape(1, -1))
    return all(len(present_codes(codes[:, place])) == len(texts) for place, texts in enumerate(coding.values))


def _whole_codes(codes: Any) -> Words:
    """Return codes without missing ones.

    Raises:
        EngineError: A code is missing, because its text appeared during reading.
    """
    if np.ma.is_masked(codes):
        raise changed()
    return np.asarray(codes, np.uint64)


# Larger files are grouped in the database; at 55 MB, codes cost as much as they save.
_MOST_BYTES = 1 << 24
# Bytes per value, as read and as code.
_VALUE_BYTES = 32


class EncodedColumn(Value):
    """The ordered distinct texts of a column, and the code of each row.

    The encoding saves time for text files: every statement on such a file parses it again, and groups, joins and sorts
    texts. If columns have few distinct texts, reading the codes of the rows once costs less than one such statement.
    """

    texts: Texts
    codes: npt.NDArray[np.int32]


class KeepsTextRows:
    """Keeps the rows of a text file as codes.

    Attributes:
        coded: The columns that were counted.
        likely: The expected texts of columns of a file that was just written.
    """

    coded: Mapping[str, EncodedColumn]
    likely: Mapping[str, Texts]

    def _by_rows(self: Any, counting: Counting) -> Combinations | None:
        """Return texts of columns, codes and rows of combinations; None if rows are not to be kept."""
        if not counting.columns or counting.reading.required or not self._are_few_texts():
            return None
        if not all(name in self.coded for name in counting.columns):
            columns = self._as_likely(counting) or self._kept(counting)
            if columns is None:
                self._run(counting.group_kept())
                combinations: Combinations = self._texts_and_codes(counting)[:3]
                return combinations
            self.coded = {**self.coded, **dict(zip(counting.columns, columns, strict=True))}
        return _combinations([self.coded[name] for name in counting.columns])

    def _are_few_texts(self: Any) -> bool:
        """Return whether the source is a text file whose rows may be kept."""
        if not self.path.name or not format_of(self.path, self.plan).delimited:
            return False
        rows = about_rows(self.path)
        small = rows is not None and sum(file.stat().st_size for file in files_of(self.path)) <= _MOST_BYTES
        return small and fits(rows, self.plan, _VALUE_BYTES * len(self.columns))

    def _as_likely(self: Any, counting: Counting) -> list[EncodedColumn] | None:
        """Return the columns coded by their expected texts; None if these are unknown, or a row has another text."""
        texts = [self.likely.get(name) for name in counting.columns]
        values = [entry for entry in texts if entry is not None and len(entry) <= MAX_TEXTS]
        if len(values) < len(texts):
            return None
        columns = self._coded(counting, values, f"(SELECT {counting.texts_of_rows} FROM {counting.rows})")
        if columns is None:
            return None
        return [_with_present(column) for column in columns]

    def _kept(self: Any, counting: Counting) -> list[EncodedColumn] | None:
        """Return the columns coded by their own texts, from a table of rows, which is kept if they are too many."""
        self._run(counting.keep_texts())
        values = self._texts(counting)
        if any(len(texts) > MAX_TEXTS or not texts for texts in values) or packing_of([*map(len, values)]).words > 1:
            return None
        columns: list[EncodedColumn] | None = self._coded(counting, values, "combinations")
        self._run("DROP TABLE combinations")
        return columns

    def _coded(self: Any, counting: Counting, values: Sequence[Texts], rows: str) -> list[EncodedColumn] | None:
        """Return the columns coded by given texts; None if a row has another text."""
        arrays = self._connection.execute(counting.row_codes(values, rows)).fetchnumpy()
        codes = [arrays[f"c{place}"] for place in range(len(values))]
        if any((column < 0).any() for column in codes):
            return None
        return [EncodedColumn(texts, column) for texts, column in zip(values, codes, strict=True)]


def _with_present(column: EncodedColumn) -> EncodedColumn:
    """Return a column without the texts that no row has."""
    present = present_codes(column.codes)
    if len(present) == len(column.texts):
        return column
    places = np.zeros(len(column.texts), np.int32)
    places[present] = np.arange(len(present), dtype=np.int32)
    return EncodedColumn(tuple(column.texts[code] for code in present), places[column.codes])


def _combinations(columns: Sequence[EncodedColumn]) -> Combinations | None:
    """Return the combinations with their rows; None if codes do not fit into one word."""
    values = tuple(column.texts for column in columns)
    packing = packing_of([*map(len, values)])
    if len({len(column.codes) for column in columns}) > 1:
        raise changed()
    if packing.words > 1:
        return None
    words, counts = counted_words(packing.pack(np.column_stack([column.codes for column in columns]))[0])
    return values, packing.unpack(words.reshape(1, -1)), counts


def kept_codes(codes: RowCodes, columns: Mapping[str, EncodedColumn]) -> RowCodes | None:
    """Return the recoding of rows by available codes; None if these are not sufficient for the release."""
    application = codes.joining.application
    if not columns or not all(name in columns for name in application.recoding.columns):
        return None
    joining = replace(codes.joining, application=replace(application, kinds=dict.fromkeys(columns, "VARCHAR")))
    kept = RowCodes(joining, {name: column.texts for name, column in columns.items()})
    return kept if kept.tell_all else None


def arrays_of(codes: RowCodes, columns: Mapping[str, EncodedColumn]) -> dict[str, Any]:
    """Return the arrays that `RowCodes.reading` would query from the database."""
    application = codes.joining.application
    recoding, shifts = application.recoding, application.packing.shift
    rows = len(columns[recoding.columns[0]].codes)
    keys, known = np.zeros(rows, np.uint64), np.ones(rows, bool)
    for place, (name, coding) in enumerate(zip(recoding.columns, recoding.codings, strict=True)):
        by_text = dict(zip(coding.texts, application.key_codes(place).tolist(), strict=True))
        found = np.array([by_text.get(text, DROPPED) for text in columns[name].texts], np.int64)[columns[name].codes]
        known &= found != DROPPED
        keys |= np.where(found == DROPPED, 0, found).astype(np.uint64) << shifts[place]
    kept = {f"r{place}": columns[name].codes for place, name in enumerate(codes.kept)}
    return {"k": keys if known.all() else np.ma.array(keys, mask=~known)} | kept
