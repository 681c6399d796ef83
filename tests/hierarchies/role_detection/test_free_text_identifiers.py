"""Mentions: sensitive texts that name persons are withheld; names of diseases are none."""

import random

import polars as pl
import pytest

import sfumato as sf
from sfumato.hierarchies.role_detection.identifier_formats import mentions
from sfumato.hierarchies.role_detection.profile import Profile

DISEASES = ["asthma", "Morbus Crohn", "Parkinson Disease", "Graves disease", "flu"]


@pytest.mark.parametrize(
    "text",
    [
        "flu, ask Anna Becker",
        "Rückruf unter 0171 2345678",
        "call +49 171 2345678",
        "flu (anna.becker@mail.org)",
        "referred by Dr. Ilmenau",
        "see Frau Özdemir",
        "call (555) 123-4567",
    ],
)
def test_a_single_cell_that_names_somebody_withholds_the_column(text):
    draw = random.Random(1)
    ill = [draw.choice(DISEASES) for _ in range(199)] + [text]
    frame = pl.DataFrame({"age": [str(20 + place % 50) for place in range(200)], "diagnosis": ill})
    plan = sf.suggest(frame)
    assert plan.columns["diagnosis"].role in ("undecided", "identifier")


@pytest.mark.parametrize(
    "text", ["1,234,567.00", "2020-01-05", "E11.9", "Hashimoto Thyroiditis", "1.5 mg daily", "10-20"]
)
def test_what_names_nobody_is_no_mention(text):
    assert mentions(Profile("x", dict.fromkeys(DISEASES, 40) | {text: 1}, rows=201), 5) == 0


def test_a_name_with_a_title_is_one_however_often_it_stands():
    remarks = Profile("c14", {"Kontrolle bei Dr. Weiß": 200, "Schmerzen seit 3 Tagen": 90, "Morbus Parkinson": 50}, 340)
    assert mentions(remarks, 5) == 1
