"""Example datasets: small ones, and a generator of census-like persons of any number.

>>> from sfumato import datasets
>>> datasets.four_rows().records()[0]["zip"]
'72021'
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from sfumato.datasets.generated import Dataset

__all__ = [
    "DATASETS",
    "census",
    "eight_rows",
    "four_rows",
    "households",
    "patients",
    "read",
    "register",
    "stroke",
    "visits",
]


def patients(rows: int = 300, seed: int = 1) -> "Dataset":
    """Return fictitious German patients: name, date of birth, sex, postcode, illness; a few have extreme values.

    >>> patients().rows
    300
    """
    from sfumato.datasets.patient_rows import make_patients

    return make_patients(rows, seed)


def four_rows() -> "Dataset":
    """Return four patients who are 2-anonymous if dates are published by quarter and postcodes by two digits."""
    from sfumato.datasets.patient_rows import FOUR_ROWS, make_example

    return make_example("four-rows", FOUR_ROWS)


def eight_rows() -> "Dataset":
    """Return eight patients among whom one rare combination makes full-domain recoding lose two columns."""
    from sfumato.datasets.patient_rows import EIGHT_ROWS, make_example

    return make_example("eight-rows", EIGHT_ROWS)


def stroke() -> "Dataset":
    """Return two hundred patients who had a stroke."""
    from sfumato.datasets.patient_rows import read_stroke

    return read_stroke()


def census(rows: int = 30_000, seed: int = 1) -> "Dataset":
    """Return fictitious persons as in a census; the first rows do not depend on the number of rows.

    >>> census(3).records() == census(10).records()[:3]
    True
    """
    from sfumato.datasets.census_rows import make_census

    return make_census(rows, seed)


def visits(rows: int = 2_000, seed: int = 1) -> "Dataset":
    """Return fictitious hospital visits, four per person; nine of ten persons keep their attributes.

    >>> visits(3).records() == visits(10).records()[:3]
    True
    """
    from sfumato.datasets.people import make_visits

    return make_visits(rows, seed)


def households(rows: int = 2_000, seed: int = 1) -> "Dataset":
    """Return fictitious persons of a survey, household by household, with a sampling weight for each.

    >>> households(3).records() == households(10).records()[:3]
    True
    """
    from sfumato.datasets.people import make_households

    return make_households(rows, seed)


def register(rows: int = 2_000, seed: int = 1, month: int = 0) -> "Dataset":
    """Return a register of fictitious persons after a number of months of births, moves and deaths.

    >>> register(50).rows, {"person", "born"} <= {*register(50, month=3).categories}
    (50, True)
    """
    from sfumato.datasets.people import make_register

    return make_register(rows, seed, month)


def read(name: str, path: "str | Path", hierarchies: "str | Path | None" = None) -> "Dataset":
    """Read your copy of a well-known public file, with its columns, types and hierarchies; nothing is downloaded.

    Args:
        name: `adult`, `casc-census`, `tarragona` or `households`.
        path: Path of the file.
        hierarchies: A folder with ARX hierarchy files (`…hierarchy_<column>.csv`); by default the file's folder.
    """
    from sfumato.datasets.public_files import read_known

    return read_known(name, path, hierarchies)


def __dir__() -> list[str]:
    return sorted(__all__)


DATASETS: dict[str, Callable[..., "Dataset"]] = {
    "patients": patients,
    "four-rows": four_rows,
    "eight-rows": eight_rows,
    "stroke": stroke,
    "census": census,
    "visits": visits,
    "households": households,
    "register": register,
}
