"""The plan that is suggested for some rows: what each column is, what is promised, how it is searched."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from math import isqrt
from pathlib import Path
from textwrap import indent
from typing import Any

from sfumato.engines.engine import Engine
from sfumato.errors import DataError
from sfumato.hierarchies.spellings import surplus
from sfumato.hierarchies.suggest.profile import Profile
from sfumato.hierarchies.suggest.reasons import ROUNDED, SPELLINGS
from sfumato.hierarchies.suggest.roles import Suggestion
from sfumato.hierarchies.suggest.roles import suggest as suggest_column
from sfumato.hierarchies.suggest.selection import select, without_tells
from sfumato.microdata.counts.frequencies import tabulate
from sfumato.microdata.measures.telling import tells as tells_of
from sfumato.microdata.plan.building import Plan
from sfumato.microdata.plan.read import read_plan
from sfumato.microdata.publishing.plan import PublishPlan
from sfumato.microdata.publishing.proposal import proposed_publication, published_counts
from sfumato.pipelines.stages.counting import reading_of
from sfumato.pipelines.stages.first_look import check_names, check_one_column, count_texts, writes_commas

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
K = 5
SUPPRESSION = 0.02
# A promise of l different values costs little unless one value is in nearly all rows; then it is the rarer ones that
# must not fill a class.
_COMMON_SHARE = 0.6
_RARE_SHARE = 0.3
_MAX_NAMED = 200
ALPHA = 0.8
# Of fewer rows nearly every number is its own, and rounding until it is not would leave nothing.
_ROWS_TO_ROUND = 50
_LEAST_NUMBERS = 8
# Of more rows, columns are not looked at together.
_FEW_ROWS = 1_000_000


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


def suggest_plan(engine: Engine, source: str | None = None, **data: Any) -> SuggestedPlan:
    """A plan for some rows: roles, types and hierarchies with a reason for each, and promises.

    Args:
        source: What the plan says of where the rows lie; nothing for rows that the caller hands over.
        data: More for the plan's `data`.
    """
    texts = dict(count_texts(engine))
    rows = sum(next(iter(texts.values())).values())
    if not rows:
        raise DataError("the data have no rows.", "A plan cannot be guessed from a header alone.", "no-rows")
    missing = _missing_words(texts)
    profiles = {name: _profile(name, counts, missing) for name, counts in texts.items()}
    suggestions = select({name: suggest_column(profile) for name, profile in profiles.items()}, profiles, min(K, rows))
    reading = ({} if source is None else {"source": source}) | data | ({"missing": missing} if missing else {})
    proposal = _proposal(reading, _one_of_each(suggestions), profiles)
    tells = _tells(engine, proposal.plan, rows)
    return (
        _proposal(reading, without_tells(_one_of_each(suggestions), profiles, tells), profiles) if tells else proposal
    )


def _proposal(
    reading: Mapping[str, Any], suggestions: Mapping[str, Suggestion], profiles: Mapping[str, Profile]
) -> SuggestedPlan:
    """The plan that suggestions for all columns make, with their reasons."""
    rows = next(iter(profiles.values())).rows
    members = next((len(profiles[name].counts) for name, one in suggestions.items() if one.role == "person"), rows)
    published = dict(_publications(suggestions, profiles))
    invalid = any(suggestion.rejected for suggestion in suggestions.values())
    plan = {
        "version": 1,
        "data": dict(reading) | ({"on_invalid": "missing"} if invalid else {}),
        "columns": {name: _column(suggestion, published.get(name)) for name, suggestion in suggestions.items()},
        "privacy": [
            {"model": "k-anonymity", "k": max(min(K, members), 2)},
            *_diversity(suggestions, profiles, published),
        ],
        "method": {"name": "auto", "suppression": SUPPRESSION},
        "output": {"format": "csv", "order": "shuffle", "suppressed": "drop"},
    }
    reasons = {name: _reason(one, profiles[name], name in published) for name, one in suggestions.items()}
    return SuggestedPlan(plan, reasons, tuple(profiles.values()))


def _reason(suggestion: Suggestion, profile: Profile, rounded: bool) -> str:
    """Why a column is what it is, and what should be mended in it."""
    spelled = suggestion.role in ("sensitive", "quasi-identifier") and len(profile.counts) <= _MAX_NAMED
    more = surplus(profile.counts) if spelled else 0
    return suggestion.reason + (ROUNDED if rounded else "") + (SPELLINGS.format(count=more) if more else "")


def _tells(engine: Engine, proposal: Mapping[str, Any], rows: int) -> dict[str, str]:
    """The sensitive columns that nearly tell a quasi-identifier, and which; of many rows it is not looked at here."""
    plan = read_plan(proposal)
    if rows > _FEW_ROWS or not plan.promise_columns:
        return {}
    counted = engine.count((*plan.quasi_identifiers, *plan.promise_columns), reading_of(plan))
    table, _ = tabulate(counted, plan)
    worst = (
        max(tells_of(table, name), key=lambda tell: tell.with_column, default=None) for name in plan.promise_columns
    )
    return {tell.column: tell.quasi_identifier for tell in worst if tell is not None}


def _one_of_each(suggestions: Mapping[str, Suggestion]) -> dict[str, Suggestion]:
    """One column is the weight, one names the household; others are withheld, and weights where persons count."""
    taken = {"weight"} if any(one.role == "person" for one in suggestions.values()) else set()
    chosen = {}
    for name, suggestion in suggestions.items():
        again = suggestion.role in taken
        chosen[name] = Suggestion("identifier", suggestion.reason) if again else suggestion
        taken |= {suggestion.role} & {"weight", "household"}
    return chosen


def _publications(
    suggestions: Mapping[str, Suggestion], profiles: Mapping[str, Profile]
) -> Iterator[tuple[str, PublishPlan]]:
    """How sensitive columns are published whose numbers would single out rows."""
    names = [name for name, suggestion in suggestions.items() if suggestion.role == "sensitive"]
    counts = {name: profiles[name].counts for name in names if profiles[name].present >= _ROWS_TO_ROUND}
    alone = {name: plan for name in counts if (plan := proposed_publication(counts[name], K)) is not None}
    for name, publication in alone.items():
        # Two columns together have as many numbers as the product of theirs.
        most = max(isqrt(profiles[name].present // K), _LEAST_NUMBERS)
        yield name, publication if len(alone) == 1 else proposed_publication(counts[name], K, most) or publication


def _column(suggestion: Suggestion, publication: PublishPlan | None) -> dict[str, Any]:
    """The column as a plan has it; numbers that are published otherwise are texts."""
    if publication is None:
        return suggestion.plan()
    asked = {key: _plain(value) for key, value in asdict(publication).items() if value is not None}
    return {"role": suggestion.role, "publish": asked}


def _plain(number: float) -> float | int:
    return int(number) if number.is_integer() else number


def _diversity(
    suggestions: Mapping[str, Suggestion], profiles: Mapping[str, Profile], published: Mapping[str, PublishPlan]
) -> Iterator[dict[str, Any]]:
    """A promise for each sensitive column: its values must differ within a class, or none of the rarer ones fill it."""
    for name, suggestion in suggestions.items():
        profile = profiles[name]
        if suggestion.role != "sensitive" or profile.rows < 2 * K:
            continue
        if name in published:
            profile = replace(profile, counts=published_counts(published[name], profile.counts))
        # The missing value is one like any other: it may be the common one.
        common, rows = max([*profile.counts.items(), (None, profile.missing)], key=lambda entry: entry[1])
        rarer = sorted(value for value in profile.counts if value != common)
        if rows > _COMMON_SHARE * profile.rows and 0 < len(rarer) <= _MAX_NAMED:
            yield {"model": "alpha-k-anonymity", "alpha": ALPHA, "k": K, "column": name, "values": rarer}
        else:
            many = rows <= _RARE_SHARE * profile.rows and len(profile.counts) >= 2 * K
            yield {"model": "l-diversity", "variant": "distinct", "l": 3 if many else 2, "column": name}


def _missing_words(texts: Mapping[str, Mapping[str | None, int]]) -> list[str]:
    """Words for "missing" that some column holds, blanks included: frames hold empty texts."""
    present = {text for counts in texts.values() for text in counts if text is not None}
    return [word for word in MISSING_WORDS if word in present] + sorted(text for text in present if not text.strip())


def _profile(name: str, counts: Mapping[str | None, int], missing: Collection[str]) -> Profile:
    present = {text: rows for text, rows in counts.items() if text is not None and text not in missing}
    rows = sum(counts.values())
    return Profile(name, present, rows, missing=rows - sum(present.values()))


def suggest_for_file(
    path: Path,
    separator: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    decimal: str | None = None,
) -> SuggestedPlan:
    """A plan for the rows of a file; without a header its columns are c1, c2, …."""
    from sfumato.delimited.dialect import check_decimal
    from sfumato.engines.duckdb.engine import DuckDBEngine
    from sfumato.microdata.data_plan import DataPlan

    check_decimal(decimal or ".", separator)
    reading = {"separator": separator, "encoding": encoding, "header": header, "decimal": decimal}
    options: dict[str, Any] = {key: value for key, value in reading.items() if value is not None}
    with closing(DuckDBEngine(path, DataPlan(**options))) as engine:
        commas = decimal is None and engine.source.separator not in ("", ",") and writes_commas(engine)
        suggestion = None if commas else suggest_plan(engine, str(path), **options)
    if suggestion is None:
        options["decimal"] = ","
        with closing(DuckDBEngine(path, DataPlan(**options))) as engine:
            suggestion = suggest_plan(engine, str(path), **options)
    if header is None:
        check_names(suggestion.profiles)
    check_one_column(suggestion.profiles)
    return suggestion


def suggest_for_frame(frame: Any) -> SuggestedPlan:
    """A plan for the rows of a frame: pandas, Polars, Arrow or Spark.

    >>> import sfumato.datasets
    >>> frame = sfumato.datasets.four_rows().to_polars()
    >>> suggest_for_frame(frame).plan["columns"]["illness"]["role"]
    'sensitive'
    """
    from sfumato.engines.opening import open_engine

    with closing(open_engine(frame, Plan())) as engine:
        return suggest_plan(engine)


def suggest(
    data: Any,
    *,
    separator: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    decimal: str | None = None,
) -> Plan:
    """A plan for some rows: what each column is and why, what is promised, how it is searched.

    It runs as it is, prints as a table of columns, roles, hierarchies and reasons, and every step of a plan goes on
    from it: `sf.suggest(frame).identify("note").quasi(zip=sf.digits(5))`.

    Args:
        data: A pandas, Polars, Arrow or Spark frame, or the path of a file.
        separator, encoding, header, decimal: Of a CSV file; found out, UTF-8 or a point by default.

    >>> import sfumato.datasets
    >>> suggest(sfumato.datasets.four_rows().to_polars()).columns["illness"].role
    'sensitive'
    """
    of_file = isinstance(data, str | Path)
    proposal = (
        suggest_for_file(Path(data), separator, encoding, header, decimal) if of_file else suggest_for_frame(data)
    )
    return replace(read_plan(proposal.plan), reasons=proposal.reasons)
