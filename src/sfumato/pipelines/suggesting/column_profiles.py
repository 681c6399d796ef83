"""Profiles of columns as they were counted: which texts mean that nothing is there, and what is left."""

from collections.abc import Collection, Mapping

from sfumato.hierarchies.suggest.missing_words import known_words
from sfumato.hierarchies.suggest.profile import Profile
from sfumato.hierarchies.types import canonical

# Words among numbers: in a column of so many different texts, at most so many words, in so many rows at the most; of so
# many others nearly all are numbers.
_MANY_NUMBERS, _FEW_WORDS, _MOST_WORDS = 50, 5, 0.3
_LOOKED_AT, _WRONG_NUMBERS = 200, 0.05


def missing_words(texts: Mapping[str, Mapping[str | None, int]]) -> list[str]:
    """Words for "missing" that some column holds, blanks included: frames hold empty texts."""
    blanks = {text for counts in texts.values() for text in counts if text is not None and (not text or text.isspace())}
    words = known_words(texts)
    return [*words, *sorted(blanks), *sorted(_words_among_numbers(texts, {*words, *blanks}))]


def _words_among_numbers(texts: Mapping[str, Mapping[str | None, int]], missing: Collection[str]) -> set[str]:
    """A few words in columns of many numbers, such as "refused" among incomes; none that other columns hold."""
    words = {name: _few_words(counts, missing) for name, counts in texts.items()}
    doubtful = set().union(*words.values())
    return {word for word in doubtful if all(word in words[name] for name, counts in texts.items() if word in counts)}


def _few_words(counts: Mapping[str | None, int], missing: Collection[str]) -> set[str]:
    """The few words of a column whose other texts are numbers, many of them."""
    present = [text for text in counts if text is not None and text not in missing]
    words = {text for text in present if not any(map(str.isdigit, text))} if len(present) >= _MANY_NUMBERS else set()
    if not 0 < len(words) <= _FEW_WORDS or sum(counts[word] for word in words) > _MOST_WORDS * sum(counts.values()):
        return set()
    numbers = [text for text in present if text not in words][:_LOOKED_AT]
    return words if len(canonical(numbers, "amount")[1]) <= _WRONG_NUMBERS * len(numbers) else set()


def profile_of(name: str, counts: Mapping[str | None, int], missing: Collection[str]) -> Profile:
    """A column's profile; some texts mean that nothing is there."""
    absent = [text for text in (None, *missing) if text in counts]
    present = {text: rows for text, rows in counts.items() if text is not None and text not in absent}
    return Profile(name, present, sum(counts.values()), missing=sum(counts[text] for text in absent))
