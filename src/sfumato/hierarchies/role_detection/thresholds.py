"""Thresholds of role detection: what evidence weighs, and how sure a decision must be.

Weights are log-odds: 3 means twenty to one.
"""

# Words of a name: the main word, the others, several that belong together, and the unit of a number.
HEAD, MODIFIER, JOINT, UNIT = 3.0, 1.2, 4.0, 3.5
# A word that says how something is written: a name, a class.
NOTATION = 0.8
# Factors for words that are not written as the list has them: another form, an abbreviation, a compound.
INFLECTED, ABBREVIATED, COMPOUND = 0.9, 0.8, 0.85
# Words of so few letters among others count less.
SHORT_WORD, SHORT = 2, 0.6
# A question with so few words of its own asks for a fact about the person; these concepts are such facts.
WORDS_OF_FACT = 3
FACTS = frozenset(
    ("age", "sex", "origin", "nationality", "place", "family", "schooling", "work", "body", "religion", "money")
)
# Values: those of a format, words of a list, names of persons, keys, texts, dates, and numbers of a distribution.
FORMAT, VALUES, DUMMY, NAMES, OWN_KEYS, TEXTS, DATES, SPREAD = 8.0, 2.5, 2.5, 6.0, 5.0, 6.0, 2.0, 2.0
# Numbers distributed as private ones; less than a date or a list of words.
PRIVATE_SPREAD = 1.1
# A word for a group with a number that no person and no row has of its own.
GROUP = 1.5
ANSWERS, BOXES = 3.3, 2.0
# The least weight of a decision, and how far below the best concept a safer one is taken.
DECIDED, MARGIN = 1.0, 0.7
# Numbers that are given out: how many digits suffice beside a word for numbers, and beside one for codes.
NUMBERED, CODED = 5, 7
# Texts: rows that each text of a list has, the least number of rows, and shares of own, coded and counted ones.
ROWS_OF_LISTED, FEW_ROWS, MANY_OWN, CODED_SHARE = 5, 10, 0.5, 0.9
MANY_TEXTS, MOST_TEXTS = 0.1, 0.5
# Descriptions are chosen from a list if these are few, each in many rows.
MOST_LISTED, ROWS_OF_LIST, LISTED_SHARE = 100, 20, 0.95
# Concepts of questions with a free-text answer.
OFTEN_WRITTEN = frozenset(("use", "outcome", "reason", "need", "opinion", "performance"))
# Boxes of a form in one file; the share of own values below which numbers are of groups.
SOME_BOXES, GROUP_SHARE = 3, 0.1
# Codes of so few letters mean many things.
LETTERS = 2
# Concepts that say whose numbers those of keys are.
GIVEN = ("office_number", "account", "household", "plate", "phone", "email", "login")
