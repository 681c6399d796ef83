"""Texts that mean "missing" in protected columns of several files and may be remarks about a person."""

from collections.abc import Mapping

import numpy as np

from sfumato.microdata.counts.frequency_table import value_of
from sfumato.microdata.linked_files.rows import LinkedFiles, Values
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.missing_values import AbsentTexts
from sfumato.pipelines.linked_files.read_files import OpenFile


def absent_in_files(opened: tuple[OpenFile, ...], plan: Plan, relations: LinkedFiles) -> dict[str, AbsentTexts]:
    """Return the texts for "missing" in each column with a privacy model, from all files that have it."""
    return {
        name: AbsentTexts(
            frozenset(
                text or None
                for entry in opened
                for own in entry.names
                for text in _texts(entry, own)
                if entry.names[own] == name and value_of(text, plan.data.missing) is None
            ),
            _persons_without(values),
        )
        for name, values in relations.values.items()
    }


def blanks_of(file: OpenFile, plan: Plan, absent: Mapping[str, AbsentTexts]) -> dict[str, dict[str | None, str | None]]:
    """Return the published texts of columns whose missing values become empty fields."""
    return {
        own: {text: text if value_of(text, plan.data.missing) is not None else None for text in _texts(file, own)}
        for own, name in file.names.items()
        if name in absent and absent[name].are_blanked(plan)
    }


def _texts(file: OpenFile, column: str) -> tuple[str | None, ...]:
    """Return the distinct texts of a column; none if it was not counted because it has no privacy model."""
    names = file.text_counts.columns
    return file.text_counts.values[names.index(column)] if column in names else ()


def _persons_without(values: Values) -> int:
    """Return how many persons have a missing value."""
    absent = [code for code, text in enumerate(values.texts) if text is None]
    return int(np.isin(values.codes, absent).sum())
