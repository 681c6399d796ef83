"""What sensitive columns tell of quasi-identifiers, where a person has several rows; which columns get the places."""

import random
from contextlib import closing

import pytest

from sfumato.pipelines.release import anonymize
from sfumato.pipelines.suggest import suggest_for_frame

polars = pytest.importorskip("polars")
PUPILS, COURSES = 300, 6


def courses():
    """Six rows a pupil: what is of the pupil is repeated in all of them."""
    draw = random.Random(7)
    rows = []
    for pupil in range(PUPILS):
        own = {
            "student_id": f"S{pupil:05d}",
            "dob": f"{draw.randrange(2005, 2010)}-{draw.randrange(1, 13):02d}-{draw.randrange(1, 29):02d}",
            "zip": draw.choice(("10115", "20095", "50667", "80331", "60311")),
            "gender": draw.choice("FM"),
            "lunch_status": draw.choice(("free", "reduced", "paid")),
            "disability": draw.choice(("none", "none", "speech", "hearing", "autism")),
        }
        rows += [own | {"course": name} for name in ("math", "art", "music", "physics", "history", "english")]
    return polars.DataFrame(rows)


def test_what_a_persons_rows_repeat_is_not_computed_from_birth_date_and_place():
    suggestion = suggest_for_frame(courses())
    roles = {name: entry["role"] for name, entry in suggestion.plan["columns"].items()}
    assert roles["student_id"] == "person"
    assert roles["lunch_status"] == roles["disability"] == "sensitive", suggestion.reasons


def test_a_report_does_not_take_a_persons_rows_for_a_computation():
    plan = {
        "version": 1,
        "columns": {
            "student_id": {"role": "person"},
            "dob": {"role": "quasi-identifier", "hierarchy": {"type": "digits", "shown": [7, 4]}},
            "zip": {"role": "quasi-identifier", "hierarchy": {"type": "digits"}},
            "gender": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
            "lunch_status": {"role": "insensitive"},
            "disability": {"role": "sensitive"},
            "course": {"role": "insensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 3}],
        "method": {"name": "local", "suppression": 0.02},
    }
    with closing(anonymize(courses(), plan)) as release:
        told = release.report.to_dict()["disclosure"]["pair_inferences"]
    assert not told


@pytest.mark.parametrize("told", [True, False])
def test_two_private_numbers_do_not_tell_the_height_together(told):
    """Weight and height are seen: of both, from which the body mass index is computed, one is enough."""
    draw = random.Random(3)
    rows = []
    for _ in range(600):
        tall, heavy = draw.gauss(1.7, 0.1), draw.gauss(75, 13)
        index = heavy / tall**2 if told else draw.gauss(26, 4)
        rows.append({
            "age": draw.randrange(18, 90), "sex": draw.choice("fm"), "height_cm": round(100 * tall),
            "weight_kg": round(heavy, 1), "bmi": round(index, 2), "creatinine": round(draw.lognormvariate(0, 0.4), 2),
            "hba1c": round(draw.gauss(6, 1), 1), "hiv": draw.choice(("neg", "neg", "neg", "pos")),
        })  # fmt: skip
    suggestion = suggest_for_frame(polars.DataFrame(rows))
    roles = {name: entry["role"] for name, entry in suggestion.plan["columns"].items()}
    seen = ("quasi-identifier", "undecided" if told else "quasi-identifier")
    assert (roles["height_cm"], roles["weight_kg"], roles["bmi"]) == (*seen, "sensitive"), suggestion.reasons
    assert ("could be inferred" in suggestion.reasons["weight_kg"]) == told


def test_many_dates_leave_places_to_other_things():
    """Of each thing that others know the column that tells most comes first, then the second ones."""
    draw = random.Random(5)
    days = [f"{name}_date" for name in ("hire", "start", "entry", "contract", "transfer", "leave", "return")]
    columns = {
        name: [
            f"20{draw.randrange(10, 24)}-{draw.randrange(1, 13):02d}-{draw.randrange(1, 29):02d}" for _ in range(800)
        ]
        for name in days
    }
    few = {
        "sex": ("f", "m"),
        "marital_status": ("single", "married", "divorced"),
        "education": ("primary", "secondary", "tertiary"),
        "occupation": ("clerk", "cook", "nurse", "driver"),
    }
    frame = polars.DataFrame(columns | {name: draw.choices(values, k=800) for name, values in few.items()})
    plan = suggest_for_frame(frame).plan["columns"]
    assert {plan[name]["role"] for name in few} == {"quasi-identifier"}
