"""Registry of the privacy models that a plan may name; each module is loaded when a plan asks for it."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard, cast

from sfumato.errors import PlanIssue, issue
from sfumato.hierarchies.types import ColumnType, canonical
from sfumato.microdata.models.model import PrivacyModel
from sfumato.schema.composite import TaggedUnionSchema
from sfumato.schema.dataclass_schema import records_by_name
from sfumato.values import replace

if TYPE_CHECKING:
    from sfumato.microdata.models.differential_privacy import DifferentialPrivacy
    from sfumato.microdata.models.k_anonymity import AlphaKAnonymity
    from sfumato.microdata.models.population_lists import DeltaPresence, KMap
    from sfumato.microdata.models.t_closeness import TCloseness


SHAPES = records_by_name(
    {
        "k-anonymity": ("sfumato.microdata.models.k_anonymity", "KAnonymity"),
        "k-map": ("sfumato.microdata.models.population_lists", "KMap"),
        "alpha-k-anonymity": ("sfumato.microdata.models.k_anonymity", "AlphaKAnonymity"),
        "l-diversity": ("sfumato.microdata.models.l_diversity", "LDiversity"),
        "t-closeness": ("sfumato.microdata.models.t_closeness", "TCloseness"),
        "delta-disclosure": ("sfumato.microdata.models.likeness", "DeltaDisclosure"),
        "beta-likeness": ("sfumato.microdata.models.likeness", "BetaLikeness"),
        "delta-presence": ("sfumato.microdata.models.population_lists", "DeltaPresence"),
        "average-risk": ("sfumato.microdata.models.re_identification_risk", "AverageRisk"),
        "sample-uniqueness": ("sfumato.microdata.models.uniqueness", "SampleUniqueness"),
        "individual-risk": ("sfumato.microdata.models.re_identification_risk", "IndividualRisk"),
        "global-risk": ("sfumato.microdata.models.re_identification_risk", "GlobalRisk"),
        "population-uniqueness": ("sfumato.microdata.models.uniqueness", "PopulationUniqueness"),
        "differential-privacy": ("sfumato.microdata.models.differential_privacy", "DifferentialPrivacy"),
    }
)
MODEL: TaggedUnionSchema[PrivacyModel] = TaggedUnionSchema(
    "model", SHAPES, about="a privacy model of the published rows"
)


def located(model: PrivacyModel, folder: Path) -> PrivacyModel:
    """Return the model with the paths of its files resolved from a folder."""
    return model.resolve_paths(folder) if hasattr(model, "resolve_paths") else model


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


def named(model: PrivacyModel) -> tuple[str, ...]:
    """Return the values that a model lists.

    Without the conversion, `yes` in a plan would never match a Boolean `true`, and the model would cover nothing.
    """
    if is_alpha_k_anonymity(model):
        return model.values
    if is_delta_presence(model):
        return (model.subset.value,)
    return model.order if is_t_closeness(model) else ()


def in_one_text(model: PrivacyModel, type_: ColumnType) -> PrivacyModel:
    """Return the model with its values as canonical texts of a type; texts that are no such value stay unchanged."""
    texts = named(model)
    forms, _ = canonical(texts, type_)
    values = tuple(text if form is None else form for text, form in zip(texts, forms, strict=True))
    if values == texts:
        return model
    if is_delta_presence(model):
        return replace(model, subset=replace(model.subset, value=values[0]))
    if is_alpha_k_anonymity(model):
        return replace(model, values=values)
    return replace(cast("TCloseness", model), order=values)


def faults_of(model: PrivacyModel, at: str, type_: ColumnType, missing: Sequence[str]) -> list[PlanIssue]:
    """Return issues about values of a model that cannot occur in its column."""
    texts = named(model)
    _, wrong = canonical(texts, type_)
    faults = [issue(at, "of_the_values_named", count=len(wrong), name=type_)] if wrong else []
    if not is_t_closeness(model) and any(text in missing for text in texts):
        faults.append(issue(at, "a_value_that_is"))
    return faults
