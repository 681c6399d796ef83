"""Twelve messy files after real ones, as seeded generators: what people keep in spreadsheets, registers and exports.

A column is a name, the roles that are right for it, and a function that draws a cell. `Q` is a quasi-identifier, `S`
sensitive, `I` withheld, `P` the person of a row, `C` the same for everybody; `QI` says that nobody can know, and both
protect.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta

from stdnum import luhn
from stdnum.de import idnr

Draw = random.Random
Cell = Callable[[Draw, int], object]


@dataclass(frozen=True)
class MessyFile:
    """A file that somebody might hand over."""

    name: str
    columns: tuple[tuple[str, str, Cell], ...]
    separator: str = ","
    header: bool = True
    duplicates: float = 0.0

    @property
    def roles(self) -> dict[str, str]:
        """The right roles of each column."""
        return {name: roles for name, roles, _ in self.columns}

    def text(self, rows: int, seed: int = 1) -> str:
        """The file: the same rows for the same seed."""
        draw = random.Random(seed)
        lines = [self.separator.join(name for name, _, _ in self.columns)] if self.header else []
        for place in range(rows):
            if lines[1:] and draw.random() < self.duplicates:
                lines.append(draw.choice(lines[1:]))
                continue
            lines.append(self.separator.join(self._quoted(str(cell(draw, place))) for _, _, cell in self.columns))
        return "\n".join(lines) + "\n"

    def _quoted(self, text: str) -> str:
        return (
            '"' + text.replace('"', '""') + '"' if any(sign in text for sign in (self.separator, '"', "\n")) else text
        )


def pick(*values: object, weights: tuple[float, ...] | None = None) -> Cell:
    return lambda draw, _: draw.choices(values, weights)[0]


def whole(low: int, high: int) -> Cell:
    return lambda draw, _: draw.randint(low, high)


def normal(mean: float, spread: float, low: float, high: float, digits: int = 0) -> Cell:
    def cell(draw: Draw, _: int) -> object:
        number = min(max(draw.gauss(mean, spread), low), high)
        return round(number, digits) if digits else round(number)

    return cell


def log_normal(mean: float, spread: float, digits: int = 0) -> Cell:
    return lambda draw, _: (
        round(draw.lognormvariate(mean, spread), digits) if digits else int(draw.lognormvariate(mean, spread))
    )


def day(format_: str, first: int = 1930, last: int = 2005) -> Cell:
    def cell(draw: Draw, _: int) -> str:
        start = date(first, 1, 1)
        return (start + timedelta(days=draw.randrange((date(last, 12, 31) - start).days))).strftime(format_)

    return cell


def counted(start: int = 1, form: str = "{}") -> Cell:
    return lambda _, place: form.format(start + place)


def person(form: str = "{}", persons: int = 300, start: int = 1000) -> Cell:
    return lambda draw, _: form.format(start + draw.randrange(persons))


def sometimes(share: float, odd: Cell, usual: Cell) -> Cell:
    """Mostly the usual cell, now and then an odd one: a typing error, a gap."""
    return lambda draw, place: (odd if draw.random() < share else usual)(draw, place)


def typos(share: float, *wrong: object, usual: Cell) -> Cell:
    return sometimes(share, pick(*wrong), usual)


def pattern(form: str) -> Cell:
    """`#` a digit, `@` a capital letter."""

    def cell(draw: Draw, _: int) -> str:
        digits = "0123456789"
        return "".join(
            draw.choice(digits) if sign == "#" else draw.choice("ABCDEFGHKLMNPRSTUVWXYZ") if sign == "@" else sign
            for sign in form
        )

    return cell


def words(*pools: tuple[str, ...], joint: str = " ") -> Cell:
    return lambda draw, _: joint.join(draw.choice(pool) for pool in pools)


def likert(low: int = 1, high: int = 5) -> Cell:
    return whole(low, high)


def pool(text: str) -> tuple[str, ...]:
    return tuple(text.split())


GIVEN_DE = pool("Anna Jürgen Petra Sabine Klaus Thomas Lena Emre Fatma Lukas Mia Hannelore Uwe Käthe Björn Silke")
SURNAMES_DE = pool(
    "Müller Schmidt Yılmaz Weiß Böhm Krause Hofmann Ilgner Brehmer Özdemir Fuchs Lorenz Zwirner Haas Voß Rothe"
)
GIVEN_EN = pool("James Mary Olivia Noah Emma Liam Ava Ethan Sophia Jacob Grace Daniel Chloe Ryan Abigail Tyler")
SURNAMES_EN = pool(
    "Smith Johnson Okafor Brown Garcia Nguyen Patel Murphy Whitfield Lee O'Neill Carver Hughes Baxter Doyle Ingram"
)
TOWNS_DE = pool("Tübingen Reutlingen Stuttgart Rottenburg Ulm Esslingen Göppingen Nürtingen Metzingen Balingen")
STREETS_DE = pool("Hauptstraße Gartenweg Lindenallee Bahnhofstr. Schillerplatz Mühlgasse")
STREETS_EN = ("Oak Street", "Maple Ave", "Main St", "Church Road", "Hill Lane", "Park Drive")
SENTENCES_DE = (
    "Patient klagt über Schmerzen im rechten Knie",
    "kam in Begleitung der Tochter zur Aufnahme",
    "wurde am Wochenende vom Hausarzt eingewiesen",
    "möchte nicht von Dr. Ahrens behandelt werden",
    "Rückruf unter der Nummer der Nachbarin erbeten",
    "hat vor drei Jahren schon einmal hier gelegen",
)
SENTENCES_EN = (
    "I would rather work from home on Fridays",
    "my manager never listens to what we say",
    "the canteen is too expensive for what it offers",
    "please fix the air conditioning on the third floor",
    "thank you for asking us at last",
    "nobody told me about the new rules",
)
sex_de, sex_en = pick("m", "w"), pick("Male", "Female")
yes_no = pick("Yes", "No")


def steuer_id(draw: Draw, _: int) -> str:
    """A German tax number: ten digits, of which one stands twice, and a check digit."""
    digits = draw.sample("123456789", 8)
    text = "".join([*digits, *draw.sample(digits, 1), "0"])
    return next(text + last for last in "0123456789" if idnr.is_valid(text + last))


def iban(draw: Draw, _: int) -> str:
    account = f"{draw.randrange(10**8):08d}{draw.randrange(10**10):010d}"
    check = 98 - int(account + "131400") % 97
    return f"DE{check:02d}{account}"


def kvnr(draw: Draw, _: int) -> str:
    letter, digits = draw.choice("ABCDEFGHKLMN"), f"{draw.randrange(10**8):08d}"
    plain = f"{ord(letter) - 64:02d}{digits}"
    total = sum(sum(map(int, str(int(sign) * weight))) for sign, weight in zip(plain, (1, 2) * 5, strict=True))
    return f"{letter}{digits}{total % 10}"


def card(draw: Draw, _: int) -> str:
    body = f"4{draw.randrange(10**14):014d}"
    return body + luhn.calc_check_digit(body)


def email(first: tuple[str, ...], last: tuple[str, ...]) -> Cell:
    return lambda draw, place: f"{draw.choice(first).lower()}.{draw.choice(last).lower()}{place}@example.org"


STROKE = MessyFile(
    "stroke",
    (
        ("id", "I", lambda draw, place: 50000 + 7 * place + draw.randrange(5)),
        ("gender", "Q", pick("Male", "Female", "Other", weights=(41, 58, 0.1))),
        ("age", "Q", sometimes(0.02, normal(1, 0.4, 0.08, 1.9, 2), normal(45, 22, 2, 82))),
        ("hypertension", "S", pick(0, 1, weights=(9, 1))),
        ("heart_disease", "S", pick(0, 1, weights=(19, 1))),
        ("ever_married", "Q", yes_no),
        ("work_type", "Q", pick("Private", "Self-employed", "Govt_job", "children", "Never_worked")),
        ("Residence_type", "Q", pick("Urban", "Rural")),
        ("avg_glucose_level", "S", normal(106, 40, 55, 272, 2)),
        ("bmi", "S", sometimes(0.04, pick("N/A"), normal(29, 8, 10, 98, 1))),
        ("smoking_status", "S", pick("formerly smoked", "never smoked", "smokes", "Unknown")),
        ("stroke", "S", pick(0, 1, weights=(19, 1))),
    ),
)
PASSENGERS = MessyFile(
    "passengers",
    (
        ("PassengerId", "I", counted()),
        ("Survived", "S", pick(0, 1, weights=(6, 4))),
        ("Pclass", "Q", pick(1, 2, 3)),
        (
            "Name",
            "I",
            lambda draw, _: f"{draw.choice(SURNAMES_EN)}, Mr. {draw.choice(GIVEN_EN)} {draw.choice(GIVEN_EN)}",
        ),
        ("Sex", "Q", pick("male", "female")),
        ("Age", "Q", sometimes(0.2, pick(""), normal(30, 14, 1, 80))),
        ("SibSp", "Q", pick(0, 1, 2, 3, weights=(68, 23, 5, 4))),
        ("Parch", "Q", pick(0, 1, 2, weights=(76, 13, 9))),
        ("Ticket", "I", sometimes(0.3, pattern("PC 17###"), lambda draw, _: draw.randint(2000, 370000))),
        ("Fare", "SQI", log_normal(3, 1, 4)),
        ("Cabin", "QI", sometimes(0.77, pick(""), pattern("@##"))),
        ("Embarked", "Q", pick("S", "C", "Q", weights=(7, 2, 1))),
    ),
)
DOGS = MessyFile(
    "dogs",
    (
        ("HALTER_ID", "P", person("{}", 900, 126)),
        ("ALTER", "Q", pick("11-20", "21-30", "31-40", "41-50", "51-60", "61-70", "71-80")),
        ("GESCHLECHT", "Q", sex_de),
        ("STADTKREIS", "Q", whole(1, 12)),
        ("STADTQUARTIER", "Q", lambda draw, _: 10 * draw.randint(1, 12) + draw.randint(1, 4)),
        ("RASSE1", "QI", pick("Labrador", "Mops", "Chihuahua", "Dackel", "Mischling", "Beagle", "Husky")),
        ("RASSENTYP", "QI", pick("K", "I", "II")),
        ("GEBURTSJAHR_HUND", "Q", typos(0.0015, 11, 18, usual=whole(1999, 2020))),
        ("GESCHLECHT_HUND", "Q", sex_de),
        ("HUNDEFARBE", "Q", pick("schwarz", "braun", "weiss", "tricolor", "schwarz/braun", "grau")),
    ),
)
COURT = MessyFile(
    "court",
    (
        ("id", "I", counted()),
        ("name", "I", lambda draw, _: f"{draw.choice(GIVEN_EN).lower()} {draw.choice(SURNAMES_EN).lower()}"),
        ("first", "I", pick(*GIVEN_EN)),
        ("last", "I", pick(*SURNAMES_EN)),
        ("compas_screening_date", "Q", day("%Y-%m-%d", 2013, 2014)),
        ("sex", "Q", sex_en),
        ("dob", "Q", day("%Y-%m-%d", 1940, 1995)),
        ("age", "Q", normal(34, 12, 18, 90)),
        ("age_cat", "Q", pick("Less than 25", "25 - 45", "Greater than 45")),
        ("race", "S", pick("African-American", "Caucasian", "Hispanic", "Other", weights=(51, 34, 9, 6))),
        ("juv_fel_count", "SQI", pick(0, 1, 2, 3, weights=(95, 3, 1, 1))),
        ("decile_score", "S", whole(1, 10)),
        ("priors_count", "SQI", lambda draw, _: int(draw.expovariate(0.3))),
        ("c_case_number", "I", pattern("1#0####@F10A")),
        ("c_charge_degree", "S", pick("F", "M")),
        (
            "c_charge_desc",
            "S",
            pick("Battery", "Grand Theft in the 3rd Degree", "Possession of Cocaine", "arrest case no charge"),
        ),
        ("c_jail_in", "QS", day("%Y-%m-%d 03:%M:12", 2013, 2014)),
        ("is_recid", "S", pick(0, 1)),
        ("v_decile_score", "S", whole(1, 10)),
        ("two_year_recid", "S", pick(0, 1)),
    ),
    duplicates=0.02,
)
CREDIT = MessyFile(
    "credit",
    (
        ("laufkont", "QIS", whole(1, 4)),
        ("laufzeit", "QIS", normal(21, 12, 4, 72)),
        ("moral", "QIS", whole(0, 4)),
        ("verw", "QI", whole(0, 10)),
        ("kredithoehe", "S", log_normal(7.8, 0.8)),
        ("sparkonto", "QIS", whole(1, 5)),
        ("beszeit", "QI", whole(1, 5)),
        ("ratenhöhe", "S", whole(1, 4)),
        ("familienstand", "Q", whole(1, 4)),
        ("bürge", "QI", whole(1, 3)),
        ("wohnzeit", "QI", whole(1, 4)),
        ("vermögen", "S", whole(1, 4)),
        ("alter", "Q", normal(35, 11, 19, 75)),
        ("wohnen", "Q", whole(1, 3)),
        ("beruf", "Q", whole(1, 4)),
        ("personen", "QI", whole(1, 2)),
        ("telefon", "QI", whole(1, 2)),
        ("kredit", "S", pick(0, 1, weights=(3, 7))),
    ),
    separator=" ",
)
VISITS = MessyFile(
    "visits",
    (
        ("Patientennummer", "P", person("{:06d}", 500)),
        ("Nachname", "I", pick(*SURNAMES_DE)),
        ("Vorname", "I", pick(*GIVEN_DE)),
        ("Geburtsdatum", "Q", typos(0.01, "31.02.1950", "00.00.0000", usual=day("%d.%m.%Y"))),
        ("Geschlecht", "Q", pick("m", "w", "d", weights=(49, 50, 1))),
        ("PLZ", "Q", typos(0.01, "7207", "D-72070", usual=pattern("72#0#"))),
        ("Wohnort", "Q", pick(*TOWNS_DE)),
        ("Aufnahmedatum", "Q", day("%Y-%m-%d", 2019, 2022)),
        ("Entlassung", "Q", day("%m/%d/%Y", 2019, 2022)),
        ("Hauptdiagnose", "S", pick("E11.9", "I10.00", "J45.0", "F32.1", "C50.9", "M17.1", "I63.3")),
        ("Station", "Q", lambda draw, _: f"{draw.choice(('CARD', 'NEURO', 'CHIR'))}-{draw.randint(1, 6):02d}"),
        ("Bemerkung", "I", sometimes(0.3, pick(""), words(SENTENCES_DE, SENTENCES_DE, joint=", "))),
        ("Krankenkasse", "Q", pick("AOK", "TK", "Barmer", "DAK", "IKK", "privat")),
        ("Versichertennr", "I", kvnr),
    ),
    separator=";",
)
CONTACTS = MessyFile(
    "contacts",
    (
        ("c1", "I", pick(*GIVEN_EN)),
        ("c2", "I", pick(*SURNAMES_EN)),
        ("c3", "I", email(GIVEN_EN, SURNAMES_EN)),
        ("c4", "I", pattern("(555) ###-####")),
        ("c5", "I", lambda draw, _: f"{draw.randint(1, 400)} {draw.choice(STREETS_EN)}"),
        ("c6", "QI", pick("Springfield", "Riverside", "Fairview", "Greenville", "Salem", "Madison")),
        ("c7", "Q", lambda draw, _: f"0{draw.randint(1000, 1060)}"),
        ("c8", "Q", day("%m/%d/%Y", 1940, 2003)),
        ("c9", "Q", pick("F", "M")),
        ("c10", "I", pattern("###-##-####")),
        ("c11", "S", pick("Catholic", "Protestant", "Jewish", "Muslim", "None", weights=(3, 4, 1, 1, 1))),
    ),
    header=False,
)
SURVEY = MessyFile(
    "survey",
    (
        ("respondent_id", "I", counted(100001)),
        ("survey_weight", "I", normal(1, 0.4, 0.2, 4, 4)),
        ("age", "Q", typos(0.003, 999, usual=normal(47, 17, 18, 95))),
        ("gender", "Q", pick("1", "2", "3", weights=(49, 50, 1))),
        ("region", "Q", pick("North", "South", "East", "West")),
        ("education", "Q", pick("none", "school", "college", "university")),
        ("household_size", "Q", whole(1, 6)),
        ("income", "S", log_normal(10, 0.6)),
        ("vote_last_election", "S", pick("Labour", "Conservative", "LibDem", "Green", "none")),
        ("religion", "S", pick("none", "Christian", "Muslim", "Hindu", "other")),
        *((f"q{number}", "SI", likert()) for number in range(1, 40)),
        ("comments", "I", sometimes(0.6, pick(""), words(SENTENCES_EN, SENTENCES_EN, joint=". "))),
    ),
    separator="\t",
)
STAFF = MessyFile(
    "staff",
    (
        ("Personalnr", "I", counted(70001)),
        ("Mitarbeiter", "I", words(GIVEN_DE, SURNAMES_DE)),
        ("E-Mail", "I", email(GIVEN_DE, SURNAMES_DE)),
        ("Abteilung", "Q", pick("Vertrieb", "Einkauf", "IT", "Produktion", "Recht")),
        ("Position", "Q", pick("Sachbearbeitung", "Teamleitung", "Abteilungsleitung", weights=(8, 2, 1))),
        ("Standort", "Q", pick(*TOWNS_DE[:4])),
        ("Geschlecht", "Q", pick("männlich", "weiblich", "divers", weights=(50, 49, 1))),
        ("Geburtsjahr", "Q", typos(0.004, 11, 18, 19, usual=whole(1958, 2004))),
        ("Eintrittsdatum", "Q", day("%d.%m.%Y", 1995, 2023)),
        ("Jahresgehalt", "S", log_normal(10.8, 0.3)),
        ("Gewerkschaft", "S", pick("ja", "nein", weights=(1, 4))),
        ("Krankheitstage", "S", lambda draw, _: int(draw.expovariate(0.1))),
        ("Leistungsbewertung", "S", whole(1, 5)),
        ("Schwerbehinderung", "S", pick("ja", "nein", weights=(1, 15))),
        ("Steuer-ID", "I", steuer_id),
        ("IBAN", "I", iban),
        ("Kfz-Kennzeichen", "I", sometimes(0.5, pick(""), pattern("TÜ-@@ ###"))),
        ("Telefon dienstlich", "I", pattern("07071/29-#####")),
        ("Konfession", "S", pick("ev", "rk", "ohne", "sonstige")),
    ),
    separator=";",
)
AFFAIRS = MessyFile(
    "affairs",
    (
        ("rownames", "I", counted(4)),
        ("affairs", "S", pick(0, 1, 2, 3, 7, 12, weights=(75, 6, 3, 3, 7, 6))),
        ("gender", "Q", pick("male", "female")),
        ("age", "Q", pick(17.5, 22, 27, 32, 37, 42, 47, 52, 57)),
        ("yearsmarried", "Q", pick(0.125, 0.417, 0.75, 1.5, 4, 7, 10, 15)),
        ("children", "Q", pick("yes", "no")),
        ("religiousness", "S", whole(1, 5)),
        ("education", "Q", pick(9, 12, 14, 16, 17, 18, 20)),
        ("occupation", "Q", whole(1, 7)),
        ("rating", "S", whole(1, 5)),
    ),
)


def _mixed_day(draw: Draw, place: int) -> str:
    form = draw.choices(("%d.%m.%Y", "%Y-%m-%d", "%m/%d/%Y"), (6, 3, 1))[0]
    return day(form, 1990, 2004)(draw, place)


STUDENTS = MessyFile(
    "students",
    (
        ("Matrikelnummer", "I", lambda draw, place: 3_000_000 + 13 * place + draw.randrange(9)),
        ("Name, Vorname", "I", words(SURNAMES_DE, GIVEN_DE, joint=", ")),
        ("geb.", "QI", _mixed_day),
        ("Geburtsort", "Q", pick(*TOWNS_DE)),
        ("Staatsangehörigkeit", "Q", pick("deutsch", "türkisch", "italienisch", "syrisch", weights=(85, 6, 5, 4))),
        ("Studiengang", "Q", pick("Informatik", "Jura", "Medizin", "Anglistik", "Physik")),
        ("Semester", "Q", typos(0.003, 88, usual=whole(1, 14))),
        ("HZB-Note", "S", normal(2.3, 0.6, 1, 4, 1)),
        ("Note Mathematik", "S", normal(2.6, 0.9, 1, 5, 1)),
        ("bestanden", "S", pick("ja", "nein", weights=(8, 2))),
        ("Prüfungsdatum", "Q", day("%d.%m.%y", 2019, 2021)),
        ("Hochschule", "C", pick("Universität")),
        ("Straße", "I", lambda draw, _: f"{draw.choice(STREETS_DE)} {draw.randint(1, 120)}"),
        ("Handy", "I", pattern("0171 #######")),
    ),
    separator=";",
    duplicates=0.03,
)
PANEL = MessyFile(
    "panel",
    (
        ("Befragten-Nr.", "I", counted(1, "P{:05d}")),
        ("Haushalts-ID", "I", person("H{:04d}", 400)),
        ("Gewichtungsfaktor", "I", normal(1, 0.3, 0.3, 3, 3)),
        ("Alter", "Q", normal(50, 18, 18, 97)),
        ("Geschl.", "Q", pick("männl.", "weibl.", "div.", weights=(49, 50, 1))),
        ("Bundesland", "Q", pick("BW", "BY", "NW", "HE", "BE", "SN")),
        ("Gemeindegröße", "Q", whole(1, 7)),
        ("Schulabschluss", "Q", pick("Hauptschule", "Realschule", "Abitur", "keiner")),
        ("Erwerbsstatus", "Q", pick("Vollzeit", "Teilzeit", "Rente", "arbeitslos", "Ausbildung")),
        ("Familienstand", "Q", pick("ledig", "verheiratet", "geschieden", "verwitwet")),
        ("Kinderzahl", "Q", pick(0, 1, 2, 3, 4, weights=(4, 3, 2, 1, 0.3))),
        ("Nettoeinkommen", "S", log_normal(7.6, 0.5)),
        ("Wahlabsicht", "S", pick("SPD", "CDU/CSU", "Grüne", "AfD", "FDP", "weiß nicht")),
        ("Konfession", "S", pick("ev.", "kath.", "muslim.", "keine")),
        ("Migrationshintergrund", "S", pick("ja", "nein", weights=(1, 3))),
        ("Gesundheitszustand", "S", pick("sehr gut", "gut", "mittel", "schlecht")),
        ("Interviewdatum", "Q", day("%d.%m.%Y", 2021, 2021)),
        ("Rückrufnummer", "I", pattern("+49 170 #######")),
        ("Anmerkung Interviewer", "I", sometimes(0.5, pick(""), words(SENTENCES_DE, SENTENCES_DE, joint="; "))),
    ),
    separator=",",
)
FILES = (STROKE, PASSENGERS, DOGS, COURT, CREDIT, VISITS, CONTACTS, SURVEY, STAFF, AFFAIRS, STUDENTS, PANEL)
