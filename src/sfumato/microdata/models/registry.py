"""The models a plan may name."""

from typing import Any

from sfumato.microdata.models import k_anonymity, l_diversity
from sfumato.microdata.models.model import Model
from sfumato.plan.shapes import Record, Tagged

SHAPES: dict[str, Record[Any]] = {
    "k-anonymity": k_anonymity.SHAPE,
    "l-diversity": l_diversity.SHAPE,
}
MODEL: Tagged[Model] = Tagged("model", SHAPES)
