"""Registry of the privacy models that a plan may name; each module is loaded when a plan asks for it."""

from pathlib import Path

from sfumato.microdata.models.model import PrivacyModel
from sfumato.schema.composite import TaggedUnionSchema
from sfumato.schema.dataclass_schema import records_by_name

SHAPES = records_by_name(
    {
        "k-anonymity": ("sfumato.microdata.models.k_anonymity", "KAnonymity"),
        "k-map": ("sfumato.microdata.models.k_map", "KMap"),
        "alpha-k-anonymity": ("sfumato.microdata.models.alpha_k_anonymity", "AlphaKAnonymity"),
        "l-diversity": ("sfumato.microdata.models.l_diversity", "LDiversity"),
        "t-closeness": ("sfumato.microdata.models.t_closeness", "TCloseness"),
        "delta-disclosure": ("sfumato.microdata.models.delta_disclosure", "DeltaDisclosure"),
        "beta-likeness": ("sfumato.microdata.models.beta_likeness", "BetaLikeness"),
        "delta-presence": ("sfumato.microdata.models.delta_presence", "DeltaPresence"),
        "average-risk": ("sfumato.microdata.models.average_risk", "AverageRisk"),
        "sample-uniqueness": ("sfumato.microdata.models.sample_uniqueness", "SampleUniqueness"),
        "individual-risk": ("sfumato.microdata.models.individual_risk", "IndividualRisk"),
        "global-risk": ("sfumato.microdata.models.global_risk", "GlobalRisk"),
        "population-uniqueness": ("sfumato.microdata.models.population_uniqueness", "PopulationUniqueness"),
        "differential-privacy": ("sfumato.microdata.models.differential_privacy", "DifferentialPrivacy"),
    }
)
MODEL: TaggedUnionSchema[PrivacyModel] = TaggedUnionSchema(
    "model", SHAPES, about="a privacy model of the published rows"
)


def located(model: PrivacyModel, folder: Path) -> PrivacyModel:
    """Return the model with the paths of its files resolved from a folder."""
    return model.resolve_paths(folder) if hasattr(model, "resolve_paths") else model
