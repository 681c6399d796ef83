"""Values listed in a privacy model: convert them to the text of their column's type, and look them up in the data.

Without the conversion, `yes` in a plan would never match a Boolean `true`, and the model would cover nothing.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from sfumato.errors import PlanIssue, issue
from sfumato.hierarchies.types import ColumnType, canonical
from sfumato.microdata.models.model import PrivacyModel
from sfumato.microdata.models.model_names import is_alpha_k_anonymity, is_delta_presence, is_t_closeness

if TYPE_CHECKING:
    from sfumato.microdata.models.t_closeness import TCloseness


def named(model: PrivacyModel) -> tuple[str, ...]:
    """Return the values that a model lists."""
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
