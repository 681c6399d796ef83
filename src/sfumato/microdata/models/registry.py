"""The models a plan may name."""

from pathlib import Path
from typing import Any

from sfumato.microdata.models.alpha_k_anonymity import AlphaKAnonymity
from sfumato.microdata.models.average_risk import AverageRisk
from sfumato.microdata.models.beta_likeness import BetaLikeness
from sfumato.microdata.models.delta_disclosure import DeltaDisclosure
from sfumato.microdata.models.delta_presence import DeltaPresence
from sfumato.microdata.models.differential_privacy import DifferentialPrivacy
from sfumato.microdata.models.global_risk import GlobalRisk
from sfumato.microdata.models.individual_risk import IndividualRisk
from sfumato.microdata.models.k_anonymity import KAnonymity
from sfumato.microdata.models.k_map import KMap
from sfumato.microdata.models.l_diversity import LDiversity
from sfumato.microdata.models.model import Model
from sfumato.microdata.models.population_uniqueness import PopulationUniqueness
from sfumato.microdata.models.sample_uniqueness import SampleUniqueness
from sfumato.microdata.models.t_closeness import TCloseness
from sfumato.shapes.records import record_of
from sfumato.shapes.shapes import Record, Tagged

MODELS: tuple[Any, ...] = (
    KAnonymity,
    KMap,
    AlphaKAnonymity,
    LDiversity,
    TCloseness,
    DeltaDisclosure,
    BetaLikeness,
    DeltaPresence,
    AverageRisk,
    SampleUniqueness,
    IndividualRisk,
    GlobalRisk,
    PopulationUniqueness,
    DifferentialPrivacy,
)
SHAPES: dict[str, Record[Any]] = {kind.name: record_of(kind) for kind in MODELS}
MODEL: Tagged[Model] = Tagged("model", SHAPES, about="a promise about the published rows")


def located(model: Model, folder: Path) -> Model:
    """The model with its files, where it has some, found from a folder."""
    return model.located(folder) if isinstance(model, TCloseness | KMap) else model
