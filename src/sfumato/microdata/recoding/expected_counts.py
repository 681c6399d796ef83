"""Expected counts: what the published rows must count to if the recoding was applied correctly.

These are the rows of each published combination of quasi-identifiers and, for each sensitive column with a model, the
rows of each combination with each of its values.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from sfumato.microdata.counts.combinations import CountDifference, numbers_of
from sfumato.microdata.counts.frequency_table import FrequencyTable, ValueCounts, typed, value_of
from sfumato.microdata.counts.persons import person_view
from sfumato.microdata.models.equivalence_classes import BoolArray, Counts, EquivalenceClasses, Histogram, histogram
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.mapping import STAR, ClassRecoding, Division, Labels, Recoding, SuppressionHandling
from sfumato.values import Value, field

NOWHERE = -1
Node = Labels | int


# The rows of a divided combination are assigned to its classes at random, row by row, and a frequency table does not
# know rows. For columns that the division does not use, only the counts of values over all these classes together can
# be expected.
class SharedCombinations(Value):
    """Groups of published combinations with shared rows, by number.

    Attributes:
        numbers: The group of each published combination that is in one.
        classes: The pool of each class, or NOWHERE.
        leaky: Which groups have rows that are not shown, so that only upper bounds of their counts are known.
    """

    numbers: Mapping[Labels, int]
    classes: Counts
    leaky: BoolArray

    def foretell(self, recoding: Recoding, content: Histogram, values: Labels) -> CountDifference:
        """Return the expected rows of each group with each value, including those that are not shown."""
        pools = self.classes[recoding.owners[content.owners]]
        inside = pools != NOWHERE
        codes = np.column_stack([pools[inside], content.values[inside].astype(np.int64)])
        return CountDifference((self._texts, (*values, STAR)), codes, content.counts[inside])

    def parted(self, recount: CountDifference) -> tuple[CountDifference, CountDifference]:
        """Split a recount by a last column of values: combinations in no group, and groups."""
        sizes = [len(texts) for texts in recount.texts[:-1]]
        owners, first = numbers_of(recount.codes[:, :-1], sizes)
        labels = (
            tuple(texts[code] for texts, code in zip(recount.texts[:-1], codes, strict=True))
            for codes in recount.codes[first, :-1].tolist()
        )
        pools = np.array([self.numbers.get(entry, NOWHERE) for entry in labels] or [NOWHERE], np.int64)[owners]
        inside = pools != NOWHERE
        codes = np.column_stack([pools[inside], recount.codes[inside, -1]])
        outside = CountDifference(recount.texts, recount.codes[~inside], recount.rows[~inside])
        return outside, CountDifference((self._texts, recount.texts[-1]), codes, recount.rows[inside])

    def differing(self, prediction: CountDifference, recount: CountDifference) -> int:
        """Return the number of values with other rows in a group than expected; in leaky groups, with more rows."""
        wrong = 0
        for leaky in (False, True):
            here, there = (_kept(tally, self.leaky[tally.codes[:, 0]] == leaky) for tally in (prediction, recount))
            wrong += here.exceeded(_without_veil(there)) if leaky else here.differing(there)
        return wrong

    @property
    def _texts(self) -> tuple[str, ...]:
        return tuple(map(str, range(len(self.leaky))))


def pools_of(division: Division, labels: Sequence[Labels], visible: BoolArray) -> SharedCombinations:
    """Return the groups of a division.

    Args:
        labels: The published labels of each class.
        visible: The classes whose rows are shown with their values.
    """
    # Nodes are published combinations, and original ones by their numbers.
    roots: dict[Node, Node] = {}
    for combination, owner in zip(division.combinations.tolist(), division.classes.tolist(), strict=True):
        roots[_root(roots, labels[owner])] = _root(roots, combination)
    numbers: dict[Labels, int] = {}
    pools: dict[Node, int] = {}
    for entry in dict.fromkeys(labels[owner] for owner in division.classes.tolist()):
        numbers[entry] = pools.setdefault(_root(roots, entry), len(pools))
    classes = np.array([numbers.get(entry, NOWHERE) for entry in labels], np.int64)
    leaky = np.zeros(len(pools), bool)
    leaky[classes[(classes != NOWHERE) & ~visible]] = True
    return SharedCombinations(numbers, classes, leaky)


def _root(roots: dict[Node, Node], entry: Node) -> Node:
    """Return the representative of a connected component."""
    while (above := roots.setdefault(entry, entry)) != entry:
        roots[entry] = roots[above]
        entry = above
    return entry


def _kept(tally: CountDifference, kept: BoolArray) -> CountDifference:
    return CountDifference(tally.texts, tally.codes[kept], tally.rows[kept])


def _without_veil(tally: CountDifference) -> CountDifference:
    """Return the counts without values that are published as `*`."""
    veiled = np.array([text == STAR for text in tally.texts[-1]] or [False], bool)
    return _kept(tally, ~veiled[tally.codes[:, -1]])


class ExpectedCounts(Value):
    """Expected rows of each published combination, and with each value of each sensitive column with a model.

    Attributes:
        plan: Defines which texts of sensitive columns mean missing, and which are variants of one value.
        pools: Classes that share rows of one combination, if there are some.
        pooled: Counts of columns expected only for such groups; `tallies` has the other ones.
    """

    columns: tuple[str, ...]
    sensitive: tuple[str, ...]
    tallies: tuple[CountDifference, ...]
    plan: Plan
    pools: SharedCombinations | None = None
    pooled: Mapping[str, CountDifference] = field(default_factory=dict)

    def difference(self, text_counts: ValueCounts) -> str:
        """Return the difference between counted and expected rows as text; empty if there is none."""
        text_counts, _ = typed(text_counts, self.plan)
        tallies = observed(text_counts, self.columns, self.sensitive, self.plan.data.missing)
        for name, prediction, recount in zip(("", *self.sensitive), self.tallies, tallies, strict=True):
            wrong = self._differing(name, prediction, recount)
            if wrong:
                what = f"{wrong} combinations" + (f" with {name}" if name else "")
                return f"{what} have other counts ({recount.total} rows instead of {prediction.total})"
        return ""

    def _differing(self, name: str, prediction: CountDifference, recount: CountDifference) -> int:
        """Return the number of combinations with a different number of rows than expected."""
        if self.pools is None or name not in self.pooled:
            return prediction.differing(recount)
        outside, inside = self.pools.parted(recount)
        return prediction.differing(outside) + self.pools.differing(self.pooled[name], inside)


def expected_counts(
    table: FrequencyTable, recoding: Recoding, handling: SuppressionHandling, plan: Plan
) -> ExpectedCounts:
    """Return the expected counts of a recoding of a table."""
    classes = _published(recoding, handling)
    shown = recoding.sizes > 0
    if handling.suppressed != "star":
        shown &= ~recoding.suppressed
    tallies, pools, pooled = [CountDifference(classes.texts, classes.codes[shown], recoding.sizes[shown])], None, {}
    division = recoding.division if isinstance(recoding, ClassRecoding) else None
    for name, content in table.sensitive.items():
        values, veiled, alone = table.sensitive_values[name], name in handling.suppressed_sensitive_columns, shown
        if division is not None and division.column != name:
            pools = pools or _pools(
                division, classes, shown & ~(recoding.suppressed & bool(handling.suppressed_sensitive_columns))
            )
            pooled[name] = pools.foretell(recoding, content, values)
            alone = shown & (pools.classes == NOWHERE)
        tallies.append(_with_values(recoding, classes, alone, content, values, veiled))
    return ExpectedCounts(table.columns, tuple(table.sensitive), tuple(tallies), plan, pools, pooled)


def _pools(division: Division, published: CountDifference, visible: BoolArray) -> SharedCombinations:
    labels = [
        tuple(texts[code] for texts, code in zip(published.texts, codes, strict=True))
        for codes in published.codes.tolist()
    ]
    return pools_of(division, labels, visible)


def _published(recoding: Recoding, handling: SuppressionHandling) -> CountDifference:
    """Return the published labels of each class with their rows; for dropped rows, those they would have."""
    stars = handling.suppressed == "star"
    texts = tuple((*labels, None, STAR) for labels in recoding.labels)
    codes = recoding.classes.astype(np.int64)
    for place, labels in enumerate(recoding.labels):
        codes[codes[:, place] < 0, place] = len(labels)
        if stars:
            codes[recoding.suppressed, place] = len(labels) + 1
    return CountDifference(texts, codes, recoding.sizes)


def _with_values(
    recoding: Recoding, published: CountDifference, shown: BoolArray, content: Histogram, values: Labels, veiled: bool
) -> CountDifference:
    classes = histogram(*_entries(recoding, content), len(published.rows), content.size)
    kept = shown[classes.owners]
    owners, codes = classes.owners[kept], classes.values[kept].astype(np.int64)
    if veiled:
        codes[recoding.suppressed[owners]] = len(values)
    together = np.column_stack([published.codes[owners], codes])
    return CountDifference((*published.texts, (*values, STAR)), together, classes.counts[kept])


def classes_of(table: FrequencyTable, recoding: Recoding) -> EquivalenceClasses:
    """Return the classes of a recoding, with their sensitive values."""
    return EquivalenceClasses(
        recoding.sizes,
        {
            name: histogram(*_entries(recoding, content), len(recoding.sizes), content.size)
            for name, content in table.sensitive.items()
        },
    )


def _entries(recoding: Recoding, content: Histogram) -> tuple[Counts, npt.NDArray[np.int32], Counts]:
    """Return the class, value and rows of all entries of a histogram, divided as the recoding divides."""
    owners = recoding.owners[content.owners].astype(np.int64)
    division = recoding.division if isinstance(recoding, ClassRecoding) else None
    if division is None:
        return owners, content.values, content.counts
    stays = ~np.isin(content.owners, division.combinations)
    return (
        np.concatenate([owners[stays], division.classes]),
        np.concatenate([content.values[stays], division.codes.astype(np.int32)]),
        np.concatenate([content.counts[stays], division.rows]),
    )


def observed(
    text_counts: ValueCounts, columns: Sequence[str], sensitive: Sequence[str], missing: Sequence[str] = ()
) -> Iterator[CountDifference]:
    """Yield the same counts from the counted rows."""
    places = [text_counts.columns.index(name) for name in columns]
    texts = tuple(text_counts.values[place] for place in places)
    yield CountDifference(texts, text_counts.codes[:, places], text_counts.counts)
    for name in sensitive:
        place = text_counts.columns.index(name)
        values = tuple(value_of(text, missing) for text in text_counts.values[place])
        yield CountDifference((*texts, values), text_counts.codes[:, [*places, place]], text_counts.counts)


def hides_sensitive(table: FrequencyTable, recoding: Recoding, plan: Plan) -> bool:
    """Return whether sensitive values of suppressed rows must be `*` too, because those rows would disclose them."""
    plan, table = person_view(plan, table)
    hidden = recoding.suppressed[recoding.owners]
    if plan.output.suppressed != "star" or not hidden.any():
        return False
    contents = {}
    for name, whole in table.sensitive.items():
        entries = hidden[whole.owners]
        owners = np.zeros(int(entries.sum()), np.int64)
        contents[name] = histogram(owners, whole.values[entries], whole.counts[entries], 1, whole.size)
    together = EquivalenceClasses(np.array([int(table.counts[hidden].sum())]), contents)
    return any(bool(model.violating(together, table.whole).any()) for model in plan.privacy)
