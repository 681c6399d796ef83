"""The bodies of requests as clients of ARXaaS write them."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from sfumato.pipelines.migration.arxaas import AttributeType

Cell = str | int | float | bool | None
Text = Annotated[str, Field(max_length=10_000)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class AttributeBody(_Body):
    """A column: its type, and its hierarchy as rows of labels."""

    field: Text
    attributeTypeModel: AttributeType  # noqa: N815
    hierarchy: list[list[Cell]] | None = Field(None, description="A row for each value: the value, then its labels.")


class AnalyzeBody(_Body):
    """Rows, after the names of their columns."""

    data: list[list[Cell]] = Field(min_length=1, description="The names of the columns, then the rows.")
    attributes: list[AttributeBody] = Field(min_length=1)


class PrivacyModelBody(_Body):
    """A privacy model with its parameters."""

    privacyModel: Text  # noqa: N815
    params: dict[str, Any] = Field(default_factory=dict)


class AnonymizeBody(AnalyzeBody):
    """Rows, and the privacy models that they must satisfy."""

    privacyModels: list[PrivacyModelBody] = Field(min_length=1)  # noqa: N815
    suppressionLimit: Annotated[float, Field(ge=0, le=1)] | None = None  # noqa: N815


class HierarchyBody(_Body):
    """A column, and how to build its hierarchy."""

    column: list[Cell] = Field(min_length=1)
    builder: dict[str, Any]


Operation = Literal["analyze", "anonymize", "hierarchy"]
