"""The page at /docs: the OpenAPI document as one self-contained HTML page."""

import base64
import hashlib
import json
from collections.abc import Iterator
from html import escape
from typing import Any

from sfumato.report.page.html_page import page, paragraph, section, table

STYLE = """<style>
details { border: 1px solid var(--line); background: var(--card); margin: .5rem 0; padding: .5rem .8rem; }
summary { cursor: pointer; }
.method { font-weight: 700; color: var(--accent); display: inline-block; min-width: 3.5rem; }
textarea { width: 100%; min-height: 14rem; font: .85rem/1.4 ui-monospace, monospace; box-sizing: border-box; }
pre { overflow: auto; max-height: 24rem; font-size: .85rem; padding: .6rem; border: 1px solid var(--line); }
button { font: inherit; padding: .3rem .9rem; margin: .4rem 0; }
</style>"""
# The only script of the page: it sends the content of a text field and shows the response.
SCRIPT = """document.querySelectorAll('button[data-path]').forEach(function (button) {
  button.addEventListener('click', async function () {
    const box = button.parentElement, out = box.querySelector('output'), body = box.querySelector('textarea');
    const key = document.getElementById('key').value, headers = key ? {'X-API-Key': key} : {};
    if (body) { headers['Content-Type'] = 'application/json'; }
    out.textContent = '…';
    try {
      const answer = await fetch(button.dataset.path,
        {method: button.dataset.method, headers: headers, body: body ? body.value : undefined});
      out.textContent = answer.status + ' ' + answer.statusText + '\\n' + await answer.text();
    } catch (error) { out.textContent = String(error); }
  });
});"""


def documentation_page(document: dict[str, Any]) -> tuple[str, str]:
    """Return the page for an OpenAPI document, and a content security policy that prevents loading anything else."""
    info = document["info"]
    body = [
        STYLE,
        f"<h1>{escape(info['title'])}</h1>",
        paragraph(f"{info.get('description', '')} Version {info['version']}."),
        '<p>OpenAPI document: <a href="/openapi.json">/openapi.json</a></p>',
        '<p><label>API key, where one is needed: <input id="key" type="password" autocomplete="off"></label></p>',
        *_sections(document),
        f"<script>{SCRIPT}</script>",
    ]
    return page(info["title"], body), _policy()


def _policy() -> str:
    script = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    allowed = f"script-src 'sha256-{script}'; style-src 'unsafe-inline'; connect-src 'self'"
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


def _sections(document: dict[str, Any]) -> Iterator[str]:
    tags: dict[str, list[str]] = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            tag = operation.get("tags", ["service"])[0]
            tags.setdefault(tag, []).append(_operation(path, method.upper(), operation))
    for tag, entries in tags.items():
        yield section(tag.capitalize(), *entries)


def _operation(path: str, method: str, operation: dict[str, Any]) -> str:
    head = f'<span class="method">{method}</span> <code>{escape(path)}</code> {escape(operation.get("summary", ""))}'
    answers = [(status, answer.get("description", "")) for status, answer in operation["responses"].items()]
    parts = [
        *_request(operation),
        "<h3>Answers</h3>",
        table(["status", "meaning"], answers),
        *_examples(operation["responses"]),
        "<h3>Try it</h3>",
        f"<div>{_field(operation)}",
        f'<button data-path="{escape(path)}" data-method="{method}">Send</button><pre><output></output></pre></div>',
    ]
    return f"<details><summary>{head}</summary>{''.join(parts)}</details>"


def _request(operation: dict[str, Any]) -> Iterator[str]:
    for content in operation.get("requestBody", {}).get("content", {}).values():
        schema = content.get("schema", {})
        required = set(schema.get("required", ()))
        rows = [
            (name, "yes" if name in required else "no", entry.get("description", ""))
            for name, entry in schema.get("properties", {}).items()
        ]
        yield paragraph(schema.get("description", ""))
        yield table(["key", "required", "meaning"], rows)


def _examples(responses: dict[str, Any]) -> Iterator[str]:
    for answer in responses.values():
        for content in answer.get("content", {}).values():
            for name, example in content.get("examples", {}).items():
                shown = escape(json.dumps(example["value"], indent=1, ensure_ascii=False))
                yield f"<p>Example ({escape(name)})</p><pre>{shown}</pre>"


def _field(operation: dict[str, Any]) -> str:
    for content in operation.get("requestBody", {}).get("content", {}).values():
        first: dict[str, Any] = next(iter(content.get("examples", {}).values()), {"value": {}})
        shown = escape(json.dumps(first["value"], indent=1, ensure_ascii=False))
        return f'<textarea aria-label="Body of the request" spellcheck="false">{shown}</textarea>'
    return ""
