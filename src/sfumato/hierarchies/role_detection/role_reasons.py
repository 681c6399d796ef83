"""Sentences that give the reasons for suggested roles; none of them contains a data value."""

from typing import TYPE_CHECKING

from sfumato.localization.messages import Message

if TYPE_CHECKING:
    from sfumato.hierarchies.role_detection.evidence import Evidence

# The meaning of a concept or a format for the person of a row.
PHRASES = {
    "email": "are e-mail addresses",
    "internet": "are addresses of the internet",
    "phone": "are telephone numbers",
    "account": "are numbers of accounts or cards",
    "office_number": "are numbers that an office or an insurance gives one person",
    "plate": "are plates or chips, which name an owner",
    "case": "are file numbers of cases",
    "address": "are addresses or places on a map",
    "login": "are names of accounts",
    "signature": "are signatures or pictures",
    "name": "are names of persons",
    "key": "are keys of rows or persons",
    "household": "are keys of households",
    "weight": "are weights of a survey, which tell the design and rare groups",
    "processing": "are times of how the row was made, by which who has the raw system finds it",
    "free_text": "are free text, which can name anyone",
    "crime": "indicates offenses or sentences (GDPR, Article 10)",
    "religion": "indicates religion or belief (GDPR, Article 9)",
    "politics": "indicates political opinions (GDPR, Article 9)",
    "union": "indicates trade union membership (GDPR, Article 9)",
    "origin": "indicates racial or ethnic origin (GDPR, Article 9)",
    "sexual_life": "indicates sexual life or orientation (GDPR, Article 9)",
    "biometry": "indicates genes or biometric features (GDPR, Article 9)",
    "health": "indicates health (GDPR, Article 9)",
    "need": "indicates hardship in which somebody is helped, which is private",
    "money": "indicates money, which is private",
    "use": "indicates what somebody uses or consumes, which is private",
    "performance": "indicates how somebody was judged, which is private",
    "marks": "indicates grades, which are private",
    "opinion": "indicates what somebody thinks, which is private",
    "outcome": "is an outcome: what is studied, not what others know beforehand",
    "reason": "indicates why something was done or decided, which is private",
    "age": "indicates age or birth, which relatives, colleagues and registers know",
    "sex": "indicates sex, which everybody knows who knows the person",
    "place": "indicates a place, which neighbors and directories know",
    "nationality": "indicates nationality or language, which people around somebody know",
    "family": "indicates the family, which neighbors and relatives know",
    "work": "indicates work, which colleagues know and profiles show",
    "schooling": "indicates schooling, which classmates know and profiles show",
    "date": "indicates a time, which is known to those who were there",
    "body": "indicates the looks, which everybody sees",
    "belongings": "indicates belongings or where somebody was, which others see",
    "title": "is a title, which others use",
}
PROTECTED = " Others may know it, and it is sensitive (GDPR): the other quasi-identifiers must not disclose it."
LIKE = {
    "age": "Its whole numbers spread as ages of persons do, which relatives, colleagues and registers know.",
    "place": "Its numbers have five digits each and repeat, as postcodes do, which neighbors and directories know.",
    "body": "Its whole numbers spread as heights of persons do, which everybody sees.",
    "money": "Its numbers spread as sums of money do, which are private.",
    "measure": "Its numbers are measurements, which outsiders do not know.",
    "count": "Its whole numbers count something that happens seldom to most and often to some, which is private.",
    "crime": "Its codes are written as sections of laws or diagnoses are, which are private.",
}
SAME_ANSWERS = "It has the same answers as {names}, so it asks after something of that kind, which is private."
SAYS_LESS = 'Each value of "{column}", which is private, has one of its values: it says the same, or less.'
LIKE_MEASURES = "Its numbers measure or count something, as those of {names} do, which are private; they are no codes."
BATTERY = "It has the same answers as {count} other columns, so it is one of several questions; an answer is private."
GOES_TOGETHER = (
    "{known} It goes up and down with {count} others of the same scale, as answers about one matter do: what somebody "
    "thinks, which others do not know."
)
MANY_ANSWERS = (
    "{count} columns are answers that are assumed to be unknown to outsiders, so they are "
    "published unchanged, each with a guarantee that no class discloses it. Together they "
    "identify a person: an attacker who knows several answers finds the row and learns the "
    "others. If others may know some of them (such as possessions or public behavior), "
    "make these quasi-identifiers or remove them."
)
QUESTION = "It is one of the numbered questions of a form, and has few answers; what somebody answers is private."
FORM = (
    "It shows when the form was filled in, or how far, not what was asked: anyone who has "
    "the raw answers finds a row by it."
)
WEIGHED = "It is a body weight, among health findings of the same persons (GDPR, Article 9)."
YES_OR_NO = "It says yes or no to something unknown; what was asked or found about a person is private."
TIME = "{what}: who was there, or has the person's papers, knows them."
REJECTED = " {count} of its values are not of this kind."
DOUBT = "{what}, the most frequent in {share} % of the rows; its meaning is unknown, so others may know it."
REMARKS = "{word} in its name: a field for remarks. It has few texts so far, but each new one can name anyone."
SENTENCES = "Its values are whole sentences. They are few so far, but each new one can name anyone."
WRITTEN = "Many of its texts occur once: they are free text, and each can name anyone."
SAME = "It is the same for everybody, so it distinguishes no one."
EMPTY = "It is empty."
NO_TEXT = "Its values have no text: they are durations, lists, records, bytes or the like. They can only be removed."
ROW_NUMBERS = "It numbers the rows: who knows the raw file finds a row by it."
OWN_TEXT = "Nearly every row has a text of its own, by which it would be found."
OWN_NUMBER = "Nearly every row has a number of its own, and its meaning is unknown."
FREE_TEXT = "It is free text, which can name anyone."
REPEAT = " They repeat, "
PERSON = "{why}" + REPEAT + "{count} rows each on average, so they name persons, and guarantees count persons."
CONSTANT = (
    "{why}" + REPEAT + "{count} rows each on average, with the same {names} in all rows of one, so they name persons, "
    "and guarantees count persons."
)
NO_WORD = "Its name does not tell what its values are."
PERSON_KEYS = "Its codes repeat as keys of persons do, {count} rows each on average, so guarantees count persons."
ADVICE = " If they name persons, give it role: person."
CODES = "Its codes repeat, {count} rows each on average." + ADVICE
STAFF_KEYS = "Its codes repeat, and name who serves or judges the persons, not these."
NAMELESS = (
    "{why} They repeat, but some rows have none, so guarantees count rows. Fill these in, "
    "and give the column role: person."
)
SECOND_KEY = '{why} Another column, "{person}", names the persons that guarantees count.'
MEMBERS = '{why} "{person}" numbers the persons of each of these, so they are households, and guarantees count rows.'
SHARED_KEY = '{why} Persons share it: each row has its own "{person}", so guarantees count rows.'
NESTED_KEY = '{why} Each belongs to one of "{person}", which is coarser, so guarantees count those.'
COARSER = "{why} Each of {finer} belongs to one of these, so guarantees count these as persons."
HOUSEHOLD = "{why} Guarantees count rows or persons, never households."
RARE = "{known} Hardly any of its values occurs in {count} rows, so none could be published."
LESS = (
    "{known} Removed, because {count} columns that are more widely known or more "
    "identifying are already quasi-identifiers."
)
TELLING = "{known} Most rows have a value of their own, by which they would be found, and it is no number to round."
TELLS = "{known} But it {tells}, so who knows that knows it, too: it is a quasi-identifier."
UNDOES = "{known} It {tells}, so it would undo what is done there."
TOLD = "{known} But {columns}, which are private, nearly tell it: it would undo what is done there."
PART = '{known} But "{column}", which is private, is nearly computed from it and "{other}": it would tell that.'
ONE_TOLD = 'nearly determines "{other}"'
COMPUTED = 'is nearly computed from "{first}" and "{second}"'
MENTIONS = "{known} But {count} of its texts name somebody or tell how to reach somebody."
FEW_NUMBERS = "{known} Only {count} rows have a number, nearly each its own, which would single it out."
UNIFORM = (
    "{known} Nearly all rows have the same value, and the rare values may be sensitive: no "
    "equivalence class could hide the rows that have them."
)
COSTLY = (
    "{known} Removed, because the others lose {after} % of their detail without such columns, {before} % with them."
)
TWIN = (
    '{known} Removed, because it contains nearly the same information as "{twin}", which '
    "is published: both would have to be generalized alike, and all columns lose less "
    "without it."
)
TOGETHER = (
    "{known} Removed, because with other such answers it would make more than {share} % of "
    "the rows unique, and others may know some of them."
)
ENCODING = (
    "The file is not UTF-8. It is read as {encoding}: look whether letters such as é, ö and ł are right; where they "
    "are not, say what it is written in (--encoding)."
)
CELLS = (
    'The rows look like the cells of a table: each combination of categories stands once, with "{value}" beside it. '
    "This plan is for rows about persons, and protects no cell: for a table of counts or sums write a table plan, and "
    "use `sfumato protect`."
)
MIXED_MEASURES = (
    'The numbers of "{name}" are of several kinds, by "{kinds}", and are rounded alike: of {number} '
    "{number:kind|kinds} nothing is left, since nearly all rows are published as one number. Make one file or column "
    "of each kind, and look again."
)
NEARLY_EMPTY = (
    "{count} {count:row holds|rows hold} next to nothing, as totals and remarks below the rows do: each is counted and "
    "published like a person's. Delete {count:it|them} in the file, and look again."
)
COMMAS_IN_TEXTS = (
    "Numbers are written as texts with decimal commas, which are read in CSV files alone: their columns are taken for "
    "texts. Make them numbers, in a file or a frame, and look again."
)
TEXTLESS = (
    "Durations, lists, records, bytes and the like have no text, so {columns} can only be "
    "removed. To publish some of their information, convert it to columns of texts or "
    "numbers (durations to hours or days), and try again."
)
MISSPELLINGS = (
    " {count} of its values {count:looks like a misspelling of another: mend it, or it counts as a value of its own"
    "|look like misspellings of others: mend them, or they count as values of their own}."
)
SPELLINGS = (
    " {count} of its values {count:is likely another spelling of another|are likely other spellings of one}: make them "
    "one, or they are generalized as several."
)
ONE_SPELLING = (
    " {count} of its values {count:is likely another spelling of another|are likely other spellings of one}: they "
    "count, and are published, as one."
)
NA_IS_A_CODE = ' "NA" is one of its codes, no missing value.'
MISSING_CODES = " Codes for a missing value, in this column alone: {codes}."
LIMITS = (
    " Taken for missing, since they say where a number was not measured, not which it is: {codes}. So means, shares, "
    "least and largest numbers are those of what was measured; who needs the others gives them in a column of their "
    "own."
)
WORDS_AMONG = (
    " Words among its numbers, which are taken for missing, too, and are lost: {codes}. Who needs what they say gives "
    "them in a column of their own."
)
UNITS = (
    "Its numbers are in several units ({units}): convert all of them to one unit, and give "
    "the column a numeric hierarchy."
)
ONLY = "A plan needs a quasi-identifier, and no column is a better one."
ROUNDED = (
    " Its numbers are published rounded to {step}, since exact ones would single out rows: {left}"
    " of {numbers} different ones are left."
)
TAILS = " Its largest or smallest numbers are published together, since they would single out rows."
UNDECIDED = "decide yourself: "


