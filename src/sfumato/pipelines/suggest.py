"""Profiles of columns, and the plan that is suggested from them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent
from typing import Any

from sfumato.engines.engine import Engine, Reading
from sfumato.errors import DataError
from sfumato.hierarchies.suggest import Profile, Suggestion, suggest

MISSING_WORDS = ("?", "NA", "N/A", "n/a", "null", "NULL", "-", ".")
K = 5
SUPPRESSION = 0.02


@dataclass(frozen=True, slots=True)
class SuggestedPlan:
    """A plan that runs as it is, the reason for each column's part in it, and the profiles of the columns."""

    plan: dict[str, Any]
    reasons: dict[str, str]
    profiles: tuple[Profile, ...]

    def to_yaml(self) -> str:
        """The plan as YAML, each column with its reason as a comment."""
        return "".join(self._columns() if key == "columns" else _yaml({key: part}) for key, part in self.plan.items())

    def _columns(self) -> str:
        columns = self.plan["columns"].items()
        entries = (f"# {self.reasons[name]}\n{_yaml({name: entry})}" for name, entry in columns)
        return "columns:\n" + indent("".join(entries), "  ")


def _yaml(part: dict[str, Any]) -> str:
    import yaml

    return str(yaml.safe_dump(part, sort_keys=False, allow_unicode=True, width=108))


def suggest_plan(engine: Engine, source: str, **data: Any) -> SuggestedPlan:
    """A plan for some rows: roles, types and hierarchies with a reason for each.

    Args:
        source: What the plan says of where the rows lie.
        data: More for the plan's `data`.
    """
    texts = {name: _count_texts(engine, name) for name in engine.columns}
    rows = sum(next(iter(texts.values())).values())
    if not rows:
        raise DataError("the data have no rows.", "A plan cannot be guessed from a header alone.", "no-rows")
    missing = [word for word in MISSING_WORDS if any(word in counts for counts in texts.values())]
    profiles = tuple(_profile(name, counts, missing) for name, counts in texts.items())
    suggestions = {profile.name: suggest(profile) for profile in profiles}
    invalid = any(suggestion.rejected for suggestion in suggestions.values())
    reading = {"source": source, **data}
    reading |= ({"missing": missing} if missing else {}) | ({"on_invalid": "missing"} if invalid else {})
    plan = {
        "version": 1,
        "data": reading,
        "columns": {name: suggestion.plan() for name, suggestion in _with_quasi_identifier(suggestions).items()},
        "privacy": [{"model": "k-anonymity", "k": min(K, rows)}],
        "method": {"name": "optimal", "loss": "loss-metric", "suppression": SUPPRESSION},
        "output": {"format": "csv", "order": "shuffle", "suppressed": "drop"},
    }
    reasons = {name: suggestion.reason for name, suggestion in suggestions.items()}
    return SuggestedPlan(plan, reasons, profiles)


def _with_quasi_identifier(suggestions: dict[str, Suggestion]) -> dict[str, Suggestion]:
    """A plan needs a quasi-identifier: where none was found, the first insensitive column is taken for one."""
    if any(suggestion.role == "quasi-identifier" for suggestion in suggestions.values()):
        return suggestions
    name = next((name for name, entry in suggestions.items() if entry.role == "insensitive"), next(iter(suggestions)))
    changed = Suggestion("quasi-identifier", suggestions[name].reason, hierarchy={"type": "any"})
    return suggestions | {name: changed}


def _count_texts(engine: Engine, name: str) -> dict[str | None, int]:
    """A column's texts with their numbers of rows."""
    frequencies = engine.count([name], Reading())
    texts = frequencies.values[0]
    return {texts[code]: int(rows) for code, rows in zip(frequencies.codes[:, 0], frequencies.counts, strict=True)}


def _profile(name: str, counts: Mapping[str | None, int], missing: Collection[str]) -> Profile:
    present = {text: rows for text, rows in counts.items() if text is not None and text not in missing}
    rows = sum(counts.values())
    return Profile(name, present, rows, missing=rows - sum(present.values()))


def suggest_for_file(
    path: Path, separator: str | None = None, encoding: str | None = None, header: bool | None = None
) -> SuggestedPlan:
    """A plan for the rows of a file; without a header its columns are c1, c2, …."""
    from sfumato.delimited import check_separator
    from sfumato.engines.duckdb.engine import DuckDBEngine
    from sfumato.microdata.data_plan import DataPlan

    check_separator(separator)
    reading = {"separator": separator, "encoding": encoding, "header": header}
    options: dict[str, Any] = {key: value for key, value in reading.items() if value is not None}
    engine = DuckDBEngine(path, DataPlan(**options))
    try:
        return suggest_plan(engine, str(path), **options)
    finally:
        engine.close()
