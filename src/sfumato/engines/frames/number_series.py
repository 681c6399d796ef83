"""Series of numbers, of which some may be missing."""

from collections.abc import Sequence
from typing import Any

import narwhals as nw


def number_series(name: str, numbers: Sequence[float | None], kind: Any, backend: Any) -> Any:
    """Numbers, of which some may be missing; pandas keeps whole ones whole in a type of its own."""
    whole = kind is nw.Int64
    values = [None if number is None else int(number) if whole else number for number in numbers]
    if backend.__name__ == "pandas":
        return nw.from_native(
            backend.Series(values, name=name, dtype="Int64" if whole else "Float64"), series_only=True
        )
    return nw.new_series(name, values, kind, backend=backend)
