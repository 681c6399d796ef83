"""The models a plan may name."""

from pathlib import Path
from typing import Any

from sfumato.microdata.models import (
    alpha_k_anonymity,
    average_risk,
    beta_likeness,
    delta_disclosure,
    delta_presence,
    k_anonymity,
    k_map,
    l_diversity,
    sample_uniqueness,
    t_closeness,
)
from sfumato.microdata.models.model import Model
from sfumato.shapes.shapes import Record, Tagged

SHAPES: dict[str, Record[Any]] = {
    "k-anonymity": k_anonymity.SHAPE,
    "k-map": k_map.SHAPE,
    "alpha-k-anonymity": alpha_k_anonymity.SHAPE,
    "l-diversity": l_diversity.SHAPE,
    "t-closeness": t_closeness.SHAPE,
    "delta-disclosure": delta_disclosure.SHAPE,
    "beta-likeness": beta_likeness.SHAPE,
    "delta-presence": delta_presence.SHAPE,
    "average-risk": average_risk.SHAPE,
    "sample-uniqueness": sample_uniqueness.SHAPE,
}
MODEL: Tagged[Model] = Tagged("model", SHAPES, about="a promise about the published rows")


def located(model: Model, folder: Path) -> Model:
    """The model with its files, where it has some, found from a folder."""
    return model.located(folder) if isinstance(model, t_closeness.TCloseness | k_map.KMap) else model
