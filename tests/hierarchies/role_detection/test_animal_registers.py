"""Races of registers of animals are breeds; those of persons stay what GDPR protects."""

import random
from collections import Counter

import pytest

from sfumato.hierarchies.role_detection.column_context import with_context
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.roles import suggest

ROWS = 400
BREEDS = ("Labrador", "Meticcio", "Barboncino", "Setter", "Segugio")


def column(name, *values):
    dice = random.Random(name)
    return Profile(name, Counter(dice.choice(values) for _ in range(ROWS)), ROWS)


def judged(*columns):
    profiles = {one.name: one for one in columns}
    return with_context({name: suggest(one) for name, one in profiles.items()}, profiles)


@pytest.mark.parametrize("name", ["Razza", "Rasse", "race", "breed", "raza", "race_chien"])
@pytest.mark.parametrize("beside", ["microchip", "Hund", "dog name", "chip", "perro"])
def test_a_race_beside_an_animal_is_a_breed(name, beside):
    other = column(beside, *(f"Bello {place}" for place in range(ROWS)))
    one = judged(column(name, *BREEDS), other)[name]
    assert (one.role, one.concept) == ("quasi-identifier", "belongings")
    assert "which others see" in one.reason


@pytest.mark.parametrize(
    "values",
    [
        ("White", "Black", "Asian", "Other"),
        ("1", "2", "3", "4"),
        ("W", "B", "A"),
        ("Caucasian", "Malay"),
        ("Māori", "Pākehā"),
        ("Kleurling", "Blanke"),
    ],
)
def test_a_race_of_persons_stays_one_though_some_have_a_dog(values):
    one = judged(column("race", *values), column("dog", "yes", "no"))["race"]
    assert (one.role, one.concept) == ("quasi-identifier", "origin")


def test_a_race_without_animals_stays_one():
    assert judged(column("Razza", *BREEDS), column("sesso", "M", "F"))["Razza"].concept == "origin"
