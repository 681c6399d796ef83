"""Numbers that somebody gives out are no money, however many rows of a person have one, whatever else a name says."""

import random

import pytest

from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.roles import suggest

NAMES = [
    "employee_tax_no",
    "tax_number",
    "Steuer-Nr",
    "n_tva",
    "codice_fiscale",
    "salary_id",
    "loan_no",
    "account_nr",
    "claim_number",
    "policy_no",
    "kontonummer",
    "num_facture",
    "nro_factura",
    "taxnr",
    "vat_no",
    "partita_iva",
    "Darlehensnummer",
    "gehaltsnr",
    "pension_no",
    "salary_code",
    "hiv_no",
    "arrest_no",
    "tax",
    "Rechnungsnr",
    "kdnr",
]


def numbers(name, *, digits=10, distinct=30, rows=40, before="", after=""):
    draw = random.Random(name)
    given = draw.sample(range(10 ** (digits - 1), 10**digits), distinct)
    counts = {f"{before}{number}{after}": draw.randint(1, 2 * rows - 1) if rows > 1 else 1 for number in given}
    return Profile(name, counts, sum(counts.values()))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "written",
    [
        {},
        {"distinct": 200, "rows": 60},
        {"distinct": 12, "rows": 1},
        {"distinct": 120, "rows": 3, "before": "DE"},
        {"after": ".0"},
    ],
    ids=["many rows each", "more persons", "few rows", "letters before", "read as decimals"],
)
def test_numbers_that_somebody_gives_out_are_never_published_as_they_are(name, written):
    assert suggest(numbers(name, **written)).role in ("identifier", "person")


@pytest.mark.parametrize("name", ["tax_no", "vat_no", "steuer_nr"])
def test_who_has_a_tax_number_in_many_rows_is_the_person(name):
    assert suggest(numbers(name)).role == "person"


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("tax", [1000 * place for place in range(1, 60)], "sensitive"),
        ("loan_number", [1, 2, 3, 4, 5, 6] * 30, "sensitive"),
        ("number_of_loans", [1, 2, 3, 4, 5, 6] * 30, "sensitive"),
        ("amount_no", [100_000 + 100 * place for place in range(60)] * 30, "sensitive"),
        ("income", [31_111 + 977 * place for place in range(60)] * 30, "sensitive"),
        ("diagnosis_no", [44054006] * 400 + [38341003] * 300 + [*range(73211000, 73211030)] * 4, "sensitive"),
    ],
)
def test_sums_counts_and_codes_of_lists_stay_what_they_are(name, values, role):
    counts = {str(value): values.count(value) for value in values}
    assert suggest(Profile(name, counts, len(values))).role == role
