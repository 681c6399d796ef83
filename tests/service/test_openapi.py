"""Schemathesis drives a started service by its own OpenAPI document: no 500, nothing the document does not say."""

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from sfumato.app import create_app
from sizes import size

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
    unsupported_method,
]


SCHEMA = schemathesis.openapi.from_dict(create_app().openapi())
OPERATIONS = {found.ok().label: found.ok() for found in SCHEMA.get_all_operations()}
BOUNDED = settings(
    max_examples=size(12, 20),
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


RUNS = [(label, GenerationMode.POSITIVE) for label in OPERATIONS]
RUNS += [(label, GenerationMode.NEGATIVE) for label, operation in OPERATIONS.items() if operation.body]


@pytest.mark.parametrize(("label", "mode"), RUNS)
def test_service_does_what_its_document_says(client, label, mode):
    operation = OPERATIONS[label]

    @BOUNDED
    @given(case=operation.as_strategy(generation_mode=mode))
    def drive(case):
        case.call_and_validate(base_url=str(client.base_url), checks=CHECKS)

    drive()


def test_the_document_has_every_endpoint():
    paths = create_app().openapi()["paths"]
    attributes = {
        f"/api/{word}{tail}" for word in ("anonymise", "anonymization") for tail in ("", "/jsonld", "/flatjson")
    }
    arxaas = {"/api/analyze", "/api/anonymize", "/api/hierarchy"}
    assert attributes | arxaas | {"/", "/health/live", "/health/ready", "/metrics"} == set(paths)
    assert all(set(paths[path]) == {"put", "post"} for path in attributes)
