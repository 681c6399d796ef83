"""Census-like persons of any number: hierarchies, distributions, and rows made in chunks from seed and position.

The numbers are rough ones of an industrial country's workforce, made up for this generator. Proportions are given as
weights; a table of them has one row for each combination of the columns it depends on.
"""

from collections.abc import Iterator, Mapping
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.datasets.generated import Dataset, quasi_identifier
from sfumato.engines.duckdb.writing import Cell, Chunk
from sfumato.errors import PlanError

Groups = Mapping[str, tuple[str, ...]]

SEXES = ("Male", "Female")
RACES = ("White", "Black", "Asian", "Native American", "Other")
AGES = tuple(range(17, 91))
SALARIES = ("<=50K", ">50K")


def _groups(text: str) -> Groups:
    """Parse groups from a text such as `Land: Farming and fishing; Expert: Professional, Technician`."""
    parts = (" ".join(part.split()).split(": ") for part in text.split(";"))
    return {group: tuple(values.split(", ")) for group, values in parts}


MARITAL_GROUPS = _groups("""
    Single: Never married;
    Lives with partner: Married, Married to a soldier;
    Lives apart: Divorced, Separated, Widowed, Spouse absent
""")
EDUCATION_GROUPS = _groups("""
    Primary school: No schooling, Grades 1-4, Grades 5-6, Grades 7-8;
    Unfinished high school: Grade 9, Grade 10, Grade 11, Grade 12;
    Finished high school: High school diploma, Some college;
    Short degree: Vocational degree, Associate degree;
    First degree: Bachelor;
    Further degree: Master, Professional degree, Doctorate
""")
EDUCATION_TIERS = _groups("""
    School: Primary school, Unfinished high school, Finished high school;
    Degree: Short degree, First degree, Further degree
""")
OCCUPATION_GROUPS = _groups("""
    Office: Clerk, Manager, Sales;
    Expert: Professional, Technician;
    Trade: Craftsperson, Machine operator, Mover, Driver;
    Service: Care and cleaning, Private household, Protective service, Armed forces;
    Land: Farming and fishing
""")
WORKCLASS_GROUPS = _groups("""
    Employee: Private company, Federal office, State office, Local office;
    Self-employed: Own business, Own corporation;
    Unpaid: Family business, Never worked
""")
COUNTRY_GROUPS = _groups("""
    North America: United States, Canada, Mexico, Puerto Rico, US islands;
    Middle America: El Salvador, Guatemala, Honduras, Nicaragua, Costa Rica, Cuba,
        Haiti, Jamaica, Dominican Republic, Trinidad;
    South America: Colombia, Ecuador, Peru, Brazil;
    Europe: Germany, England, Ireland, Scotland, France, Italy, Portugal, Greece, Poland, Hungary, Netherlands;
    Asia: Philippines, India, China, Vietnam, Japan, Korea, Taiwan, Hong Kong, Iran, Thailand, Cambodia
""")


def leaves(groups: Groups) -> tuple[str, ...]:
    """Return the values of a grouping, in its order.

    >>> leaves(MARITAL_GROUPS)[:2]
    ('Never married', 'Married')
    """
    return tuple(value for values in groups.values() for value in values)


def parents(*levels: Groups) -> dict[str, str]:
    """Return the map from child to parent of one or more levels of groups."""
    return {value: group for level in levels for group, values in level.items() for value in values}


def _tree(*levels: Groups) -> dict[str, Any]:
    return quasi_identifier("tree", parents=parents(*levels))


COLUMN_PLANS: dict[str, dict[str, Any]] = {
    "sex": quasi_identifier("any", values=list(SEXES)),
    "age": quasi_identifier("intervals", "integer", start=16, end=95, widths=[5, 10, 20]),
    "race": quasi_identifier("any", values=list(RACES)),
    "marital-status": _tree(MARITAL_GROUPS),
    "education": _tree(EDUCATION_GROUPS, EDUCATION_TIERS),
    "native-country": _tree(COUNTRY_GROUPS),
    "workclass": _tree(WORKCLASS_GROUPS),
    "occupation": _tree(OCCUPATION_GROUPS),
    "salary-class": {"role": "sensitive", "hierarchy": {"type": "any", "values": list(SALARIES)}},
}


Shares = npt.NDArray[np.float64]

# Lower limits of the age bands; the last one is open.
BANDS = (17, 20, 25, 30, 40, 50, 60, 70)
EDUCATIONS = 16
SEX = (0.58, 0.42)
RACE = (0.84, 0.098, 0.034, 0.010, 0.018)

