"""The measures computed for every release: risk before and after, contributions to it, and utility."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.hierarchies.hierarchy import make_hierarchy
from sfumato.microdata.counts.count_differences import numbers_of
from sfumato.microdata.counts.frequency_table import Coding, FrequencyTable
from sfumato.microdata.counts.grouping import Grouper, Node
from sfumato.microdata.counts.missing_matches import matching_rows
from sfumato.microdata.counts.survey_sample import weighted_view
from sfumato.microdata.measures import risk_contribution
from sfumato.microdata.measures.minimal_uniques import outliers
from sfumato.microdata.measures.risk import THRESHOLD, attacker, prosecutor
from sfumato.microdata.measures.risk_overview import distribution, hiding
from sfumato.microdata.measures.sample_risk import published_classes, raw_classes, sample_risk
from sfumato.microdata.measures.uniques.special_uniques import SpecialUniques, special_uniques
from sfumato.microdata.measures.utility import utility
from sfumato.microdata.models.equivalence_classes import Counts, histogram
from sfumato.microdata.models.model import is_global
from sfumato.microdata.models.persons import PERSONS, persons_in
from sfumato.microdata.plan.methods import LocalSuppression
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.population import persons_by_label, with_persons
from sfumato.microdata.recoding.recoding import LevelRecoding, Recoding, published_labels

# Limit of the work on contributions and unique rows, in every release.
MAX_WORK = 10_000_000


@dataclass(frozen=True, slots=True)
class Measures:
    """All measures of a release, as plain values."""

    risk: Mapping[str, Mapping[str, Any]]
    utility: Mapping[str, Any]


def measure_raw(table: FrequencyTable) -> dict[str, Mapping[str, Any]]:
    """Compute the measures that are known before publication: contributions to the risk of the original rows."""
    special = special_uniques(table, work=MAX_WORK)
    rare = outliers(table, MAX_WORK, special)
    return {
        "contribution": _contributions(table),
        "special_uniques": special.to_dict(),
        "outliers": {
            "singled_out_by_columns": list(rare.by_columns),
            "singled_out_by_more": rare.more,
            "singled_out_alone_by": dict(rare.columns),
        },
    }


def measure(plan: Plan, table: FrequencyTable, recoding: Recoding, raw: Mapping[str, Mapping[str, Any]]) -> Measures:
    """Measure a release.

    The risks are computed with a missing value as a value of its own, which is the higher one: a few blank rows would
    make any table look safe. If the plan lets it match anything, the risks of that reading are added. If a
    column identifies persons, the risk of a row is 1 / persons of its class.

    Args:
        raw: The measures of the original rows.
    """
    sizes, matches = published_sizes(plan, recoding)
    members, published = members_of(table, recoding) if table.persons else (table.counts, sizes)
    risk: dict[str, Mapping[str, Any]] = {
        "before": _figures(table.counts, members),
        "after": _figures(sizes, published) | _journalist(table, recoding),
        "contribution": raw["contribution"],
        "special_uniques": raw["special_uniques"],
        "special_uniques_after": published_uniques(recoding, raw["special_uniques"]["fraction"], MAX_WORK).to_dict(),
        "outliers": raw["outliers"],
        "forcing": forcing(plan, weighted_view(table), recoding, MAX_WORK),
    }
    if table.sample is not None:
        risk["sample"] = _sample(plan, table, recoding)
    if plan.data.on_missing == "any" or isinstance(plan.method, LocalSuppression):
        hidden = hiding(table, "any")
        risk["matching"] = {"before": _figures(table.counts, hidden), "after": _figures(sizes, matches)}
    return Measures(risk, utility(plan, table, recoding).to_dict())


def members_of(table: FrequencyTable, recoding: Recoding) -> tuple[Counts, Counts]:
    """Return the persons of each combination and of each published class, which define the class size."""
    persons = table.persons[PERSONS]
    owners = recoding.owners[persons.owners]
    classes = histogram(owners, persons.values, persons.counts, len(recoding.sizes), persons.size)
    return persons_in(persons), persons_in(classes)[~recoding.suppressed]


def published_sizes(plan: Plan, recoding: Recoding) -> tuple[Counts, Counts]:
    """Return the rows of each published class, and the effective class size."""
    kept = ~recoding.suppressed
    sizes, classes = recoding.sizes[kept], recoding.classes[kept]
    if plan.data.on_missing != "any" and not isinstance(plan.method, LocalSuppression):
        return sizes, sizes
    absent = {None, *plan.data.missing}
    columns = zip(recoding.labels, classes.T, strict=True)
    unknown = [np.array([label in absent for label in labels], bool)[codes] for labels, codes in columns]
    return sizes, matching_rows(classes, np.column_stack(unknown), sizes)


def _figures(sizes: Counts, matches: Counts) -> dict[str, Any]:
    """Return the prosecutor risk, and the distribution of class sizes, matching rows or persons."""
    found = distribution(sizes, matches)
    spread = {str(entry.size): entry.classes for entry in found}
    rows = {} if matches is sizes else {"rows_of_sizes": {str(entry.size): entry.rows for entry in found}}
    return prosecutor(sizes, matches=matches).to_dict() | {"sizes": spread} | rows


def _journalist(table: FrequencyTable, recoding: Recoding) -> dict[str, Any]:
    """Return the journalist's risk if the population is known; otherwise it equals the prosecutor's."""
    persons = persons_by_label(table, recoding)
    if persons is None:
        return {}
    kept = np.flatnonzero(~recoding.suppressed)
    sizes = recoding.sizes[kept]
    in_population = np.array([persons.get(published_labels(recoding, place), 0) for place in kept.tolist()], np.int64)
    risks = 1 / np.maximum(np.maximum(in_population, sizes), 1)
    return {"journalist": asdict(attacker(sizes, risks, prosecutor(sizes).threshold))}


def _sample(plan: Plan, table: FrequencyTable, recoding: Recoding) -> dict[str, Any]:
    """Return the risk by weights and households, before and after; nothing if rows are divided between classes."""
    before = sample_risk(table, raw_classes(table), THRESHOLD).to_dict()
    classes = published_classes(table, recoding, plan.data.missing)
    return {"before": before} | ({} if classes is None else {"after": sample_risk(table, classes, THRESHOLD).to_dict()})


def _contributions(table: FrequencyTable) -> dict[str, Any]:
    """Return the unique rows without each column, and at each of its levels, with all other columns unchanged."""
    return {
        "uniques": int((table.counts == 1).sum()),
        "without": {entry.column: entry.uniques for entry in risk_contribution.of_columns(table, MAX_WORK)},
        "steps": [asdict(entry) for entry in risk_contribution.of_steps(table, MAX_WORK)],
    }


# Only for recodings by levels; a class recoding generalizes each class separately. Columns at the `min_level` of the
# plan, and columns in which no row would violate a model, are not reported.
def forcing(plan: Plan, table: FrequencyTable, recoding: Recoding, work: int) -> dict[str, Any]:
    """Return for each generalized column the level below and the rows that would violate a model there.

    Args:
        work: Limit of the work on the frequency table; beyond it, nothing is returned.
    """
    if not isinstance(recoding, LevelRecoding) or plan.data.on_missing == "any":
        return {}
    if len(table.columns) * len(table.counts) > work:
        return {}
    grouper = Grouper(table)
    population = None if table.population is None else Grouper(table.population)
    entries = {}
    for column, (name, level) in enumerate(zip(table.columns, recoding.node, strict=True)):
        if level <= plan.columns[name].min_level:
            continue
        node = (*recoding.node[:column], level - 1, *recoding.node[column + 1 :])
        rows = _failing_rows(plan, table, grouper, population, node)
        if rows:
            entries[name] = {"level": level - 1, "rows": rows}
    return entries


def _failing_rows(plan: Plan, table: FrequencyTable, grouper: Grouper, population: Grouper | None, node: Node) -> int:
    """Return the rows in classes of a node that would violate a model."""
    grouped = grouper.rolled(grouper.base, node)
    classes = grouped.classes if population is None else with_persons(grouped, population.at(node))
    failing = np.zeros(len(classes.sizes), bool)
    for model in plan.privacy:
        if is_global(model):
            failing |= model.classes_to_suppress(classes)
        else:
            failing |= model.violating(classes, table.whole)
    return int(classes.sizes[failing].sum())


def published_uniques(recoding: Recoding, fraction: float, work: int) -> SpecialUniques:
    """Return the special uniques of the published classes, without suppressed ones.

    Args:
        fraction: Of the population that was sampled; work: limit of rows times sets of columns.
    """
    return special_uniques(published_table(recoding), fraction, work)


def published_table(recoding: Recoding) -> FrequencyTable:
    """Return the published classes as combinations of their labels, coded by the labels' numbers."""
    kept = ~recoding.suppressed & (recoding.sizes > 0)
    # A missing value has no label: it is the code before the first.
    codes, sizes = recoding.classes[kept] + 1, [len(labels) + 1 for labels in recoding.labels]
    owners, first = numbers_of(codes, sizes)
    counts = np.bincount(owners, weights=recoding.sizes[kept], minlength=len(first)).astype(np.int64)
    codings = tuple(_coding(size) for size in sizes)
    return FrequencyTable(recoding.columns, codings, np.ascontiguousarray(codes[first], np.int32), counts, {}, {})


def _coding(size: int) -> Coding:
    texts = tuple(map(str, range(size)))
    return Coding(texts, np.arange(size, dtype=np.int32), make_hierarchy(texts, []))
