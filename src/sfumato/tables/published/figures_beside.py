"""Columns beside the values of a published table that tell of masked cells: shares, means, other units, sums."""

from collections.abc import Mapping

import numpy as np

from sfumato.tables.build.group_units import is_multiple
from sfumato.tables.cells.cells import Numbers
from sfumato.tables.cells.columns import Columns
from sfumato.tables.cells.finite_numbers import finite
from sfumato.tables.crosstabs.labels import names_a_figure
from sfumato.tables.formats.sdmx import VALUE
from sfumato.tables.plan.crossing import Dimension
from sfumato.tables.plan.plan import TablePlan
from sfumato.tables.published.reading import Reading
from sfumato.tables.published.sums_beside import told_by_sums
from sfumato.tables.words import NAMES


def figures_beside(
    columns: Columns, plan: TablePlan, reading: Reading, dimensions: Mapping[str, Dimension]
) -> tuple[str, ...]:
    """What is said of columns that the plan does not name, with numbers beside masked cells that may tell these.

    A column does where its name says so (a share, a rate, a mean), or where it is the values in another unit, or adds
    up with them and others, as far as all are shown. Where true values stand in the file, it is one for the house.
    """
    masked = np.isnan(reading.exact)
    if reading.valued or not masked.any():
        return ()
    known = _known(plan, dimensions)
    beside = {name: _numbers(texts) for name, texts in columns.texts.items() if name not in known}
    summed = told_by_sums(reading.exact, [*beside.values()])
    return tuple(
        f'column "{name}" shows numbers beside masked cells, and nobody computed what they tell of these.'
        for place, (name, numbers) in enumerate(beside.items())
        if (masked & ~np.isnan(numbers)).any()
        and (place in summed or names_a_figure(name) or _told(reading.exact, numbers))
    )


def _told(exact: Numbers, numbers: Numbers) -> bool:
    """Whether numbers are the values, or a multiple of them, wherever both are shown."""
    both = ~np.isnan(exact) & ~np.isnan(numbers)
    return bool(both.any()) and is_multiple(exact[both], numbers[both])


def _numbers(texts: tuple[str, ...]) -> Numbers:
    """A column as numbers, whatever sign of percent they have; not a number where there is none."""
    read = (finite(text.rstrip("% ")) for text in texts)
    return np.array([np.nan if number is None else number for number in read], np.float64)


def _known(plan: TablePlan, dimensions: Mapping[str, Dimension]) -> set[str]:
    """The columns that a plan names, and those that a release of it has."""
    source, prefix = plan.table, plan.output.prefix or plan.table.value
    codes = [name for one in dimensions.values() for name in (*one.levels, one.column)]
    rules = [getattr(rule, "column", None) for rule in plan.primary]
    # Files of offices have values under a name of their own, and say beside which are masked.
    single = (VALUE, source.value, source.frequency, source.shadow, source.holdings, plan.method.cost)
    several = (*source.group_by, *source.contributions, *source.respondents, *source.contributors)
    ours = (prefix + ending for endings in NAMES.values() for ending in endings)
    return {name for name in (*codes, *rules, *single, *several, *ours) if name}
