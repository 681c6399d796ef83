"""Uniform random numbers that belong to a cell in every table: from its key, or from a secret and its codes.

A key is a whole number; keys of records are added modulo 2^64 (or 10^digits for imported decimal ones), so the sum does
not depend on the order of the records.
"""

import hashlib
import hmac
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from sfumato.errors import DataError
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.dimensions import Code
from sfumato.tables.cells.system import Numbers
from sfumato.tables.cells.table_part import TablePart
from sfumato.tables.linked.codes import Name, code_names
from sfumato.tables.tabulate import WORD


def key_of(secret: str, *texts: str) -> int:
    """Return the key of texts, from 0 to 2^64 - 1.

    >>> key_of("s", "a", "b") == key_of("s", "a", "b") != key_of("s", "ab", "")
    True
    """
    message = b"".join(len(part).to_bytes(4, "big") + part for part in (text.encode() for text in texts))
    return int.from_bytes(hmac.digest(secret.encode(), message, hashlib.sha256)[:8], "big")


def chances_of(keys: Iterable[int], modulus: int = WORD) -> Numbers:
    """Return keys as numbers from 0 to below 1.

    >>> chances_of([0, 2**63, 2**64 - 1]).tolist()[:2]
    [0.0, 0.5]
    """
    # The largest keys would be rounded up to 1.
    return np.minimum(np.array([key / modulus for key in keys], np.float64), np.nextafter(1.0, 0.0))


def cell_keys(columns: TextColumns, name: str, modulus: int = WORD) -> list[int]:
    """Return the keys of cells in a column, integers or decimal fractions.

    Raises:
        DataError: A text is not a key.
    """
    texts = columns.text(name)
    keys = [_key(text, modulus) for text in texts]
    wrong = [place + 1 for place, key in enumerate(keys) if key is None]
    if wrong:
        raise DataError("key.column_holds_something_that_is", column=name, row=wrong[0], count=modulus).about(
            column=name, rows=wrong
        )
    return [key for key in keys if key is not None]


def _key(text: str, modulus: int) -> int | None:
    """Return a key as an integer: 0.25 with 4 digits is 2500."""
    digits = len(str(modulus)) - 1
    if text.isascii() and text.isdigit():
        return int(text) if int(text) < modulus else None
    whole, point, rest = text.partition(".")
    decimal = modulus != WORD and point and whole in ("", "0") and rest.isascii() and rest.isdigit()
    return int(rest.ljust(digits, "0")) if decimal and len(rest) <= digits else None


def keys_by_codes(secret: str, part: TablePart) -> list[int]:
    """Return a key for each cell from a secret and its codes without totals; equal in every table with the cell."""
    if not part.trees:
        return [key_of(secret, name) for name in part.table.names]
    named = [code_names(tree) for tree in part.trees]
    return [key_of(secret, *_codes(part, named, key)) for key in part.keys]


def _codes(part: TablePart, named: Sequence[Mapping[Code, Name]], key: Sequence[Code]) -> list[str]:
    """Return the column names and codes of a cell; units of level columns by the lowest column if unique."""
    names = [own[code] for tree, own, code in zip(part.trees, named, key, strict=True) if code != tree.root]
    return [text for column, code in sorted(names) for text in (column, *code)]
