"""The recoding: what each value or combination is published as, or that it is suppressed.

There are two kinds. A `LevelRecoding` publishes every value of a column at one level (full-domain recoding); violating
classes are suppressed by their labels. A `ClassRecoding` publishes each combination of values with its class (local
recoding, Mondrian, K-Optimize). Engines apply both; neither refers to single rows.

No model counts a missing value, so its published text must reveal nothing. Of the codes in a plan, generic ones (`NA`,
`k.A.`, -9) reveal nothing, and neither do others in many rows, of many persons if a column identifies them. A text in
few rows may be a note that contains a name; it is published as an empty field.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies.role_detection.missing_value_codes import MISSING_WORDS
from sfumato.microdata.counts.combinations import packing_of
from sfumato.microdata.counts.frequency_table import Coding, FrequencyTable
from sfumato.microdata.counts.grouping import Grouped, Grouper, Node
from sfumato.microdata.models.equivalence_classes import BoolArray, Counts
from sfumato.microdata.models.model import requested_class_size
from sfumato.microdata.models.persons import whole_by_persons
from sfumato.microdata.plan.model import Plan
from sfumato.values import Value, field

Labels = tuple[str | None, ...]
STAR = "*"


def tells_something(label: str | None) -> bool:
    """Return whether a published label is informative: a missing value and stars alone are not.

    >>> [tells_something(label) for label in ("1****", "****", "*", None)]
    [True, False, False, False]
    """
    return bool(label) and set(label or "") != {STAR}


class SuppressionHandling(Value):
    """What happens to suppressed rows and to columns that are no quasi-identifiers.

    Attributes:
        suppressed: Suppressed rows are dropped, or published with `*` in every quasi-identifier.
        removed_columns: Columns that are `*` in every row (identifiers).
        suppressed_sensitive_columns: Columns that are `*` in suppressed rows, because those rows alone would disclose
            them.
        labels: For each transformed column, the published text of each of its texts.
        class_column: Name of a further column with the number of each row's class.
        order_key: If given, rows are published in the order of its hashes with their numbers.
        person: The person column, or None.
        person_key: The secret by which persons are hashed to random keys, which are kept internally for each published
            row.
        publishes_keys: Whether the random keys are published.
    """

    suppressed: Literal["drop", "star"] = "drop"
    removed_columns: tuple[str, ...] = ()
    suppressed_sensitive_columns: tuple[str, ...] = ()
    labels: Mapping[str, Mapping[str | None, str | None]] = field(default_factory=dict)
    class_column: str | None = None
    order_key: str | None = None
    person: str | None = None
    person_key: str = ""
    publishes_keys: bool = False

    @property
    def key_column(self) -> str | None:
        """The column that is published as person keys."""
        return self.person if self.publishes_keys else None


class LevelRecoding(Value, dict=True):
    """A recoding that publishes every column at one level.

    Attributes:
        codings: How each column's texts become value codes.
        labels: For each column, its published labels.
        codes: For each column, the label of each value code.
        classes: Label codes of all classes, (classes, columns), in the order in which they are numbered.
        sizes: Rows of each class.
    """

    columns: tuple[str, ...]
    codings: tuple[Coding, ...]
    node: Node
    classes: npt.NDArray[np.int32]
    suppressed: BoolArray
    sizes: Counts
    owners: npt.NDArray[np.int32]

    @property
    def labels(self) -> tuple[Labels, ...]:
        return tuple(coding.ladder.labels[level] for coding, level in zip(self.codings, self.node, strict=True))

    def label_codes(self, column: int) -> npt.NDArray[np.int32]:
        """Return for each value code of a column the code of its published label."""
        return self.codings[column].ladder.codes[self.node[column]]

    @cached_property
    def identical(self) -> tuple[bool, ...]:
        """For each column whether it is published unchanged."""
        return tuple(level == 0 and self._texts_are_values(place) for place, level in enumerate(self.node))

    def _texts_are_values(self, column: int) -> bool:
        coding = self.codings[column]
        return all(
            code < 0 or coding.ladder.values[code] == text
            for text, code in zip(coding.texts, coding.codes, strict=True)
        )


class Division(Value, dict=True):
    """Combinations whose rows are divided between classes.

    The rows of a combination (with a value of `column`, where one is given) are ranked by a hash of key and row
    number; the first go to the class of its first share, the next to that of its second, and so on, identically on
    every engine. Rows of one value are ranked together whatever its spelling: `8` and `08` of an integer column.

    Attributes:
        key: The key of the hash.
        column: The sensitive column whose values are divided separately; None if no model needs one.
        values: The values of that column, None for missing; a single None without a column.
        spellings: The index in `values` of each text of the column; empty without a column.
        combinations: The combination of each share, as its index among the recoding's; shares of one are contiguous.
        codes: The value of each share, as its index in `values`.
        classes: The class of each share.
        rows: The number of rows of each share.
    """

    key: str
    column: str | None
    values: Labels
    spellings: Mapping[str | None, int]
    combinations: npt.NDArray[np.int64]
    codes: npt.NDArray[np.int64]
    classes: npt.NDArray[np.int64]
    rows: Counts

    @cached_property
    def ends(self) -> Counts:
        """The rank, from 1, of the last row of each share within its combination and value."""
        total = np.cumsum(self.rows)
        groups = self.combinations * len(self.values) + self.codes
        first = np.ones(len(groups), bool)
        first[1:] = groups[1:] != groups[:-1]
        before = np.where(first, total - self.rows, 0)
        return total - np.maximum.accumulate(before)


class ClassRecoding(Value):
    """A recoding that publishes every combination of values with its class.

    Attributes:
        combinations: Value codes of each combination, (combinations, columns), sorted as the frequency table.
        owners: The class of each combination; of a divided one, that of its first share.
        labels: For each column, its published labels.
        classes: The label codes of the classes, an array (classes, columns).
        suppressed: Which classes are suppressed.
        sizes: The number of rows of each class.
        division: Combinations whose rows are divided between classes, if there are some.
    """

    columns: tuple[str, ...]
    codings: tuple[Coding, ...]
    combinations: npt.NDArray[np.int32]
    owners: npt.NDArray[np.int32]
    labels: tuple[Labels, ...]
    classes: npt.NDArray[np.int32]
    suppressed: BoolArray
    sizes: Counts
    division: Division | None = None

    @property
    def identical(self) -> tuple[bool, ...]:
        return (False,) * len(self.columns)


Recoding = LevelRecoding | ClassRecoding


def class_recoding(
    table: FrequencyTable,
    owners: npt.NDArray[np.signedinteger[Any]],
    labels: Sequence[Labels],
    classes: npt.NDArray[np.int32],
    sizes: Counts,
    suppressed: BoolArray,
    division: Division | None = None,
) -> ClassRecoding:
    """Return the recoding of a table whose combinations belong to classes, each with one label code per column."""
    columns, codings, combinations = table.columns, table.codings, table.codes
    codes, owner = np.ascontiguousarray(classes), owners.astype(np.int32)
    return ClassRecoding(columns, codings, combinations, owner, tuple(labels), codes, suppressed, sizes, division)


def at_node(
    table: FrequencyTable, grouper: Grouper, grouped: Grouped, owners: npt.NDArray[np.int32], failing: BoolArray
) -> LevelRecoding:
    """Return the recoding that publishes a node and suppresses its violating classes, numbered by their labels.

    Args:
        grouped: The classes of the node (`Grouper.rolled_with_owners`).
        owners: The class of each combination.
    """
    labels = grouper.labels(grouped)
    order = packing_of([ladder.size for ladder in table.ladders]).order(labels)
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return LevelRecoding(
        table.columns,
        table.codings,
        grouped.node,
        labels[order],
        failing[order],
        grouped.sizes[order],
        rank[owners],
    )


def published_labels(recoding: Recoding, place: int) -> Labels:
    """Return the published labels of a class."""
    return tuple(labels[code] for labels, code in zip(recoding.labels, recoding.classes[place], strict=True))


def numbered(recoding: Recoding) -> Counts:
    """Return the published number of each class, from 1 on; 0 for suppressed ones."""
    return np.where(recoding.suppressed, 0, np.cumsum(~recoding.suppressed)).astype(np.int64)


def division_of(
    secret: str, table: FrequencyTable, combinations: Counts, classes: Counts, rows: Counts
) -> Division | None:
    """Return the division of rows; None if no combination is divided.

    Args:
        combinations: The combination of each entry; entries are sorted by combination and class, without duplicates.
        classes: The class of each entry.
        rows: The number of the combination's rows in the class.
    """
    parted = (np.bincount(combinations, minlength=len(table.counts)) > 1)[combinations]
    if not parted.any():
        return None
    nothing = np.zeros(int(parted.sum()), np.int64)
    key = f"{secret}:division:"
    return Division(key, None, (None,), {}, combinations[parted], nothing, classes[parted], rows[parted])


_KNOWN = frozenset(word.casefold() for word in MISSING_WORDS)
_FEWEST = 3


def is_plain(text: str) -> bool:
    """Return whether a missing value code discloses no information: a generic word, or one without letters.

    >>> is_plain("n/a"), is_plain("-9"), is_plain("ask Mr. Miller")
    (True, True, False)
    """
    return text.casefold() in _KNOWN or not any(map(str.isalpha, text))


class AbsentTexts(Value):
    """The texts of a column that mean "missing"; an empty text and None are the same.

    Attributes:
        texts: The texts; None for an empty field.
        count: The rows, or persons if these are counted, that have one of them.
    """

    texts: frozenset[str | None]
    count: int

    def are_several(self, plan: Plan) -> bool:
        """Return whether missing values have several texts that must be unified."""
        return plan.data.spellings != "keep" and len(self.texts) > 1

    def is_rare_word(self, plan: Plan) -> bool:
        """Return whether the only text is a specific word of fewer rows or persons than the models require."""
        if plan.data.spellings == "keep" or len(self.texts) != 1:
            return False
        fewest = requested_class_size(plan.privacy, _FEWEST)
        return self.count < fewest and not any(text is None or is_plain(text) for text in self.texts)

    def are_blanked(self, plan: Plan) -> bool:
        """Return whether missing values are published as empty fields, whatever their text."""
        return self.are_several(plan) or self.is_rare_word(plan)


def absent_texts(table: FrequencyTable, name: str) -> AbsentTexts:
    """Return the texts of a column that mean "missing"."""
    values = table.sensitive_values[name]
    if None not in values:
        return AbsentTexts(frozenset(), 0)
    missing, content = values.index(None), whole_by_persons(table.whole).sensitive[name]
    texts = frozenset(text or None for text, code in table.spellings[name].items() if code == missing)
    return AbsentTexts(texts, int(content.counts[content.values == missing].sum()))


def published_words(plan: Plan, table: FrequencyTable) -> dict[str, tuple[str, ...]]:
    """Return the texts for missing values in the published file, by column."""
    absent = {name: absent_texts(table, name) for name in plan.promise_columns if name in table.spellings}
    return {
        name: tuple(text for text in plan.data.missing if text in entry.texts)
        for name, entry in absent.items()
        if not entry.are_blanked(plan)
    }
