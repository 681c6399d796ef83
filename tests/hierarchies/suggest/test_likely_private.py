"""Answers and numbers of which nothing tells what they are, beside columns that are private."""

import random

from sfumato.hierarchies.suggest.likely_private import with_likely_private
from sfumato.hierarchies.suggest.profile import Profile
from sfumato.hierarchies.suggest.roles import suggest

DRAW = random.Random(1)
PRIVATE = {
    "diagnosis": ("flu", "cold", "gout"),
    "salary": tuple(str(1000 + 7 * step) for step in range(90)),
    "smoker": ("yes", "no"),
}


def profile(name, values, rows=200):
    texts = DRAW.choices(values, k=rows)
    return Profile(name, {text: texts.count(text) for text in dict.fromkeys(texts)}, rows)


def suggested(unknown, known=PRIVATE, rows=200):
    profiles = {name: profile(name, values, rows) for name, values in (known | unknown).items()}
    return with_likely_private({name: suggest(one) for name, one in profiles.items()}, profiles)


def test_answers_and_numbers_beside_private_columns_are_private():
    found = suggested(
        {
            "zqx": ("0", "1"),
            "wmaq": tuple(f"{place / 10}" for place in range(150, 400)),
            "qq": ("yes", "no", "don't know"),
        }
    )
    assert {found[name].role for name in ("zqx", "wmaq", "qq")} == {"sensitive"}
    assert "nothing tells what it is" in found["zqx"].reason and "Withhold it" in found["zqx"].reason


def test_other_columns_wait_for_somebody_to_decide():
    unknown = {
        "zqx": ("red", "green", "blue"),  # categories
        "wmaq": tuple(map(str, range(18, 80))),  # perhaps ages
        "lq": tuple(f"{48 + place / 997:.6f}" for place in range(300)),  # perhaps places on a map
        "app_version": ("1.1", "1.2", "1.3", "1.4", "1.5"),  # how a row was made
    }
    found = suggested(unknown)
    assert not any(found[name].role == "sensitive" for name in unknown)


def test_nothing_is_taken_for_private_where_little_is_known_to_be():
    found = suggested({"zqx": ("0", "1")}, {"diagnosis": ("flu", "cold"), "age": tuple(map(str, range(20, 70)))})
    assert found["zqx"].role != "sensitive"
    assert suggested({"zqx": ("0", "1")}, rows=20)["zqx"].role != "sensitive"
