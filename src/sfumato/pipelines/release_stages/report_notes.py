"""Remarks on a release that readers should know in addition to its guarantees."""

from collections.abc import Iterable, Mapping

import numpy as np

from sfumato.engines.engine import Engine
from sfumato.localization.messages import Message
from sfumato.microdata.counts.frequency_table import FrequencyTable, value_of
from sfumato.microdata.measures.attribute_disclosure import Disclosure
from sfumato.microdata.measures.overview import Measures
from sfumato.microdata.perturbation.plan import SwapHouseholds
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.mapping import AbsentTexts, absent_texts
from sfumato.pipelines.release_stages.counting import other_columns, reading_of
from sfumato.pipelines.release_stages.published_columns import changed_texts

# Minimum proportion of rows made unique by other columns that causes a warning.
_MOST_UNIQUE = 0.5
# Minimum proportion of households linked by a column that causes a warning, and the maximum number of rows checked.
_MOST_TIED = 0.1
_MOST_ROWS = 1_000_000
# Values with fewer rows on average are in one region by chance.
_FEWEST_NESTED = 4


def merged_spellings(plan: Plan, table: FrequencyTable) -> tuple[str, ...]:
    """Return notes on columns whose spelling variants were merged, without naming values."""
    absent = {name: absent_texts(table, name) for name in plan.promise_columns if name in table.sensitive_values}
    merged = {name: changed_texts(plan, table, name) for name in plan.spelled_columns if name in table.sensitive_values}
    return (*blanked_words(plan, absent), *merged_remarks(merged))


def blanked_words(plan: Plan, absent: Mapping[str, AbsentTexts]) -> tuple[str, ...]:
    """Return notes on columns in which texts that mean missing are published as empty fields."""
    several = _quoted(name for name, entry in absent.items() if entry.are_several(plan))
    rare = _quoted(name for name, entry in absent.items() if entry.is_rare_word(plan))
    told = ((Message("note.missing"), several), (Message("note.rare_missing"), rare))
    return tuple(text.format(names=names) for text, names in told if names)


def _quoted(names: Iterable[str]) -> str:
    return " and ".join(f'"{name}"' for name in names)


def decimal_points(plan: Plan) -> tuple[str, ...]:
    """Return a note if numbers with a decimal comma are published with a point."""
    if plan.data.decimal == ".":
        return ()
    return (Message("note.decimal_points"),)


def column_codes(plan: Plan) -> tuple[str, ...]:
    """Return a note on codes that were read as missing values, by column."""
    told = ", ".join(f"{name} ({', '.join(codes)})" for name, codes in plan.source_data.codes.items())
    return (Message("note.column_codes", columns=told),) if told else ()


def merged_remarks(merged: Mapping[str, int]) -> tuple[str, ...]:
    """Return notes on texts treated as spelling variants, by column, with their number."""
    counts = {name: count for name, count in merged.items() if count}
    return tuple(
        (Message("note.spelling_one") if count == 1 else Message("note.spellings")).format(
            count=f"{count:,}", name=name
        )
        for name, count in counts.items()
    )


def tied_households(plan: Plan, source: Engine, rows: int) -> tuple[str, ...]:
    """Return a warning on published columns that link the members of households although household keys are removed.

    A column links a household if all its rows have one value that no other household has. Exact weights and the income
    of a household do.
    """
    if plan.household is None or rows > _MOST_ROWS:
        return ()
    plain = [name for name in other_columns(plan) if plan.columns[name].published is None]
    shares = {name: _tied_share(source, plan, name) for name in plain}
    names = ", ".join(f'"{name}"' for name, share in shares.items() if share > _MOST_TIED)
    if not names:
        return ()
    return (Message("note.tied_households", share=max(shares.values()), names=names),)


def _tied_share(source: Engine, plan: Plan, name: str) -> float:
    """Return the proportion of multi-row households that a column links."""
    text_counts = source.count((plan.household or "", name), reading_of(plan))
    households, values = text_counts.codes.T
    # Rows that name no household are one household each.
    named, told = (
        np.array([value_of(text, plan.data.missing) is not None for text in texts] or [False], bool)
        for texts in text_counts.values
    )
    several = int((np.bincount(households, weights=text_counts.counts * named[households]) > 1).sum())
    alone = (np.bincount(households) == 1)[households] & (np.bincount(values) == 1)[values]
    tied = alone & told[values] & named[households] & (text_counts.counts > 1)
    return int(tied.sum()) / several if several else 0.0


def undone_swaps(plan: Plan, source: Engine, rows: int) -> tuple[str, ...]:
    """Return a warning on published columns that reveal where swapped households come from, as towns reveal regions."""
    swapped = [name for name, column in plan.columns.items() if isinstance(column.perturbation, SwapHouseholds)]
    if not swapped or rows > _MOST_ROWS:
        return ()
    beside = (*plan.quasi_identifiers, *other_columns(plan))
    plain = [name for name in beside if plan.columns[name].perturbation is None and name not in swapped]
    return tuple(
        (Message("note.undone_swaps", region=region, name=name))
        for region in swapped
        for name in plain
        if _is_nested(source, plan, name, region)
    )


def _is_nested(source: Engine, plan: Plan, name: str, region: str) -> bool:
    """Return whether each value of a column occurs in one region only, in too many rows for this to be chance."""
    text_counts = source.count((name, region), reading_of(plan))
    values, regions = text_counts.codes.T
    present = np.array(
        [value_of(text, plan.data.missing) is not None for text in text_counts.values[0]] or [False], bool
    )
    kept = present[values]
    sizes = np.bincount(values[kept], weights=text_counts.counts[kept])
    sizes, places = sizes[sizes > 0], np.bincount(values[kept])
    many = len(sizes) > 1 and float(sizes.mean()) >= _FEWEST_NESTED and len(np.unique(regions[kept])) > 1
    return bool(many and places.max(initial=0) == 1)


def risks_of_persons(plan: Plan) -> tuple[str, ...]:
    """Return a note if the risks count persons."""
    return () if plan.person is None else (Message("note.risks_of_persons"),)


def inferring_columns(disclosed: Disclosure, rows: int) -> tuple[str, ...]:
    """Return a warning on published columns that make most rows unique, because no privacy model covers them."""
    worst = disclosed.most_telling
    if worst is None or worst.rows <= _MOST_UNIQUE * rows:
        return ()
    names = " and ".join(f'"{name}"' for name in worst.columns)
    return (Message("note.telling", names=names, worst=worst.rows, rows=rows),)


def matching_values(measures: Measures) -> tuple[str, ...]:
    """Return a note on the risks if missing values match every value."""
    matching = measures.risk.get("matching")
    if matching is None:
        return ()
    highest = matching["after"]["highest"]
    return (Message("note.matching_values", risk=highest),)


def order_remarks(plan: Plan) -> tuple[str, ...]:
    """Return notes on the order of the published rows."""
    if plan.output.order == "keep":
        return (Message("note.order_kept"),)
    if plan.seed is not None:
        return (Message("note.seed_named"),)
    return ()
