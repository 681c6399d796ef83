"""The recoding as a file: a readable map of original to published values that can be applied to new rows.

The file is internal: it shows which rows were suppressed and which original values occurred.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sfumato.errors import PlanError
from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.microdata.counts.frequency_table import DROPPED, Coding
from sfumato.microdata.recoding.mapping import Division, Labels, LevelRecoding, Recoding, published_labels
from sfumato.values import Value


def to_dict(recoding: Recoding) -> dict[str, Any]:
    """Return the recoding as plain values."""
    if isinstance(recoding, LevelRecoding):
        return {
            "kind": "levels",
            "columns": {name: _column(recoding, place) for place, name in enumerate(recoding.columns)},
            "suppressed": [
                list(published_labels(recoding, int(place))) for place in np.flatnonzero(recoding.suppressed)
            ],
        }
    divided = {} if recoding.division is None else {"division": _division(recoding.division)}
    return divided | {
        "kind": "classes",
        "columns": list(recoding.columns),
        "values": [_texts(coding) for coding in recoding.codings],
        "classes": [
            {"published": list(published_labels(recoding, place)), "suppressed": bool(recoding.suppressed[place])}
            for place in range(len(recoding.classes))
        ],
        "combinations": [
            [*codes, owner]
            for codes, owner in zip(recoding.combinations.tolist(), recoding.owners.tolist(), strict=True)
        ],
    }


def _column(recoding: LevelRecoding, place: int) -> dict[str, Any]:
    """Return every text that was read or that the hierarchy knows, and its published label; null means missing."""
    coding, level = recoding.codings[place], recoding.node[place]
    ladder = coding.ladder
    values: dict[str, str | None] = {
        value: ladder.published(value, level) for value in ladder.values if value is not None
    }
    missing: dict[str, Any] = {}
    for text, code in zip(coding.texts, coding.codes.tolist(), strict=True):
        if code == DROPPED:
            missing.setdefault("dropped", []).append(text)
        elif text is None:
            missing["missing"] = ladder.labels[level][ladder.codes[level][code]]
        else:
            values[text] = ladder.labels[level][ladder.codes[level][code]]
    return {"level": level, "values": values} | missing


def _division(division: Division) -> dict[str, Any]:
    """Return how rows of combinations were divided between classes; such a recoding cannot be applied to new rows."""
    shares = (division.combinations, division.codes, division.classes, division.rows)
    return {
        "key": division.key,
        "column": division.column,
        "values": list(division.values),
        "texts": [[text, code] for text, code in division.spellings.items()],
        "shares": np.column_stack(shares).tolist(),
    }


def _texts(coding: Coding) -> list[list[Any]]:
    return [[text, code] for text, code in zip(coding.texts, coding.codes.tolist(), strict=True)]


class RecodingFile(Value):
    """The content of a recoding file.

    Attributes:
        codings: For each column, the texts it contains.
        combinations: Published labels of each combination of codes and whether it is suppressed; None if every
            combination is published by its values alone.
        labels: For each column, the label of each code.
        suppressed: The labels of the suppressed classes.
    """

    codings: tuple[Coding, ...]
    labels: tuple[Labels, ...]
    suppressed: frozenset[Labels]
    combinations: Mapping[tuple[int, ...], tuple[Labels, bool]] | None = None
    levels: tuple[int, ...] = ()

    def publish(self, codes: tuple[int, ...]) -> tuple[Labels, bool] | None:
        """Return the published labels of a combination and whether it is suppressed, or None if unknown."""
        if self.combinations is not None:
            return self.combinations.get(codes)
        labels = tuple(column[code] for column, code in zip(self.labels, codes, strict=True))
        return labels, labels in self.suppressed


def read_recoding(plain: Mapping[str, Any]) -> RecodingFile:
    """Parse a recoding file.

    Raises:
        PlanError: It is no recoding.
    """
    try:
        return _levels(plain) if plain["kind"] == "levels" else _classes(plain)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        raise no_recoding() from None


def no_recoding(name: str = "this") -> PlanError:
    """Return the error that something is no recoding of a release."""
    return PlanError("recoding", name=name)


def _levels(plain: Mapping[str, Any]) -> RecodingFile:
    columns = list(plain["columns"].values())
    codings = tuple(_coding(column) for column in columns)
    labels = tuple(
        (*column["values"].values(), *([column["missing"]] if "missing" in column else [])) for column in columns
    )
    levels = tuple(int(column["level"]) for column in columns)
    return RecodingFile(codings, labels, frozenset(tuple(labels) for labels in plain["suppressed"]), levels=levels)


def _coding(column: Mapping[str, Any]) -> Coding:
    texts: list[str | None] = [*column["values"], *([None] if "missing" in column else [])]
    dropped = column.get("dropped", [])
    codes = np.array([*range(len(texts)), *(DROPPED for _ in dropped)], np.int32)
    return Coding((*texts, *dropped), codes, flat_ladder(len(texts)))


def _classes(plain: Mapping[str, Any]) -> RecodingFile:
    codings = tuple(
        Coding(
            tuple(text for text, _ in pairs),
            np.array([code for _, code in pairs], np.int32),
            flat_ladder(max((code for _, code in pairs), default=-1) + 1),
        )
        for pairs in plain["values"]
    )
    published = [(tuple(entry["published"]), bool(entry["suppressed"])) for entry in plain["classes"]]
    combinations = {tuple(entry[:-1]): published[entry[-1]] for entry in plain["combinations"]}
    return RecodingFile(codings, (), frozenset(), combinations)


def flat_ladder(size: int) -> Hierarchy:
    """Return a placeholder hierarchy with a given number of values."""
    values = tuple(str(place) for place in range(size))
    own = np.arange(size, dtype=np.int32)
    return Hierarchy(values, (values, ("*",)), (own, np.zeros(size, np.int32)))
