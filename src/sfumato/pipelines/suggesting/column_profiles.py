"""Profiles of columns as they were counted: which texts mean that nothing is there, and what is left."""

from collections.abc import Collection, Mapping

from sfumato.hierarchies.suggest.profile import Profile

MISSING_WORDS = (
    "?",
    "NA",
    "N/A",
    "n/a",
    "null",
    "NULL",
    "None",
    "NaN",
    "nan",
    "-",
    "--",
    ".",
    "k.A.",
    "k. A.",
    "unbekannt",
)


def missing_words(texts: Mapping[str, Mapping[str | None, int]]) -> list[str]:
    """Words for "missing" that some column holds, blanks included: frames hold empty texts."""
    blanks = {text for counts in texts.values() for text in counts if text is not None and (not text or text.isspace())}
    return [word for word in MISSING_WORDS if any(word in counts for counts in texts.values())] + sorted(blanks)


def profile_of(name: str, counts: Mapping[str | None, int], missing: Collection[str]) -> Profile:
    """A column's profile; some texts mean that nothing is there."""
    absent = [text for text in (None, *missing) if text in counts]
    present = {text: rows for text, rows in counts.items() if text is not None and text not in absent}
    return Profile(name, present, sum(counts.values()), missing=sum(counts[text] for text in absent))
