"""Codebooks: columns known by names of surveys, registers and programs, where several of them stand together."""

from importlib.resources import files

import pytest

from sfumato.hierarchies.role_detection.lexicon.coded_names import labels_of
from sfumato.hierarchies.role_detection.lexicon.concepts import fold
from sfumato.hierarchies.role_detection.lexicon.name_terms import concepts_of
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.roles import suggest_all
from sfumato.hierarchies.role_detection.survey_codes import CodeBook

BOOKS = sorted(
    (file for file in files("sfumato.hierarchies.role_detection.lexicon").joinpath("codebook_files").iterdir()),
    key=lambda file: file.name,
)
# Names of columns as one file would have them, one of them, and its role there by values that tell nothing.
COMPANY = {
    "Mikrozensus": ("EF1 EF44 EF46 EF49 EF436 EF952", "EF436", "sensitive"),
    "Mikrozensus with words": ("EF1_land EF44_alter EF46_sex EF49_famst", "EF49_famst", None),
    "BRFSS": ("_STATE IDATE SEXVAR _AGEG5YR _RACE GENHLTH DIABETE4", "DIABETE4", "sensitive"),
    "DHS": ("caseid v012 v024 v025 v106 v130 b4_01 b4_02", "b4_02", None),
    "DHS, men": ("mcaseid mv012 mv024 mv106 mv130", "mv130", "sensitive"),
    "ACS": ("SERIALNO AGEP SCHL MAR RAC1P PINCP PUMA PWGTP", "MAR", None),
    "IPUMS": ("SERIAL PERNUM CPSIDP MARST BPLD OCC2010 UHRSWORK", "BPLD", None),
    "NHANES": ("SEQN RIAGENDR RIDAGEYR DMDEDUC2 DPQ030", "DPQ030", "sensitive"),
}


@pytest.mark.parametrize("case", COMPANY)
def test_a_name_of_a_codebook_is_known_among_others_of_it(case):
    text, name, role = COMPANY[case]
    profile = Profile(name, {str(code): 20 + code for code in range(1, 6)}, rows=115)
    told = suggest_all({name: profile}, CodeBook(public=labels_of(text.split())))[name]
    assert told.role == (role or "quasi-identifier") and told.concept is not None, told.reason


@pytest.mark.parametrize(
    "names",
    [
        ["q1", "q2", "q46", "q47", "q49", "q57", "q260", "q262"],  # any survey
        ["id", *(f"v{number:03}" for number in range(1, 61))],  # questions that somebody numbered himself
        ["d1", "d7", "d8", "w1", "p1"],
        ["id", "name", "age", "sex", "city", "income", "status", "category", "date"],
        ["ST", "MAR", "NP", "note"],
        ["PP", "EAL", "name"],
        [],
    ],
)
def test_names_that_any_file_may_have_tell_of_no_codebook(names):
    assert labels_of(names) == {}


def test_a_whole_file_of_a_codebook_is_known_though_its_numbers_have_no_gaps():
    names = ["caseid", *(f"v{number:03}" for number in range(40)), "b4_01", "b4_02", "bord_01", "hiv03"]
    assert labels_of(names)["v012"].text == "age"


def test_a_file_may_have_names_of_two_codebooks():
    labels = labels_of(["RIAGENDR", "RIDAGEYR", "DMDEDUC2", "AGEP", "RAC1P", "PINCP", "PWGTP"])
    assert {label.book for label in labels.values()} == {"NHANES", "American Community Survey"}


@pytest.mark.parametrize("file", BOOKS, ids=lambda file: file.name)
def test_each_label_speaks_of_something_and_no_name_stands_twice(file):
    _, *lines = file.read_text(encoding="utf-8").splitlines()
    pairs = [(label, fold(name).replace("_", "")) for label, _, names in (line.partition(": ") for line in lines)
             for name in names.split()]  # fmt: skip
    assert pairs and len({name for _, name in pairs}) == len(pairs)
    assert not {label for label, _ in pairs if not concepts_of(label.removesuffix("*"))}
