"""The plan that is suggested for some rows: what each column is, what is promised, how it is searched."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from math import isqrt
from pathlib import Path
from textwrap import fill, indent
from typing import Any

from sfumato.errors import DataError
from sfumato.hierarchies.spellings import misspelled, surplus
from sfumato.hierarchies.suggest.mentions import mentions
from sfumato.hierarchies.suggest.missing_words import columns_of_code
from sfumato.hierarchies.suggest.profile import Profile
from sfumato.hierarchies.suggest.reasons import (
    COSTLY,
    ENCODING,
    MENTIONS,
    MISSPELLINGS,
    NA_IS_A_CODE,
    ONE_SPELLING,
    ROUNDED,
    SPELLINGS,
    TAILS,
    UNIFORM,
)
from sfumato.hierarchies.suggest.selection import MAX_QUASI_IDENTIFIERS, crowded_out, select, without_tells
from sfumato.hierarchies.suggest.suggestion import Suggestion
from sfumato.hierarchies.suggest.survey_codes import CodeBook, missing_codes, suggest_labeled
from sfumato.hierarchies.suggest.words.codebooks import labels_of
from sfumato.microdata.models.proposal import proposed_promise
from sfumato.microdata.plan.building import Plan
from sfumato.microdata.plan.read import read_plan
from sfumato.microdata.publishing.plan import PublishPlan
from sfumato.microdata.publishing.proposal import proposed_publication, published_counts
from sfumato.pipelines.suggesting.column_profiles import missing_words, profile_of
from sfumato.pipelines.suggesting.counted_rows import CountedRows, CountsRows
from sfumato.pipelines.suggesting.first_look import (
    check_names,
    check_one_column,
    likely_encoding,
    writes_commas,
)
from sfumato.pipelines.suggesting.person_columns import FEW_ROWS, one_person, repeated_names
from sfumato.pipelines.suggesting.survey_weights import one_of_each, with_survey_weights
from sfumato.pipelines.suggesting.tells import tells_in
from sfumato.pipelines.suggesting.twins import twins_among
from sfumato.pipelines.suggesting.weighing import better_withheld

K = 5
SUPPRESSION = 0.02
# Of columns with more values, spellings are not looked for.
_MAX_NAMED = 200
# Of fewer rows nearly every number is its own, and rounding until it is not would leave nothing.
_ROWS_TO_ROUND = 50
_LEAST_NUMBERS = 8
# How often free places are filled again.
_FILLINGS = 2


@dataclass(frozen=True, slots=True)
class SuggestedPlan:
    """A plan that runs as it is, the reason for each column's part in it, and the profiles of the columns.

    Attributes:
        notes: What somebody should know of the rows before using the plan.
    """

    plan: dict[str, Any]
    reasons: dict[str, str]
    profiles: tuple[Profile, ...]
    notes: tuple[str, ...] = ()

    def to_yaml(self) -> str:
        """The plan as YAML, notes above it and each column with its reason as a comment."""
        notes = "".join(f"{indent(fill(note, 106), '# ')}\n" for note in self.notes)
        parts = (self._columns() if key == "columns" else _yaml({key: part}) for key, part in self.plan.items())
        return notes + "".join(parts)

    def _columns(self) -> str:
        columns = self.plan["columns"].items()
        entries = (f"# {self.reasons[name]}\n{_yaml({name: entry})}" for name, entry in columns)
        return "columns:\n" + indent("".join(entries), "  ")


def _yaml(part: dict[str, Any]) -> str:
    import yaml

    return str(yaml.safe_dump(part, sort_keys=False, allow_unicode=True, width=108))


def suggest_plan(
    engine: CountsRows,
    source: str | None = None,
    book: CodeBook | None = None,
    **data: Any,
) -> SuggestedPlan:
    """A plan for some rows: roles, types and hierarchies with a reason for each, and promises.

    Args:
        source: What the plan says of where the rows lie; nothing for rows that the caller hands over.
        book: The labels of columns and values, where a statistical package keeps some.
        data: More for the plan's `data`.
    """
    engine = engine if isinstance(engine, CountedRows) else CountedRows(engine)
    texts = engine.texts
    rows = sum(next(iter(texts.values())).values())
    if not rows:
        raise DataError("the data have no rows.", "A plan cannot be guessed from a header alone.", "no-rows")
    labels = replace(book or CodeBook(), public=labels_of(tuple(texts)))
    missing = [*missing_words(texts), *missing_codes(texts, labels)]
    profiles = {name: profile_of(name, counts, missing) for name, counts in texts.items()}
    alone = {name: suggest_labeled(profile, labels) for name, profile in profiles.items()}
    first = with_survey_weights(engine, alone, profiles)
    persons = one_person(engine, first, profiles)
    twins = {"are_twins": twins_among(engine, persons)} if rows <= FEW_ROWS else {}
    selection = select(persons, profiles, min(K, rows), **twins)
    suggestions = {name: _publishable(one, profiles[name]) for name, one in one_of_each(selection.suggestions).items()}
    reading = ({} if source is None else {"source": source}) | data | ({"missing": missing} if missing else {})
    draft = _Draft(reading, suggestions, profiles, dict(_publications(suggestions, profiles)))
    if rows <= FEW_ROWS:
        draft = _filled(engine, _without_tells(engine, draft), selection.waiting)
    note = repeated_names(engine, draft.suggestions, profiles, K)
    proposal = draft.plan()
    reasons = proposal.reasons | {name: proposal.reasons[name] + NA_IS_A_CODE for name in columns_of_code(texts)}
    return replace(proposal, reasons=reasons, notes=(note,) if note else ())


@dataclass(frozen=True, slots=True)
class _Publication:
    """How a sensitive column is published, and the rows of each of its values then."""

    plan: PublishPlan
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Draft:
    """Suggestions for all columns, how sensitive ones are published, and the plan that these make."""

    reading: Mapping[str, Any]
    suggestions: Mapping[str, Suggestion]
    profiles: Mapping[str, Profile]
    published: Mapping[str, _Publication]

    def plan(self) -> SuggestedPlan:
        return _proposal(self.reading, self.suggestions, self.profiles, self.published)

    def known_columns(self) -> dict[str, Any]:
        """A plan of the quasi-identifiers alone: what others are published as is no matter for these."""
        return self._plan_of("quasi-identifier")

    def judged_columns(self) -> dict[str, Any]:
        """A plan of the quasi-identifiers and the sensitive columns, some promise for each of these."""
        plan = self._plan_of("quasi-identifier", "sensitive")
        sensitive = (name for name, one in self.suggestions.items() if one.role == "sensitive")
        plan["privacy"] += [_differing(name) for name in sensitive if self.profiles[name].rows >= 2 * K]
        return plan

    def _plan_of(self, *roles: str) -> dict[str, Any]:
        chosen = {name: one for name, one in self.suggestions.items() if one.role in roles}
        promise = {"model": "k-anonymity", "k": max(min(K, _members(self.suggestions, self.profiles)), 2)}
        return {
            "version": 1,
            "data": _data(self.reading, self.suggestions),
            "columns": {name: _column(one, self.published.get(name)) for name, one in chosen.items()},
            "privacy": [promise],
            "method": {"name": "auto", "suppression": SUPPRESSION},
        }


def _without_tells(engine: CountsRows, draft: _Draft) -> _Draft:
    """The draft without sensitive columns that nearly tell a quasi-identifier."""
    tells = tells_in(engine, draft.judged_columns())
    if not tells:
        return draft
    suggestions = without_tells(draft.suggestions, draft.profiles, tells)
    published = {name: plan for name, plan in draft.published.items() if suggestions[name].role == "sensitive"}
    if len(published) == 1 < len(draft.published):  # one alone may be published more finely than two together
        published = dict(_publications(suggestions, draft.profiles))
    return replace(draft, suggestions=suggestions, published=published)


def _filled(engine: CountsRows, draft: _Draft, waiting: Mapping[str, Suggestion]) -> _Draft:
    """The draft without costly quasi-identifiers, others in their places, which are weighed as well."""
    draft, left = _without_costly(engine, draft), dict(waiting)
    for _ in range(_FILLINGS):
        free = MAX_QUASI_IDENTIFIERS - sum(one.role == "quasi-identifier" for one in draft.suggestions.values())
        batch = {name: left.pop(name) for name in [*left][: max(free, 0)]}
        if not batch:
            break
        draft = _without_costly(engine, replace(draft, suggestions=dict(draft.suggestions) | batch))
    return replace(draft, suggestions=crowded_out(draft.suggestions, left))


def _without_costly(engine: CountsRows, draft: _Draft) -> _Draft:
    """The draft without quasi-identifiers that cost the others as much detail as they keep themselves."""
    unknown = [name for name, suggestion in draft.suggestions.items() if suggestion.concept is None]
    costly = better_withheld(engine, draft.known_columns(), _members(draft.suggestions, draft.profiles), unknown)
    losses = {"before": round(100 * costly.before), "after": round(100 * costly.after)}
    suggestions = dict(draft.suggestions)
    for name in costly.columns:
        known = suggestions[name]
        suggestions[name] = known.withheld(COSTLY.format(known=known.reason, **losses))
    return replace(draft, suggestions=suggestions)


def _members(suggestions: Mapping[str, Suggestion], profiles: Mapping[str, Profile]) -> int:
    """How many persons promises count; rows where no column names them."""
    rows = next(iter(profiles.values())).rows
    return next((profiles[name].distinct_keys for name, one in suggestions.items() if one.role == "person"), rows)


def _proposal(
    reading: Mapping[str, Any],
    suggestions: Mapping[str, Suggestion],
    profiles: Mapping[str, Profile],
    published: Mapping[str, _Publication],
) -> SuggestedPlan:
    """The plan that suggestions for all columns make, with their reasons."""
    members = _members(suggestions, profiles)
    plan = {
        "version": 1,
        "data": _data(reading, suggestions),
        "columns": {name: _column(suggestion, published.get(name)) for name, suggestion in suggestions.items()},
        "privacy": [
            {"model": "k-anonymity", "k": max(min(K, members), 2)},
            *_promises(suggestions, profiles, published),
        ],
        "method": {"name": "auto", "suppression": SUPPRESSION},
        "output": {"format": "csv", "order": "shuffle", "suppressed": "drop"},
    }
    reasons = {name: _reason(one, profiles[name], published.get(name)) for name, one in suggestions.items()}
    return SuggestedPlan(plan, reasons, tuple(profiles.values()))


def _data(reading: Mapping[str, Any], suggestions: Mapping[str, Suggestion]) -> dict[str, Any]:
    """How the rows are read; values that a hierarchy does not take are missing."""
    invalid = any(suggestion.rejected for suggestion in suggestions.values())
    return dict(reading) | ({"on_invalid": "missing"} if invalid else {})


def _publishable(suggestion: Suggestion, profile: Profile) -> Suggestion:
    """A column as suggested; a sensitive one that names persons, or that no promise could keep, is withheld."""
    if suggestion.role != "sensitive":
        return suggestion
    if count := mentions(profile, K):
        return suggestion.withheld(MENTIONS.format(known=suggestion.reason, count=count))
    hopeless = proposed_promise(profile.name, profile.counts, profile.missing, K) is None
    if hopeless and profile.rows >= _ROWS_TO_ROUND:
        return suggestion.withheld(UNIFORM.format(known=suggestion.reason))
    return suggestion


def _reason(suggestion: Suggestion, profile: Profile, publication: _Publication | None) -> str:
    """Why a column is what it is, how it is published, and what should be mended in it."""
    spelled = suggestion.role in ("sensitive", "quasi-identifier") and len(profile.counts) <= _MAX_NAMED
    more, wrong = (surplus(profile.counts), misspelled(profile.counts)) if spelled and publication is None else (0, 0)
    spellings = (ONE_SPELLING if suggestion.role == "sensitive" else SPELLINGS).format(count=more) if more else ""
    misspellings = MISSPELLINGS.format(count=wrong) if wrong else ""
    coded = "" if publication is None else TAILS if publication.plan.round is None else ROUNDED
    return suggestion.reason + coded + spellings + misspellings


def _publications(
    suggestions: Mapping[str, Suggestion], profiles: Mapping[str, Profile]
) -> Iterator[tuple[str, _Publication]]:
    """How sensitive columns are published whose numbers would single out rows."""
    names = (name for name, one in suggestions.items() if one.role == "sensitive")
    counts = {name: profiles[name].counts for name in names if profiles[name].present >= _ROWS_TO_ROUND}
    # Two columns together have as many numbers as the product of theirs.
    most = {name: max(isqrt(profiles[name].present // K), _LEAST_NUMBERS) for name in counts}
    together = {name: proposed_publication(counts[name], K, most[name]) for name in counts}
    needed = [name for name, publication in together.items() if publication is not None]
    for name in needed:
        publication = proposed_publication(counts[name], K) if len(needed) == 1 else together[name]
        if publication is not None:
            yield name, _Publication(publication, published_counts(publication, counts[name]))


def _column(suggestion: Suggestion, publication: _Publication | None) -> dict[str, Any]:
    """The column as a plan has it; numbers that are published otherwise are texts."""
    if publication is None:
        return suggestion.plan()
    return {"role": suggestion.role, "publish": _plain(asdict(publication.plan))}


def _plain(entry: Any) -> Any:
    """What a plan says, without what is not said; whole numbers without a decimal point."""
    if isinstance(entry, dict):
        return {key: _plain(value) for key, value in entry.items() if value is not None}
    return int(entry) if isinstance(entry, float) and entry.is_integer() else entry


def _promises(
    suggestions: Mapping[str, Suggestion], profiles: Mapping[str, Profile], published: Mapping[str, _Publication]
) -> Iterator[dict[str, Any]]:
    """A promise for each sensitive column, about its values as they are published."""
    for name, suggestion in suggestions.items():
        profile = profiles[name]
        if suggestion.role != "sensitive" or profile.rows < 2 * K:
            continue
        counts = published[name].counts if name in published else profile.counts
        yield proposed_promise(name, counts, profile.missing, K) or _differing(name)


def _differing(name: str) -> dict[str, Any]:
    return {"model": "l-diversity", "variant": "distinct", "l": 2, "column": name}


def suggest_for_file(
    path: Path,
    separator: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    decimal: str | None = None,
) -> SuggestedPlan:
    """A plan for the rows of a file; without a header its columns are c1, c2, ….

    A file that is no UTF-8 is read as what it is likely written in, and a note says so.
    """
    from sfumato.delimited.dialect import check_decimal

    check_decimal(decimal or ".", separator)
    reading = {"separator": separator, "encoding": encoding, "header": header, "decimal": decimal}
    options: dict[str, Any] = {key: value for key, value in reading.items() if value is not None}
    try:
        suggestion = _of_file(path, options)
    except DataError as error:
        likely = likely_encoding(path) if error.code == "data.encoding" and encoding is None else None
        if likely is None:
            raise
        suggestion = _of_file(path, options | {"encoding": likely})
        suggestion = replace(suggestion, notes=(*suggestion.notes, ENCODING.format(encoding=likely)))
    if header is None:
        check_names(suggestion.profiles)
    check_one_column(suggestion.profiles)
    return suggestion


def _of_file(path: Path, options: Mapping[str, Any]) -> SuggestedPlan:
    """A plan for the rows of a file, which is read as is said; its decimal mark is found out."""
    from sfumato.engines.duckdb.engine import DuckDBEngine
    from sfumato.engines.survey_files import book_of
    from sfumato.microdata.data_plan import DataPlan

    with closing(DuckDBEngine(path, DataPlan(**options))) as engine:
        separator = engine.source.separator
        asks = "decimal" not in options and separator and options.get("separator") != ","
        rows = CountedRows(engine)
        if not (asks and writes_commas(rows.texts, thousands=separator == ",")):
            return suggest_plan(rows, str(path), book_of(path), **options)
    return _of_file(path, {**options, "decimal": ","})


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
    return replace(read_plan(proposal.plan), reasons=proposal.reasons, notes=proposal.notes)