def by_name(word: str, key: str) -> Message:
    """Return the reason that a column's name decides; the word is quoted.

    >>> print(by_name('"diagnosis"', "health"))
    "diagnosis" in its name indicates health (GDPR, Article 9).
    """
    return Message("reason.role_named_values" if _are(key) else "reason.role_named", word=word, phrase=_phrase(key))


def _are(key: str) -> bool:
    """Return whether the phrase of a concept says what values are."""
    return PHRASES[key].startswith("are ")


def _phrase(key: str) -> Message:
    return Message(f"said.phrase_{key}")


def is_special(concept: str) -> bool:
    """Return whether a concept is of the special categories of GDPR (Articles 9 and 10)."""
    return "GDPR" in PHRASES[concept]


def known(what: str, words: str) -> str:
    """Return the reason that a column is widely known, and the kind of its values.

    >>> print(known(by_name('"zip"', "place"), "codes of 5 characters"))
    "zip" in its name indicates a place, which neighbors and directories know; here codes of 5 characters.
    """
    if not isinstance(what, Message) or what.code not in _CONTENT:
        return what
    return Message(_CONTENT[what.code], **what.values, what=words)


# Reasons by a name, and the same with the kind of the values.
_CONTENT = {"reason.role_named": "reason.role_named_content", "reason.role_book_named": "reason.role_book_content"}


