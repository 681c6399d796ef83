"""Codebooks: columns known by names of surveys, registers and programs, where several of them stand together."""

from importlib.resources import files

import pytest

from sfumato.hierarchies.role_detection.lexicon.coded_names import labels_of
from sfumato.hierarchies.role_detection.lexicon.concepts import fold
from sfumato.hierarchies.role_detection.lexicon.name_terms import concepts_of
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.survey_codes import CodeBook, suggest_labeled

BOOKS = sorted(
    (file for file in files("sfumato.hierarchies.role_detection.lexicon").joinpath("codebook_files").iterdir()),
    key=lambda file: file.name,
)
# Names of columns as one file would have them, one of them, and its role there by values that tell nothing.
COMPANY = {
    "UK labor force": ("CASENO HSERIALP AGE SEX GOVTOF2 ETHUKEUL INECAC05 HIQUL15D", "ETHUKEUL", None),
    "UK labor force, work": ("CASENO HSERIALP AGE SEX GOVTOF2 ETHUKEUL INECAC05 HIQUL15D", "INECAC05", None),
    "Mikrozensus": ("EF1 EF44 EF46 EF49 EF436 EF952", "EF436", "sensitive"),
    "Mikrozensus with words": ("EF1_land EF44_alter EF46_sex EF49_famst", "EF49_famst", None),
    "BRFSS": ("_STATE IDATE SEXVAR _AGEG5YR _RACE GENHLTH DIABETE4", "DIABETE4", "sensitive"),
    "values survey": ("B_COUNTRY A_YEAR D_INTERVIEW W_WEIGHT Q260 Q262 Q289", "Q289", "sensitive"),
    "SHARE": ("mergeid dn042_ ph003_ eurod isced1997_r", "eurod", "sensitive"),
    "PISA": ("CNTSCHID CNTSTUID ST004D01T IMMIG PV1MATH PV2MATH", "PV2MATH", "sensitive"),
    "HRS": ("hhidpn r13agey_b ragender r13mstat r13shlt", "r13mstat", None),
    "Eurobarometer": ("uniqid isocntry d7 d10 d11 d25", "d7", None),
    "MICS": ("HH1 HH2 LN WB4 WELEVEL WINDEX5 MSTATUS ETHNICITY", "MSTATUS", None),
    "DHS": ("caseid v012 v024 v025 v106 v130 b4_01 b4_02", "b4_02", None),
    "DHS, men": ("mcaseid mv012 mv024 mv106 mv130", "mv130", "sensitive"),
    "ACS": ("SERIALNO AGEP SCHL MAR RAC1P PINCP PUMA PWGTP", "MAR", None),
    "IPUMS": ("SERIAL PERNUM CPSIDP MARST BPLD OCC2010 UHRSWORK", "BPLD", None),
    "NHANES": ("SEQN RIAGENDR RIDAGEYR DMDEDUC2 DPQ030", "DPQ030", "sensitive"),
    "NHS": ("EPIKEY ADMIAGE ETHNOS LSOA11 DIAG_01 OPERTN_03 PROCODE3", "DIAG_01", "sensitive"),
    "UK schools": ("UPN|NC Year|Reg Group|FSM|SEN|EAL|PP|KS2 Reading", "FSM", "sensitive"),
    "US schools": ("SSID Grade_Level FRPL IEP ELL Cum_GPA", "IEP", "sensitive"),
    "German schools": ("SchuelerID Jgst Staatsang Verkehrsspr FSP LMB Wdh", "LMB", "sensitive"),
    "SAP": ("PERNR GBDAT GESCH BUKRS WERKS TRFGR STKL KITYP", "KITYP", "sensitive"),
    "SAP, work": ("PERNR GBDAT GESCH BUKRS WERKS TRFGR STKL KITYP", "BUKRS", None),
    "Jobcenter": ("BG-Nummer Kundennr BG_Typ KdU anrEK NEF Zielberuf", "BG_Typ", None),
    "Jobcenter, money": ("BG-Nummer Kundennr BG_Typ KdU anrEK NEF Zielberuf", "KdU", "sensitive"),
    "billing": ("LANR BSNR KVNR ICD_PrimSek EBM_Nr GOP", "GOP", "sensitive"),
    "OMOP": ("person_id gender_concept_id year_of_birth race_concept_id", "race_concept_id", None),
    "CDISC": ("USUBJID SITEID ARM TRTP AVISIT PARAMCD AVAL AESER", "AESER", "sensitive"),
    "insurer": ("PolicyNo NCD ClaimAmt VehAge DrivAge VolXs", "DrivAge", None),
    "shop": ("entity_id|increment_id|Accepts Marketing|Total Spent|MailingCity", "Total Spent", "sensitive"),
    "police": ("ARREST_KEY PD_CD KY_CD PERP_RACE PERP_SEX ARREST_BORO", "KY_CD", "sensitive"),
    "fines": ("Kassenzeichen TBNR Tatort Fahrverbot AmtlKennz FzgArt BescheidArt", "TBNR", "sensitive"),
    "sport": ("BibNo Verein Altersklasse Nettozeit PlAK StNr", "Altersklasse", None),
    "housing": ("TenancyRef PropRef TenType CurrArrears HHComp", "CurrArrears", "sensitive"),
    "Dutch housing": ("Huurdersnr VHE_nummer Woningtype Rekenhuur Gezinssamenst", "Rekenhuur", "sensitive"),
    "transport": ("OysterID EntStation ExStation Daytype FFare", "EntStation", None),
    "Insee": ("IDENT INATC STAT_CONJ DIPL_19 TYPMENR CSTOT SALMEE EXTRI", "STAT_CONJ", None),
    "Spain": ("NVIVI ECIV1 NFORMA AOI CNAE09 FACTOREL", "ECIV1", None),
    "Sweden": ("LopNr FodelseAr SUN2000Niva SyssStat SocBidr", "SocBidr", "sensitive"),
    "Netherlands": ("RINPERSOON GBAGESLACHT GBAHERKOMSTGROEPERING TYPHH INPBELI", "TYPHH", None),
    "Italy": ("PROFAM RELPAR8 STACIM TITSTU POSPRO CONDMI", "STACIM", None),
    "Brazil": ("NU_INSCRICAO TP_SEXO TP_COR_RACA NU_NOTA_MT TP_ESCOLA", "TP_COR_RACA", None),
}


