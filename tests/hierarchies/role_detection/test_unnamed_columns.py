"""Columns without names, by how their values spread; the same values under an unknown name tell nothing."""

import random
from collections import Counter

import pytest

from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.roles import suggest

DICE = random.Random(5)
POSTCODES = [str(DICE.randint(10000, 99999)) for _ in range(50)]


def values(draw, rows=600):
    return [str(draw()) for _ in range(rows)]


@pytest.mark.parametrize(
    ("drawn", "role", "concept"),
    [
        (values(lambda: min(max(int(DICE.gauss(45, 16)), 18), 92)), "quasi-identifier", "age"),
        (values(lambda: DICE.choice(POSTCODES)), "quasi-identifier", "place"),
        (values(lambda: int(DICE.gauss(172, 9))), "quasi-identifier", "body"),
        (values(lambda: 2023 - int(DICE.gauss(45, 12))), "quasi-identifier", "date"),
        (values(lambda: 100 * int(DICE.lognormvariate(4, 0.6))), "sensitive", "money"),
        (values(lambda: f"{DICE.gauss(5.6, 1.1):.1f}"), "sensitive", "performance"),
        (values(lambda: DICE.choice(("893.13", "812.014", "784.03", "810.02"))), "sensitive", "crime"),
        (values(lambda: DICE.choice("BWHAO")), "quasi-identifier", "origin"),
        (values(lambda: DICE.choice("AB")), "quasi-identifier", None),
        (values(lambda: DICE.choice("MF")), "quasi-identifier", "sex"),
        (values(lambda: DICE.choice(("HS", "BA", "MA", "PhD"))), "quasi-identifier", "schooling"),
        (values(lambda: DICE.choice(("open", "closed", "pending"))), "sensitive", "outcome"),
        (values(lambda: 500 * DICE.randint(20, 90)), "quasi-identifier", None),
        (values(lambda: f"{DICE.uniform(48.4, 48.6):.5f}"), "identifier", None),
        ([str(10000 + 7 * place) for place in range(600)], "identifier", None),
    ],
    ids=[
        *(
            "ages",
            "postcodes",
            "heights",
            "years",
            "amounts",
            "measures",
            "statutes",
            "races",
            "groups",
            "sexes",
            "degrees",
        ),
        *("states of a case", "round numbers", "places on a map", "keys"),
    ],
)
def test_values_tell_what_a_column_without_a_name_is(drawn, role, concept):
    suggestion = suggest(Profile("c7", Counter(drawn), len(drawn)))
    assert (suggestion.role, suggestion.concept) == (role, concept), suggestion.reason
