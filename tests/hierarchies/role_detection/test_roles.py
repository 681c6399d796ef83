"""Roles by evidence: a table of labeled columns, families of columns, and properties of every suggestion."""

import random
import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import datasets
from sfumato.hierarchies.registry import HIERARCHY
from sfumato.hierarchies.role_detection.lexicon.name_terms import concepts_of, terms_of
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.roles import suggest, suggest_all
from sfumato.hierarchies.types import canonical
from sfumato.schema.composite import read
from sizes import size

# `name = values x rows of each`, under `[role concept]`; values are divided by `|`, or numbers from one to another.
TABLE = Path(__file__).with_name("labeled_columns.txt").read_text(encoding="utf-8")
NUMBERS = re.compile(r"(.*?)(\d+)([^\d]*) \.\. (\d+) by (\d+)")


def labeled():
    for line in TABLE.splitlines():
        if line.startswith("["):
            role, concept = line.strip("[]").split()
        elif line:
            name, _, rest = line.partition(" = ")
            values, _, rows = rest.rpartition(" x ")
            yield pytest.param(name, values_of(values), int(rows), role, concept, id=line[:60])


def values_of(text):
    if match := NUMBERS.fullmatch(text):
        before, first, after, last, step = match.groups()
        width = len(first) if first.startswith("0") else 0
        return [f"{before}{number:0{width}d}{after}" for number in range(int(first), int(last) + 1, int(step))]
    return text.split(" | ")


def profile(name, values, missing=0):
    return Profile(name, Counter(map(str, values)), len(values) + missing, missing)


def drawn(*values, rows=200, seed=1):
    return random.Random(seed).choices(values, k=rows)


@pytest.mark.parametrize(("name", "values", "rows", "role", "concept"), list(labeled()))
def test_labeled_columns(name, values, rows, role, concept):
    found = suggest(Profile(name, dict.fromkeys(values, rows), rows * len(values)))
    assert (found.role, found.concept or "-") == (role, concept), found.reason


@pytest.mark.parametrize("name", ["pleas_help", "please", "current", "trace", "comparty", "Mannschaft", "terrace"])
def test_a_part_of_a_word_is_no_evidence(name):
    """ "pleas" from *please*, "rent" in *current* and "race" in *trace* decided roles."""
    assert {term.concept.key for term in terms_of(name)} <= ({"crime"} if name == "pleas_help" else set())


@pytest.mark.parametrize(
    ("name", "concept"),
    [
        ("Do you ever recline your seat when you fly?", "opinion"),
        ("Is it rude to bring a baby on a plane?", "opinion"),
        ("How tall are you?", "body"),
        ("How old are you?", "age"),
        ("Do you have any children under 18?", "family"),
        ("In which country do you live?", "place"),
    ],
)
def test_a_question_is_an_answer_unless_it_asks_for_a_fact_about_the_person(name, concept):
    assert suggest(profile(name, drawn("some", "few", "many"))).concept == concept


def test_members_of_a_family_are_judged_alike():
    scores = {name: profile(name, drawn(*range(420, 560))) for name in ("math1", "math2", "math3")}
    scores["mathk"] = profile("mathk", drawn(*range(280, 510), seed=2))
    found = suggest_all(scores)
    assert {(one.role, one.concept) for one in found.values()} == {("sensitive", "performance")}


def test_yes_or_no_in_a_column_named_after_a_value_is_that_attribute():
    found = {
        name: suggest(profile(name, drawn("0", "1"))).concept
        for name in ("married", "black", "nonwhite", "female", "fgh")
    }
    assert found == {"married": "family", "black": "origin", "nonwhite": "origin", "female": "sex", "fgh": None}


def test_boxes_that_were_ticked_are_answers():
    boxes = {
        f"c{place}": Profile(f"c{place}", {text: 40}, 100, 60)
        for place, text in enumerate(("He snores", "Work", "Ill"))
    }
    assert {one.role for one in suggest_all(boxes).values()} == {"sensitive"}
    assert suggest(boxes["c0"]).concept is None


def test_numbers_of_groups_are_known_to_others_and_keys_of_persons_are_removed():
    peaks = profile("peak_id", drawn("EVER", "CHOY", "AMAD"))
    assert (suggest(peaks).role, suggest(profile("peak_name", drawn("Cho Oyu", "Everest"))).concept) == (
        "quasi-identifier",
        None,
    )
    assert suggest(profile("patient_id", drawn(*range(1000, 1080), rows=400))).role == "person"
    assert suggest(profile("patient_id", drawn(*range(1000, 1080), rows=400), missing=3)).role == "identifier"


def test_two_years_are_times_and_yes_and_no_are_none():
    assert suggest(profile("Election Year", drawn(2016, 2018))).concept == "date"
    assert suggest(profile("time", drawn(0, 1))).concept != "date"


