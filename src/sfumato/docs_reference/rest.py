"""Generate the reference page of the REST service from its OpenAPI document."""

from collections.abc import Iterator, Mapping
from typing import Any

from sfumato.docs_reference.schema_text import in_words

Document = Mapping[str, Any]


def page(document: Document) -> str:
    """Return all requests of the service, with the bodies that they accept and return."""
    head = [
        "# REST",
        "What the service answers, from its own description (`GET /openapi.json`); `GET /docs` of a running service "
        "lets you try each. What the requests are for is told in [the service](../service.md) and "
        "[pages and jobs](../browser.md).",
    ]
    requests = [part for paths, calls in _together(document["paths"]).values() for part in _path(paths, calls)]
    bodies = [part for name, schema in _schemas(document) for part in _body(name, schema)]
    return "\n\n".join([*head, *requests, *(["## Bodies", *bodies] if bodies else [])])


def _schemas(document: Document) -> Iterator[tuple[str, Document]]:
    yield from sorted(document.get("components", {}).get("schemas", {}).items())


def _together(paths: Document) -> dict[str, tuple[list[str], dict[str, tuple[list[str], Document]]]]:
    """Return equivalent paths with their calls; equal calls are merged, too."""
    groups: dict[str, tuple[list[str], dict[str, tuple[list[str], Document]]]] = {}
    for path, methods in paths.items():
        calls: dict[str, tuple[list[str], Document]] = {}
        for method, request in methods.items():
            calls.setdefault(_about(request), ([], request))[0].append(method.upper())
        groups.setdefault(repr(sorted(calls)), ([], calls))[0].append(path)
    return groups


def _path(paths: list[str], calls: Mapping[str, tuple[list[str], Document]]) -> Iterator[str]:
    yield "## " + ", ".join(f"`{path}`" for path in paths)
    for about, (methods, request) in calls.items():
        yield f"**{', '.join(methods)}**: {about}"
        lines = [*_parameters(request), *_taken(request), *_answers(request)]
        yield "\n".join(["| | | |", "|---|---|---|", *lines])


def _about(request: Document) -> str:
    return " ".join((request.get("description") or request.get("summary") or "").split())


def _parameters(request: Document) -> Iterator[str]:
    for parameter in request.get("parameters", ()):
        about = parameter.get("description", "")
        yield f"| {parameter['in']} | `{parameter['name']}` | {_cell(in_words(parameter['schema']))} {_cell(about)} |"


def _taken(request: Document) -> Iterator[str]:
    for kind, body in request.get("requestBody", {}).get("content", {}).items():
        yield f"| body | `{kind}` | {_cell(_keys(body.get('schema', {})))} |"


def _keys(schema: Document) -> str:
    """Return all keys of an inline body; named ones are listed under their name."""
    keys = ", ".join(f"`{key}`" for key in schema.get("properties", {}))
    return keys or in_words(schema)


def _answers(request: Document) -> Iterator[str]:
    told = {status: " ".join(answer.get("description", "").split()) for status, answer in request["responses"].items()}
    for status, says in told.items():
        if status < "400":
            yield f"| answer | {status} | {_cell(says.replace('Successful Response', 'done'))} |"
    refusals = "; ".join(f"{status} {says.rstrip('.').lower()}" for status, says in told.items() if status >= "400")
    if refusals:
        yield f"| refusals | | {_cell(refusals)} |"


def _body(name: str, schema: Document) -> Iterator[str]:
    yield f"### {name}"
    if schema.get("description"):
        yield " ".join(schema["description"].split())
    needed = schema.get("required", ())
    lines = []
    for key, part in schema.get("properties", {}).items():
        mark = " **needed**" if key in needed else ""
        lines.append(f"| `{key}`{mark} | {_cell(in_words(part))} | {_cell(part.get('description', ''))} |")
    if lines:
        yield "\n".join(["| key | may be | what it is |", "|---|---|---|", *lines])


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
