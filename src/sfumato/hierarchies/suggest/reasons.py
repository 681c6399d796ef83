"""The reasons for roles, in plain words: the one place of their sentences, none of which holds a value of the data."""

# What a concept or a format means for a person whose row it stands in.
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
    "free_text": "are free text, which can name anyone",
    "crime": "tells of offences or sentences (GDPR, Article 10)",
    "religion": "tells of religion or belief (GDPR, Article 9)",
    "politics": "tells of political opinions (GDPR, Article 9)",
    "union": "tells of trade union membership (GDPR, Article 9)",
    "origin": "tells of racial or ethnic origin (GDPR, Article 9)",
    "sexual_life": "tells of sexual life or orientation (GDPR, Article 9)",
    "biometry": "tells of genes or the body's marks (GDPR, Article 9)",
    "health": "tells of health (GDPR, Article 9)",
    "money": "tells of money, which is private",
    "performance": "tells how somebody was judged, which is private",
    "opinion": "tells what somebody thinks, which is private",
    "outcome": "is an outcome: what is studied, not what others know beforehand",
    "age": "tells of age or birth",
    "sex": "tells of sex",
    "place": "tells of a place",
    "nationality": "tells of nationality or language",
    "family": "tells of the family",
    "work": "tells of work",
    "schooling": "tells of schooling",
    "date": "tells of a time",
    "body": "tells of the looks",
    "belongings": "tells of belongings or where somebody was seen",
    "title": "is a title",
}
KNOWN = "{what}: others may know it of a person."
REJECTED = " {count} of its values are not of this kind."
DOUBT = "{what}: nothing tells what it is, so others may know it of a person."
SAME = "It is the same for everybody."
EMPTY = "It is empty."
ROW_NUMBERS = "It numbers the rows."
OWN_TEXT = "Nearly every row has a text of its own."
OWN_NUMBER = "Nearly every row has a number of its own, and nothing tells what it is."
FREE_TEXT = "It is free text, which can name anyone."
PERSON = "{why} They repeat, {count} rows each on average, so they name persons, and promises count persons."
PERSON_KEYS = "Its codes repeat as keys of persons do, {count} rows each on average, so promises count persons."
CODES = "Its codes repeat, {count} rows each on average. If they name persons, give it role: person."
NAMELESS = "{why} They repeat, but some rows have none, so promises count rows. Mend these, and give it role: person."
SECOND_KEY = '{why} Another column, "{person}", names the persons that promises count.'
RARE = "{known} Hardly any of its values stands in {count} rows, so none could be published."
LESS = "{known} Left out, since {count} other columns tell rows apart better."
TELLING = "{known} Most rows have a value of their own, by which they would be found, and which is no number to round."
TELLS = "{known} But it {tells}, so who knows that knows it, too: it is a quasi-identifier."
UNDOES = "{known} It {tells}, so it would undo what is done there."
ONE_TOLD = 'nearly tells "{other}"'
COMPUTED = 'is nearly computed from "{first}" and "{second}"'
MENTIONS = "{known} But {count} of its texts name somebody or tell how to reach somebody."
UNIFORM = (
    "{known} Nearly all rows have one value, and nothing tells that to have it is harmless: no class could hide "
    "who has it."
)
SPELLINGS = (
    " {count} of its values are likely other spellings of one: make them one, or they are generalized as several."
)
ONE_SPELLING = " {count} of its values are likely other spellings of one: they count, and are published, as one."
ONLY = "A plan needs a quasi-identifier, and no column is a better one."
ROUNDED = " Its numbers are published rounded, since exact ones would single out rows."
TAILS = " Its largest or smallest numbers are published together, since they would single out rows."
UNDECIDED = "decide yourself: "


def by_name(word: str, key: str) -> str:
    """Why a column's name decides.

    >>> by_name("diagnosis", "health")
    '"diagnosis" in its name tells of health (GDPR, Article 9).'
    """
    phrase = PHRASES[key]
    return (
        f'"{word}" in its name: its values {phrase}.'
        if phrase.startswith("are ")
        else f'"{word}" in its name {phrase}.'
    )


def by_values(share: float, key: str) -> str:
    """Why a column's values decide.

    >>> by_values(0.964, "email")
    '96 % of its values are e-mail addresses.'
    """
    percent = round(max(100 * share, 1))
    if PHRASES[key].startswith("are "):
        return f"{percent} % of its values {PHRASES[key]}."
    return f"What stands in {percent} % of its rows {PHRASES[key]}."
