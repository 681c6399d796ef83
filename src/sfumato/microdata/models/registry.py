"""Registry of the privacy models that a plan may name; the registry loads a module on first use."""

from collections.abc import Sequence
from pathlib import Path

from sfumato.errors import PlanIssue, issue
from sfumato.hierarchies.types import ColumnType, canonical
from sfumato.microdata.models.model import PrivacyModel
from sfumato.schema.composite import TaggedUnionSchema
from sfumato.schema.dataclass_schema import records_by_name

SHAPES = records_by_name(
    {
        "k-anonymity": ("sfumato.microdata.models.k_anonymity", "KAnonymity"),
        "k-map": ("sfumato.microdata.models.population_lists", "KMap"),
        "alpha-k-anonymity": ("sfumato.microdata.models.k_anonymity", "AlphaKAnonymity"),
        "k-e-anonymity": ("sfumato.microdata.models.k_e_anonymity", "KEAnonymity"),
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


def in_one_text(model: PrivacyModel, type_: ColumnType) -> PrivacyModel:
    """Return the model with its listed values as canonical texts of a type; texts that are no such value stay.

    Without the conversion, `yes` in a plan would never match a Boolean `true`, and the model would cover nothing.
    """
    texts = model.listed_values
    forms, _ = canonical(texts, type_)
    values = tuple(text if form is None else form for text, form in zip(texts, forms, strict=True))
    return model if values == texts else model.with_listed_values(values)


def faults_of(model: PrivacyModel, at: str, type_: ColumnType, missing: Sequence[str]) -> list[PlanIssue]:
    """Return issues about values of a model that cannot occur in its column."""
    texts = model.listed_values
    _, wrong = canonical(texts, type_)
    faults = [issue(at, "of_the_values_named", count=len(wrong), name=type_)] if wrong else []
    if not model.lists_all_values and any(text in missing for text in texts):
        faults.append(issue(at, "named_value_means_missing"))
    return faults
