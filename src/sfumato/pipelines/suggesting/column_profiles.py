"""Profiles of columns as they were counted: what is left without the texts that mean that nothing is there."""

from collections.abc import Collection, Mapping

from sfumato.hierarchies.suggest.profile import Profile


def profile_of(name: str, counts: Mapping[str | None, int], missing: Collection[str]) -> Profile:
    """A column's profile; some texts mean that nothing is there."""
    absent = [text for text in (None, *missing) if text in counts]
    present = {text: rows for text, rows in counts.items() if text is not None and text not in absent}
    return Profile(name, present, sum(counts.values()), missing=sum(counts[text] for text in absent))