def test_decimal_numbers_are_no_keys():
    assert suggest(profile("comp_income", [f"0.{place * 7919:08d}" for place in range(400)])).role == "sensitive"


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Last_Perf_Rtg", "performance"),
        ("Base_Sal", "money"),
        ("disab_cd", "health"),
        ("Aufwand (EUR)", "money"),
        ("CRP mg/l", "health"),
        ("birth_yr", "age"),
        ("Jahresbeitrag", "money"),
        ("Nom de naissance", "name"),
        ("Lieu de naissance", "place"),
        ("hhninc", "money"),
        ("streetaddress", "address"),
        ("illdays", "health"),
        ("denied", "outcome"),
        ("deny", "outcome"),
        ("youngkids", "family"),
        ("unemp", "work"),
        ("black", None),
        ("grass", None),
        ("rate_plan", None),
        ("mode", None),
    ],
)
def test_names_are_read_in_whole_words(name, key):
    assert next((concept.key for concept, _ in concepts_of(name)), None) == key


def test_a_number_of_unknown_meaning_is_undecided():
    found = suggest(profile("zz", [f"{place / 7:.4f}" for place in range(400)]))
    assert (found.role, found.undecided, found.concept) == ("identifier", True, None)


@pytest.mark.parametrize("name", ["PC", "Risk PC"])
def test_short_words_for_postcodes_need_such_values(name):
    assert suggest(profile(name, drawn("LS12 3AB", "LS1 4DN", "BD3 9PQ"))).concept == "place"
    assert suggest(profile(name, [f"{place * 7 % 90 - 45}.0{place}" for place in range(90)])).concept != "place"


@pytest.mark.parametrize("format_", ["%d-%b-%Y", "%m/%d/%Y %I:%M %p", "%Y-%m-%dT%H:%M:%S%z", "%B %d, %Y"])
def test_dates_are_known_in_any_format(format_):
    days = [datetime(2019, 1, 1, 8, 30, tzinfo=UTC) + timedelta(days=5 * place) for place in range(200)]
    found = suggest(profile("x", [day.strftime(format_) for day in days]))
    assert (found.role, found.hierarchy["format"]) == ("quasi-identifier", format_)


def test_check_digits_distinguish_numbers_of_cards_from_others():
    right = [f"{code}{_luhn(code)}" for code in (f"4{place:014d}" for place in range(3, 90))]
    assert suggest(profile("x", right)).concept == "account"
    assert (
        suggest(profile("x", [f"{number[:-1]}{(int(number[-1]) + 5) % 10}" for number in right])).concept != "account"
    )


def _luhn(code):
    digits = [int(sign) for sign in reversed(code)]
    total = sum(digits[1::2]) + sum(sum(divmod(2 * digit, 10)) for digit in digits[::2])
    return -total % 10


def test_reasons_contain_no_value_of_the_data():
    columns = {"city": ("Entenhausen", "Gansbach"), "illness": ("Ente", "Gans"), "x": ("Huhn", "Hahn")}
    reasons = {suggest(profile(name, values * 30)).reason for name, values in columns.items()}
    assert len(reasons) == 3
    assert not any(value in reason for reason in reasons for values in columns.values() for value in values)


def test_sensitive_values_of_another_kind_leave_the_column_a_text():
    numbers = [*(str(place) for place in range(1000, 1100)), "unclear"]
    assert suggest(profile("income", numbers)).type == "text"
    assert suggest(profile("income", numbers[:-1])).type == "integer"


@pytest.mark.parametrize(("name", "value"), [("Name", "Anna Schmidt"), ("mail", "a@b.de"), ("x", "Anna Schmidt")])
def test_what_identifies_the_one_person_of_all_rows_is_removed(name, value):
    assert suggest(profile(name, [value] * 12)).role == "identifier"
    assert suggest(profile("country", ["DE"] * 12)).role == "insensitive"


def test_a_constant_with_gaps_distinguishes_rows():
    assert suggest(profile("study", ["S1"] * 30, missing=5)).role == "quasi-identifier"


def accepted(suggestion, values):
    texts, wrong = canonical(values, suggestion.type)
    assert {values[place] for place in wrong} <= {*suggestion.rejected}
    if suggestion.hierarchy:
        distinct = list(dict.fromkeys(text for text in texts if text is not None))
        assert {*read(HIERARCHY, suggestion.hierarchy).fit(distinct).rejected} <= {*suggestion.rejected}


@pytest.mark.parametrize("name", datasets.DATASETS)
def test_suggestions_for_the_datasets_run_as_they_are(name):
    for column, values in datasets.DATASETS[name]().columns().items():
        texts = [str(value) for value in values]
        suggestion = suggest(profile(column, texts))
        assert suggestion.rejected == ()
        accepted(suggestion, list(dict.fromkeys(texts)))


@settings(max_examples=size(60, 300), deadline=None)
@given(
    st.sampled_from(["x", "plz", "age", "dob", "salary", "ward", "year"]),
    st.one_of(
        st.lists(st.integers(-(10**6), 10**18).map(str), max_size=12),
        st.lists(st.integers(0, 3).map(lambda power: str(10**power)), max_size=60),
        st.lists(st.decimals(-1000, 1000, places=3).map(str), max_size=12),
        st.lists(st.floats(allow_nan=False, allow_infinity=False).map(repr), max_size=12),
        st.lists(st.dates().map(str), max_size=12),
        st.lists(st.text(max_size=8), max_size=12),
    ),
)
def test_whatever_is_suggested_accepts_the_values(name, values):
    accepted(suggest(profile(name, values)), list(dict.fromkeys(values)))
