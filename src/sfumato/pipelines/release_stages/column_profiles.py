"""Profiles of columns from the first rows, each computed once per release."""

from collections.abc import Sequence

from sfumato.engines.engine import Engine
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.suggestion import Suggestion
from sfumato.microdata.plan.model import Plan


class ColumnProfiles:
    """Profiles and suggestions of a source's columns, from the first rows."""

    def __init__(self, plan: Plan, source: Engine) -> None:
        self.plan, self.source = plan, source
        self._profiles: dict[str, Profile] = {}
        self._suggestions: dict[str, Suggestion] = {}
        self.repeated_names: tuple[str, ...] | None = None

    def readable(self, names: Sequence[str]) -> list[str]:
        """Return the columns whose values have texts."""
        textless = self.source.textless(names)
        return [name for name in names if name not in textless]

    def profile(self, name: str) -> Profile:
        """Return the profile of a column."""
        if name not in self._profiles:
            texts = self.source.first_texts(name)
            present = {text: rows for text, rows in texts.items() if text not in self.plan.data.missing}
            self._profiles[name] = Profile(name, present, sum(present.values()))
        return self._profiles[name]

    def suggestion(self, name: str) -> Suggestion:
        """Return the suggestion for a column."""
        from sfumato.hierarchies.role_detection.roles import suggest

        if name not in self._suggestions:
            self._suggestions[name] = suggest(self.profile(name))
        return self._suggestions[name]
