"""Codes for missing values in columns with a privacy model: which are published, and which become empty fields.

No model counts a missing value, so its published text must reveal nothing. Of the codes in a plan, generic ones (`NA`,
`k.A.`, -9) reveal nothing, and neither do others in many rows, of many persons if a column identifies them. A text in
few rows may be a remark that contains a name.
"""

from sfumato.dataclass import dataclass
from sfumato.hierarchies.role_detection.missing_value_codes import MISSING_WORDS
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.models.persons import whole_by_persons
from sfumato.microdata.plan.model import Plan

_KNOWN = frozenset(word.casefold() for word in MISSING_WORDS)
_FEWEST = 3


def is_plain(text: str) -> bool:
    """Return whether a code for missing values reveals nothing: a generic word, or one without letters.

    >>> is_plain("n/a"), is_plain("-9"), is_plain("ask Mr. Miller")
    (True, True, False)
    """
    return text.casefold() in _KNOWN or not any(map(str.isalpha, text))


@dataclass(frozen=True, slots=True)
class AbsentTexts:
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
        fewest = max([_FEWEST, *(int(model.requested) for model in plan.privacy if model.name == "k-anonymity")])
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
