"""k-map: every class stands for at least k persons of the population from which the rows were taken.

Sweeney, L. (2002). k-anonymity: a model for protecting privacy, https://doi.org/10.1142/S0218488502001648 (there as
k-map); El Emam, K., Dankar, F. (2008). Protecting privacy using k-anonymity, https://doi.org/10.1197/jamia.M2716. The
population is a table (a register, a census) with the same quasi-identifiers; it is generalized as the rows are, and its
rows are counted. The persons in the data are persons of the population: a class stands for at least its own rows, also
where the table of the population lacks them.

It protects against an attacker who does not know that a person is in the data. Against one who does, it is weaker than
k-anonymity. It rests on the table being the population that the attacker has.

Classes with labels of their own (mondrian, local) may mix levels, and then stand for no combination that the population
could be counted by: they keep the stricter promise that the class itself has k rows. Where local falls back on the best
single node, that keeps k-map as it is, and a class may have fewer rows. K-Optimize refuses k-map.

Monotone under generalization and under suppression: what a class stands for only grows.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, ClassVar

from sfumato.microdata.data_plan import DATA, DataPlan
from sfumato.microdata.models.classes import Classes, Counts, Mask
from sfumato.microdata.models.model import ClassModel
from sfumato.shapes.records import Note
from sfumato.shapes.shapes import Conversion, Either, Key, Record, Text

# Under this name the classes of a full-domain search hold the rows of the population: no column can have it.
POPULATION = "\0population"
TABLE = Either(
    (
        ((str,), Conversion(Text(about="path of the table, relative to the plan"), DataPlan)),
        (
            (dict,),
            Record(
                {"source": Key(Text(about="path of the table, relative to the plan"), required=True)}
                | {name: DATA.keys[name] for name in ("separator", "encoding", "missing", "table")},
                DataPlan,
            ),
        ),
    )
)


@dataclass(frozen=True, slots=True)
class KMap(ClassModel):
    """Every class has at least `k` rows in the `population`."""

    k: Annotated[int, Note("persons of the population a class must stand for", minimum=1)]
    population: Annotated[DataPlan, TABLE]
    name: ClassVar[str] = "k-map"
    asks: ClassVar[str] = "k"
    column: ClassVar[None] = None
    monotone_suppression: ClassVar[bool] = True

    def located(self, folder: Path) -> "KMap":
        """The same model with its table of the population found from a folder."""
        source = str(folder / (self.population.source or ""))
        return replace(self, population=replace(self.population, source=source))

    def failing(self, classes: Classes, whole: Classes) -> Mask:  # noqa: ARG002
        return persons_of(classes) < self.k

    def reached(self, classes: Classes, whole: Classes) -> float:  # noqa: ARG002
        return int(persons_of(classes).min()) if len(classes.sizes) else 0


def persons_of(classes: Classes) -> Counts:
    """The persons each class stands for: of the population where it is known, and no fewer than its own rows."""
    content = classes.sensitive.get(POPULATION)
    if content is None:
        return classes.sizes
    import numpy as np

    persons = np.bincount(content.owners, weights=content.counts, minlength=len(classes.sizes)).astype(np.int64)
    found: Counts = np.maximum(persons, classes.sizes)
    return found
