"""What names of columns and words of scales mean, in English and German."""

import re
from typing import Literal

Role = Literal["identifier", "quasi-identifier", "sensitive", "insensitive"]


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# Compared without case, accents and umlauts; a longer word that begins or ends with one of four letters or more (as
# German compounds do) counts too. The roles are tried in this order.
ROLE_WORDS: dict[Role, tuple[str, ...]] = {
    "sensitive": _words(
        """illness disease diagnosis diagnoses diagnose icd krankheit erkrankung befund symptom condition treatment
        therapy therapie behandlung medication medikament drug hiv cancer krebs stroke schlaganfall disability
        behinderung salary income wage gehalt einkommen lohn debt schulden credit kredit religion konfession glaube
        party partei union gewerkschaft crime conviction vorstrafe glucose cholesterol bmi blood blut hypertension
        heart smoking raucher alcohol alkohol"""
    ),
    "identifier": _words(
        """name surname firstname lastname fullname vorname nachname familienname rufname email mail phone telephone
        telefon mobile handy fax id uuid identifier kennung kennzeichen ssn passport ausweis iban account konto
        versichertennummer versicherungsnummer sozialversicherungsnummer steuernummer mrn patientennummer fallnummer
        address adresse anschrift street strasse hausnummer url ip username login user signature unterschrift"""
    ),
    "quasi-identifier": _words(
        """birth birthday birthdate dob geburt geburtstag geburtsdatum geburtsort geburtsjahr age alter sex gender
        geschlecht zip zipcode plz postcode postal postleitzahl city town stadt ort wohnort gemeinde county kreis
        region state bundesland land country nationality staatsangehorigkeit herkunft race ethnicity marital married
        familienstand verheiratet education bildung schulabschluss abschluss degree occupation beruf profession job
        work workclass residence admission aufnahme discharge entlassung date datum year jahr height grosse"""
    ),
}
POSTAL_WORDS = ("zip", "zipcode", "plz", "postcode", "postal", "postleitzahl")
SCALES: tuple[tuple[str, ...], ...] = (
    ("very low", "low", "medium", "high", "very high"),
    ("sehr niedrig", "niedrig", "mittel", "hoch", "sehr hoch"),
    ("none", "mild", "moderate", "severe", "critical"),
    ("keine", "leicht", "mittel", "schwer", "kritisch"),
    ("xs", "s", "m", "l", "xl", "xxl"),
    ("tiny", "small", "medium", "large", "huge"),
    ("klein", "mittel", "gross"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("nie", "selten", "manchmal", "oft", "immer"),
    ("very poor", "poor", "fair", "good", "very good", "excellent"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    ("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag"),
)
_FOLDED = str.maketrans({"ä": "a", "ö": "o", "ü": "u", "ß": "ss", "é": "e", "è": "e"})
_STEM = 4


def folded(text: str) -> str:
    """A text without case, umlauts and accents.

    >>> folded("Größe")
    'grosse'
    """
    return text.lower().translate(_FOLDED)


def words_of(name: str) -> list[str]:
    """The words of a column's name, folded.

    >>> words_of("dateOfBirth"), words_of("patient_ID"), words_of("Straße")
    (['date', 'of', 'birth'], ['patient', 'id'], ['strasse'])
    """
    apart = re.sub(r"(?<=[a-zäöüß])(?=[A-Z])", " ", name)
    return re.findall(r"[a-z]+", folded(apart))


def role_of_name(name: str) -> tuple[Role, str] | None:
    """The role that a column's name speaks for, and the word that does.

    >>> role_of_name("Geburtsdatum"), role_of_name("salary-class"), role_of_name("x7")
    (('quasi-identifier', 'geburtsdatum'), ('sensitive', 'salary'), None)
    """
    words = words_of(name)
    for role, stems in ROLE_WORDS.items():
        for word in words:
            if word in stems or any(_compound(word, stem) for stem in stems):
                return role, word
    return None


def _compound(word: str, stem: str) -> bool:
    return len(stem) >= _STEM and (word.startswith(stem) or word.endswith(stem))


def scale_of(values: list[str]) -> list[str] | None:
    """The values in the order of a scale that has them all, if there is one.

    >>> scale_of(["High", "Low", "Medium"])
    ['Low', 'Medium', 'High']
    """
    by_word = {folded(value.strip()): value for value in values}
    for scale in SCALES:
        if len(by_word) == len(values) >= 3 and by_word.keys() <= set(scale):
            return [by_word[word] for word in scale if word in by_word]
    return None