def by_values(share: float, key: str) -> Message:
    """Return the reason that a column's values decide.

    >>> print(by_values(0.964, "email"))
    96 % of its values are e-mail addresses.
    """
    code = "reason.role_by_values" if _are(key) else "reason.role_by_rows"
    return Message(code, share=round(max(100 * share, 1)), phrase=_phrase(key))


def by_codebook(word: str, key: str, book: str) -> Message:
    """Return the reason that the meaning decides which a codebook gives a column.

    >>> print(by_codebook('"race"', "origin", "NHANES"))
    "race" in what the codebook of NHANES says of it indicates racial or ethnic origin (GDPR, Article 9).
    """
    code = "reason.role_book_values" if _are(key) else "reason.role_book_named"
    return Message(code, word=word, phrase=_phrase(key), book=book)


# The messages of evidence that has no values.
_PLAIN = {
    "row_numbers": "said.row_numbers",
    "free_text": "said.free_text",
    "own_text": "said.own_text",
    "written": "said.written",
    "repeating_codes": "said.no_word",
    "group_codes": "reason.role_group_codes",
    "question_text": "reason.role_question_text",
    "box": "reason.role_box",
}


def reason_of(key: str, evidence: "Evidence") -> str:
    """Return why a column has a concept."""
    values, code = evidence.values, evidence.code
    if code in _PLAIN:
        return Message(_PLAIN[code])
    if code in ("by_name", "by_flag"):
        return by_name(values["word"], key)
    if code == "by_codebook":
        return by_codebook(values["word"], key, values["book"])
    if code in ("by_format", "by_values"):
        return by_values(values["share"] / 100, "key" if key == "row" else key)
    if code == "time":
        return TIME.format(what=values["what"][0].upper() + values["what"][1:])
    if code == "remarks":
        return Message("reason.role_remarks", word=values["word"])
    return LIKE[code.removeprefix("like.")]
