"""Number, count and record persons for rows that fit in memory, because numbers are much faster to group.

Persons identified by whole numbers are hashed once each, not once per row; the record then contains numbers of their
keys.
"""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.engines import sql
from sfumato.engines.duckdb.count_statements import CodeCounting
from sfumato.engines.duckdb.dictionary_columns import INTEGERS
from sfumato.engines.duckdb.streaming_apply import Stream
from sfumato.engines.duckdb.writing import asked, keys_statement
from sfumato.engines.keyed_hashes import NUMBER_DIGITS, PERSON
from sfumato.microdata.counts.frequency_table import TextCounts
from sfumato.microdata.counts.person_numbers import number_keys, persons_of_rows
from sfumato.microdata.counts.persons import PersonCount
from sfumato.microdata.data_plan import DataPlan

# So many rows come into memory, each with about so many bytes; they take at most this share of a memory limit.
MOST_ROWS = 20_000_000
ROW_BYTES = 40
SHARE = 4
Words = npt.NDArray[np.uint64]


def fits(rows: int | None, plan: DataPlan, row_bytes: int = ROW_BYTES) -> bool:
    """Whether codes and keys of so many rows may come into memory; not where their number is not known."""
    limit = plan.memory_bytes
    return rows is not None and rows <= MOST_ROWS and (not limit or rows * row_bytes * SHARE <= limit)


def persons_here(
    connection: Any, coding: CodeCounting, person: str, value: str | None, beside: str = ""
) -> PersonCount | None:
    """The persons of combinations; None where keys are no numbers, or some row has none.

    Args:
        beside: The record that has the keys of all rows, in their order, where no column does.
    """
    found = _beside(connection, coding, beside) if beside else _among(connection, coding, person)
    if found is None:
        return None
    persons, names = number_keys(found["p"])
    nameless = not beside and _some(names, coding.reading.missing)
    return person_count(coding, *persons_of_rows(found["k"], persons, coding.value_bits(value)), nameless)


def _among(connection: Any, coding: CodeCounting, person: str) -> dict[str, Words] | None:
    """The packed code and the person of each row, where whole numbers name persons."""
    if coding.kinds.get(person) not in INTEGERS:
        return None
    return _whole(connection, coding.codes_of_rows(f", CAST(s.{sql.name(person)} AS BIGINT) AS p"))


def _beside(connection: Any, coding: CodeCounting, record: str) -> dict[str, Words] | None:
    """The same where keys lie in a file of their own, which is read by itself: rows side by side are read slowly.

    Random keys need no more than 64 bits to be told apart; two that meet count as one person, never as more.
    """
    codes = None if coding.reading.required else _whole(connection, coding.codes_of_rows())
    keys = None if codes is None else _whole(connection, f"SELECT hash({PERSON}) AS p FROM {record}")
    return None if codes is None or keys is None or len(codes["k"]) != len(keys["p"]) else codes | keys


def person_count(coding: CodeCounting, keys: Any, persons: Any, counts: Any, nameless: bool) -> PersonCount:
    """What was counted, by packed keys of combinations."""
    codes = coding.packing.unpack(np.asarray(keys, np.uint64).reshape(1, -1))
    counts = np.asarray(counts, np.int64)
    text_counts = TextCounts(coding.columns, coding.values, codes, counts, int(counts.sum()))
    return PersonCount(text_counts, np.asarray(persons, np.int64), nameless)


def write_numbers(connection: Any, stream: Stream, target: Path) -> bool:
    """Write the numbers of the published rows' keys; False where persons are not named by whole numbers in every row.

    Keys that are published stay texts, and their record with them.
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
    """Columns of whole numbers; None where one is missing."""
    arrays = connection.execute(statement).fetchnumpy()
    if any(np.ma.is_masked(array) for array in arrays.values()):
        return None
    return {name: np.ascontiguousarray(np.ma.getdata(array)).view(np.uint64) for name, array in arrays.items()}


def _some(names: Words, words: tuple[str, ...]) -> bool:
    """Whether some whole number is written as one of some words."""
    numbers = [int(word) for word in words if word.lstrip("-").isdecimal() and str(int(word)) == word]
    known = [number for number in numbers if -(2**63) <= number < 2**63]
    return bool(np.isin(names.view(np.int64), np.array(known, np.int64)).any())
