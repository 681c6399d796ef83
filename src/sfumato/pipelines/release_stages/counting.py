"""Count the rows of a plan into a frequency table, or report why they do not fit the plan."""

from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.engines.canonical_text import no_text
from sfumato.engines.engine import CountsPersons, Engine, MissingRules
from sfumato.engines.join_keys import PERSON
from sfumato.engines.sql import check_header
from sfumato.errors import DataError, InternalError, PlanError, did_you_mean, issue
from sfumato.hierarchies.hierarchy import HierarchyBuilder
from sfumato.hierarchies.spellings import meanings
from sfumato.hierarchies.types import canonical
from sfumato.localization.messages import Message
from sfumato.microdata.counts.frequency_table import FrequencyTable, InvalidValues, ValueCounts, tabulate, typed
from sfumato.microdata.counts.grouping import counted_by
from sfumato.microdata.counts.persons import PersonCount, with_persons
from sfumato.microdata.counts.survey_sample import Labels, weights_of_labels, with_households, with_weights
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.models.model import PrivacyModel
from sfumato.microdata.plan.model import REMOVED_ROLES, ColumnPlan, Plan, hierarchy_of, located
from sfumato.microdata.recoding.expected_counts import ExpectedCounts
from sfumato.microdata.recoding.reference import with_population, with_texts
from sfumato.pipelines.release_stages.published_columns import changed_texts
from sfumato.values import replace

if TYPE_CHECKING:
    pass


def reading_of(plan: Plan) -> MissingRules:
    """Return how missing values are read, as the plan requests."""
    names = tuple(name for name, column in plan.columns.items() if column.role not in REMOVED_ROLES)
    return MissingRules(plan.data.missing, names if plan.data.on_missing == "drop" else ())


def published_reading(plan: Plan, source: Engine) -> MissingRules:
    """Return how the published rows are read; for a subset, rows with another mark are dropped."""
    subset = plan.subset
    if subset is None:
        return reading_of(plan)
    texts = [text for text in source.count((subset.column,), MissingRules()).values[0] if text is not None]
    forms, _ = canonical(texts, plan.columns[subset.column].type)
    marks = [subset.value == (text if form is None else form) for text, form in zip(texts, forms, strict=True)]
    if not any(marks):
        raise PlanError("named-values.no_row_in_subset", column=subset.column).about(values=[subset.value])
    return MissingRules(tuple(text for text, marked in zip(texts, marks, strict=True) if not marked), (subset.column,))


# Up to this many rows and columns, all columns are counted once together.
MOST_AT_ONCE = 200_000
MOST_COLUMNS = 40
# Maximum number of codes kept for later counts.
MOST_KEPT = 20_000_000


class SharedCounts:
    """The counts of the original and published rows of a release.

    Attributes:
        rows: The approximate number of rows, or None if unknown.
    """

    def __init__(self, plan: Plan, source: Engine) -> None:
        together = (*plan.quasi_identifiers, *plan.value_columns, *other_columns(plan))
        self.rows = source.expected_rows()
        self._columns = tuple(dict.fromkeys(together)) if len(together) <= MOST_COLUMNS else ()
        self._kept: dict[tuple[int, MissingRules, tuple[str, ...]], ValueCounts] = {}
        self._free = MOST_KEPT

    def count(self, rows: Engine, columns: Sequence[str], reading: MissingRules) -> ValueCounts:
        """Count the rows of an engine by some columns, as the engine would."""
        few = self.rows is not None and self.rows <= MOST_AT_ONCE
        if not few or not set(columns) <= set(self._columns) or not set(self._columns) <= set(rows.columns):
            return self._once(rows, tuple(columns), reading, rows.count)
        whole = self._once(rows, self._columns, reading, rows.count)
        return self._once(rows, tuple(columns), reading, lambda names, _: counted_by(whole, names))

    def _once(
        self, rows: Engine, columns: tuple[str, ...], reading: MissingRules, count: Callable[..., ValueCounts]
    ) -> ValueCounts:
        """Return the counts by some columns, from earlier counts if available."""
        key = id(rows), reading, columns
        if key in self._kept:
            return self._kept[key]
        text_counts = count(columns, reading)
        if text_counts.codes.size <= self._free:
            self._free -= text_counts.codes.size
            self._kept[key] = text_counts
        return text_counts


