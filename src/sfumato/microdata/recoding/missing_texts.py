"""Texts that mean "missing" in columns under a promise: which of them are published, and which as empty fields.

No promise counts a missing value. So what a file holds in its place must tell nothing: of the words of a plan, those
that every file may hold (`NA`, `k.A.`, -9) tell nothing, and neither do others that many rows have, of many persons
where a column names these. One of few may be a remark that somebody wrote among numbers, with a name in it.
"""

from sfumato.hierarchies.suggest.missing_words import MISSING_WORDS
from sfumato.microdata.counts.frequencies import FrequencyTable
from sfumato.microdata.models.persons import whole_by_persons
from sfumato.microdata.plan.model import Plan

_KNOWN = frozenset(word.casefold() for word in MISSING_WORDS)
_FEWEST = 3


def is_plain(text: str) -> bool:
    """Whether a text for "missing" tells nothing, whoever has it: a usual word, or one without letters.

    >>> is_plain("n/a"), is_plain("-9"), is_plain("ask Mr. Miller")
    (True, True, False)
    """
    return text.casefold() in _KNOWN or not any(map(str.isalpha, text))


def missing_spellings(plan: Plan, table: FrequencyTable, name: str) -> int:
    """In how many ways a missing value is written in a column, an empty field being one; none where spellings stay."""
    return 0 if plan.data.spellings == "keep" else len(_absent(table, name))


def is_rare_word(plan: Plan, table: FrequencyTable, name: str) -> bool:
    """Whether a column's one text for "missing" is a word of its own, of fewer rows or persons than asked for."""
    absent = _absent(table, name)
    if missing_spellings(plan, table, name) != 1 or all(text is None or is_plain(text) for text in absent):
        return False
    content = whole_by_persons(table.whole).sensitive[name]
    count = int(content.counts[content.values == table.sensitive_values[name].index(None)].sum())
    return count < max([_FEWEST, *(int(model.asked) for model in plan.privacy if model.name == "k-anonymity")])


def are_blanked(plan: Plan, table: FrequencyTable, name: str) -> bool:
    """Whether missing values of a column are published as empty fields, however they were written."""
    return missing_spellings(plan, table, name) > 1 or is_rare_word(plan, table, name)


def published_words(plan: Plan, table: FrequencyTable) -> dict[str, tuple[str, ...]]:
    """The texts for "missing" that stand in the published file, by their column."""
    judged = (name for name in plan.promise_columns if name in table.spellings)
    shown = {name: _absent(table, name) for name in judged if not are_blanked(plan, table, name)}
    return {name: tuple(text for text in plan.data.missing if text in texts) for name, texts in shown.items()}


def _absent(table: FrequencyTable, name: str) -> set[str | None]:
    """The texts of a column that mean "missing"; an empty one and none are the same."""
    values = table.sensitive_values[name]
    return {text or None for text, code in table.spellings[name].items() if values[code] is None}
