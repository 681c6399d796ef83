"""Suggest a plan for some rows: role of each column, privacy models and method."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, cast

from sfumato.errors import DataError, PlanError
from sfumato.hierarchies.role_detection.column_context import with_context
from sfumato.hierarchies.role_detection.lexicon.coded_names import labels_of
from sfumato.hierarchies.role_detection.missing_value_codes import (
    columns_of_code,
    known_words,
    limits_by_column,
    words_by_column,
)
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.quasi_identifiers import (
    select,
)
from sfumato.hierarchies.role_detection.role_reasons import COMMAS_IN_TEXTS, ENCODING, NA_IS_A_CODE
from sfumato.hierarchies.role_detection.roles import suggest_all
from sfumato.hierarchies.role_detection.survey_codes import (
    CodeBook,
    Counts,
    codes_by_column,
    missing_codes,
)
from sfumato.hierarchies.types import canonical
from sfumato.localization.messages import Message
from sfumato.microdata.plan.builder import Plan
from sfumato.microdata.plan.read import read_plan
from sfumato.microdata.questions.question import Question, questions_of, unknown_columns
from sfumato.microdata.rounding_suggestion import published_counts
from sfumato.pipelines.plan_suggestion.counted_rows import (
    CountedRows,
    ProgressReporter,
    RowCounter,
    aggregated_input_note,
)
from sfumato.pipelines.plan_suggestion.file_checks import (
    check_names,
    check_one_column,
    footer_rows_note,
    likely_encoding,
    mixed_units_note,
    with_textless,
    writes_commas,
)
from sfumato.pipelines.plan_suggestion.inference_risk import mark_dependent_columns, without_inference
from sfumato.pipelines.plan_suggestion.person_columns import (
    FEW_ROWS,
    one_person,
    repeated_names,
    with_constant_persons,
    with_named_persons,
)
from sfumato.pipelines.plan_suggestion.plan_draft import (
    Draft,
    K,
    SensitiveColumnPlan,
    SuggestedPlan,
    publications,
    publishable,
)
from sfumato.pipelines.plan_suggestion.purpose_columns import needed_columns, notes_on_questions, with_needed
from sfumato.pipelines.plan_suggestion.survey_columns import (
    one_of_each,
    survey_answers_note,
    with_opinions,
    with_survey_weights,
)
from sfumato.pipelines.plan_suggestion.unknown_columns import kept_columns, notes_of, with_kept
from sfumato.values import replace

# A column with at least _MANY_NUMBERS distinct texts may contain at most _FEW_WORDS words, in at most a proportion of
# _MOST_WORDS of its rows. Of the first _LOOKED_AT other texts, at most a proportion of _WRONG_NUMBERS may be invalid
# numbers.
_MANY_NUMBERS, _FEW_WORDS, _MOST_WORDS = 50, 5, 0.3
_LOOKED_AT, _WRONG_NUMBERS = 200, 0.05
# How often quasi-identifiers that others infer are removed, and the rest judged again.
_ROUNDS = 2


def suggest_plan(
    engine: RowCounter,
    source: str | None = None,
    book: CodeBook | None = None,
    looking: ProgressReporter | None = None,
    questions: Sequence[Question] = (),
    **data: Any,
) -> SuggestedPlan:
    """Suggest a plan for some rows: roles, types and hierarchies with a reason for each, and privacy models.

    Args:
        source: The source in the plan; None for rows that the caller hands over.
        book: The labels of columns and values from a statistical package, if there are any.
        looking: Receives the progress.
        questions: What analysts ask of the rows; they become the purpose of the plan.
        data: Further keys of the plan's `data`.
    """
    looking = looking or ProgressReporter()
    engine = engine if isinstance(engine, CountedRows) else CountedRows(engine)
    texts = engine.texts
    rows = sum(next(iter(texts.values())).values())
    if not rows:
        raise DataError("no-rows.header_alone")
    if issues := unknown_columns(questions, texts, "questions"):
        raise PlanError.listing(issues)
    labels = replace(book or CodeBook(), public=labels_of(tuple(texts)))
    limits = limits_by_column(texts)
    measured = {name: _without({name: counts}, limits.get(name, ()))[name] for name, counts in texts.items()}
    missing = missing_words(measured)
    missing += missing_codes(_without(measured, missing), labels)
    codes = _codes_by_column(measured, missing, labels)
    codes |= {name: [*some, *codes.get(name, ())] for name, some in limits.items()}
    engine = engine.without(codes)
    profiles = {}
    for done, (name, counts) in enumerate(texts.items()):
        looking.at("look", done / len(texts))
        profiles[name] = profile_of(name, counts, (*missing, *codes.get(name, ())))
    alone = suggest_all(profiles, labels)
    looking.at("compare-columns")
    told = mark_dependent_columns(engine, with_context(alone, profiles), profiles)
    first = with_survey_weights(engine, told, profiles)
    repeated = with_constant_persons(engine, first, profiles) if rows <= FEW_ROWS else first
    persons = one_person(engine, with_named_persons(engine, repeated, profiles), profiles)
    answered = with_opinions(engine, persons, profiles) if rows <= FEW_ROWS else persons
    needed = needed_columns(questions)
    selected = one_of_each(select(with_needed(answered, profiles, needed), profiles, min(K, rows), needed))
    looking.at("compare-columns", 0.2)
    suggestions = {name: publishable(one, profiles[name]) for name, one in selected.items()}
    reading = ({} if source is None else {"source": source}) | data | ({"missing": missing} if missing else {})
    draft = Draft(reading, suggestions, profiles, dict(publications(suggestions, profiles)), codes)
    draft = _judged_together(engine, draft, rows)
    empty = footer_rows_note(engine)
    proposal = draft.plan()
    if questions:
        proposal.plan["purpose"] = {"questions": [question.entry() for question in questions]}
    mixed = mixed_units_note(engine, proposal.plan, profiles) if rows <= FEW_ROWS else None
    awaiting = (
        *notes_of(draft.suggestions),
        *notes_on_questions(engine, draft, questions),
    )
    notes = (
        *awaiting,
        mixed,
        repeated_names(engine, persons, profiles, K),
        survey_answers_note(draft.suggestions),
        empty,
    )
    reasons = proposal.reasons | {name: proposal.reasons[name] + NA_IS_A_CODE for name in columns_of_code(texts)}
    return with_textless(engine, replace(proposal, reasons=reasons, notes=tuple(filter(None, notes))))


def _codes_by_column(texts: Mapping[str, Counts], missing: Sequence[str], labels: CodeBook) -> dict[str, list[str]]:
    """Return codes and words that mean "missing" in some columns but are values of others."""
    words, codes = words_by_column(texts), codes_by_column(_without(texts, missing), labels)
    return {name: [*words.get(name, ()), *codes.get(name, ())] for name in texts if name in words or name in codes}


def _without(texts: Mapping[str, Counts], missing: Sequence[str]) -> Mapping[str, Counts]:
    """Return the texts of each column without those that mean "missing"."""
    absent = {*missing}
    return {
        name: {text: rows for text, rows in counts.items() if text not in absent} if absent & counts.keys() else counts
        for name, counts in texts.items()
    }


def _judged_together(engine: RowCounter, draft: Draft, rows: int) -> Draft:
    """Return the draft without columns that make persons unique or infer quasi-identifiers, by all columns together."""
    for _ in range(_ROUNDS if rows <= FEW_ROWS else 0):
        judged = _with_unknown(engine, draft, rows)
        suggestions = without_inference(engine, judged.suggestions, judged.judged_columns())
        known = {name for name, one in draft.suggestions.items() if one.role == "quasi-identifier"}
        removed = {name: suggestions[name] for name in known if suggestions[name].role != "quasi-identifier"}
        if not removed:
            return replace(judged, suggestions=suggestions)
        # With fewer quasi-identifiers, fewer persons are unique.
        draft = replace(draft, suggestions={**draft.suggestions, **removed})
    judged = _with_unknown(engine, draft, rows)
    if rows > FEW_ROWS:
        return judged
    return replace(judged, suggestions=without_inference(engine, judged.suggestions, judged.judged_columns()))


def _with_unknown(engine: RowCounter, draft: Draft, rows: int) -> Draft:
    """Return the draft with the columns of unknown meaning that may be kept, and the class size that these need."""
    kept = kept_columns(engine, draft.suggestions, draft.profiles, rows)
    codings = {name: form.plan for name, form in kept.forms.items() if form.plan is not None}
    coded = {
        name: SensitiveColumnPlan(plan, published_counts(plan, draft.profiles[name].counts))
        for name, plan in codings.items()
    }
    rare = {name: [*draft.codes.get(name, ()), *form.rare] for name, form in kept.forms.items() if form.rare}
    suggestions = with_kept(draft.suggestions, kept)
    published = {name: one for name, one in draft.published.items() if not suggestions[name].kept} | coded
    return replace(
        draft,
        suggestions=suggestions,
        published=published,
        codes={**draft.codes, **rare},
        k=kept.k,
        needed_unique=kept.needed_unique,
    )


def suggest_for_file(
    path: Path,
    separator: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    decimal: str | None = None,
    table: str | None = None,
    questions: Sequence[Question] = (),
) -> SuggestedPlan:
    """Suggest a plan for the rows of a file; without a header its columns are c1, c2, ….

    A file that is not UTF-8 is read in its likely encoding, and a note says so.
    """
    from sfumato.delimited.dialect import check_decimal

    check_decimal(decimal or ".", separator)
    reading = {"separator": separator, "encoding": encoding, "header": header, "decimal": decimal, "table": table}
    options: dict[str, Any] = {key: value for key, value in reading.items() if value is not None}
    try:
        suggestion = _of_file(path, options, questions)
    except DataError as error:
        likely = likely_encoding(path) if error.code == "data.encoding" and encoding is None else None
        if likely is None:
            raise
        suggestion = _of_file(path, options | {"encoding": likely}, questions)
        suggestion = replace(suggestion, notes=(*suggestion.notes, ENCODING.format(encoding=likely)))
    if header is None:
        check_names(suggestion.profiles)
    return suggestion


def _of_file(path: Path, options: Mapping[str, Any], questions: Sequence[Question]) -> SuggestedPlan:
    """Suggest a plan for a file read with the given options; the decimal mark is detected."""
    from sfumato.engines.survey_files import book_beside, book_of, labels_file

    beside = book_beside(path)
    with _opened(path, options) as (engine, separator, notes):
        asks = "decimal" not in options and options.get("separator") != ","
        rows = CountedRows(engine)
        check_one_column(rows.texts, blanks=bool(separator) and "separator" not in options)
        commas = asks and writes_commas(rows.texts, thousands=separator in ("", ","))
        if not (separator and commas):
            proposal = suggest_plan(rows, str(path), beside or book_of(path), questions=questions, **options)
            labels = Message("note.labels_beside", name=labels_file(path).name) if beside else None
            further = (labels, COMMAS_IN_TEXTS if commas else None, aggregated_input_note(rows))
            return replace(proposal, notes=(*proposal.notes, *notes, *filter(None, further)))
    return _of_file(path, {**options, "decimal": ","}, questions)


@contextmanager
def _opened(path: Path, options: Mapping[str, Any]) -> Iterator[tuple[RowCounter, str, tuple[str, ...]]]:
    """Yield a row counter for the file, the separator of a delimited file, and notes on the file."""
    from sfumato.engines.files import format_of
    from sfumato.engines.small_csv import plain_file
    from sfumato.microdata.data_plan import DataPlan

    data = DataPlan(**options)
    plain = plain_file(path, data)
    if plain is not None:
        yield plain, plain.separator, plain.notes
        return
    from sfumato.engines.duckdb.engine import DuckDBEngine

    with closing(DuckDBEngine(path, data)) as engine:
        yield engine, engine.source.separator if format_of(path, data).delimited else "", engine.notes


def suggest_for_frame(frame: Any, questions: Sequence[Question] = ()) -> SuggestedPlan:
    """Suggest a plan for the rows of a frame: pandas, Polars, Arrow or Spark.

    >>> import sfumato.datasets
    >>> frame = sfumato.datasets.four_rows().to_polars()
    >>> suggest_for_frame(frame).plan["columns"]["illness"]["role"]
    'sensitive'
    """
    from sfumato.engines.dataframes.sources import with_index
    from sfumato.engines.opening import open_engine
    from sfumato.pipelines.plan_suggestion.file_checks import without_lost_zeros

    frame, _ = with_index(frame)
    with closing(open_engine(frame, Plan())) as engine:
        rows = CountedRows(engine)
        proposal = without_lost_zeros(suggest_plan(rows, questions=questions), frame)
        further = (COMMAS_IN_TEXTS,) if writes_commas(rows.texts, thousands=True) else ()
        return replace(proposal, notes=(*proposal.notes, *further))


def suggest(
    data: Any,
    *,
    separator: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    decimal: str | None = None,
    table: str | None = None,
    questions: Sequence[Question | str | Mapping[str, Any]] = (),
) -> Plan:
    """Suggest a plan for some rows: the role of each column and why, privacy models, and method.

    The plan runs as it is and prints as a table of columns, roles, hierarchies and reasons. Every plan method can
    refine it: `sf.suggest(frame).identifiers("note").quasi(zip=sf.digits(5))`.

    Args:
        data: A pandas, Polars, Arrow or Spark frame, or the path of a file.
        separator: The separator of a CSV file; detected by default.
        encoding: The encoding of a CSV file; UTF-8 by default.
        header: Whether a CSV file has a header; detected by default.
        decimal: The decimal mark of a CSV file; detected by default.
        table: The table of a database, or the sheet of a workbook; the first by default.
        questions: What analysts ask of the rows, such as `deny ~ pirat + afam` or `mean of readk by stark`.

    >>> import sfumato.datasets
    >>> suggest(sfumato.datasets.four_rows().to_polars()).columns["illness"].role
    'sensitive'
    """
    of_file, asked = isinstance(data, str | Path), questions_of(questions)
    proposal = (
        suggest_for_file(Path(data), separator, encoding, header, decimal, table, asked)
        if of_file
        else suggest_for_frame(data, asked)
    )
    return replace(read_plan(proposal.plan), reasons=proposal.reasons, notes=proposal.notes)


def missing_words(texts: Mapping[str, Mapping[str | None, int]]) -> list[str]:
    """Return the words that mean "missing" in some column, including blanks, because frames contain empty texts."""
    blanks = {text for counts in texts.values() for text in counts if text is not None and (not text or text.isspace())}
    words = known_words(texts)
    return [*words, *sorted(blanks), *sorted(_words_among_numbers(texts, {*words, *blanks}))]


def _words_among_numbers(texts: Mapping[str, Mapping[str | None, int]], missing: Collection[str]) -> set[str]:
    """Return the few words in columns of many numbers that no other column contains, such as "refused"."""
    words = {name: _few_words(counts, missing) for name, counts in texts.items()}
    doubtful = set().union(*words.values())
    return {word for word in doubtful if all(word in words[name] for name, counts in texts.items() if word in counts)}


def _few_words(counts: Mapping[str | None, int], missing: Collection[str]) -> set[str]:
    """Return the few words of a column whose many other texts are numbers."""
    present = [text for text in counts if text is not None and text not in missing]
    numbers = [*islice(filter(_has_digit, present), _LOOKED_AT)] if len(present) >= _MANY_NUMBERS else []
    if not numbers or len(canonical(numbers, "amount")[1]) > _WRONG_NUMBERS * len(numbers):
        return set()
    words = {*islice((text for text in present if not _has_digit(text)), _FEW_WORDS + 1)}
    few = len(words) <= _FEW_WORDS and sum(counts[word] for word in words) <= _MOST_WORDS * sum(counts.values())
    return words if few else set()


def _has_digit(text: str) -> bool:
    return text[-1:].isdigit() or any(map(str.isdigit, text))


def profile_of(name: str, counts: Mapping[str | None, int], missing: Collection[str]) -> Profile:
    """Return the profile of a column; texts in `missing` count as missing values."""
    present = dict(counts)
    absent = sum(present.pop(text, 0) for text in (None, *missing))
    return Profile(name, cast("dict[str, int]", present), sum(counts.values()), missing=absent)
