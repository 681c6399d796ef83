"""Process the requests of ARXaaS clients in a worker process."""

from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any

from sfumato.localization.messages import Message
from sfumato.pipelines.migration.arxaas import Attribute, Rows, analyzed, anonymized, model_of
from sfumato.pipelines.migration.arxaas_hierarchies import build
from sfumato.service.arxaas.schemas import AnalyzeBody, AnonymizeBody, Cell, HierarchyBody, Operation
from sfumato.service.attributes.endpoints import EndpointResponse
from sfumato.service.attributes.schemas import validate
from sfumato.service.http.problems import RefusedError, to_json
from sfumato.service.http.request_bodies import parse_json
from sfumato.service.settings import Limits


def answer(name: Operation, body: bytes, limits: Limits) -> EndpointResponse:
    """Return the response to a body."""
    return ANSWERS[name](parse_json(body, limits), limits)


def _analyze(content: Any, limits: Limits) -> EndpointResponse:
    request = validate(AnalyzeBody, content)
    rows = _rows(request, limits)
    return EndpointResponse(to_json(analyzed(rows, _attributes(request))), len(rows.rows))


def _anonymize(content: Any, limits: Limits) -> EndpointResponse:
    request = validate(AnonymizeBody, content)
    rows = _rows(request, limits)
    models = [model_of(model.privacyModel, model.params) for model in request.privacyModels]
    result = anonymized(rows, _attributes(request), models, request.suppressionLimit or 0.0)
    return EndpointResponse(to_json(result), len(rows.rows))


def _hierarchy(content: Any, limits: Limits) -> EndpointResponse:
    request = validate(HierarchyBody, content)
    _check_number(len(request.column), limits)
    column = [_text(value) or "" for value in request.column]
    return EndpointResponse(to_json({"hierarchy": build(request.builder, column)}), len(column))


ANSWERS: dict[Operation, Callable[[Any, Limits], EndpointResponse]] = {
    "analyze": _analyze,
    "anonymize": _anonymize,
    "hierarchy": _hierarchy,
}


def _rows(request: AnalyzeBody, limits: Limits) -> Rows:
    _check_number(len(request.data) - 1, limits)
    names, *rows = request.data
    return Rows(tuple(_text(name) or "" for name in names), tuple(tuple(map(_text, row)) for row in rows))


def _attributes(request: AnalyzeBody) -> list[Attribute]:
    return [Attribute(one.field, one.attributeTypeModel, _labels(one.hierarchy)) for one in request.attributes]


def _labels(rows: Sequence[Sequence[Cell]] | None) -> tuple[tuple[str, ...], ...] | None:
    if not rows:
        return None
    if len({len(row) for row in rows}) > 1 or not rows[0]:
        raise RefusedError(
            HTTPStatus.BAD_REQUEST, "body.schema", Message("error.part.the_rows_of_a_hierarchy_have_one")
        )
    return tuple(tuple(_text(value) or "" for value in row) for row in rows)


def _text(value: Cell) -> str | None:
    """Return a value as its JSON text."""
    if isinstance(value, bool):
        return str(value).lower()
    return None if value is None else str(value)


def _check_number(rows: int, limits: Limits) -> None:
    if rows > limits.records:
        what = f"There are more than {limits.records} rows."
        raise RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "limit.records", what)
