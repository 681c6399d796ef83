"""Unknown columns judged by the others of their file: answers and measures; what stays withheld."""

import random
from collections import Counter

import pytest

from sfumato.hierarchies.role_detection.column_context import with_context
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.roles import suggest, suggest_all

ROWS = 400


def column(name, draw, seed=1):
    dice = random.Random(f"{name}{seed}")
    return Profile(name, Counter(str(draw(dice)) for _ in range(ROWS)), ROWS)


def yes_no(dice):
    return dice.choices(("J", "N"), (3, 7))[0]


def decimal(dice):
    return f"{dice.gauss(30, 6):.1f}"


def roles_of(*profiles):
    return {name: one.role for name, one in suggestions_of(*profiles).items()}


def suggestions_of(*profiles):
    by_name = {profile.name: profile for profile in profiles}
    return with_context(suggest_all(by_name), by_name)


CLINIC = (column("CRP_mg_l", decimal), column("Cholesterin", lambda dice: dice.randint(120, 300)))


def test_a_question_with_the_answers_of_private_ones_is_private():
    roles = roles_of(column("Diabetes", yes_no), column("Asthma", yes_no), column("Zkq", yes_no))
    assert roles["Zkq"] == "sensitive"


def test_answers_of_what_others_know_tell_nothing():
    roles = roles_of(column("Diabetes", yes_no), column("verheiratet", yes_no), column("Zkq", yes_no))
    assert roles["Zkq"] == "quasi-identifier"


@pytest.mark.parametrize(
    ("draw", "role"),
    [
        (decimal, "sensitive"),
        (lambda dice: int(dice.expovariate(0.6)), "sensitive"),
        (lambda dice: 50 * int(dice.lognormvariate(3, 1)), "sensitive"),
        (lambda dice: dice.choice((2111, 2320, 5223, 7411, 8332)), "quasi-identifier"),
        (lambda dice: dice.randint(1, 16), "quasi-identifier"),
        (lambda dice: f"{dice.uniform(48.4, 48.6):.5f}", "identifier"),
        (lambda dice: dice.choice(("aa", "bb", "cc")), "quasi-identifier"),
    ],
    ids=["decimals", "counts", "amounts", "codes", "small codes", "places on a map", "categories"],
)
def test_numbers_among_private_measures_are_private_unless_they_are_codes(draw, role):
    assert roles_of(*CLINIC, column("Zkq", draw))["Zkq"] == role


def test_a_unit_in_the_name_says_that_numbers_count():
    days = column("zkq_days", lambda dice: dice.randint(10, 40))
    assert roles_of(CLINIC[0], days)["zkq_days"] == "sensitive"
    assert roles_of(CLINIC[0], Profile("zkq", days.counts, ROWS))["zkq"] == "quasi-identifier"


def test_questions_with_one_scale_are_withheld_where_none_is_known_to_be_private():
    battery = [column(f"{letter}kq", lambda dice: dice.randint(1, 6)) for letter in "abcd"]
    assert set(roles_of(*battery).values()) == {"quasi-identifier"}
    assert set(roles_of(*battery, column("Mathe", lambda dice: dice.randint(1, 6))).values()) == {"sensitive"}


def test_how_a_row_was_made_is_no_answer():
    roles = roles_of(column("Diabetes", yes_no), column("Asthma", yes_no), column("verified", yes_no))
    assert roles["verified"] == "quasi-identifier"


@pytest.mark.parametrize("name", ["note", "zkq"])
def test_names_texts_and_keys_never_become_private_by_context(name):
    texts = Profile(name, {f"she came with {place} others and left": 1 for place in range(ROWS)}, ROWS)
    keys = Profile("k", {f"{700000 + 31 * place}": 1 for place in range(ROWS)}, ROWS)
    persons = column("q", lambda dice: dice.choice(("Müller", "Schmidt", "Becker", "Krause", "Hofmann")))
    roles = roles_of(*CLINIC, texts, keys, persons)
    assert [roles[one] for one in (name, "k", "q")] == ["identifier"] * 3


def many(draw, rows=2000, name="zkq"):
    dice = random.Random(7)
    return Profile(name, Counter(str(draw(dice)) for _ in range(rows)), rows)


def unknown_to_zero(draw):
    """Half of the rows 0, which stands for unknown."""
    return lambda dice: 0 if dice.random() < 0.5 else draw(dice)