# Education by values (16): shares of the middle-aged, and the lowest age at which one can have it.
_EDUCATION = (2, 5, 10, 19, 16, 28, 36, 13, 322, 223, 42, 33, 164, 54, 18, 13)
_EARLIEST = (0, 0, 0, 0, 0, 0, 0, 0, 17, 18, 20, 20, 21, 23, 25, 26)
# Marital status (never, married, soldier, divorced, separated, widowed, absent) by age band.
_MARITAL = (
    (970, 20, 1, 3, 3, 0, 3),
    (790, 165, 2, 20, 13, 1, 9),
    (480, 420, 2, 68, 20, 2, 8),
    (240, 570, 1, 135, 35, 6, 13),
    (120, 635, 1, 190, 32, 15, 7),
    (70, 680, 0, 180, 20, 42, 8),
    (55, 680, 0, 125, 12, 120, 8),
    (50, 620, 0, 65, 5, 255, 5),
)
# Workclass (company, federal, state, local, business, corporation, family, never) by education below a degree or not.
_WORKCLASS = ((765, 25, 25, 50, 85, 30, 1, 0.4), (640, 40, 70, 105, 80, 62, 0.3, 0.1))
# Occupation (clerk, manager, sales, professional, technician, craft, operator, mover, driver, care, household,
# protective, armed, farming): share among men and women at school level, and what a degree does to it.
_OCCUPATION = (
    (55, 85, 95, 15, 18, 235, 110, 90, 100, 80, 0.4, 32, 0.5, 60),
    (290, 95, 120, 25, 25, 22, 65, 18, 9, 240, 15, 8, 0.1, 8),
)
_DEGREE = (0.7, 2.6, 1.2, 12, 2.5, 0.25, 0.15, 0.15, 0.15, 0.3, 0.2, 0.9, 0.8, 0.4)
# Country of birth: the share of the native born by race, and how much more likely each region is than elsewhere.
_NATIVE = (0.935, 0.905, 0.33, 0.96, 0.42)
_REGION = {
    "North America": (6, 1, 1, 6, 14),
    "Middle America": (1.5, 14, 0.3, 1, 12),
    "South America": (1, 1, 0.3, 1, 8),
    "Europe": (4, 0.3, 0.1, 0.5, 0.5),
    "Asia": (0.6, 0.2, 10, 0.5, 1),
}


@cache
def _age_shares() -> Shares:
    """Return the proportions of ages: (1, ages)."""
    shape = np.interp(AGES, (17, 20, 25, 31, 37, 45, 55, 65, 75, 90), (11, 22, 25, 27, 27, 22, 14, 6, 1.6, 0.4))
    return shape[np.newaxis]


@cache
def _education_shares() -> Shares:
    """Return the proportions of education by age band and sex: (bands * 2, 16); lower for old and very young."""
    base, earliest = np.array(_EDUCATION, float), np.array(_EARLIEST)
    places = np.arange(EDUCATIONS)
    rows = []
    for band, begin in enumerate(BANDS):
        end = BANDS[band + 1] - 1 if band + 1 < len(BANDS) else AGES[-1]
        reachable = np.clip((end - earliest + 1) / (end - begin + 1), 0, 1)
        tilt = np.exp(-0.09 * max(band - 4, 0) * (places - 8)) * np.where(
            (band == 0) & (places < 8) & (places > 4), 12, 1
        )
        rows += [base * reachable * tilt * np.where(places > 12, 1.15, 1), base * reachable * tilt]
    return np.array(rows)


@cache
def _marital_shares() -> Shares:
    """Return the proportions of marital status by age band and sex: (bands * 2, 7); women outlive their spouses."""
    men, women = np.array((1.05, 1.2, 1, 0.75, 0.65, 0.35, 1)), np.array((0.95, 0.75, 1, 1.35, 1.5, 1.9, 1))
    return np.array([np.array(row) * sex for row in _MARITAL for sex in (men, women)], float)


@cache
def _workclass_shares() -> Shares:
    """Return the proportions of work classes by education: (16, 8)."""
    return np.array([_WORKCLASS[int(_has_degree(place))] for place in range(EDUCATIONS)], float)


@cache
def _occupation_shares() -> Shares:
    """Return the proportions of occupations by education and sex: (16 * 2, 14)."""
    degree = np.array(_DEGREE)
    return np.array(
        [np.array(row) * (degree if _has_degree(place) else 1) for place in range(EDUCATIONS) for row in _OCCUPATION],
        float,
    )


@cache
def _country_shares() -> Shares:
    """Return the proportions of countries of birth by race: (races, countries), decreasing within a region."""
    rows = []
    for race in range(len(RACES)):
        foreign = [
            _REGION[region][race] / (place + 1)
            for region, names in COUNTRY_GROUPS.items()
            for place in range(len(names))
        ]
        # The United States, the first of all, is no foreign country.
        foreign[0] = 0.0
        born_here = sum(foreign) * _NATIVE[race] / (1 - _NATIVE[race])
        rows.append([born_here, *foreign[1:]])
    return np.array(rows)


