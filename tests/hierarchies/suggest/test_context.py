"""Unknown columns judged by the others of their file: answers and measures; what stays withheld."""

import random
from collections import Counter

import pytest

from sfumato.hierarchies.suggest.context import with_context
from sfumato.hierarchies.suggest.profile import Profile
from sfumato.hierarchies.suggest.roles import suggest

ROWS = 400


def column(name, draw, seed=1):
    dice = random.Random(f"{name}{seed}")
    return Profile(name, Counter(str(draw(dice)) for _ in range(ROWS)), ROWS)


def yes_no(dice):
    return dice.choices(("J", "N"), (3, 7))[0]


def decimal(dice):
    return f"{dice.gauss(30, 6):.1f}"


def roles_of(*profiles):
    by_name = {profile.name: profile for profile in profiles}
    alone = {name: suggest(profile) for name, profile in by_name.items()}
    return {name: one.role for name, one in with_context(alone, by_name).items()}


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
        (lambda dice: int(dice.lognormvariate(6, 1)), "sensitive"),
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
