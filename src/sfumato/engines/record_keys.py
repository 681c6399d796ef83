"""Keys of records for the cell key method: whole numbers, the same on every engine, added modulo their range.

A key made from a secret is the first 64 bits of SHA-256 of the secret's own digest, a colon and the record's name.
Every engine provides that hash, and without the secret it cannot be computed. An integer has one name regardless of its
notation: 1, 1.0 and the floating-point number are the same record. So are 0 and -0.0, 1e+16 and its digits, and a day
with or without midnight.
"""

import hashlib
import re
from collections.abc import Sequence
from typing import Any

from sfumato.engines import sql
from sfumato.errors import DataError
from sfumato.localization.messages import Message
from sfumato.tables.noise.cell_key import BINS, FEW, KeySpread, check_spread, distribution_of
from sfumato.tables.tabulate import WORD
from sfumato.values import Value

# An integer with zero decimals, in a pattern for every engine; its first group is the name.
WHOLE = "^(-?[0-9]+)[.]0+$"
# The same with an exponent, as programs write large numbers; names that contain an e have no sign after it.
POWER = "^-?[0-9]+([.][0-9]+)?[eE][+][0-9]+$"
# Negative zeros, and a day with midnight.
NOTHING = "^-(0+)$"
MIDNIGHT = "^([0-9]{4}-[0-9]{2}-[0-9]{2})[ T]00:00:00([.]0+)?$"
PATTERNS = (WHOLE, NOTHING, MIDNIGHT)
# Integers up to this one fit into those of every engine.
LARGEST = 1e37
# Numbers with fewer digits are record numbers rather than keys.
LEAST_DIGITS = 5


def name_of(text: str) -> str:
    """Return the canonical name of a record, however a number or a day is written.

    >>> name_of("1.0"), name_of("-0.0"), name_of("1e+16"), name_of("2020-01-01 00:00:00"), name_of("1e5")
    ('1', '0', '10000000000000000', '2020-01-01', '1e5')
    """
    if re.match(POWER, text) and abs(number := float(text)) < LARGEST and number.is_integer():
        return str(int(number))
    for pattern in PATTERNS:
        text = re.sub(pattern, r"\1", text)
    return text


