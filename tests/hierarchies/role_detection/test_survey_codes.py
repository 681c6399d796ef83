"""Codes of surveys: those that mean missing, and columns by the labels of their values."""

import pytest

from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.roles import suggest_all
from sfumato.hierarchies.role_detection.survey_codes import CodeBook, codes_by_column, missing_codes


def labeled(profile, book):
    return suggest_all({profile.name: profile}, book)[profile.name]


NUMBERS = {str(number): 1 for number in range(1, 41)}


@pytest.mark.parametrize(
    ("texts", "labels", "codes"),
    [
        ({"q": {"1": 5, "2": 5, "-9": 1}}, {"q": {"-9": "No answer"}}, ["-9"]),
        ({"q": {"1": 5, "8": 1, "9": 1}}, {"q": {"8": "weiß nicht", "9": "k.A."}}, ["8", "9"]),
        # 9 is an age elsewhere, and a region there.
        ({"q": {"1": 5, "9": 1}, "age": {"9": 2, "30": 1}}, {"q": {"9": "refused"}}, []),
        ({"q": {"1": 5, "9": 1}, "r": {"9": 2}}, {"q": {"9": "refused"}, "r": {"9": "Region 9"}}, []),
        # Numbers of rows are no values: 9 is the ninth respondent.
        ({"q": {"1": 30, "9": 10}, "id": NUMBERS}, {"q": {"9": "refused"}}, ["9"]),
        ({"q": {"1": 30, "9": 10}, "score": NUMBERS | {"9": 2}}, {"q": {"9": "refused"}}, []),
        # Files without labels: the only numbers below 0.
        ({"pay": {"1200": 1, "900.5": 1, "10": 1, "0": 1, "-9": 3, "-99": 1}}, {}, ["-9", "-99"]),
        ({"pay": {"1200": 1, "900": 1, "10": 1, "0": 1, "-9": 3, "-12": 1}}, {}, []),
        ({"degrees": {"-9": 2, "-3": 1, "4": 1, "5": 1, "6": 1, "7": 1}}, {}, []),
        ({"name": {"-9": 1, "Ada": 1, "Bo": 1, "Eve": 1, "Mia": 1}}, {}, []),
    ],
)
def test_codes_that_mean_missing(texts, labels, codes) -> None:
    assert missing_codes(texts, CodeBook(values=labels)) == codes


def test_labels_make_categories_and_tell_what_they_are() -> None:
    codes = Profile("q3", {str(code): 20 for code in range(1, 7)}, rows=120)
    plain = labeled(codes, CodeBook())
    assert plain.hierarchy["type"] == "intervals"
    labels = {str(code): f"Region {code}" for code in range(1, 7)}
    told = labeled(codes, CodeBook({"q3": "Region of residence"}, {"q3": labels}))
    assert (told.role, told.hierarchy, told.type) == ("quasi-identifier", {"type": "any"}, "text")
    assert told.reason != plain.reason


def test_the_label_or_the_name_says_how_rows_were_drawn() -> None:
    weights = Profile("WEIGHT", {f"{300 + row / 7:.4f}": 1 for row in range(200)}, rows=200)
    assert labeled(weights, CodeBook({"WEIGHT": "Final sampling weight"})).role == "weight"
    households = Profile("HHID", {str(10_001 + row): 2 for row in range(100)}, rows=200)
    assert labeled(households, CodeBook({"HHID": "Household number"})).role == "household"


AGES = {str(age): 5 for age in range(18, 91)}


@pytest.mark.parametrize(
    ("texts", "codes"),
    [
        ({"age": AGES | {"999": 7}}, ["999"]),
        ({"age": AGES | {"999": 7}, "weight": {"61.5": 4, "70.2": 3, "999": 1}}, ["999"]),
        ({"age": AGES | {"999": 2}}, []),  # so few may be slips of the pen
        ({"fee": {str(fee): 3 for fee in range(100, 990, 10)} | {"999": 9}}, []),  # others are as large
        ({"age": AGES | {"999": 7}, "fee": {"998": 4, "999": 3, "1000": 2}}, []),  # it holds for all columns
        ({"hba1c": {f"{tenths / 10}": 4 for tenths in range(45, 120)} | {"99.9": 6, None: 3}}, ["99.9"]),
        ({"age": AGES | {"999": 7}, "id": {str(number): 1 for number in range(1, 1300)}}, ["999"]),
        # 997 to 999 for three reasons.
        ({"age": AGES | {"997": 1, "998": 4, "999": 7}}, ["997", "998", "999"]),
        ({"age": AGES | {"998": 4, "999": 7}, "weight": {"61": 4, "70": 3, "998": 1}}, ["998", "999"]),
        ({"age": AGES | {"998": 4, "999": 7}, "fee": {"990": 4, "998": 3, "1000": 2}}, ["999"]),
        ({"age": AGES | {"998": 4}}, []),  # the nines are what tells
        ({"age": AGES | {"995": 4, "999": 7}}, []),
        ({"room": {"A1": 9, "B2": 7, "C3": 7, "D4": 2, "999": 9}}, []),
    ],
)
def test_nines_far_above_all_other_numbers_are_no_answer(texts, codes):
    assert missing_codes(texts, CodeBook()) == codes


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ({"1": 90, "2": 80, "3": 70, "4": 60, "5": 50, "99": 9}, ["99"]),
        ({"0": 90, "1": 80, "2": 70, "10": 3, "88": 2, "98": 1, "99": 9}, ["88", "98", "99"]),
        ({str(step): 90 for step in range(1, 8)} | {"77": 2, "88": 4, "99": 9}, ["77", "88", "99"]),
        ({"0": 90, "1": 80, "2": 70, "3": 60, "99": 2}, []),
        ({"0": 90, "1": 80, "2": 70, "14": 3, "99": 9}, []),
        ({"1": 90, "2": 80, "3": 70, "4": 60, "88": 9}, []),
    ],
)
def test_nines_of_two_digits_above_the_steps_of_a_scale_mean_missing(values, codes):
    """99 beside 1 to 5 counted as an answer: one known answer and a missing one were two different ones."""
    texts = {"q1": values, "hours": {str(hours): 3 for hours in range(60, 100)}}
    assert codes_by_column(texts, CodeBook()).get("q1", []) == codes
