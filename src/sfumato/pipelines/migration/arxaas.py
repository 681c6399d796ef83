"""Answer requests of clients of ARXaaS, the REST service around ARX: analyze and anonymize rows."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from sfumato.engines.dataframes.sources import frame_of, installed
from sfumato.errors import DataError, PlanError, UnattainableError
from sfumato.hierarchies.lists import SuppressAll
from sfumato.microdata.measures.population import uniqueness
from sfumato.microdata.measures.risk import prosecutor
from sfumato.microdata.models.equivalence_classes import Counts
from sfumato.microdata.models.k_anonymity import KAnonymity
from sfumato.microdata.models.model import PrivacyModel
from sfumato.microdata.models.registry import MODEL
from sfumato.microdata.plan.builder import Plan
from sfumato.microdata.plan.methods import Optimal, Suppression
from sfumato.microdata.plan.model import ColumnPlan, Role
from sfumato.microdata.plan.parts import OutputPlan
from sfumato.microdata.release_report import Report
from sfumato.pipelines.migration.arxaas_hierarchies import TableHierarchy
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.release_folder import Release
from sfumato.pipelines.verify import verify
from sfumato.schema.composite import read
from sfumato.values import Value, replace

# Bounds of the risk intervals, in percent; a risk is in the interval whose upper bound it does not exceed.
ENDS = (0, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, *range(1, 10), 10, 12.5, 14.3, 16.7, 20, 25, 33.4, 50, 100)
NAMES = {1e-6: "1e-6", 1e-5: "1e-5", 1e-4: "0.0001"}
ATTACKERS = ("Prosecutor", "Journalist", "Marketer")
# The assumed sampling fraction of the rows.
SAMPLED = 0.01
CLOSE = 1e-12


def risk_profile(sizes: Counts, columns: Mapping[str, Counts]) -> dict[str, Any]:
    """Return the risk profile for given class sizes.

    Args:
        columns: For each quasi-identifier, the number of rows of each of its values.

    >>> profile = risk_profile(np.array([6, 5]), {"zip": np.array([6, 5])})
    >>> round(profile["reIdentificationRisk"]["measures"]["records_affected_by_highest_prosecutor_risk"], 4)
    0.4545
    """
    average = prosecutor(sizes).average
    rates = {f"{name}_attacker_success_rate": average for name in ATTACKERS}
    risk = {
        "measures": _measures(sizes),
        "attackerSuccessRate": {"successRates": rates},
        "quasiIdentifiers": list(columns),
        "populationModel": "DANKAR",
    }
    attributes = [_uniqueness(name, counts) for name, counts in columns.items()]
    return {
        "reIdentificationRisk": risk,
        "distributionOfRisk": {"riskIntervalList": _intervals(sizes)},
        "attributeRisk": {"quasiIdentifierRiskList": attributes},
    }


def _measures(sizes: Counts) -> dict[str, float]:
    risk = prosecutor(sizes)
    rows = int(sizes.sum())
    low, high = 1 / int(sizes.max()), 1 / int(sizes.min())
    affected = float(sizes[sizes == sizes.min()].sum()) / rows
    return {
        "lowest_risk": low,
        "records_affected_by_lowest_risk": float(sizes[sizes == sizes.max()].sum()) / rows,
        "average_prosecutor_risk": risk.average,
        "highest_prosecutor_risk": high,
        "records_affected_by_highest_prosecutor_risk": affected,
        "highest_journalist_risk": high,
        "records_affected_by_highest_journalist_risk": affected,
        "estimated_prosecutor_risk": high,
        "estimated_journalist_risk": high,
        "estimated_marketer_risk": risk.average,
        "sample_uniques": float((sizes == 1).sum()) / rows,
        "population_uniques": float(uniqueness(sizes, round(rows / SAMPLED)).dankar.share or 0.0),
    }


def _intervals(sizes: Counts) -> list[dict[str, Any]]:
    """Return the proportion of rows within each risk interval and up to its upper bound, the highest first."""
    risks, rows = 100 / sizes, int(sizes.sum())
    intervals = []
    for low, high in reversed(list(pairwise(ENDS))):
        below = risks <= high + CLOSE
        within = float(sizes[below & (risks > low + CLOSE)].sum()) / rows
        upto = float(sizes[below].sum()) / rows
        name = f"[{_name(low)},{_name(high)}{']' if high == ENDS[-1] else ')'}"
        intervals.append(
            {
                "interval": name,
                "recordsWithRiskWithinInterval": within,
                "recordsWithMaximalRiskWithinInterval": upto,
                # Two names in the spelling of versions up to 0.5.
                "recordsWithRiskWithinInteval": within,
                "recordsWithMaxmalRiskWithinInterval": upto,
            }
        )
    return intervals


def _name(end: float) -> str:
    return NAMES.get(end, f"{end:g}")


def _uniqueness(name: str, counts: Counts) -> dict[str, Any]:
    """Return how far a single column distinguishes rows: proportions of distinct values and of differing row pairs."""
    rows = int(counts.sum())
    pairs = rows * (rows - 1) / 2
    alike = float((counts * (counts - 1) / 2).sum())
    separation = (pairs - alike) / pairs if pairs else 0.0
    return {"identifier": [name], "distinction": len(counts) / rows, "separation": separation}


def counts_of(rows: Sequence[tuple[str | None, ...]]) -> Counts:
    """Return the number of rows of each distinct row.

    >>> sorted(counts_of([("a",), ("b",), ("a",)]).tolist())
    [1, 2]
    """
    sizes: dict[tuple[str | None, ...], int] = {}
    for row in rows:
        sizes[row] = sizes.get(row, 0) + 1
    return np.array(list(sizes.values()), np.int64)


AttributeType = Literal["IDENTIFYING", "QUASIIDENTIFYING", "SENSITIVE", "INSENSITIVE"]
ROLES: dict[AttributeType, Role] = {
    "IDENTIFYING": "identifier",
    "QUASIIDENTIFYING": "quasi-identifier",
    "SENSITIVE": "sensitive",
    "INSENSITIVE": "insensitive",
}
# The error code of models that only a single class can satisfy.
TOP = "unattainable.top"
# Models of ARXaaS, with the plan entry and the parameters of each.
MODELS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "KANONYMITY": ({"model": "k-anonymity"}, ("k",)),
    "LDIVERSITY_DISTINCT": ({"model": "l-diversity", "variant": "distinct"}, ("l", "column_name")),
    "LDIVERSITY_SHANNONENTROPY": ({"model": "l-diversity", "variant": "entropy"}, ("l", "column_name")),
    "LDIVERSITY_RECURSIVE": ({"model": "l-diversity", "variant": "recursive"}, ("l", "c", "column_name")),
    "TCLOSENESS_ORDERED_DISTANCE": ({"model": "t-closeness", "distance": "ordered"}, ("t", "column_name")),
    "TCLOSENESS_EQUAL_DISTANCE": ({"model": "t-closeness", "distance": "equal"}, ("t", "column_name")),
}


class Attribute(Value):
    """A column of a request: its type, and its hierarchy as rows of labels."""

    field: str
    type: AttributeType
    hierarchy: tuple[tuple[str, ...], ...] | None = None

    @property
    def plan(self) -> ColumnPlan:
        """The column in a plan; a quasi-identifier without a hierarchy is not generalized."""
        role = ROLES[self.type]
        if role != "quasi-identifier":
            return ColumnPlan(role)
        if self.hierarchy:
            return ColumnPlan(role, hierarchy=TableHierarchy(self.hierarchy))
        return ColumnPlan(role, hierarchy=SuppressAll(), max_level=0)


class Rows(Value):
    """The rows of a request: the names first, then one list of texts for each row."""

    names: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]

    def __post_init__(self) -> None:
        if len(set(self.names)) != len(self.names) or any(len(row) != len(self.names) for row in self.rows):
            raise DataError("ragged.values_and_names")
        if not self.rows:
            raise DataError("empty.there_are_no_rows")

    def of(self, names: Sequence[str]) -> list[tuple[str | None, ...]]:
        """Return some columns, row by row.

        Raises:
            DataError: There is no such column.
        """
        if not set(names) <= set(self.names):
            raise DataError("column")
        places = [self.names.index(name) for name in names]
        return [tuple(row[place] for place in places) for row in self.rows]


def analyzed(rows: Rows, attributes: Sequence[Attribute]) -> dict[str, Any]:
    """Return the risk profile of rows."""
    names = [attribute.field for attribute in attributes if attribute.type == "QUASIIDENTIFYING"]
    if not names:
        raise PlanError("roles")
    return risk_profile(counts_of(rows.of(names)), {name: counts_of(rows.of([name])) for name in names})


def anonymized(
    rows: Rows, attributes: Sequence[Attribute], models: Sequence[PrivacyModel], suppression: float
) -> dict[str, Any]:
    """Anonymize rows by the node with the least loss; they keep their order, and suppressed rows are `*`, as in ARX."""
    plan = Plan(
        *models,
        method=Optimal(aggregate="geometric", suppression=Suppression(suppression)),
        columns={attribute.field: attribute.plan for attribute in attributes},
        output=OutputPlan(order="keep", suppressed="star"),
    )
    library = installed("pyarrow", "polars", "pandas")
    columns = zip(*rows.rows, strict=True)
    frame = frame_of(dict(zip(rows.names, map(list, columns), strict=True)), library)
    release = _release(frame, plan, len(rows.rows))
    published = Rows(rows.names, _texts(release.published, rows.names))
    result = {
        "data": [list(rows.names), *(list(row) for row in published.rows)],
        "anonymizationStatus": "ANONYMOUS",
        "metrics": _metrics(release.report, models),
        "attributes": [_attribute(attribute) for attribute in attributes],
    }
    return {"anonymizeResult": result, "riskProfile": analyzed(published, attributes)}


def _release(frame: Any, plan: Plan, rows: int) -> Release:
    """Return the release of a plan, or a single class if only that satisfies the models.

    ARX returns such rows. Other callers refuse them, because they are uninformative.
    """
    try:
        return anonymize(frame, plan)
    except UnattainableError as error:
        alike = replace(plan, privacy=(KAnonymity(rows),))
        if error.code != TOP:
            raise
        release = anonymize(frame, alike)
        if not verify(release.data, plan).satisfied:
            raise
        return release


def _texts(published: Any, names: Sequence[str]) -> tuple[tuple[str | None, ...], ...]:
    return tuple(zip(*(published.texts(name) for name in names), strict=True))


def model_of(name: str, parameters: Mapping[str, Any]) -> PrivacyModel:
    """Return the model for an ARXaaS name.

    Raises:
        PlanError: There is no such model.
    """
    if name not in MODELS:
        raise PlanError("model.unknown_model", names=", ".join(MODELS))
    promise, keys = MODELS[name]
    given = {_key(key): _parameter(parameters, key) for key in keys}
    return read(MODEL, promise | given, "privacyModels")


def _key(name: str) -> str:
    return "column" if name == "column_name" else name


def _parameter(parameters: Mapping[str, Any], name: str) -> Any:
    """Return a parameter; its own client sends numbers, others send texts."""
    value = parameters.get(name)
    if name == "column_name":
        return value
    try:
        number = float(str(value))
    except ValueError:
        raise PlanError("model.params_must_be_a_number", name=name) from None
    return int(number) if number.is_integer() else number


def _attribute(attribute: Attribute) -> dict[str, Any]:
    hierarchy = None if attribute.hierarchy is None else [list(row) for row in attribute.hierarchy]
    return {"field": attribute.field, "attributeTypeModel": attribute.type, "hierarchy": hierarchy}


def _metrics(report: Report, models: Sequence[PrivacyModel]) -> dict[str, Any]:
    levels = [
        {"name": name, "type": "QUASI_IDENTIFYING_ATTRIBUTE", "generalizationLevel": level}
        for name, level in report.levels.items()
    ]
    return {
        "attributeGeneralization": levels,
        "processTimeMillisecounds": round(1000 * report.seconds.total),
        "privacyModels": [_promise(model) for model in models],
    }


def _promise(model: PrivacyModel) -> dict[str, Any]:
    """Return a model as ARX describes it."""
    least = model.min_class_size
    own: dict[str, Any] = {model.parameter: model.requested}
    if model.column is not None:
        own = {"attribute": model.column, **own}
    if constant := getattr(model, "c", None):
        own["c"] = constant
    threshold = 1 / least
    return {
        "monotonicWithGeneralization": model.monotone_generalization,
        "monotonicWithSuppression": model.monotone_suppression,
        **own,
        "minimalClassSize": least,
        "minimalClassSizeAvailable": least > 1,
        "requirements": 1 if model.column is None else 4,
        "riskThresholdJournalist": threshold,
        "riskThresholdMarketer": threshold,
        "riskThresholdProsecutor": threshold,
        "localRecodingSupported": True,
        "dataSubset": None,
        "populationModel": None,
        "subset": None,
        "sampleBased": False,
        "subsetAvailable": False,
    }