AREA_CODES = (30, 40, 69, 89, 211, 221, 341, 351, 511, 711, 821, 911, 2041, 2102, 2151, 2331, 2361, 2421, 2461, 2631)
AREA_CODES += tuple(range(3301, 3345)) + tuple(range(201, 229))
POINTING = {
    "customers of several lengths": lambda dice: int(10 ** dice.uniform(2, 5)),
    "running numbers, some twice": lambda dice: dice.randint(1, 1500),
    "running numbers in steps": lambda dice: 10 * dice.randint(1, 600),
    "houses": lambda dice: int(dice.expovariate(0.03)) + 1,
    "houses, unknown as 0": unknown_to_zero(lambda dice: int(dice.expovariate(0.03)) + 1),
    "postcodes without zeros": lambda dice: (
        dice.choice((1067, 4109, 8056, 10115, 20095, 50667, 80331)) + dice.randint(0, 40)
    ),
    "postcodes, unknown as 0": unknown_to_zero(lambda dice: 2130 + 7 * dice.randint(0, 40)),
    "postcodes that end in 0": lambda dice: 10 * (dice.choice((100, 213, 651, 1000, 1910, 9411)) + dice.randint(0, 12)),
    "area codes": lambda dice: dice.choice(AREA_CODES),
    "parts of telephone numbers": lambda dice: dice.randint(20, 9999),
    "latitudes": lambda dice: f"{dice.gauss(51, 2):.2f}",
    "longitudes": lambda dice: f"{dice.uniform(6, 15):.2f}",
    "longitudes in the west": lambda dice: f"{-dice.uniform(70, 120):.3f}",
    "meters on a map": lambda dice: f"{dice.uniform(400000, 600000):.1f}",
    "days as numbers": lambda dice: 20230000 + 100 * dice.randint(1, 12) + dice.randint(1, 28),
    "days of births since 1900": lambda dice: dice.randint(9000, 40000),
    "days without a year": lambda dice: 100 * dice.randint(1, 12) + dice.randint(1, 28),
    "parts of years": lambda dice: f"{dice.uniform(1940, 2005):.1f}",
    "own numbers": lambda dice: int(dice.lognormvariate(9, 1)),
    "points in large numbers": lambda dice: f"{dice.randint(10, 99)}.{dice.randint(0, 999):03}",
    "codes of branches": lambda dice: f"{dice.randint(1, 96)}.{dice.choice((1, 1, 1, 2, 2, 3, 4))}",
    "keys of floats": lambda dice: f"{dice.randint(900, 90000)}.0",
    "heights": lambda dice: round(dice.gauss(172, 9)),
    "districts": lambda dice: dice.randint(1, 23),
    "precincts": lambda dice: dice.choice((1, 5, 6, 7, 9, 10, 13, 14, 17, 18, 19, 20, *range(22, 124, 2))),
}
RECOGNISED = (
    many(decimal, name="CRP_mg_l"),
    many(lambda dice: dice.randint(120, 300), name="Cholesterin"),
    many(lambda dice: int(dice.lognormvariate(8, 1)), name="income"),
    many(yes_no, name="Diabetes"),
)


@pytest.mark.parametrize("name", ["zkq", "qz_number", "PCT"])
@pytest.mark.parametrize("draw", POINTING.values(), ids=POINTING)
def test_what_may_point_to_somebody_is_never_private_by_context(draw, name):
    assert roles_of(*RECOGNISED, many(draw, name=name))[name] != "sensitive"


@pytest.mark.parametrize("draw", POINTING.values(), ids=POINTING)
def test_what_may_point_to_somebody_is_never_private_without_a_name(draw):
    assert suggest(many(draw, name="c7")).role != "sensitive"


def test_numbers_that_single_out_more_rows_than_private_ones_stay_withheld():
    coarse = (
        many(lambda dice: dice.randint(0, 40), name="CRP_mg_l"),
        many(lambda dice: dice.randint(1, 9), name="pain"),
    )
    fine = many(lambda dice: f"{dice.uniform(300, 900):.1f}")
    assert roles_of(*coarse, fine)["zkq"] != "sensitive"
    assert roles_of(*RECOGNISED, fine)["zkq"] == "sensitive"


def test_a_scale_that_one_private_column_has_is_no_answer_yet():
    district = column("Zkq", lambda dice: dice.randint(1, 6))
    assert roles_of(district, column("Mathe", lambda dice: dice.randint(1, 6)))["Zkq"] != "sensitive"


def test_letters_of_sexes_beside_a_column_of_sexes_are_something_else():
    """M and F may be misdemeanors and felonies."""

    def letters(dice):
        return dice.choice("MF")

    both = {profile.name: profile for profile in (column("Sex Code", letters), column("Zqx Cd", letters))}
    chosen = suggest_all(both)
    assert chosen["Sex Code"].concept == "sex"
    assert chosen["Zqx Cd"].concept is None
    assert suggest(both["Zqx Cd"]).concept == "sex"


@pytest.mark.parametrize(
    ("name", "values", "concept"),
    [
        ("Geschl", "mwd", "sex"),
        ("FamSt", "lvgw", "family"),
        ("DateofTermination", ("2020-01-31", "2021-05-04"), "date"),
    ],
)
def test_what_a_short_name_says_of_letters_counts(name, values, concept):
    told = suggest(column(name, lambda dice: dice.choice(values)))
    assert told.concept == concept, told.reason


def test_what_somebody_weighs_is_seen_and_protected_among_findings_of_doctors():
    findings = [
        column(name, lambda dice: dice.randint(1, 90)) for name in ("systolic", "cholesterol", "glucose", "creatinine")
    ]
    weight = column("WEIGHT_KG", lambda dice: dice.randint(50, 110))
    for others, protected in (((), False), (findings, True)):
        told = suggestions_of(weight, *others)["WEIGHT_KG"]
        assert (told.role, told.protected) == ("quasi-identifier", protected)


def test_percent_and_units_behind_a_name_say_that_something_is_measured():
    shares = column("%Att", lambda dice: f"{min(100, dice.gauss(93, 5)):.1f}")
    minutes = column("DEPDUR_MIN", lambda dice: int(dice.gauss(150, 40)))
    roles = roles_of(column("Diabetes", yes_no), shares, minutes)
    assert roles["%Att"] == roles["DEPDUR_MIN"] == "sensitive"


def test_codes_of_a_private_list_measure_nothing():
    religions = column("religion", lambda dice: dice.choice((1, 2, 3, 6, 9)))
    feelings = column("health20", lambda dice: dice.choice((1, 3, 5, 8, 9, 12)))
    children = column("hdpch", lambda dice: dice.choices((0, 1, 2, 3), (60, 18, 15, 7))[0])
    assert roles_of(religions, feelings, children)["hdpch"] != "sensitive"


def test_a_mark_beside_nothing_is_a_yes():
    marked = Profile("zkq", {"X": 300}, ROWS, missing=ROWS - 300)
    assert roles_of(column("Diabetes", yes_no), column("Asthma", yes_no), marked)["zkq"] == "sensitive"
