"""Check which privacy model a plan names by its name alone, without loading the model's module."""

from typing import TYPE_CHECKING, TypeGuard

from sfumato.microdata.models.model import PrivacyModel

if TYPE_CHECKING:
    from sfumato.microdata.models.alpha_k_anonymity import AlphaKAnonymity
    from sfumato.microdata.models.delta_presence import DeltaPresence
    from sfumato.microdata.models.differential_privacy import DifferentialPrivacy
    from sfumato.microdata.models.k_map import KMap
    from sfumato.microdata.models.t_closeness import TCloseness


def is_alpha_k_anonymity(model: PrivacyModel) -> "TypeGuard[AlphaKAnonymity]":
    """Return whether the model is (α,k)-anonymity."""
    return model.name == "alpha-k-anonymity"


def is_delta_presence(model: PrivacyModel) -> "TypeGuard[DeltaPresence]":
    """Return whether the model is δ-presence."""
    return model.name == "delta-presence"


def is_differential_privacy(model: PrivacyModel) -> "TypeGuard[DifferentialPrivacy]":
    """Return whether the model is differential privacy."""
    return model.name == "differential-privacy"


def is_k_map(model: PrivacyModel) -> "TypeGuard[KMap]":
    """Return whether the model is k-map."""
    return model.name == "k-map"


def is_t_closeness(model: PrivacyModel) -> "TypeGuard[TCloseness]":
    """Return whether the model is t-closeness."""
    return model.name == "t-closeness"


def is_estimated(model: PrivacyModel) -> bool:
    """Return whether the model estimates a risk, for which the population must be known."""
    return model.name in ("individual-risk", "global-risk", "population-uniqueness")