def other_columns(plan: Plan) -> tuple[str, ...]:
    """Return the published columns that are no quasi-identifiers, including weights."""
    weights = (name for name in plan.named("weight") if name not in plan.removed_columns)
    return (*plan.shown_sensitive, *plan.named("insensitive"), *weights)


ROWS_SHOWN = 10
# Maximum number of leading zeros that a code may have lost.
MOST_ZEROS = 6


def check_columns(plan: Plan, columns: tuple[str, ...]) -> None:
    """Refuse a plan whose columns differ from those of the data."""
    check_header(plan.columns, columns)
    faults = [
        issue(f"columns.{name}", "the_data_have_no_such", hint=did_you_mean(name, columns))
        for name in plan.columns
        if name not in columns
    ]
    faults += [issue("columns", "the_column_of_the_data", column=name) for name in columns if name not in plan.columns]
    faults += [
        issue("output.intervals", "the_data_have_a_column", column=further)
        for pair in plan.bound_columns.values()
        for further in pair
        if further in columns or further == plan.output.class_column
    ]
    if plan.output.class_column in columns:
        faults.append(issue("output.class_column", "name_of_a_column"))
    if faults:
        raise PlanError.listing(faults, "columns")


def check_texts(plan: Plan, source: Engine) -> None:
    """Refuse a plan that uses columns without texts; such columns can only be removed.

    Raises:
        DataError: The plan uses such columns; the message names all of them.
    """
    read = [name for name, column in plan.columns.items() if column.role not in REMOVED_ROLES or column.is_pseudonymous]
    if textless := source.textless([name for name in source.columns if name in read]):
        raise no_text(*textless)


def frequency_table(plan: Plan, source: Engine, shared: SharedCounts | None = None) -> FrequencyTable:
    """Count and code the rows; refuse data that does not fit the plan.

    Args:
        shared: Counts kept for later stages; None if no stage counts again.
    """
    check_columns(plan, source.columns)
    check_texts(plan, source)
    columns, reading = (*plan.quasi_identifiers, *plan.value_columns), published_reading(plan, source)
    text_counts = source.count(columns, reading) if shared is None else shared.count(source, columns, reading)
    if not text_counts.rows:
        raise DataError("no-rows.the_data_have_no_rows")
    if plan.subset is not None:
        text_counts = replace(text_counts, rows=int(text_counts.counts.sum()))
    table, rejected = _tabulated(plan, text_counts, source)
    if plan.data.on_invalid != "error":
        rejected = tuple(entry for entry in rejected if entry.column not in plan.quasi_identifiers)
    if rejected:
        raise _invalid(source, rejected, plan)
    if not table.rows:
        raise DataError("no-rows.no_row_is_left")
    unnamed(plan, table)
    return with_sample(plan, source, with_person_counts(plan, source, table))


def with_sample(plan: Plan, source: Engine, table: FrequencyTable) -> FrequencyTable:
    """Return the table with the sampling weights and households of its rows, if the plan has such columns."""
    reading = published_reading(plan, source)
    if plan.weight is not None and plan.person is None:  # weights are those of rows
        text_counts = _as_published(plan, source.count((*plan.quasi_identifiers, plan.weight), reading))
        table = with_weights(table, text_counts, plan.data.missing)
    if plan.household is not None:
        text_counts = source.count((*plan.quasi_identifiers, plan.household), reading)
        table = with_households(table, text_counts, plan.data.missing)
    return table


