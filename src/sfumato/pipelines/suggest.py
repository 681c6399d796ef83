"""Profiles of columns, and the plan that is suggested from them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.engines.engine import Engine, Reading
from sfumato.errors import DataError
from sfumato.hierarchies.suggest import Profile, Suggestion, suggest

MISSING_WORDS = ("?", "NA", "N/A", "n/a", "null", "NULL", "-", ".")
K = 5
SUPPRESSION = 0.02


@dataclass(frozen=True, slots=True)
class Suggested:
    """A plan that runs as it is, and the reason for each column's part in it."""

    plan: dict[str, Any]
    reasons: dict[str, str]

    def to_yaml(self) -> str:
        """The plan as YAML, each column with its reason as a comment."""
        import yaml

        lines = str(yaml.safe_dump(self.plan, sort_keys=False, allow_unicode=True, width=110)).splitlines()
        marked, inside = [], False
        for line in lines:
            inside = line == "columns:" or (inside and line.startswith(" "))
            name = yaml.safe_load(line) if inside and line.startswith("  ") and not line.startswith("   ") else None
            if isinstance(name, dict):
                marked.append(f"  # {self.reasons[str(next(iter(name)))]}")
            marked.append(line)
        return "\n".join(marked) + "\n"


def suggest_plan(engine: Engine, source: str, **data: Any) -> Suggested:
    """A plan for some rows: roles, types and hierarchies with a reason for each.

    Args:
        source: What the plan says of where the rows lie.
        data: More for the plan's `data`.
    """
    missing = _missing_words(engine)
    suggestions = {name: suggest(_profile(engine, name, missing)) for name in engine.columns}
    rows = engine.count(engine.columns[:1], Reading()).rows
    if not rows:
        raise DataError("the data have no rows.", "A plan cannot be guessed from a header alone.", "no-rows")
    invalid = any(suggestion.rejected for suggestion in suggestions.values())
    reading = {"source": source, **data}
    reading |= ({"missing": list(missing)} if missing else {}) | ({"on_invalid": "missing"} if invalid else {})
    plan = {
        "version": 1,
        "data": reading,
        "columns": {name: suggestion.plan() for name, suggestion in _with_quasi_identifier(suggestions).items()},
        "privacy": [{"model": "k-anonymity", "k": min(K, rows)}],
        "method": {"name": "optimal", "loss": "loss-metric", "suppression": SUPPRESSION},
        "seed": 1,
        "output": {"format": "csv", "order": "shuffle", "suppressed": "drop"},
    }
    return Suggested(plan, {name: suggestion.reason for name, suggestion in suggestions.items()})


def _with_quasi_identifier(suggestions: dict[str, Suggestion]) -> dict[str, Suggestion]:
    """A plan needs a quasi-identifier: where none was found, the first insensitive column is taken for one."""
    if any(suggestion.role == "quasi-identifier" for suggestion in suggestions.values()):
        return suggestions
    name = next((name for name, entry in suggestions.items() if entry.role == "insensitive"), next(iter(suggestions)))
    changed = Suggestion("quasi-identifier", suggestions[name].reason, hierarchy={"type": "any"})
    return suggestions | {name: changed}


def _missing_words(engine: Engine) -> tuple[str, ...]:
    """Words for "missing" that some column holds."""
    found = set()
    for name in engine.columns:
        found |= set(engine.count([name], Reading()).values[0]) & set(MISSING_WORDS)
    return tuple(word for word in MISSING_WORDS if word in found)


def _profile(engine: Engine, name: str, missing: tuple[str, ...]) -> Profile:
    counted = engine.count([name], Reading())
    texts = counted.values[0]
    counts = {texts[code]: int(rows) for code, rows in zip(counted.codes[:, 0], counted.counts, strict=True)}
    absent = sum(rows for text, rows in counts.items() if text is None or text in missing)
    present = {text: rows for text, rows in counts.items() if text is not None and text not in missing}
    return Profile(name, present, rows=counted.rows, missing=absent)


def suggest_for_file(path: Path, separator: str | None = None, encoding: str | None = None) -> Suggested:
    """A plan for the rows of a file."""
    from sfumato.delimited import check_separator
    from sfumato.engines.duckdb.engine import DuckDBEngine
    from sfumato.microdata.data_plan import DataPlan

    check_separator(separator)
    options = {key: value for key, value in (("separator", separator), ("encoding", encoding)) if value is not None}
    engine = DuckDBEngine(path, DataPlan(**options))  # type: ignore[arg-type]
    try:
        return suggest_plan(engine, str(path), **options)
    finally:
        engine.close()
