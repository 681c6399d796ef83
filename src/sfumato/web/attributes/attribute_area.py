"""The area of attributes: records and a configuration in, anonymized records out."""

import json
from typing import Any

from nicegui import ui

from sfumato.attributes.operations.refusal import ValueRefusedError
from sfumato.errors import DataError, SfumatoError
from sfumato.pipelines.attributes import anonymize_attributes
from sfumato.service.http.problems import RefusedError
from sfumato.service.workers.frames import CrashedError
from sfumato.web import components
from sfumato.web.visit import Visit

RECORDS = [
    {"name": "Ada", "pay": 18000, "born": "1985-03-02"},
    {"name": "Bob", "pay": 22000, "born": "1990-11-23"},
    {"name": "Cy", "pay": 30000, "born": "1979-07-14"},
    {"name": "Di", "pay": 42000, "born": "1969-01-30"},
]
CONFIGURATION = {
    "name": {"anonymisationType": "Masking", "dataType": "String"},
    "pay": {"anonymisationType": "Generalization", "dataType": "Numeric"},
    "born": {"anonymisationType": "Generalization", "dataType": "Date"},
}
MOST_RECORDS = 10_000


def build(visit: Visit) -> None:
    """The area for a visit."""
    words = visit.words
    ui.label(words["attributes_intro"]).classes("sf-soft")
    records = _field(words["records"], RECORDS)
    configuration = _field(words["configuration"], CONFIGURATION)

    async def run() -> None:
        visit.touch()
        room.clear()
        try:
            rows, settings = json.loads(records.value), json.loads(configuration.value)
            answer = await visit.aside(anonymized, rows, settings)
        except ValueRefusedError as error:
            components.alarm(error.text_for_sender())
            return
        except (SfumatoError, RefusedError) as error:
            components.alarm(components.error_text(error, words))
            return
        except (ValueError, CrashedError, RecursionError):
            components.alarm(words["not_json"])
            return
        with room, ui.card().classes("sf-card").props('role="status"'):
            ui.label(words["answer"]).classes("font-bold")
            ui.code(json.dumps(answer, indent=1, ensure_ascii=False), language="json").classes("w-full")

    components.button(words["anonymize"], run).classes("self-start")
    room = ui.column().classes("w-full")


def _field(label: str, value: Any) -> ui.textarea:
    field = ui.textarea(label, value=_listed(value)).classes("w-full font-mono")
    return field.props("outlined rows=7 spellcheck=false")


def _listed(value: Any) -> str:
    """JSON with one entry a line.

    >>> print(_listed({"a": {"b": 1}}))
    {
     "a": {"b": 1}
    }
    """
    if isinstance(value, list):
        return "[\n" + ",\n".join(" " + json.dumps(entry) for entry in value) + "\n]"
    return "{\n" + ",\n".join(f" {json.dumps(name)}: {json.dumps(entry)}" for name, entry in value.items()) + "\n}"


def anonymized(records: list[dict[str, Any]], configuration: dict[str, Any]) -> dict[str, Any]:
    """The answer to records and a configuration, as both were typed."""
    if not isinstance(records, list) or len(records) > MOST_RECORDS:
        raise DataError("the records are no list, or too many.", f"Send at most {MOST_RECORDS:,}.", "records")
    answer = anonymize_attributes(records, configuration)
    return {"data": answer.data, "kpis": answer.kpis, "warnings": list(answer.warnings)}
