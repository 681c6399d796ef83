"""Check published columns against their role in the plan, and the longitudinal records that data users see."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from sfumato.engines.engine import Engine, MissingRules
from sfumato.errors import UnattainableError
from sfumato.hierarchies.label_bounds import bounds_of
from sfumato.hierarchies.spellings import surplus, visible_texts
from sfumato.hierarchies.types import canonical
from sfumato.localization.messages import Message, joined
from sfumato.microdata.counts.frequency_table import DROPPED, FrequencyTable, ValueCounts, value_of
from sfumato.microdata.counts.persons import all_persons, by_plain_keys, combinations_of, value_codes
from sfumato.microdata.data_plan import code_texts
from sfumato.microdata.models.equivalence_classes import EquivalenceClasses, histogram
from sfumato.microdata.models.persons import whole_by_persons
from sfumato.microdata.perturbation.plan import Microaggregate, Pseudonym, jobs_of
from sfumato.microdata.plan.model import ColumnPlan, Plan, RequestedPlan
from sfumato.microdata.pseudonyms import is_token, shape_of
from sfumato.microdata.publish_plan import PublishPlan
from sfumato.microdata.recoding.mapping import STAR, Recoding
from sfumato.microdata.verdict import Guarantee
from sfumato.pipelines.release_stages.counting import other_columns, reading_of

# Checks of columns as they were read; the original texts may violate them, which is no problem of the release.
ONE_SPELLING, SHAPES = "one spelling of each value", "shapes of pseudonyms"
CountBy = Callable[[Sequence[str]], ValueCounts]


def own_columns(plan: RequestedPlan) -> set[str | None]:
    """Return the columns that a release has in addition to those of the data."""
    return {plan.output.class_column, *(name for pair in plan.bound_columns.values() for name in pair)}


def unplanned(columns: Sequence[str], plan: Plan) -> tuple[str, ...]:
    """Return a sentence for each column that is not in the plan and therefore not evaluated."""
    further = [name for name in columns if name not in plan.columns and name not in own_columns(plan)]
    return tuple(Message("error.part.column_role", name=name) for name in further)


def column_promises(published: Engine, plan: Plan, count: CountBy | None = None) -> Iterator[Guarantee]:
    """Yield the checks that each published column must pass by its role; quasi-identifiers are checked by classes.

    Args:
        count: Counts the rows by some columns; by default the engine does.
    """
    count = count or (lambda columns: published.count(columns, MissingRules()))
    yield from _removed([name for name in plan.removed_columns if name in published.columns], count)
    for name, column in plan.columns.items():
        if name in published.columns and name not in plan.removed_columns:
            yield from _as_planned(name, column, plan, count)
    for name, pair in plan.bound_columns.items():
        if pair[0] in published.columns:
            yield _bounded(count, name, pair)
    for names, operation in jobs_of(plan.perturbations):
        if isinstance(operation, Microaggregate) and set(names) <= set(published.columns):
            yield _grouped(count, names, operation.k)
    if plan.output.class_column in published.columns:
        yield _numbered(count, plan)
    yield from _spelled_once(published, plan, count)


def _as_planned(name: str, column: ColumnPlan, plan: Plan, count: CountBy) -> Iterator[Guarantee]:
    if column.blanks_codes:
        yield _without_codes(count, name, column.missing)
    if column.operations is not None:
        yield _changed(count, name, column.operations, plan)
    if isinstance(column.perturbation, Pseudonym) and column.perturbation.kind == "keyed":
        yield _pseudonymous(count, name, column.perturbation, plan)
    if isinstance(column.perturbation, Pseudonym):
        yield _shaped(count, name, plan)


def _spelled_once(published: Engine, plan: Plan, count: CountBy) -> Iterator[Guarantee]:
    """Yield the columns that publish one value in several spellings, which could disclose something.

    Texts that differ only in white space or in the form of their characters are one value. So are texts of one value of
    the column's type, and likely spelling variants in columns with privacy models.
    """
    missing = {*plan.data.missing}
    for name in other_columns(plan):
        if name in published.columns:
            texts = [text for text in count([name]).values[0] if text is not None and text not in missing]
            if several := _surplus(texts, name, plan):
                yield Guarantee(ONE_SPELLING, 0, several, False, name)


def _surplus(texts: Sequence[str], name: str, plan: Plan) -> int:
    """Return how many more texts than values a column has."""
    column, promised = plan.columns[name], name in plan.promise_columns
    one = name in plan.spelled_columns or (plan.data.spellings == "one" and not promised)
    if one and column.type != "text" and column.operations is None:
        seen = [*visible_texts(texts)]
        forms, _ = canonical(seen, column.type)
        return len(texts) - len({text if form is None else form for text, form in zip(seen, forms, strict=True)})
    return surplus(texts) if one and promised else len(texts) - len(visible_texts(texts))


def _shaped(count: CountBy, name: str, plan: Plan) -> Guarantee:
    """Check that no pseudonym is rare by its shape: its length, and the positions of letters, digits and signs.

    The letters and digits of keyed pseudonyms are random, so only their length counts.
    """
    k = max(plan.minimum_class_size, 2)
    shapes = Counter(len(text) if is_token(text) else shape_of(text) for text in _present(count, name, plan))
    fewest = min(shapes.values(), default=k)
    return Guarantee(SHAPES, k, fewest, len(shapes) < 2 or fewest >= k, name)


def _removed(names: Sequence[str], count: CountBy) -> Iterator[Guarantee]:
    """Check that columns of identifiers contain either `*` in all rows or nothing: a mixture could disclose values."""
    texts = count(names).values if names else ()
    for name, values in zip(names, texts, strict=True):
        gone = len(values) < 2 and {*values} <= {STAR, None}
        yield Guarantee("identifier removed", 1, int(gone), gone, name)


def _without_codes(count: CountBy, name: str, codes: Sequence[str]) -> Guarantee:
    """Check that a column published unchanged contains none of the codes that mean missing in it."""
    gone = not {*code_texts(codes)} & {*count([name]).values[0]}
    return Guarantee("codes published as blanks", 1, int(gone), gone, name)


def _changed(count: CountBy, name: str, publish: PublishPlan, plan: Plan) -> Guarantee:
    """Check that a column contains only values that its coding may publish."""
    fine = all(map(publish.keeps, _present(count, name, plan)))
    return Guarantee("published as planned", 1, int(fine), fine, name)


def _present(count: CountBy, name: str, plan: Plan) -> list[str]:
    """Return the texts of a column that are neither missing nor suppressed."""
    texts = (value_of(text, plan.data.missing) for text in count([name]).values[0])
    return [text for text in texts if text is not None and text != STAR]


def _pseudonymous(count: CountBy, name: str, operation: Pseudonym, plan: Plan) -> Guarantee:
    """Check that a column contains nothing but keyed pseudonyms."""
    fine = all(map(is_token, _present(count, name, plan)))
    return Guarantee(operation.name, 1, int(fine), fine, name)


def _bounded(count: CountBy, name: str, pair: tuple[str, str]) -> Guarantee:
    """Check that the bound columns contain exactly the bounds of the published interval, written in one way."""
    text_counts = count((name, *pair))
    rows = (
        tuple(text_counts.values[place][code] for place, code in enumerate(codes))
        for codes in text_counts.codes.tolist()
    )
    once = len(text_counts.codes) == len({*text_counts.codes[:, 0].tolist()})
    fine = once and all(_numbers(row[1:]) == bounds_of(row[0]) for row in rows)
    return Guarantee("bounds as published", 1, int(fine), fine, name)


def _numbers(texts: Sequence[str | None]) -> tuple[float | None, ...]:
    """Return the bounds as numbers; empty if a text is not a number."""
    try:
        return tuple(None if text is None else float(text) for text in texts)
    except ValueError:
        return ()


def _grouped(count: CountBy, names: Sequence[str], k: int) -> Guarantee:
    """Check that every combination of means microaggregated together occurs k times, unless values are missing."""
    text_counts = count(names)
    there = [
        any(text_counts.values[at][code] is not None for at, code in enumerate(row))
        for row in text_counts.codes.tolist()
    ]
    smallest = int(text_counts.counts[np.array(there, bool)].min(initial=int(text_counts.counts.sum())))
    return Guarantee("microaggregated", k, smallest, smallest >= k, ", ".join(names))


def _numbered(count: CountBy, plan: Plan) -> Guarantee:
    """Check that the class column has exactly one number for each class."""
    name = plan.output.class_column or ""
    numbers = count((*plan.quasi_identifiers, name))
    classes = len(np.unique(numbers.codes[:, :-1], axis=0))
    fine = classes == len(numbers.codes)
    return Guarantee("class numbers", 1, int(fine), fine, name)


Ints = npt.NDArray[np.int64]


def check_longitudinal_records(plan: Plan, source: Engine, table: FrequencyTable, recoding: Recoding) -> None:
    """Refuse to publish keys by which persons could be distinguished.

    Published keys link all rows of a person. A person whose rows are each in a class of k persons may still be the only
    one with this combination of classes. Therefore the guarantees must also hold for the group of persons with the same
    longitudinal record, that is, with equally many rows in each class.
    """
    groups = _groups(plan, source, table, recoding)
    whole = whole_by_persons(table.whole)
    broken = [model.name for model in plan.privacy if bool(model.violating(groups, whole).any())]
    if broken:
        raise UnattainableError("fingerprint", asked=joined(broken))


def _groups(plan: Plan, source: Engine, table: FrequencyTable, recoding: Recoding) -> EquivalenceClasses:
    """Return persons with identical longitudinal records as classes."""
    person, reading = plan.person or "", reading_of(plan)
    text_counts = by_plain_keys(source.count((*plan.quasi_identifiers, person), reading))
    owners = combinations_of(table, text_counts)
    classes = np.where(owners == DROPPED, DROPPED, recoding.owners[np.maximum(owners, 0)])
    shown = classes != DROPPED
    if plan.output.suppressed == "star":
        classes = np.where(shown & recoding.suppressed[np.maximum(classes, 0)], len(recoding.sizes), classes)
    else:
        shown &= ~recoding.suppressed[np.maximum(classes, 0)]
    names, codes = text_counts.values[-1], text_counts.codes[:, -1]
    prints = _prints(
        codes[shown].astype(np.int64), classes[shown].astype(np.int64), text_counts.counts[shown], len(names)
    )
    group_of = {name: int(group) for name, group in zip(names, prints, strict=True)}
    sizes = np.bincount(prints[prints >= 0], minlength=int(prints.max(initial=-1)) + 1).astype(np.int64)
    contents = {}
    for name in dict.fromkeys(model.column for model in plan.privacy if model.column):
        valued = by_plain_keys(source.count((*plan.quasi_identifiers, name, person), reading))
        entry = all_persons(valued)
        groups = np.array([group_of.get(one, DROPPED) for one in valued.values[-1]] or [DROPPED], np.int64)
        owner, value = groups[entry.persons], value_codes(entry.text_counts, name, table.codes_of(name))
        size = max(len(table.sensitive_values[name]), 1)
        triples = np.unique(np.column_stack([owner, value, entry.persons])[owner >= 0], axis=0)
        ones = np.ones(len(triples), np.int64)
        contents[name] = histogram(triples[:, 0], triples[:, 1].astype(np.int32), ones, len(sizes), size)
    return EquivalenceClasses(sizes, contents, counts_persons=True)


def _prints(persons: Ints, classes: Ints, rows: Ints, many: int) -> Ints:
    """Return the number of each person's longitudinal record, which has the rows per class; -1 without rows."""
    order = np.lexsort((classes, persons))
    persons, classes, rows = persons[order], classes[order], rows[order]
    numbers: dict[tuple[bytes, bytes], int] = {}
    prints = np.full(many, -1, np.int64)
    starts = np.flatnonzero(np.append(True, persons[1:] != persons[:-1])) if len(persons) else np.zeros(0, np.int64)
    for start, end in zip(starts.tolist(), np.append(starts[1:], len(persons)).tolist(), strict=True):
        merged, added = _merged(classes[start:end], rows[start:end])
        prints[persons[start]] = numbers.setdefault((merged.tobytes(), added.tobytes()), len(numbers))
    return prints


def _merged(classes: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Merge the combinations of one class."""
    unique, places = np.unique(classes, return_inverse=True)
    return unique, np.bincount(places, weights=rows).astype(np.int64)
