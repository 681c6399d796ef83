"""Check which privacy model a plan names by its name alone, without loading the model's module."""

from typing import TYPE_CHECKING, TypeGuard

from sfumato.microdata.models.model import Model

if TYPE_CHECKING:
    from sfumato.microdata.models.alpha_k_anonymity import AlphaKAnonymity
    from sfumato.microdata.models.delta_presence import DeltaPresence
    from sfumato.microdata.models.differential_privacy import DifferentialPrivacy
    from sfumato.microdata.models.k_map import KMap
    from sfumato.microdata.models.t_closeness import TCloseness


def is_alpha_k_anonymity(model: Model) -> "TypeGuard[AlphaKAnonymity]":
    """Whether shares of values are limited."""
    return model.name == "alpha-k-anonymity"


def is_delta_presence(model: Model) -> "TypeGuard[DeltaPresence]":
    """Whether who is in a subset is hidden."""
    return model.name == "delta-presence"


def is_differential_privacy(model: Model) -> "TypeGuard[DifferentialPrivacy]":
    """Whether rows are drawn."""
    return model.name == "differential-privacy"


def is_k_map(model: Model) -> "TypeGuard[KMap]":
    """Whether persons of a population are counted."""
    return model.name == "k-map"


def is_t_closeness(model: Model) -> "TypeGuard[TCloseness]":
    """Whether distributions are compared."""
    return model.name == "t-closeness"


def is_estimated(model: Model) -> bool:
    """Whether a risk is estimated, for which the population must be known."""
    return model.name in ("individual-risk", "global-risk", "population-uniqueness")