class RecordKeys(Value):
    """The source of record keys.

    Attributes:
        column: The column that identifies a record, or that contains its key.
        secret: The secret from which keys are derived; None if the column contains the keys.
        digits: Digits of decimal keys; None for 64-bit integers.
    """

    column: str
    secret: str | None = None
    digits: int | None = None

    @property
    def modulus(self) -> int:
        """The number of possible keys."""
        return WORD if self.digits is None or self.secret is not None else 10**self.digits

    @property
    def prefix(self) -> str:
        """The prefix of a record's name when it is hashed."""
        return hashlib.sha256((self.secret or "").encode()).hexdigest() + ":"

    def of_texts(self, column: Sequence[str]) -> list[int]:
        """Return the keys of records.

        Raises:
            DataError: A record has no name, a text is no key, or the keys do not fill their range.
        """
        texts = [name_of(text) for text in column]
        if self.secret is not None:
            if "" in texts:
                raise self.fault()
            self.refuse_twins(len(texts) - len(set(texts)))
            prefix = self.prefix
            return [int(hashlib.sha256((prefix + text).encode()).hexdigest()[:16], 16) for text in texts]
        keys = [self._read(text) for text in texts]
        if any(key is None for key in keys):
            raise self.fault()
        own = [key for key in keys if key is not None]
        self.refuse_narrow(distribution_of(own, self.modulus))
        return own

    def refuse_narrow(self, spread: KeySpread) -> None:
        """Refuse keys that do not fill their range, such as record numbers: all cells would have the same noise."""
        digits = len(str(spread.largest))
        shorter = digits >= LEAST_DIGITS and 10**digits < self.modulus and not spread.scarce
        hint = Message("hint.digits", digits=digits) if shorter else Message("hint.secret_or_random")
        check_spread(spread, Message("phrase.keys_in_column", column=self.column), hint)

    def refuse_twins(self, twins: int) -> None:
        """Refuse duplicate record names, because noise would depend on the name, not on the records.

        Args:
            twins: The number of duplicates.
        """
        if twins and self.secret is not None:
            raise DataError("record-twice", column=self.column, count=twins).about(column=self.column)

    def text_in_sql(self, text: str) -> str:
        """Return the SQL expression of a record's name, for the text expression of its column."""
        column = sql.name(self.column)
        number = f"try_cast({column} as double)"
        floating = f"typeof({column}) in ('DOUBLE', 'FLOAT') and {number} = floor({number})"
        whole = f"cast(try_cast({number} as hugeint) as varchar)"
        power = f"try_cast(case when regexp_full_match({text}, '{POWER}') then {text} end as double)"
        digits = f"case when {power} = floor({power}) and abs({power}) < {LARGEST} then {power} end"
        rest = text
        for pattern in PATTERNS:
            rest = f"regexp_replace({rest}, '{pattern}', '\\1')"
        large = f"cast(try_cast({digits} as hugeint) as varchar)"
        return f"coalesce(case when {floating} then {whole} end, {large}, {rest})"

    def twins_in_sql(self, text: str) -> str:
        """Return the SQL expression of the number of duplicate names, for a text expression."""
        return f"count(*) - count(distinct {text})"

    def _read(self, text: str) -> int | None:
        if text.isascii() and text.isdigit():
            return int(text) if int(text) < self.modulus else None
        whole, point, rest = text.partition(".")
        decimal = self.digits is not None and point and whole in ("", "0") and rest.isascii() and rest.isdigit()
        return int(rest.ljust(self.digits or 0, "0")) if decimal and len(rest) <= (self.digits or 0) else None

    def sum_in_sql(self, text: str) -> str:
        """Return the SQL expression of a group's sum of keys, modulo their range; null if a record has no key."""
        if self.secret is not None:
            digest = f"sha256({sql.text(self.prefix)} || {text})"
            high, low = (f"cast(('0x' || substr({digest}, {start}, 8)) as ubigint)" for start in (1, 9))
            key = f"case when {text} = '' then null else cast({high} as hugeint) * 4294967296 + {low} end"
        else:
            key = self._key_in_sql(text)
        whole_sum = f"sum({key}) % {self.modulus}"
        return f"case when count({key}) = count(*) then cast({whole_sum} as varchar) end"

    def bins_in_sql(self, text: str, table: str) -> str:
        """Return the statement for the distinct keys in each part of their range, the largest one, and their records.

        Args:
            text: The text expression of the column.
        """
        place = f"cast(floor(cast(key as double) * {BINS} / {self.modulus}) as integer)"
        counted = (
            f"select key, count(*) as many from ({self._keys_in_sql(text, table)}) where key is not null group by 1"
        )
        return f"select {place}, count(*), cast(max(key) as varchar), sum(many) from ({counted}) group by 1"

    def few_in_sql(self, text: str, table: str) -> str:
        """Return the statement for distinct keys, one more than are checked individually."""
        keys = self._keys_in_sql(text, table)
        return f"select distinct cast(key as varchar) from ({keys}) where key is not null limit {FEW + 1}"

    def _keys_in_sql(self, text: str, table: str) -> str:
        return f"select {self._key_in_sql(text)} as key from {table}"

    def spread_of_bins(self, rows: Sequence[Sequence[Any]], keys: Sequence[Sequence[Any]]) -> KeySpread:
        """Return the distribution of keys, from rows that an engine returns.

        Args:
            rows: For each part of the range: its index, the distinct keys in it, the largest key, the number of
                records.
            keys: Distinct keys; complete if there are few.
        """
        bins = {min(int(place), BINS - 1): 0 for place, *_ in rows}
        for place, many, *_ in rows:
            bins[min(int(place), BINS - 1)] += int(many)
        largest = max((int(one) for _, _, one, _ in rows), default=0)
        few = tuple(sorted(int(key) for (key,) in keys)) if len(keys) <= FEW else ()
        return KeySpread(bins, largest, self.modulus, sum(int(many) for *_, many in rows), few)

    def _key_in_sql(self, text: str) -> str:
        """Return the SQL expression of the key in a column, for its text expression; null if it is invalid."""
        whole = f"case when regexp_full_match({text}, '[0-9]+') then try_cast({text} as hugeint) end"
        key = f"coalesce({whole}, {self._fraction_in_sql(text)})" if self.digits else whole
        return f"case when {key} < {self.modulus} then {key} end"

    def _fraction_in_sql(self, text: str) -> str:
        padded = f"rpad(regexp_extract({text}, '^0?[.]([0-9]+)$', 1), {self.digits}, '0')"
        fits = f"regexp_full_match({text}, '0?[.][0-9]{{1,{self.digits}}}')"
        return f"case when {fits} then try_cast({padded} as hugeint) end"

    def fault(self) -> DataError:
        """Return the error for a record without a name or key."""
        what = "name" if self.secret is not None else f"key (a whole number from 0 to below {self.modulus})"
        return DataError("record-key", column=self.column, word=what).about(column=self.column)
