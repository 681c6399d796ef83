"""How the rows of a plan are read: missing values, and which rows are published."""

from sfumato.engines.engine import Engine, MissingRules
from sfumato.errors import PlanError
from sfumato.hierarchies.types import canonical
from sfumato.microdata.plan.model import Plan


def reading_of(plan: Plan) -> MissingRules:
    """Return how missing values are read, as the plan requests."""
    names = tuple(name for name, column in plan.columns.items() if column.role != "identifier")
    return MissingRules(plan.data.missing, names if plan.data.on_missing == "drop" else ())


def published_reading(plan: Plan, source: Engine) -> MissingRules:
    """Return how the published rows are read; for a subset, rows with another mark are dropped."""
    subset = plan.subset
    if subset is None:
        return reading_of(plan)
    texts = [text for text in source.count((subset.column,), MissingRules()).values[0] if text is not None]
    forms, _ = canonical(texts, plan.columns[subset.column].type)
    marks = [subset.value == (text if form is None else form) for text, form in zip(texts, forms, strict=True)]
    if not any(marks):
        raise PlanError("named-values.privacy_no_row_has_the", column=subset.column).about(values=[subset.value])
    return MissingRules(tuple(text for text, marked in zip(texts, marks, strict=True) if not marked), (subset.column,))
