"""Check each published column against its role in the plan, from the published rows alone."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from sfumato.engines.engine import Engine, Reading
from sfumato.hierarchies.label_bounds import bounds_of
from sfumato.hierarchies.spelling_variants import surplus, visible_texts
from sfumato.hierarchies.types import canonical
from sfumato.microdata.column_transforms.perturbation import Microaggregate, Pseudonym, jobs_of
from sfumato.microdata.column_transforms.transform_plan import PublishPlan
from sfumato.microdata.counts.frequency_table import TextCounts, value_of
from sfumato.microdata.missing_codes import code_texts
from sfumato.microdata.plan.model import ColumnPlan, Plan, RequestedPlan
from sfumato.microdata.pseudonyms.formats import shape_of
from sfumato.microdata.pseudonyms.tokens import is_token
from sfumato.microdata.recoding.recoding import STAR
from sfumato.microdata.verdict import Promise
from sfumato.pipelines.release_stages.shared_counts import other_columns

# What is promised of columns as they were read: their texts may break it, which is no fault of the release.
ONE_SPELLING, SHAPES = "one spelling of each value", "shapes of pseudonyms"
CountBy = Callable[[Sequence[str]], TextCounts]


def own_columns(plan: RequestedPlan) -> set[str | None]:
    """The columns that a release has in addition to those of the data."""
    return {plan.output.class_column, *(name for pair in plan.bound_columns.values() for name in pair)}


def unplanned(columns: Sequence[str], plan: Plan) -> tuple[str, ...]:
    """Columns that no plan knows: nobody has judged what they tell."""
    further = [name for name in columns if name not in plan.columns and name not in own_columns(plan)]
    return tuple(f'The column "{name}" is not in the plan: nobody has judged what it tells.' for name in further)


def column_promises(published: Engine, plan: Plan, count: CountBy | None = None) -> Iterator[Promise]:
    """For each published column what its role in the plan promises of it; quasi-identifiers are judged in classes.

    Args:
        count: Counts the rows by some columns; the engine itself by default.
    """
    count = count or (lambda columns: published.count(columns, Reading()))
    yield from _removed([name for name in plan.withheld_columns if name in published.columns], count)
    for name, column in plan.columns.items():
        if name in published.columns and name not in plan.withheld_columns:
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


def _as_planned(name: str, column: ColumnPlan, plan: Plan, count: CountBy) -> Iterator[Promise]:
    if column.blanks_codes:
        yield _without_codes(count, name, column.missing)
    if column.operations is not None:
        yield _changed(count, name, column.operations, plan)
    if isinstance(column.perturbation, Pseudonym) and column.perturbation.kind == "keyed":
        yield _pseudonymous(count, name, column.perturbation, plan)
    if isinstance(column.perturbation, Pseudonym):
        yield _shaped(count, name, plan)


def _spelled_once(published: Engine, plan: Plan, count: CountBy) -> Iterator[Promise]:
    """That no column writes a value in several ways: which one a row has could tell anything of it.

    Texts that differ in white space or in the form of their signs alone are one value, and so are those of one value of
    the column's type. Likely spellings are, too, in columns of guarantees, which are released in one spelling.
    """
    missing = {*plan.data.missing}
    for name in other_columns(plan):
        if name in published.columns and plan.columns[name].perturbation is None:
            texts = [text for text in count([name]).values[0] if text is not None and text not in missing]
            if several := _surplus(texts, name, plan):
                yield Promise(ONE_SPELLING, 0, several, False, name)


def _surplus(texts: Sequence[str], name: str, plan: Plan) -> int:
    """How many more texts a column has than values."""
    column, promised = plan.columns[name], name in plan.promise_columns
    one = name in plan.spelled_columns or (plan.data.spellings == "one" and not promised)
    if one and column.type != "text" and column.publish is None:
        forms, _ = canonical(texts, column.type)
        return len(texts) - len({text if form is None else form for text, form in zip(texts, forms, strict=True)})
    return surplus(texts) if one and promised else len(texts) - len(visible_texts(texts))


def _shaped(count: CountBy, name: str, plan: Plan) -> Promise:
    """That no pseudonym stands out by its shape: its length, and where it has letters, digits and other signs.

    The letters and digits of a keyed one are random: only its length shows.
    """
    k = plan.minimum_class_size
    shapes = Counter(len(text) if is_token(text) else shape_of(text) for text in _present(count, name, plan))
    fewest = min(shapes.values(), default=k)
    return Promise(SHAPES, k, fewest, len(shapes) < 2 or fewest >= k, name)


def _removed(names: Sequence[str], count: CountBy) -> Iterator[Promise]:
    """That columns of identifiers hold nothing but `*`."""
    texts = count(names).values if names else ()
    for name, values in zip(names, texts, strict=True):
        gone = all(value in (STAR, None) for value in values)
        yield Promise("identifier removed", 1, int(gone), gone, name)


def _without_codes(count: CountBy, name: str, codes: Sequence[str]) -> Promise:
    """That a column which is published as it is holds none of the codes that mean missing there."""
    gone = not {*code_texts(codes)} & {*count([name]).values[0]}
    return Promise("codes published as blanks", 1, int(gone), gone, name)


def _changed(count: CountBy, name: str, publish: PublishPlan, plan: Plan) -> Promise:
    """That a column holds nothing but what it may be published as."""
    texts = count([name]).values[0]
    fine = all(publish.keeps(str(text)) for text in texts if value_of(text, plan.data.missing) is not None)
    return Promise("published as planned", 1, int(fine), fine, name)


def _present(count: CountBy, name: str, plan: Plan) -> list[str]:
    """The texts of a column that are neither missing nor hidden."""
    texts = (value_of(text, plan.data.missing) for text in count([name]).values[0])
    return [text for text in texts if text is not None and text != STAR]


def _pseudonymous(count: CountBy, name: str, operation: Pseudonym, plan: Plan) -> Promise:
    """That a column holds nothing but what looks like keyed pseudonyms."""
    fine = all(map(is_token, _present(count, name, plan)))
    return Promise(operation.name, 1, int(fine), fine, name)


def _bounded(count: CountBy, name: str, pair: tuple[str, str]) -> Promise:
    """That columns of bounds tell nothing but the ends of the interval next to them."""
    text_counts = count((name, *pair))
    rows = (
        tuple(text_counts.values[place][code] for place, code in enumerate(codes))
        for codes in text_counts.codes.tolist()
    )
    fine = all(_numbers(row[1:]) == bounds_of(row[0]) for row in rows)
    return Promise("bounds as published", 1, int(fine), fine, name)


def _numbers(texts: Sequence[str | None]) -> tuple[float | None, ...]:
    """Ends as numbers; a text that is none is no end of anything."""
    try:
        return tuple(None if text is None else float(text) for text in texts)
    except ValueError:
        return ()


def _grouped(count: CountBy, names: Sequence[str], k: int) -> Promise:
    """That columns which were microaggregated together hold every combination of means k times; missing ones may be."""
    text_counts = count(names)
    there = [
        any(text_counts.values[at][code] is not None for at, code in enumerate(row))
        for row in text_counts.codes.tolist()
    ]
    smallest = int(text_counts.counts[np.array(there, bool)].min(initial=int(text_counts.counts.sum())))
    return Promise("microaggregated", k, smallest, smallest >= k, ", ".join(names))


def _numbered(count: CountBy, plan: Plan) -> Promise:
    """That the column of class numbers has one number for each class, and tells nothing else."""
    name = plan.output.class_column or ""
    numbers = count((*plan.quasi_identifiers, name))
    classes = len(np.unique(numbers.codes[:, :-1], axis=0))
    fine = classes == len(numbers.codes)
    return Promise("class numbers", 1, int(fine), fine, name)
