"""Longitudinal records: all rows of a person together, which data users see if persons have keys.

A person whose rows are in classes of k persons each may still be the only one with just these rows. So if keys are
published, guarantees must hold for the persons who share all their rows: as many of each class.
"""

import numpy as np
import numpy.typing as npt

from sfumato.engines.engine import Engine
from sfumato.errors import UnattainableError
from sfumato.microdata.counts.frequency_table import DROPPED, FrequencyTable
from sfumato.microdata.counts.persons import all_persons, by_plain_keys, combinations_of, value_codes
from sfumato.microdata.models.equivalence_classes import EquivalenceClasses, histogram
from sfumato.microdata.models.persons import whole_by_persons
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.recoding import Recoding
from sfumato.pipelines.release_stages.missing_rules import reading_of

Ints = npt.NDArray[np.int64]


def check_longitudinal_records(plan: Plan, source: Engine, table: FrequencyTable, recoding: Recoding) -> None:
    """Refuse to publish keys by which persons could be distinguished."""
    groups = _groups(plan, source, table, recoding)
    whole = whole_by_persons(table.whole)
    broken = [model.name for model in plan.privacy if bool(model.violating(groups, whole).any())]
    if broken:
        raise UnattainableError("fingerprint", asked=" and ".join(broken))


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
