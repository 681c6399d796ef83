"""The frequency table: all distinct combinations of quasi-identifier values, coded, with their counts.

It also holds the counts of sensitive values. Only this module decides what a missing or an invalid value is; engines
deliver texts.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies.hierarchy import Codes, Hierarchy
from sfumato.hierarchies.lists import SuppressAll
from sfumato.hierarchies.spellings import one_spelling, plain_text
from sfumato.hierarchies.types import canonical
from sfumato.microdata.counts import kernels
from sfumato.microdata.counts.combinations import Packing, Words, packing_of
from sfumato.microdata.data_plan import OnInvalid
from sfumato.microdata.models.equivalence_classes import Counts, EquivalenceClasses, Floats, Histogram, histogram
from sfumato.microdata.plan.model import ColumnPlan, Plan
from sfumato.values import Value, field, replace

DROPPED = -1


class ValueCounts(Value):
    """Value counts from an engine: the distinct combinations of columns as texts, and their number of rows.

    Attributes:
        columns: The columns counted.
        values: For each column, its distinct texts; None is the missing value.
        codes: For each combination and column, the index of its text. Shape (combinations, columns).
        counts: For each combination, its rows.
        rows: All rows of the source, including dropped ones.
    """

    columns: tuple[str, ...]
    values: tuple[tuple[str | None, ...], ...]
    codes: npt.NDArray[np.int32]
    counts: Counts
    rows: int


class Coding(Value, dict=True):
    """Map from the texts of a column to value codes of its hierarchy; `DROPPED` marks a text whose rows are dropped."""

    texts: tuple[str | None, ...]
    codes: Codes
    ladder: Hierarchy

    @cached_property
    def places(self) -> dict[str | None, int]:
        return {text: int(code) for text, code in zip(self.texts, self.codes, strict=True)}


class InvalidValues(Value):
    """Texts of a column that its type or hierarchy does not accept."""

    column: str
    texts: tuple[str, ...]


class HouseholdRisks(Protocol):
    """Interface that computes household risks from row risks (counts/survey_sample.py)."""

    def risks(self, risks: Floats) -> tuple[Floats, Counts]: ...


class Sample(Value):
    """The survey sample behind the rows: weights of combinations in millionths, households, and rows of weight 0."""

    weights: Counts | None = None
    households: HouseholdRisks | None = None
    zero_rows: int = 0


class FrequencyTable(Value, dict=True):
    """The distinct combinations of quasi-identifiers, sorted by their codes.

    Attributes:
        columns: The quasi-identifiers.
        codings: For each of them, the codes of its texts and its hierarchy.
        codes: Value codes, shape (combinations, columns).
        counts: Rows of each combination.
        sensitive: For each sensitive column with a model, the value counts of each combination.
        sensitive_values: The texts behind the codes of each sensitive column.
        spellings: For each sensitive column the code of each original text; spelling variants share a code.
        dropped_rows: Rows dropped because of a missing or invalid value, as the plan says.
        population: The population table, coded in the same way, if a model needs it.
        persons: The persons of each combination, if there is a person column (models/persons.py).
        sample: The weights and households of the rows, if columns hold these.
    """

    columns: tuple[str, ...]
    codings: tuple[Coding, ...]
    codes: npt.NDArray[np.int32]
    counts: Counts
    sensitive: Mapping[str, Histogram]
    sensitive_values: Mapping[str, tuple[str | None, ...]]
    dropped_rows: int = 0
    population: "FrequencyTable | None" = None
    spellings: Mapping[str, Mapping[str | None, int]] = field(default_factory=dict)
    persons: Mapping[str, Histogram] = field(default_factory=dict)
    sample: Sample | None = None

    @cached_property
    def ladders(self) -> tuple[Hierarchy, ...]:
        return tuple(coding.ladder for coding in self.codings)

    @cached_property
    def rows(self) -> int:
        return int(self.counts.sum())

    def holding(self, names: Sequence[str]) -> "FrequencyTable":
        """Return the same table with only some of its sensitive columns."""
        if tuple(self.sensitive) == tuple(names):
            return self
        return replace(
            self,
            sensitive={name: self.sensitive[name] for name in names},
            sensitive_values={name: self.sensitive_values[name] for name in names},
        )

    @cached_property
    def whole(self) -> EquivalenceClasses:
        """The original table as equivalence classes, one per combination."""
        return EquivalenceClasses(self.counts, {**self.sensitive, **self.persons})

    def value_count(self, place: int) -> int:
        """Return the number of distinct values of a column, without missing values."""
        rows = self.marginal(place)
        return sum(value is not None and bool(rows[code]) for code, value in enumerate(self.ladders[place].values))

    def marginal(self, column: int) -> Counts:
        """Return rows of each value of a column."""
        if column not in self._marginals:
            size = self.ladders[column].size
            self._marginals[column] = kernels.marginal(self.codes, self.counts, column, size)
        return self._marginals[column]

    def codes_of(self, name: str) -> dict[str | None, int]:
        """Return the code of each text of a sensitive column, and of the missing value if it occurs.

        When persons are counted, every text that means "missing" was replaced by the missing value.
        """
        values = self.sensitive_values[name]
        return ({None: values.index(None)} if None in values else {}) | dict(self.spellings[name])

    @cached_property
    def _marginals(self) -> dict[int, Counts]:
        """Cache of marginal counts."""
        return {}


def tabulate(text_counts: ValueCounts, plan: Plan) -> tuple[FrequencyTable, tuple[InvalidValues, ...]]:
    """Build the frequency table from value counts; also return the texts that were not accepted."""
    names = plan.quasi_identifiers
    coded = [
        code_column(text_counts.values[text_counts.columns.index(name)], plan.columns[name], plan) for name in names
    ]
    rejected = tuple(InvalidValues(name, texts) for name, (_, texts) in zip(names, coded, strict=True) if texts)
    table, untyped = table_of(text_counts, tuple(coding for coding, _ in coded), plan)
    return table, (*rejected, *untyped)


def table_of(
    text_counts: ValueCounts, codings: tuple[Coding, ...], plan: Plan
) -> tuple[FrequencyTable, tuple[InvalidValues, ...]]:
    """Build the frequency table from value counts with given codings; also return the texts that do not fit.

    Sensitive values are those that are published: the canonical text of the type, transformed by the operations
    of `publish`.
    """
    read = text_counts
    text_counts, untyped = typed(text_counts, plan)
    text_counts, unpublished = _published(text_counts, plan)
    table = with_codings(text_counts, codings, plan)
    spellings = {name: _spellings(name, read, text_counts, table, plan) for name in table.sensitive}
    return replace(table, spellings=spellings), (*untyped, *unpublished)


def tables_of(text_counts: ValueCounts, plan: Plan) -> tuple[FrequencyTable, FrequencyTable]:
    """Return the frequency table of sensitive values as published, and the one of the values as read."""
    places = map(text_counts.columns.index, plan.quasi_identifiers)
    columns = zip(places, plan.quasi_identifiers, strict=True)
    codings = tuple(code_column(text_counts.values[place], plan.columns[name], plan)[0] for place, name in columns)
    text_counts, _ = typed(text_counts, plan)
    return with_codings(_published(text_counts, plan)[0], codings, plan), with_codings(text_counts, codings, plan)


def _spellings(
    name: str, read: ValueCounts, text_counts: ValueCounts, table: FrequencyTable, plan: Plan
) -> dict[str | None, int]:
    """Return the code of each text of a sensitive column, for the texts as read."""
    place = text_counts.columns.index(name)
    codes = {text: code for code, text in enumerate(table.sensitive_values[name])}
    forms = values_of(text_counts.values[place], plan.data.missing)
    return {text: codes[form] for text, form in zip(read.values[place], forms, strict=True)}


def typed(text_counts: ValueCounts, plan: Plan) -> tuple[ValueCounts, tuple[InvalidValues, ...]]:
    """Return value counts with canonical texts in columns with a model, and the texts that do not have their type.

    `7` and `007` of an integer column are one value to a data user, and so are `HIV` and `hiv ` of a
    text column; privacy models therefore treat them as one.
    """
    values, rejected = list(text_counts.values), []
    for name in plan.promise_columns:
        column = plan.columns[name]
        if name not in text_counts.columns or column.operations is not None:
            continue
        place = text_counts.columns.index(name)
        if column.type == "text":
            values[place] = _spelled(values[place], name, plan)
            continue
        present = [text for text in text_counts.values[place] if text is not None and text not in plan.data.missing]
        forms, wrong = canonical(present, column.type)
        forms_by_text = {text: form for text, form in zip(present, forms, strict=True) if form is not None}
        values[place] = tuple(forms_by_text.get(text, text) if text is not None else None for text in values[place])
        if wrong:
            rejected.append(InvalidValues(name, tuple(present[at] for at in wrong)))
    return replace(text_counts, values=tuple(values)), tuple(rejected)


def _spelled(texts: tuple[str | None, ...], name: str, plan: Plan) -> tuple[str | None, ...]:
    """Return the texts of a column with spelling variants of one value unified, if the plan says so."""
    if name not in plan.spelled_columns:
        return texts
    forms = one_spelling(text for text in values_of(texts, plan.data.missing) if text is not None)
    return tuple(text if text is None else forms.get(text, text) for text in texts)


def _published(text_counts: ValueCounts, plan: Plan) -> tuple[ValueCounts, tuple[InvalidValues, ...]]:
    """Return value counts with the texts that columns are published as, and the texts that cannot be transformed."""
    values, rejected = list(text_counts.values), []
    for name, column in plan.columns.items():
        if column.operations is None or name not in text_counts.columns:
            continue
        place = text_counts.columns.index(name)
        present = [text for text in values_of(values[place], plan.data.missing) if text is not None]
        published = column.operations.publish(present)
        if len(present) == len(values[place]) and all(published):
            values[place] = tuple(published)
            continue
        labels: dict[str | None, str | None] = dict(zip(present, published, strict=True))
        wrong = tuple(str(text) for text, label in labels.items() if label is None)
        rejected += [InvalidValues(name, wrong)] if wrong else []
        values[place] = tuple(labels.get(text) or text for text in values[place])
    return replace(text_counts, values=tuple(values)), tuple(rejected)


def with_codings(text_counts: ValueCounts, codings: tuple[Coding, ...], plan: Plan) -> FrequencyTable:
    """Build the frequency table from value counts with given codings."""
    names = plan.quasi_identifiers
    packing = packing_of([coding.ladder.size for coding in codings])
    keys = np.zeros((packing.words, len(text_counts.counts)), np.uint64)
    stays = np.ones(len(text_counts.counts), bool)
    for column, (name, coding) in enumerate(zip(names, codings, strict=True)):
        if not len(coding.codes):
            continue
        places = text_counts.codes[:, text_counts.columns.index(name)]
        keys[packing.word[column]] |= (coding.codes.astype(np.uint64) << packing.shift[column])[places]
        if (coding.codes == DROPPED).any():
            stays &= (coding.codes != DROPPED)[places]
    kept = np.flatnonzero(stays)
    return _grouped(names, codings, packing, keys[:, kept], kept, text_counts, plan)


def _grouped(
    names: tuple[str, ...],
    codings: tuple[Coding, ...],
    packing: Packing,
    keys: Words,
    kept: Counts,
    text_counts: ValueCounts,
    plan: Plan,
) -> FrequencyTable:
    """Build the frequency table from packed codes; combinations with the same codes are merged.

    Args:
        kept: The index of the counted combination of each key.
    """
    order = packing.order_of(keys)
    keys, kept = keys[:, order], kept[order]
    counts = text_counts.counts[kept]
    first = np.ones(len(kept), bool)
    first[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
    owners = np.cumsum(first) - 1
    sizes = np.bincount(owners, weights=counts, minlength=int(first.sum())).astype(np.int64)
    contents = {
        name: _content(name, text_counts, kept, owners, counts, len(sizes), plan) for name in plan.value_columns
    }
    return FrequencyTable(
        names,
        codings,
        packing.unpack(keys[:, first]),
        sizes,
        {name: entry[0] for name, entry in contents.items()},
        {name: entry[1] for name, entry in contents.items()},
        text_counts.rows - int(sizes.sum()),
    )


def _content(
    name: str, text_counts: ValueCounts, kept: Counts, owners: Counts, counts: Counts, classes: int, plan: Plan
) -> tuple[Histogram, tuple[str | None, ...]]:
    """Return the value counts of a sensitive column in each combination; missing values count as one value."""
    place = text_counts.columns.index(name)
    texts = values_of(text_counts.values[place], plan.data.missing)
    # In input order: the texts are mostly sorted already, so sorting would be wasted work.
    distinct = dict.fromkeys(texts)
    present = sorted(text for text in distinct if text is not None)
    domain: list[str | None] = [*present, *([None] if None in distinct else [])]
    if domain == texts:
        recode = np.arange(len(texts), dtype=np.int32)
    else:
        places = {text: code for code, text in enumerate(domain)}
        recode = np.array([places[text] for text in texts], np.int32)
    values = recode[text_counts.codes[kept, place]] if texts else np.zeros(0, np.int32)
    content = histogram(owners, values, counts, classes, max(len(domain), 1))
    return replace(content, texts=tuple(domain)), tuple(domain)


def values_of(texts: Iterable[str | None], missing: Sequence[str]) -> list[str | None]:
    """Return the values of the texts of a column with a model, as `value_of` does for each."""
    absent = {None, "", *missing}
    return [None if text in absent else text for text in texts]


def value_of(text: str | None, missing: Sequence[str]) -> str | None:
    """Return the value of a text of a column with a model; an empty text is missing, as CSV cannot distinguish them."""
    return None if not text or text in missing else text


def meaning_of(text: str | None, column: str, plan: Plan) -> str | None:
    """Return the canonical value of a text of a column with a model: the same for all spelling variants."""
    value = value_of(text, plan.data.missing)
    is_spelled = column in plan.spelled_columns and plan.columns[column].type == "text"
    return plain_text(value) if is_spelled and value is not None else value


def code_column(texts: Sequence[str | None], column: ColumnPlan, plan: Plan) -> tuple[Coding, tuple[str, ...]]:
    """Return the coding of a column's texts, and the texts that are not accepted."""
    missing = {None, *plan.data.missing}
    present = [text for text in texts if text is not None and text not in missing]
    forms, _ = canonical(present, column.type)
    accepted = list(dict.fromkeys(form for form in forms if form is not None))
    binding = (column.hierarchy or SuppressAll()).fit(accepted)
    outside = set(binding.rejected)
    forms_by_text = {text: None if form in outside else form for text, form in zip(present, forms, strict=True)}
    rejected = tuple(text for text in present if forms_by_text[text] is None)
    ladder = binding.hierarchy
    if plan.data.on_missing != "drop" and (
        len(present) < len(texts) or (rejected and plan.data.on_invalid == "missing")
    ):
        ladder = ladder.with_missing()
    codes = np.fromiter(
        (_code(text, forms_by_text, ladder, plan.data.on_invalid) for text in texts), np.int32, len(texts)
    )
    return Coding(tuple(texts), codes, ladder), rejected


def _code(text: str | None, forms_by_text: Mapping[str, str | None], ladder: Hierarchy, on_invalid: OnInvalid) -> int:
    """Return the code of a text: of its value, of the missing value, or `DROPPED`."""
    form = forms_by_text.get(text) if text is not None else None
    if form is not None:
        return ladder.places[form]
    if text in forms_by_text and on_invalid != "missing":
        return DROPPED
    return ladder.places.get(None, DROPPED)
