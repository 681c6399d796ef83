"""Attribute disclosure: what published rows tell of sensitive columns, and whom columns besides them single out.

Both are measured whether promised or not. Of a sensitive column: the classes in which all rows have one value (who is
known to be in such a class is known to have it), the least number of values in a class (the l of distinct l-diversity)
and the greatest distance of a class to all published rows (the t of t-closeness, every two values equally far apart).
Of published columns that are no quasi-identifiers: how many rows are unique by one of them, or by two together. Nobody
promised anything about these rows; who knows such a value of a person finds the row.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from sfumato.microdata.counts.frequencies import Counted, value_of
from sfumato.microdata.models.t_closeness import TCloseness
from sfumato.microdata.published import STAR, classes_of


@dataclass(frozen=True, slots=True)
class AttributeFigures:
    """What published classes tell of a sensitive column.

    Attributes:
        classes: Classes that show the column; one_value_classes: those in which all rows have the same value, and
        one_value_rows: the rows in them.
        l: The least number of values in a class; t: the greatest distance of a class to all published rows.
    """

    classes: int
    one_value_classes: int
    one_value_rows: int
    l: int  # noqa: E741  (the letters of the literature)
    t: float


@dataclass(frozen=True, slots=True)
class UniqueRows:
    """How many published rows are unique by some columns that are no quasi-identifiers."""

    columns: tuple[str, ...]
    rows: int


@dataclass(frozen=True, slots=True)
class Disclosure:
    """What a release tells besides what its promises are about.

    Attributes:
        sensitive: Figures of each sensitive column.
        unique_rows: By each column alone, and by the pairs that single out most rows.
        unmeasured: What was left out because there are too many rows, in sentences.
    """

    sensitive: Mapping[str, AttributeFigures] = field(default_factory=dict)
    unique_rows: tuple[UniqueRows, ...] = ()
    unmeasured: tuple[str, ...] = ()

    @property
    def most_telling(self) -> UniqueRows | None:
        """The one or two columns by which most rows are unique; None where no row is."""
        worst = max(self.unique_rows, key=lambda entry: (entry.rows, -len(entry.columns)), default=None)
        return worst if worst is not None and worst.rows else None

    def to_dict(self) -> dict[str, Any]:
        return {
            "sensitive": {name: asdict(figures) for name, figures in self.sensitive.items()},
            "unique_rows": [{"columns": list(entry.columns), "rows": entry.rows} for entry in self.unique_rows],
            "unmeasured": list(self.unmeasured),
        }


def attribute_figures(
    counted: Counted, quasi_identifiers: Sequence[str], column: str, missing: Sequence[str], star_rows: bool
) -> AttributeFigures:
    """The figures of one sensitive column, from published rows counted by the quasi-identifiers and it."""
    published = classes_of(counted, quasi_identifiers, {column}, missing, star_rows=star_rows)
    visible = published.visible
    values = np.diff(visible.sensitive[column].starts)
    alone = values == 1
    return AttributeFigures(
        len(values),
        int(alone.sum()),
        int(visible.sizes[alone].sum()),
        int(values.min(initial=0) if not len(values) else values.min()),
        TCloseness(1.0, column).reached(visible, published.shown),
    )


def unique_rows(counted: Counted, columns: Sequence[str], missing: Sequence[str] = ()) -> UniqueRows:
    """How many rows no other equals in some columns; who knows nothing of a missing or hidden value finds nobody by it.

    Args:
        counted: Published rows, counted by these columns at least.
    """
    places = [counted.columns.index(name) for name in columns]
    masks = [
        np.array([value_of(text, missing) not in (None, STAR) for text in counted.values[place]] or [False], bool)
        for place in places
    ]
    keys, owners = np.unique(counted.codes[:, places], axis=0, return_inverse=True)
    rows = np.bincount(owners.reshape(-1), weights=counted.counts, minlength=len(keys))
    shown = np.all([mask[keys[:, place]] for place, mask in enumerate(masks)], axis=0)
    return UniqueRows(tuple(columns), int(((rows == 1) & shown).sum()))