@cache
def _salary_shares() -> Shares:
    """Return the probability of a high salary by age band, sex, education and marriage: (bands * 2 * 16 * 2,)."""
    band = np.array((-4.2, -2.6, -1.1, -0.2, 0.25, 0.2, -0.25, -0.9))
    sex = np.array((0.1, -0.55))
    place = np.arange(EDUCATIONS)
    schooling = -2.9 + 0.17 * place + 0.7 * (place >= 12) + 0.45 * (place >= 13)
    married = np.array((-1.6, 0.85))
    grid = np.add.outer(np.add.outer(np.add.outer(band, sex), schooling), married)
    chances: Shares = 1 / (1 + np.exp(-grid))
    return chances.ravel()


def _has_degree(education_place: int) -> bool:
    return education_place >= 12


Codes = npt.NDArray[np.uint8]
Draws = npt.NDArray[np.uint16]

CHUNK_ROWS = 1 << 17
_STEPS = 1 << 16
_CATEGORIES: dict[str, tuple[Cell, ...]] = {
    "sex": SEXES,
    "age": AGES,
    "race": RACES,
    "marital-status": leaves(MARITAL_GROUPS),
    "education": leaves(EDUCATION_GROUPS),
    "native-country": leaves(COUNTRY_GROUPS),
    "workclass": leaves(WORKCLASS_GROUPS),
    "occupation": leaves(OCCUPATION_GROUPS),
    "salary-class": SALARIES,
}
# Indices of the two married states among the marital states.
_MARRIED = (1, 2)


def make_census(rows: int, seed: int) -> Dataset:
    """Return a dataset of this many persons.

    Raises:
        PlanError: If the number is 0, or the seed is negative.
    """
    if rows < 1 or seed < 0:
        raise PlanError("rows.census_needs_at_least")
    return Dataset("census", rows, _CATEGORIES, partial(_chunks, rows, seed), COLUMN_PLANS)


def _chunks(rows: int, seed: int) -> Iterator[Chunk]:
    for place, start in enumerate(range(0, rows, CHUNK_ROWS)):
        persons = _persons(np.random.default_rng([seed, place]))
        wanted = min(CHUNK_ROWS, rows - start)
        yield {name: codes[:wanted] for name, codes in persons.items()}


def _persons(random: np.random.Generator) -> dict[str, Codes]:
    """Return one chunk; always drawn completely, so that its first rows do not depend on how many are needed."""
    draws = np.frombuffer(random.bytes(2 * CHUNK_ROWS * len(_CATEGORIES)), "<u2").reshape(len(_CATEGORIES), -1)
    ages = _draw("age", draws[0])
    sexes = _draw("sex", draws[1])
    races = _draw("race", draws[2])
    group = _bands()[ages] * 2 + sexes
    educations = _draw("education", draws[3], group)
    marital = _draw("marital", draws[4], group)
    married = (marital == _MARRIED[0]) | (marital == _MARRIED[1])
    chance = _salary_steps()[(group.astype(np.intp) * EDUCATIONS + educations) * 2 + married]
    return {
        "sex": sexes,
        "age": ages,
        "race": races,
        "marital-status": marital,
        "education": educations,
        "native-country": _draw("country", draws[5], races),
        "workclass": _draw("workclass", draws[6], educations),
        "occupation": _draw("occupation", draws[7], educations * np.uint8(2) + sexes),
        "salary-class": (draws[8] < chance).astype(np.uint8),
    }


def _draw(table: str, draws: Draws, rows: Codes | None = None) -> Codes:
    """Return a value for each random number, by the row of proportions that the codes select (default: the first)."""
    places = draws if rows is None else rows.astype(np.intp) * _STEPS + draws
    values: Codes = _table(table)[places]
    return values


@cache
def _table(name: str) -> Codes:
    """Return the value for each of the 65,536 random numbers, for each row of proportions."""
    shares = _SHARES[name]()
    middles = (np.arange(_STEPS) + 0.5) / _STEPS
    rows = [np.searchsorted(np.cumsum(row) / row.sum(), middles) for row in shares]
    return np.concatenate(rows).astype(np.uint8)


@cache
def _bands() -> Codes:
    """Return the age band of each age."""
    return (np.searchsorted(BANDS, AGES, side="right") - 1).astype(np.uint8)


@cache
def _salary_steps() -> npt.NDArray[np.uint16]:
    return np.round(_salary_shares() * (_STEPS - 1)).astype(np.uint16)


_SHARES: dict[str, Any] = {
    "age": _age_shares,
    "sex": lambda: np.array([SEX]),
    "race": lambda: np.array([RACE]),
    "education": _education_shares,
    "marital": _marital_shares,
    "country": _country_shares,
    "workclass": _workclass_shares,
    "occupation": _occupation_shares,
}
