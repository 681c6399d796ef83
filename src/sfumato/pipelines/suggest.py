"""Suggest a plan for some rows: role of each column, privacy models and method."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
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
    MAX_QUASI_IDENTIFIERS,
    crowded_out,
    inferred_by_several,
    select,
    spare_parts,
    without_tells,
)
from sfumato.hierarchies.role_detection.role_reasons import COMMAS_IN_TEXTS, COSTLY, ENCODING, NA_IS_A_CODE
from sfumato.hierarchies.role_detection.roles import suggest_all
from sfumato.hierarchies.role_detection.suggestion import UNKNOWN_RANK, Suggestion
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
from sfumato.pipelines.plan_suggestion.inference_risk import find_inference_risks, mark_dependent_columns
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
    SuggestedPlan,
    member_count,
    publications,
    publishable,
)
from sfumato.pipelines.plan_suggestion.quasi_identifier_search import (
    better_withheld,
    drop_near_duplicates,
    groups_of,
    near_duplicates_among,
    no_twins,
)
from sfumato.pipelines.plan_suggestion.survey_columns import (
    limit_survey_answers,
    one_of_each,
    survey_answers_note,
    with_survey_weights,
)
from sfumato.values import replace

# A column with at least _MANY_NUMBERS distinct texts may contain at most _FEW_WORDS words, in at most a proportion of
# _MOST_WORDS of its rows. Of the first _LOOKED_AT other texts, at most a proportion of _WRONG_NUMBERS may be invalid
# numbers.
_MANY_NUMBERS, _FEW_WORDS, _MOST_WORDS = 50, 5, 0.3
_LOOKED_AT, _WRONG_NUMBERS = 200, 0.05
# Near duplicates must separate rows to this proportion of the finer column. A birth date and an age do; a town and its
# province do not, because one is a level of the other's hierarchy.
_SAME_DETAIL, _SAME_AGE = 0.9, 0.4
# How often free places are filled again.
_FILLINGS = 2


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
    are_near_duplicates = near_duplicates_among(engine, persons) if rows <= FEW_ROWS else no_twins
    selection = select(persons, profiles, min(K, rows), are_near_duplicates)
    answered = limit_survey_answers(engine, one_of_each(selection.suggestions), profiles, rows)
    looking.at("compare-columns", 0.2)
    suggestions = {name: publishable(one, profiles[name]) for name, one in answered.items()}
    reading = ({} if source is None else {"source": source}) | data | ({"missing": missing} if missing else {})
    draft = Draft(reading, suggestions, profiles, dict(publications(suggestions, profiles)), codes)
    if rows <= FEW_ROWS:
        looking.at("compare-columns", 0.5)
        draft = _without_twins(engine, _without_tells(engine, draft), are_near_duplicates)
        looking.at("compare-columns", 0.9)
        known = draft.known_names
        draft = _filled(engine, draft, selection.waiting)
        if not draft.known_names <= known:  # columns added instead may be inferred, too
            draft = _without_tells(engine, draft)
    empty = footer_rows_note(engine)
    proposal = draft.plan()
    if questions:
        proposal.plan["purpose"] = {"questions": [question.entry() for question in questions]}
    mixed = mixed_units_note(engine, proposal.plan, profiles) if rows <= FEW_ROWS else None
    notes = (mixed, repeated_names(engine, persons, profiles, K), survey_answers_note(draft.suggestions), empty)
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


def _without_tells(engine: RowCounter, draft: Draft) -> Draft:
    """Return the draft without sensitive columns from which a quasi-identifier can be inferred."""
    person = next((name for name, one in draft.suggestions.items() if one.role == "person"), None)
    tells = find_inference_risks(engine, draft.judged_columns(), person)
    told = inferred_by_several(draft.suggestions, {name: one.quasi_identifier for name, one in tells.items()})
    computed = {name: one.computed_from for name, one in tells.items() if one.computed_from}
    if told := told or spare_parts(draft.suggestions, computed):
        draft = replace(draft, suggestions=dict(draft.suggestions) | told)
        tells = find_inference_risks(engine, draft.judged_columns(), person)
    if not tells:
        return draft
    words = {name: one.words for name, one in tells.items()}
    beside = [name for name, one in tells.items() if one.with_private]
    suggestions = without_tells(draft.suggestions, draft.profiles, words, beside)
    published = {name: plan for name, plan in draft.published.items() if suggestions[name].role == "sensitive"}
    if len(published) == 1 < len(draft.published):  # one column alone may be published in more detail than two together
        published = dict(publications(suggestions, draft.profiles))
    return replace(draft, suggestions=suggestions, published=published)


def _without_twins(engine: RowCounter, draft: Draft, are_near_duplicates: Callable[[str, str], bool]) -> Draft:
    """Return the draft without redundant quasi-identifiers whose removal reduces the total loss."""
    concepts = {name: one.concept for name, one in draft.suggestions.items() if one.role == "quasi-identifier"}

    def tell_the_same(one: str, other: str) -> bool:
        # A birth date may determine the sex of the few who share it; two days of a stay determine its length.
        alike = concepts[one] == concepts[other] and concepts[one] not in (None, "date")
        details = sorted(draft.profiles[name].separation for name in (one, other))
        needed = _SAME_AGE if concepts[one] == "age" else _SAME_DETAIL
        return alike and details[0] >= needed * details[1] and are_near_duplicates(one, other)

    groups = groups_of([*concepts], tell_the_same)
    if not groups:
        return draft
    spare = drop_near_duplicates(engine, draft.known_columns(), member_count(draft.suggestions, draft.profiles), groups)
    suggestions = dict(draft.suggestions)
    for name, twin in spare.items():
        suggestions[name] = suggestions[name].withheld(
            Message("reason.twin", reason=suggestions[name].reason, twin=twin)
        )
    return replace(draft, suggestions=suggestions)


def _filled(engine: RowCounter, draft: Draft, waiting: Mapping[str, Suggestion]) -> Draft:
    """Return the draft without costly quasi-identifiers, with waiting ones tried in their places.

    If a column of unknown meaning was too costly, no further ones are tried.
    """
    before, draft, left = draft, _without_costly(engine, draft), dict(waiting)
    for _ in range(_FILLINGS):
        free = MAX_QUASI_IDENTIFIERS - sum(one.role == "quasi-identifier" for one in draft.suggestions.values())
        vain = any(_is_unplaced(one) and draft.suggestions[name] != one for name, one in before.suggestions.items())
        tried = [name for name, one in left.items() if not (vain and _is_unplaced(one))]
        batch = {name: left.pop(name) for name in tried[: max(free, 0)]}
        if not batch:
            break
        before = replace(draft, suggestions=dict(draft.suggestions) | batch)
        draft = _without_costly(engine, before)
    return replace(draft, suggestions=crowded_out(draft.suggestions, left))


def _is_unplaced(suggestion: Suggestion) -> bool:
    """Return whether a column is a quasi-identifier only because its meaning is unknown."""
    return suggestion.role == "quasi-identifier" and suggestion.rank >= UNKNOWN_RANK


def _without_costly(engine: RowCounter, draft: Draft) -> Draft:
    """Return the draft without quasi-identifiers that cost the others more detail than they keep."""
    unknown = [name for name, suggestion in draft.suggestions.items() if suggestion.concept is None]
    costly = better_withheld(engine, draft.known_columns(), member_count(draft.suggestions, draft.profiles), unknown)
    losses = {"before": round(100 * costly.before), "after": round(100 * costly.after)}
    suggestions = dict(draft.suggestions)
    for name in costly.columns:
        known = suggestions[name]
        suggestions[name] = known.withheld(COSTLY.format(known=known.reason, **losses))
    return replace(draft, suggestions=suggestions)


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