def _as_published(plan: Plan, text_counts: ValueCounts) -> ValueCounts:
    """Return the counts with weights, the last column, as they are published: data users compute risks from these.

    Raises:
        DataError: Some weights are rounded to 0.
    """
    rounding = plan.columns[plan.weight or ""].operations
    if rounding is None:
        return text_counts
    texts = [text or "" for text in text_counts.values[-1]]
    shown = [text if label is None else label for text, label in zip(texts, rounding.publish(texts), strict=True)]
    if any(label == "0" != text for text, label in zip(texts, shown, strict=True)):
        raise DataError("weight.column_rounded_to_some_weights", column=plan.weight, step=rounding.round).about(
            column=plan.weight
        )
    return replace(text_counts, values=(*text_counts.values[:-1], tuple(shown)))


def published_weights(plan: Plan, published: Engine) -> dict[Labels, int] | None:
    """Return the sum of weights of each combination of labels, or None if weights are not published."""
    if plan.weight is None or plan.person is not None:
        return None
    if plan.weight in plan.removed_columns or plan.weight not in published.columns:
        return None
    text_counts = published.count((*plan.quasi_identifiers, plan.weight), MissingRules(plan.data.missing))
    return weights_of_labels(text_counts, plan.data.missing)


def with_person_counts(plan: Plan, source: Engine, table: FrequencyTable) -> FrequencyTable:
    """Return the table with the persons of its rows, if the plan has a person column.

    Raises:
        DataError: Some rows name no person.
    """
    if plan.person is None:
        return table
    respelled = {name for name in plan.spelled_columns if changed_texts(plan, table, name)}
    entries = person_counts(plan, source, plan.person, reading_of(plan), respelled)
    if any(entry.nameless for entry in entries.values()):
        raise DataError("no-person", column=plan.person).about(column=plan.person)
    return with_persons(table, entries)


def published_persons(plan: Plan, published: Engine) -> dict[str | None, PersonCount] | None:
    """Return the persons of the published rows, or None without a person column."""
    if plan.person is None:
        return None
    entries = person_counts(
        plan, published, plan.person if plan.publishes_keys else PERSON, MissingRules(plan.data.missing)
    )
    return {name: replace(entry, text_counts=typed(entry.text_counts, plan)[0]) for name, entry in entries.items()}


def person_counts(
    plan: Plan, source: Engine, person: str, reading: MissingRules, respelled: Collection[str] = ()
) -> dict[str | None, PersonCount]:
    """Count the persons of each combination, and those with each value of the columns with privacy models.

    Args:
        respelled: Columns in which several texts of the rows are one value.
    """
    names = plan.quasi_identifiers
    entries: dict[str | None, PersonCount] = {None: source.count_persons(names, person, None, reading)}
    for value in dict.fromkeys(model.column for model in plan.privacy if model.column):
        # If a value is written in several ways, persons are counted only after its texts are merged.
        one_way = (
            plan.columns[value].type == "text" and plan.columns[value].operations is None and value not in respelled
        )
        count = source.count_persons if one_way else partial(CountsPersons.count_persons, source)
        entries[value] = count(names, person, value, reading)
    return entries


def unnamed(plan: Plan, table: FrequencyTable) -> tuple[Message, ...]:
    """Return notes on values that models name but the data lacks; it is an error if all are lacking."""
    lacking = [(model, absent(model, table)) for model in plan.privacy]
    return tuple(
        Message("note.values_lacking", count=number, model=model.name, column=model.column or "")
        for model, number in lacking
        if number
    )


def _tabulated(
    plan: Plan, text_counts: ValueCounts, source: Engine
) -> tuple[FrequencyTable, tuple[InvalidValues, ...]]:
    """Return the frequency table, including the population if a model requires it."""
    listed = next((model.population_table for model in plan.privacy if model.population_table), None)
    if listed is not None:
        population, missing = counted_population(listed, plan), listed.missing
    elif plan.subset is not None:
        population, missing = source.count(plan.quasi_identifiers, reading_of(plan)), plan.data.missing
    else:
        return tabulate(text_counts, located(plan))
    table, rejected = tabulate(with_texts(text_counts, population, missing), located(plan))
    own = [
        InvalidValues(entry.column, tuple(text for text in entry.texts if text in text_counts.values[place]))
        for entry in rejected
        for place in [text_counts.columns.index(entry.column)]
    ]
    return with_population(table, population, missing), tuple(entry for entry in own if entry.texts)


