"""Generalization hierarchies of the census columns: each tree is value, group, (wider group,) `*`."""

from collections.abc import Mapping
from typing import Any

from sfumato.datasets.dataset import quasi_identifier

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
