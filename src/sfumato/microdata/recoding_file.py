"""The recoding as a file: value → published value, readable by people, applicable to new rows.

The file belongs to those who made the release: it tells which rows were suppressed, and what raw values there were.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sfumato.errors import PlanError
from sfumato.hierarchies.ladder import Ladder
from sfumato.microdata.frequencies import DROPPED, Coding
from sfumato.microdata.recoding import ClassRecoding, LevelRecoding, Recoding, published_labels


def to_dict(recoding: Recoding) -> dict[str, Any]:
    """The recoding in plain values."""
    if isinstance(recoding, LevelRecoding):
        return {
            "kind": "levels",
            "columns": {name: _column(recoding, place) for place, name in enumerate(recoding.columns)},
            "suppressed": [
                list(published_labels(recoding, int(place))) for place in np.flatnonzero(recoding.suppressed)
            ],
        }
    return {
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
    """Every text that was read or that the hierarchy knows, and its published label; null stands for missing."""
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


def _texts(coding: Coding) -> list[list[Any]]:
    return [[text, code] for text, code in zip(coding.texts, coding.codes.tolist(), strict=True)]


def from_dict(given: Mapping[str, Any]) -> Recoding:
    """The recoding of a file.

    Raises:
        PlanError: It is no recoding.
    """
    try:
        return _levels(given) if given["kind"] == "levels" else _classes(given)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        raise PlanError(
            "this is no recoding.json of a release.", "Give the one that the release wrote.", "recoding"
        ) from None


def _levels(given: Mapping[str, Any]) -> LevelRecoding:
    names = tuple(given["columns"])
    codings = tuple(_coding(given["columns"][name]) for name in names)
    suppressed = given["suppressed"]
    places = [{label: code for code, label in enumerate(coding.ladder.labels[1])} for coding in codings]
    classes = np.array(
        [[place[label] for place, label in zip(places, labels, strict=True)] for labels in suppressed], np.int32
    ).reshape(len(suppressed), len(names))
    empty = np.zeros(0, np.int32)
    return LevelRecoding(
        names,
        codings,
        (1,) * len(names),
        classes,
        np.ones(len(suppressed), bool),
        np.zeros(len(suppressed), np.int64),
        empty,
    )


def _coding(given: Mapping[str, Any]) -> Coding:
    """A coding whose ladder has the texts at level 0 and what they are published as at level 1."""
    texts: list[str | None] = list(given["values"])
    labels = list(given["values"].values())
    if "missing" in given:
        texts.append(None)
        labels.append(given["missing"])
    distinct = tuple(dict.fromkeys(labels))
    place = {label: code for code, label in enumerate(distinct)}
    own = np.arange(len(texts), dtype=np.int32)
    codes = np.array([place[label] for label in labels], np.int32)
    root = np.zeros(len(texts), np.int32)
    ladder = Ladder(tuple(texts), (tuple(texts), distinct, ("*",)), (own, codes, root))
    dropped = given.get("dropped", [])
    every = np.concatenate([own, np.full(len(dropped), DROPPED, np.int32)])
    return Coding((*texts, *dropped), every, ladder)


def _classes(given: Mapping[str, Any]) -> ClassRecoding:
    names = tuple(given["columns"])
    codings = tuple(_flat_coding(texts) for texts in given["values"])
    published = [entry["published"] for entry in given["classes"]]
    labels = tuple(tuple(dict.fromkeys(row[place] for row in published)) for place in range(len(names)))
    places = [{label: code for code, label in enumerate(column)} for column in labels]
    classes = np.array(
        [[place[label] for place, label in zip(places, row, strict=True)] for row in published], np.int32
    )
    combinations = np.array(given["combinations"], np.int32).reshape(-1, len(names) + 1)
    suppressed = np.array([entry["suppressed"] for entry in given["classes"]], bool)
    return ClassRecoding(
        names,
        codings,
        combinations[:, :-1],
        combinations[:, -1],
        labels,
        classes.reshape(-1, len(names)),
        suppressed,
        np.zeros(len(suppressed), np.int64),
    )


def _flat_coding(pairs: list[list[Any]]) -> Coding:
    codes = np.array([code for _, code in pairs], np.int32)
    size = int(codes.max(initial=-1)) + 1
    values: list[str | None] = [str(place) for place in range(size)]
    own = np.arange(size, dtype=np.int32)
    ladder = Ladder(tuple(values), (tuple(values), ("*",)), (own, np.zeros(size, np.int32)))
    return Coding(tuple(text for text, _ in pairs), codes, ladder)
