"""The bodies of requests and answers about attributes and of ARXaaS clients, as the OpenAPI document shows them."""

from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, WithJsonSchema

from sfumato.attributes.configuration import MOST_BUCKETS, SHAPE
from sfumato.localization.messages import Message
from sfumato.pipelines.migration.arxaas import AttributeType
from sfumato.service.problems import RefusedError

Url = Annotated[str, Field(min_length=1, max_length=2048)]
Name = Annotated[str, Field(min_length=1, max_length=256)]
Buckets = Literal["unique99", "sqrt"] | Annotated[int, Field(ge=1, le=MOST_BUCKETS)]
Seed = Annotated[int, Field(ge=0, le=2**63 - 1)]
Inline = Annotated[dict[str, Any], WithJsonSchema(SHAPE.schema())]
Records = Annotated[list[dict[str, Any]], Field(min_length=1)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Options(_Body):
    buckets: Buckets | None = Field(None, description="How many buckets: a rule or a number.")
    passThrough: bool | None = Field(  # noqa: N815
        None, description="Whether attributes that are not configured are published unchanged; else they are refused."
    )
    seed: Seed | None = Field(None, description="Makes the noise repeatable; for tests only.")


class AnonymizeRequest(_Options):
    """Records with a configuration, at an address or in the request."""

    data: Records = Field(description="The records, each an object of attributes and values.")
    configurationURL: Url | None = Field(None, description="Where the configuration graph lies (JSON-LD or Turtle).")  # noqa: N815
    configurationUrl: Url | None = Field(None, description="The same in another spelling.")  # noqa: N815
    configuration: Inline | None = Field(None, description="The configuration itself.")
    ontology: Url | None = Field(None, description="An ontology that must allow each operation: hosted name or URL.")
    dataClass: Name | None = Field(None, description="The class of the graph that the records belong to.")  # noqa: N815
    kpis: bool = Field(False, description="Whether key figures are answered, too.")

    def address(self) -> str | None:
        """Return the address of the configuration, or None if it is in the request.

        Raises:
            RefusedError: It is given twice, or not at all.
        """
        places = [one for one in (self.configurationURL, self.configurationUrl, self.configuration) if one is not None]
        if not places:
            raise missing("configurationURL or configuration")
        if len(places) > 1:
            raise RefusedError("body.schema", Message("error.part.one_configuration"))
        return self.configurationURL or self.configurationUrl


class _ByAddress(_Options):
    configurationUrl: Url | None = Field(None, description="Where the configuration graph lies (JSON-LD or Turtle).")  # noqa: N815
    configurationURL: Url | None = Field(None, description="The same in another spelling.")  # noqa: N815

    def address(self) -> str:
        """Return the address of the configuration.

        Raises:
            RefusedError: It is not given.
        """
        address = self.configurationUrl or self.configurationURL
        if address is None:
            raise missing("configurationUrl")
        return address


class FlatRequest(_ByAddress):
    """Flat records of one class of a configuration graph."""

    data: Records = Field(description="The records, each an object of attributes and values.")
    prefix: Annotated[str, Field(max_length=2048)] | None = Field(
        None, description="What stands before an attribute's name in the graph; only such attributes are meant."
    )
    dataClass: Name | None = Field(None, description="The class of the graph that the records belong to.")  # noqa: N815


class GraphRequest(_ByAddress):
    """A JSON-LD document whose nodes belong to classes of a configuration graph."""

    data: dict[str, Any] | list[Any] = Field(description="The document.")


class AnonymizeAnswer(BaseModel):
    """Anonymized records, in the order given."""

    version: str
    valid: Literal[True]
    anonymisedData: list[dict[str, Any]]  # noqa: N815
    kpis: dict[str, int] | None = Field(None, description="kAnonymity reached, and buckets of each attribute.")
    warnings: list[str] | None = Field(None, description="What the receiver should know.")


class FlatAnswer(BaseModel):
    """Anonymized records, in the order given."""

    data: list[dict[str, Any]]
    kpis: dict[str, int]
    warnings: list[str] | None = None


class About(BaseModel):
    """Name and version of the service."""

    service: str
    version: str
    release: str
    documentation: str


class Health(BaseModel):
    """The state of the service."""

    status: str


Request = TypeVar("Request", bound=BaseModel)


def validate(model: type[Request], value: Any) -> Request:
    """Validate the body of a request.

    Raises:
        RefusedError: It is invalid; the text names the first positions of errors, not their values.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        faults = error.errors(include_input=False, include_url=False, include_context=False)
    first = faults[0]
    if first["type"] == "missing" and first["loc"]:
        raise missing(_place(first["loc"]))
    if first["type"] == "too_short" and first["loc"] == ("data",):
        raise RefusedError("data.empty", Message("error.part.there_are_no_data"))
    shown = "; ".join(dict.fromkeys(_said(fault["loc"], fault["msg"]) for fault in faults[:5]))
    raise RefusedError("body.schema", Message("verbatim", text=shown))


def missing(name: str) -> RefusedError:
    """Return the error for a missing parameter."""
    return RefusedError("body.missing", Message("error.part.the_parameter_is_missing", name=name))


def _said(location: tuple[int | str, ...], message: str) -> str:
    """Return an error with its position; for buckets one sentence instead of one for each possible type."""
    if location[:1] == ("buckets",):
        return f'buckets: Give "unique99", "sqrt" or a whole number from 1 to {MOST_BUCKETS}.'
    return f"{_place(location)}: {message}"


def _place(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part)[:100] for part in location) or "body"


Cell = str | int | float | bool | None
Text = Annotated[str, Field(max_length=10_000)]


class _ArxaasBody(BaseModel):
    model_config = ConfigDict(extra="forbid")


class AttributeBody(_ArxaasBody):
    """A column: its type, and its hierarchy as rows of labels."""

    field: Text
    attributeTypeModel: AttributeType  # noqa: N815
    hierarchy: list[list[Cell]] | None = Field(None, description="A row for each value: the value, then its labels.")


class AnalyzeBody(_ArxaasBody):
    """Rows, after the names of their columns."""

    data: list[list[Cell]] = Field(min_length=1, description="The names of the columns, then the rows.")
    attributes: list[AttributeBody] = Field(min_length=1)


class PrivacyModelBody(_ArxaasBody):
    """A privacy model with its parameters."""

    privacyModel: Text  # noqa: N815
    params: dict[str, Any] = Field(default_factory=dict)


class AnonymizeBody(AnalyzeBody):
    """Rows, and the privacy models that they must satisfy."""

    privacyModels: list[PrivacyModelBody] = Field(min_length=1)  # noqa: N815
    suppressionLimit: Annotated[float, Field(ge=0, le=1)] | None = None  # noqa: N815


class HierarchyBody(_ArxaasBody):
    """A column, and how to build its hierarchy."""

    column: list[Cell] = Field(min_length=1)
    builder: dict[str, Any]


Operation = Literal["analyze", "anonymize", "hierarchy"]


# Worked examples for the OpenAPI document.
STYRIA, UPPER_AUSTRIA = "Steiermark", "Oberösterreich"
PLACES = [("Graz", STYRIA), ("Linz", UPPER_AUSTRIA), ("Leoben", STYRIA)]
PLACES += [("Wels", UPPER_AUSTRIA), ("Graz", STYRIA), ("Linz", UPPER_AUSTRIA)]
INLINE: dict[str, Any] = {
    "kpis": True,
    "ontology": "Beispiele/anonymization_ontology.json",
    "configuration": {
        "Name": {"anonymisationType": "Masking", "dataType": "String"},
        "Geburtsdatum": {"anonymisationType": "Randomization", "dataType": "Date"},
        "Adresse": {"anonymisationType": "Generalization", "dataType": "Address"},
        "Gehalt": {"anonymisationType": "Generalization", "dataType": "Numeric"},
    },
    "data": [
        {
            "Name": f"Person {number}",
            "Geburtsdatum": f"19{60 + 3 * number}-0{number}-15",
            "Adresse": f"Hauptplatz {number}, {8010 if number % 2 else 4020} {city}, {state}, Österreich",
            "Gehalt": 18000 + 4000 * number,
        }
        for number, (city, state) in enumerate(PLACES, start=1)
    ],
}
INLINE_ANSWER: dict[str, Any] = {
    "version": "1.0.0",
    "valid": True,
    "anonymisedData": [
        {"Name": "*****", "Geburtsdatum": "1967-03-02", "Adresse": "Steiermark", "Gehalt": "<= 32000.0"},
        {"Name": "*****", "Geburtsdatum": "1971-10-20", "Adresse": "Oberösterreich", "Gehalt": ">= 32000.0"},
    ],
    "kpis": {"kAnonymity": 1, "NameNumberAttributes": 1, "GehaltNumberAttributes": 2},
    "warnings": ["kAnonymity is 1: at least one record of the answer is the only one of its kind."],
}
ADDRESS = "https://soya.ownyourdata.eu/AnonymisationDemo"
BY_ADDRESS: dict[str, Any] = {
    "kpis": True,
    "configurationURL": ADDRESS,
    "data": [{"name": "Person 1", "gehalt": 18000}, {"name": "Person 2", "gehalt": 26000}],
}
BY_ADDRESS_ANSWER: dict[str, Any] = {
    "version": "1.0.0",
    "valid": True,
    "anonymisedData": [
        {"name": "*****", "gehalt_range": {"min": 18000.0, "max": 26000.0}},
        {"name": "*****", "gehalt_range": {"min": 18000.0, "max": 26000.0}},
    ],
    "kpis": {"kAnonymity": 2, "nameNumberAttributes": 1, "gehaltNumberAttributes": 1},
}
FLAT: dict[str, Any] = {
    "configurationUrl": ADDRESS,
    "prefix": ADDRESS + "/",
    "data": [{"gehalt": 18000, "note": "kept"}, {"gehalt": 26000}],
}
FLAT_ANSWER: dict[str, Any] = {
    "data": [
        {"gehalt_generalized": {"min": 18000.0, "max": 26000.0}, "note": "kept"},
        {"gehalt_generalized": {"min": 18000.0, "max": 26000.0}},
    ],
    "kpis": {"kAnonymity": 2, "gehaltNumberAttributes": 1},
    "warnings": ["Passed through unchanged: note."],
}
GRAPH: dict[str, Any] = {
    "configurationUrl": ADDRESS,
    "data": {
        "@context": {"oyd": ADDRESS + "/"},
        "@graph": [
            {"@id": "oyd:one", "@type": "oyd:AnonymisationDemo", "oyd:gehalt": 18000},
            {"@id": "oyd:two", "@type": "oyd:AnonymisationDemo", "oyd:gehalt": 26000},
        ],
    },
}