def counted_population(listed: DataPlan, plan: Plan) -> ValueCounts:
    """Count the population by the quasi-identifiers, with the engine that fits its file."""
    from sfumato.engines.duckdb.engine import DuckDBEngine

    columns = plan.quasi_identifiers
    table = replace(listed, codes=plan.source_data.codes)
    with closing(DuckDBEngine(Path(table.source or ""), table)) as engine:
        absent = [name for name in columns if name not in engine.columns]
        if absent:
            raise PlanError("population.lacks_columns", names=", ".join(f'"{name}"' for name in absent))
        return engine.count(columns, MissingRules())


def _invalid(source: Engine, rejected: tuple[InvalidValues, ...], plan: Plan) -> DataError:
    """Return the error for values that a type or hierarchy rejects; its attributes have the values and rows.

    A checked column is published unchanged or as `publish` requests; its invalid values are not made missing or
    dropped.
    """
    checked = [plan.columns[entry.column] for entry in rejected if entry.column in plan.checked_columns]
    do: Message | None = None
    parts: list[Message] = []
    rows: list[int] = []
    values: list[str] = []
    for column in rejected:
        places = source.locate(column.column, column.texts, ROWS_SHOWN)
        shown = ", ".join(map(str, places)) + (", …" if len(places) == ROWS_SHOWN else "")
        name = column.column
        parts.append(Message("error.data.invalid-value.rows", column=name, count=len(column.texts), rows=shown))
        if lost_zeros(hierarchy_of(plan, name), column.texts):
            parts.append(Message("error.data.invalid-value.lost_zeros"))
            do = Message("hint.read_as_text", column=name)
        rows.extend(places)
        values.extend(column.texts)
    return DataError(
        "invalid-value", message=Message("sentences", parts=tuple(parts)), hint=do or _mending(checked)
    ).about(values=values, column=rejected[0].column, rows=rows)


def _mending(checked: Sequence[ColumnPlan]) -> Message:
    """Return the hint for invalid values, given the checked columns among those affected."""
    if any(column.operations for column in checked):
        return Message("hint.correct_or_unset_publish")
    return Message("hint.correct_or_unset_type" if checked else "hint.correct_or_on_invalid")


def lost_zeros(hierarchy: HierarchyBuilder | None, texts: Sequence[str]) -> bool:
    """Return whether all rejected values are accepted with leading zeros, as of codes read as numbers."""
    if hierarchy is None or not all(text.isascii() and text.isdigit() for text in texts):
        return False
    longest = max(map(len, texts))
    return any(
        not hierarchy.fit([text.zfill(width) for text in dict.fromkeys(texts)]).rejected
        for width in range(longest + 1, longest + MOST_ZEROS)
    )


def absent(model: PrivacyModel, table: FrequencyTable) -> int:
    """Return how many of the values that a model names are not in the data.

    Raises:
        PlanError: None of them is, so the model would protect nothing.
    """
    if model.lists_all_values or not model.listed_values or model.column is None:
        return 0
    texts = {text for text in table.sensitive_values[model.column] if text is not None}
    every = {*texts, *model.listed_values}
    meaning = meanings(every) if model.ignores_spelling else {text: text for text in every}
    present = {meaning[text] for text in texts}
    lacking = [text for text in model.listed_values if meaning[text] not in present]
    if len(lacking) == len(model.listed_values):
        raise PlanError("named-values.value_not_in_column", name=model.name, column=model.column).about(values=lacking)
    return len(lacking)


def recount(published: Engine, prediction: ExpectedCounts, shared: SharedCounts | None = None) -> ValueCounts:
    """Count the published rows again.

    Args:
        shared: Keeps the counts for later stages.

    Raises:
        InternalError: The counts differ from the expected ones.
    """
    columns = (*prediction.columns, *prediction.sensitive)
    text_counts = (
        published.count(columns, MissingRules()) if shared is None else shared.count(published, columns, MissingRules())
    )
    difference = prediction.difference(text_counts)
    if difference:
        raise InternalError("recount.written_differently", problem=difference)
    return text_counts
