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
from sfumato.microdata.counts.frequency_table import ValueCounts
from sfumato.microdata.counts.key_packing import Words
from sfumato.microdata.counts.person_numbers import number_keys, persons_of_rows
from sfumato.microdata.counts.persons import PersonCount
from sfumato.microdata.data_plan import DataPlan

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

    Args:
        beside: The record with the keys of all rows, in order, if no column has them.
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