def columns(text: str) -> list[str]:
    return text.split("|") if "|" in text else text.split()


@pytest.mark.parametrize("case", COMPANY)
def test_a_name_of_a_codebook_is_known_among_others_of_it(case):
    text, name, role = COMPANY[case]
    profile = Profile(name, {str(code): 20 + code for code in range(1, 6)}, rows=115)
    told = suggest_labeled(profile, CodeBook(public=labels_of(columns(text))))
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


def test_signs_between_words_do_not_matter():
    spellings = (["NC Year", "Reg Group", "KS2 Reading", "UPN"], ["NCYear", "reg_group", "KS2-Reading", "upn"])
    one, other = (list(labels_of(names).values()) for names in spellings)
    assert one == other and len(one) == 4


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


def test_codes_of_persons_are_no_codes_of_a_codebook():
    """In lists of trips "rider" is a kind of ticket; where it holds pseudonyms, these were published."""
    trips = labels_of(["rider", "start_lat", "start_lng", "tripduration", "usertype"])
    riders = Profile("rider", {f"{place * 2654435761 % 2**32:08x}": 50 for place in range(60)}, rows=3000)
    tickets = Profile("rider", {"casual": 1200, "member": 1800}, rows=3000)
    book = CodeBook(public=trips)
    assert (suggest_labeled(riders, book).role, suggest_labeled(tickets, book).role) == ("person", "sensitive")
