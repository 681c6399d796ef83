"""Detectors of roles: each looks at one thing in a column and says for which concepts it speaks; none decides.

`DETECTORS` lists them. A detector gets a column and its table, and yields evidence; it calls no other detector.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from sfumato.hierarchies.role_detection import thresholds as at
from sfumato.hierarchies.role_detection.content_detection import distribution_of, short_postcodes
from sfumato.hierarchies.role_detection.evidence import Column, Evidence, Source, Table
from sfumato.hierarchies.role_detection.identifier_formats import (
    SEVERAL_WORDS,
    are_written_by_hand,
    format_of,
    has_sentences,
    is_free_text,
)
from sfumato.hierarchies.role_detection.key_columns import (
    REPEATED,
    UNIQUE_SHARE,
    are_body_weights,
    are_codes_of_persons,
    are_given_numbers,
    are_hashes,
    are_keys,
    are_keys_of_persons,
    are_long_numbers,
    counts_rows,
    digits_of_given_numbers,
    has_digit,
    is_evenly_used,
    numbers_all_rows,
    spread_as_weights,
)
from sfumato.hierarchies.role_detection.lexicon.concepts import WORDS
from sfumato.hierarchies.role_detection.lexicon.name_terms import is_question, spoken_word, terms_of, words_of
from sfumato.hierarchies.role_detection.lexicon.value_terms import (
    concept_of_values,
    meaning_of_flag,
    share_of_full_names,
    share_of_names,
    share_of_places,
)
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.questionnaire_columns import is_box, is_yes_or_no
from sfumato.hierarchies.role_detection.unexplained_numbers import is_nameless, known_by_spread, private_by_spread
from sfumato.patterns import regex

Detector = Callable[[Column, Table], Iterable[Evidence]]
# Kinds of values that are no keys: times, scales, and numbers with a unit or fractions.
_TIMES = ("dates", "times", "years")
_NO_KEYS = (*_TIMES, "scale", "ages", "heights")
_COUNTED_TEXT = regex(r"[^\W\d_]{3,}.* \d[\d./]* [^\W\d_]{3,}.*")
_ANSWER = regex("(?i:[01ynjsox]|yes|no|ja|nein|nee|nej|nei|oui|non|s[ií]|sim|n[aã]o|tak|nie)")


def _seen(of: str, by: Source, weight: float, code: str, **values: Any) -> Evidence:
    return Evidence(of, by, weight, code, values)


def _percent(share: float) -> int:
    return round(max(100 * share, 1))


def by_words(column: Column, _: Table) -> Iterator[Evidence]:
    """The words of its name."""
    for term in column.terms:
        if term.concept.key not in ("weight", "free_text"):
            label = bool(column.label) and term in terms_of(column.label)
            word = spoken_word(column.label if label else column.profile.name, term.word)
            told = {"book": column.book} if label and column.book else {}
            yield _seen(term.concept.key, "name", term.weight, "by_codebook" if told else "by_name", word=word, **told)


def by_format(column: Column, _: Table) -> Iterator[Evidence]:
    """Values in a format of identifiers: addresses, official and bank numbers, keys."""
    if column.shape.kind in _NO_KEYS or column.shape.kind == "decimal":
        return
    if found := format_of(column.profile):
        yield _seen(found[0], "format", at.FORMAT, "by_format", share=_percent(found[1]))


def by_vocabulary(column: Column, _: Table) -> Iterator[Evidence]:
    """Values that are words or codes of a list."""
    if found := concept_of_values(column.profile):
        yield _seen(found[0].key, "values", at.VALUES, "by_values", share=_percent(found[1]))


def by_flag(column: Column, _: Table) -> Iterator[Evidence]:
    """Yes or no in a column that is named after one value of an attribute: married, black, catholic."""
    if is_yes_or_no(column.profile) and (found := meaning_of_flag(column.profile.name)):
        yield _seen(found[0], "values", at.DUMMY, "by_flag", word=f'"{found[1]}"')


def by_person_names(column: Column, _: Table) -> Iterator[Evidence]:
    """Values that are names of persons."""
    if column.shape.kind != "categories":
        return
    # White and Black are surnames, too: for a few values, a word list is stronger evidence than a list of names.
    if column.profile.few and concept_of_values(column.profile):
        return
    known = column.named("quasi-identifier", "sensitive") is not None and not column.has("whole_names")
    share = share_of_full_names(column.profile) if known else share_of_names(column.profile)
    if share:
        yield _seen("name", "values", at.NAMES, "by_format", share=_percent(share))


def by_places(column: Column, _: Table) -> Iterator[Evidence]:
    """Values that are names of places, or postcodes beside a short word for these."""
    if words := sorted(short_postcodes(column.profile, lettered=column.named("sensitive") is not None)):
        word = spoken_word(column.profile.name, words[0])
        yield _seen("place", "values", at.JOINT, "by_name", word=word)
    if column.shape.kind == "categories" and (share := share_of_places(column.profile)):
        yield _seen("place", "values", at.SPREAD, "by_values", share=_percent(share))


def by_keys(column: Column, _: Table) -> Iterator[Evidence]:
    """Values that number rows or persons."""
    profile, kind = column.profile, column.shape.kind
    known = column.named("quasi-identifier", "sensitive") is not None
    if kind in (*_TIMES, "scale"):
        return
    numbering = column.has("numbering")
    row = "key" if any(term.concept.key == "key" for term in column.terms) else "row"
    if kind != "decimal" and (not known or numbering):
        computed = are_hashes(profile) and profile.present >= REPEATED * profile.distinct_keys
        if computed or are_codes_of_persons(profile) or (not profile.missing and are_keys_of_persons(profile)):
            yield _seen("key", "spread", at.OWN_KEYS, "repeating_codes")
    if kind not in ("categories", "codes") and counts_rows(profile) and (not known or numbers_all_rows(profile)):
        yield _seen(row, "spread", at.FORMAT, "row_numbers")
    long = (numbering and are_long_numbers(profile)) or (not known and are_keys(profile))
    if long and kind == "whole" and column.shape.type != "amount":
        yield _seen(row, "spread", at.OWN_KEYS, "by_format", share=100)
    if is_given_number(column):
        yield _seen("key", "spread", at.OWN_KEYS, "by_format", share=100)


def is_given_number(column: Column) -> bool:
    """Return whether a column holds numbers of loans, taxes, policies, …, though a word in its name means money.

    Codes of diagnoses or offenses are chosen from a list, so that some are much more frequent than others: they stay
    codes. An unknown name needs a word for numbers as well.
    """
    profile, content = column.profile, column.shape
    if content.kind in (*_NO_KEYS, "decimal") or content.type == "amount":
        return False
    digits = digits_of_given_numbers(profile)
    meant = [term.concept for term in column.terms if term.concept.key != "key"]
    numbering = at.NUMBERED if column.has("numbering") else at.CODED if column.has("codes") else None
    if any(concept.key == "money" for concept in meant):
        return are_given_numbers(profile) or (numbering is not None and digits >= numbering)
    private = all(concept.role == "sensitive" for concept in meant)
    return private and numbering is not None and digits >= at.CODED and is_evenly_used(profile)


def by_texts(column: Column, _: Table) -> Iterator[Evidence]:
    """Values that somebody wrote: each may name anyone, or occurs in one row alone."""
    profile, kind = column.profile, column.shape.kind
    if kind not in ("categories", "codes"):
        return
    known = column.named("quasi-identifier", "sensitive")
    listed = known is not None and profile.share_in_groups(at.ROWS_OF_LISTED) >= UNIQUE_SHARE
    many = profile.present >= at.FEW_ROWS
    if kind == "categories" or known is None:
        if is_free_text(profile) and not listed:
            yield _seen("free_text", "values", at.TEXTS, "free_text")
        elif many and profile.distinct_share >= UNIQUE_SHARE:
            key = column.has("persons") or any(term.concept.key == "key" for term in column.terms)
            yield _seen("key" if key else "row", "values", at.TEXTS, "own_text")
        elif many and known is None and profile.distinct_share >= at.MANY_OWN and _are_codes(profile):
            yield _seen("key", "values", at.OWN_KEYS, "by_format", share=_percent(profile.share(has_digit)))
    if known is not None and known.concept.key in at.OFTEN_WRITTEN and are_written_by_hand(profile):
        yield _seen("free_text", "values", at.TEXTS, "written")
    counted = not column.terms and kind == "categories" and profile.distinct_share >= at.MANY_TEXTS
    if counted and profile.share_of(_COUNTED_TEXT) >= at.MOST_TEXTS:
        yield _seen("free_text", "values", at.TEXTS, "free_text")


def _are_codes(profile: Profile) -> bool:
    return profile.share(lambda value: any(map(str.isdigit, value)) and " " not in value.strip()) > at.CODED_SHARE


def by_remarks(column: Column, _: Table) -> Iterator[Evidence]:
    """A field for remarks, however few texts it has so far."""
    profile = column.profile
    remark = next((word for word in words_of(profile.name) if word in WORDS["remarks"]), None)
    term = next((term for term in column.terms if term.concept.key == "free_text"), None)
    word = remark or (term.word if term else None)
    if word is None or column.shape.kind != "categories" or profile.share_of(_ANSWER) == 1:
        return
    spoken = spoken_word(profile.name, word)
    if remark and profile.words_each >= SEVERAL_WORDS:
        yield _seen("free_text", "values", at.TEXTS, "by_name", word=spoken)
        return
    listed = len(profile.counts) <= at.MOST_LISTED and profile.share_in_groups(at.ROWS_OF_LIST) >= at.LISTED_SHARE
    if listed and not remark:
        return
    written = not profile.few or has_sentences(profile) or share_of_names(profile) > 0
    yield _seen("free_text", "values", at.HEAD, "by_name" if written else "remarks", word=spoken)


def by_times(column: Column, _: Table) -> Iterator[Evidence]:
    """Values that are dates, times or years."""
    if column.shape.kind in _TIMES:
        born = any(term.concept.key == "age" for term in column.terms)
        yield _seen("age" if born else "date", "values", at.DATES, "time", what=column.shape.words)


def by_spread(column: Column, _: Table) -> Iterator[Evidence]:
    """Numbers that are distributed as ages, postcodes, heights or private numbers are, where no word explains them."""
    nameless = is_nameless(column.profile)
    if (column.terms and not nameless) or column.has("quantity") or column.has("counts"):
        return
    if column.shape.kind in ("whole", "ages", "codes") and (found := known_by_spread(column.profile)):
        yield _seen(found[0], "spread", at.SPREAD, f"like.{found[0]}")
    elif nameless and (private := private_by_spread(column.profile)):
        of = "performance" if private in ("measure", "count") else private
        yield _seen(of, "spread", at.PRIVATE_SPREAD, f"like.{private}")


def by_weights(column: Column, _: Table) -> Iterator[Evidence]:
    """Weights: of a survey, or of bodies."""
    term = next((term for term in column.terms if term.concept.key == "weight"), None)
    weighing = column.has("weighing") and not column.has("units_of_weight")
    if term is None and not weighing:
        return
    word = spoken_word(column.profile.name, term.word if term else next(iter(column.words & WORDS["weighing"])))
    if are_body_weights(column.profile):
        yield _seen("body", "spread", at.JOINT, "by_name", word=word)
    elif term is not None or spread_as_weights(column.profile):
        yield _seen("weight", "name", at.JOINT, "by_name", word=word)


def by_question(column: Column, _: Table) -> Iterator[Evidence]:
    """A question for a name, whose answers others do not know."""
    if is_question(column.profile.name) and not is_free_text(column.profile):
        yield _seen("opinion", "name", at.ANSWERS, "question_text")


def by_boxes(column: Column, table: Table) -> Iterator[Evidence]:
    """One value or none, as other columns of the file: a box of a form that was ticked."""
    if is_box(column.profile) and sum(is_box(one.profile) for one in table.columns.values()) >= at.SOME_BOXES:
        yield _seen("opinion", "values", at.BOXES, "box")


def by_group_numbers(column: Column, _: Table) -> Iterator[Evidence]:
    """Codes of a group that others know: a school, a region, an expedition."""
    profile, words = column.profile, words_of(column.profile.name)
    coded = column.shape.kind in ("categories", "codes", "whole") and profile.distinct_share < at.GROUP_SHARE
    others = column.has("technical") or column.has("persons") or column.has("staff")
    if (
        coded
        and not others
        and len(words) > 1
        and words[-1] in WORDS["numbering"]
        and distribution_of(profile)[0] is None
    ):
        yield _seen("belongings", "spread", at.GROUP, "group_codes")


DETECTORS: tuple[Detector, ...] = (
    by_words,
    by_format,
    by_vocabulary,
    by_flag,
    by_person_names,
    by_places,
    by_keys,
    by_texts,
    by_remarks,
    by_times,
    by_spread,
    by_weights,
    by_question,
    by_boxes,
    by_group_numbers,
)
