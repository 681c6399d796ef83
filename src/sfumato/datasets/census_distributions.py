"""Distributions of the synthetic census: proportions of values, and their dependence on other columns.

The numbers are rough ones of an industrial country's workforce, made up for this generator. Proportions are given as
weights; a table of them has one row for each combination of the columns it depends on.
"""

from functools import cache

import numpy as np
import numpy.typing as npt

from sfumato.datasets.census_hierarchies import AGES, COUNTRY_GROUPS, RACES

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
def age() -> Shares:
    """Return the proportions of ages: (1, ages)."""
    shape = np.interp(AGES, (17, 20, 25, 31, 37, 45, 55, 65, 75, 90), (11, 22, 25, 27, 27, 22, 14, 6, 1.6, 0.4))
    return shape[np.newaxis]


@cache
def education() -> Shares:
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
def marital() -> Shares:
    """Return the proportions of marital status by age band and sex: (bands * 2, 7); women outlive their spouses."""
    men, women = np.array((1.05, 1.2, 1, 0.75, 0.65, 0.35, 1)), np.array((0.95, 0.75, 1, 1.35, 1.5, 1.9, 1))
    return np.array([np.array(row) * sex for row in _MARITAL for sex in (men, women)], float)


@cache
def workclass() -> Shares:
    """Return the proportions of work classes by education: (16, 8)."""
    return np.array([_WORKCLASS[int(_has_degree(place))] for place in range(EDUCATIONS)], float)


@cache
def occupation() -> Shares:
    """Return the proportions of occupations by education and sex: (16 * 2, 14)."""
    degree = np.array(_DEGREE)
    return np.array(
        [np.array(row) * (degree if _has_degree(place) else 1) for place in range(EDUCATIONS) for row in _OCCUPATION],
        float,
    )


@cache
def country() -> Shares:
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
def high_salary() -> Shares:
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
