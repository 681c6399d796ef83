"""Bounds of published intervals as columns of a frame."""

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw

from sfumato.engines.dataframes.engine import FrameEngine
from sfumato.engines.dataframes.number_series import number_series
from sfumato.engines.engine import Engine
from sfumato.engines.keyed_hashes import PERSON
from sfumato.hierarchies.label_bounds import Bounds, in_order, is_whole


def with_interval_bounds(
    published: Engine, names: Mapping[str, tuple[str, str]], labels: Mapping[str, Mapping[str, Bounds]]
) -> FrameEngine:
    """Return the frame with bound columns; intervals become ordered categories if the library supports them."""
    if not isinstance(published, FrameEngine):
        raise TypeError(f"no frame: {published}")
    frame: Any = nw.from_native(published.data(), eager_only=True)
    backend = nw.get_native_namespace(frame)
    further = []
    for name, pair in names.items():
        texts = published.texts(name)
        kind = nw.Int64 if is_whole(labels[name]) else nw.Float64
        for side, column in enumerate(pair):
            numbers = [None if text is None else labels[name][text][side] for text in texts]
            further.append(number_series(column, numbers, kind, backend))
        if not frame.implementation.is_pyarrow():
            further.append(_ordered(name, texts, in_order(labels[name]), backend))
    answer = FrameEngine(frame.with_columns(*further).to_native(), published.notes)
    answer.person_keys = published.person_keys
    if PERSON in published._coded:
        answer._coded[PERSON] = published._coded[PERSON]
    return answer


def _ordered(name: str, texts: Sequence[str | None], categories: Sequence[str], backend: Any) -> Any:
    if backend.__name__ == "pandas":
        values = backend.Categorical(texts, categories=categories, ordered=True)
        return nw.from_native(backend.Series(values, name=name), series_only=True)
    return nw.new_series(name, list(texts), nw.Enum(categories), backend=backend)
