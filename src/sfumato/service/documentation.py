"""The page at /docs: the OpenAPI document as one HTML page that loads nothing from anywhere."""

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any

STYLE = """
:root { color-scheme: light dark; --line: #8886; --accent: #4a5f8f; }
@media (prefers-color-scheme: dark) { :root { --accent: #9db2e6; } }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0; }
main { max-width: 60rem; margin: 0 auto; padding: 2rem 1rem 4rem; }
details { border: 1px solid var(--line); margin: .5rem 0; padding: .5rem .8rem; }
summary { cursor: pointer; }
.method { font-weight: 700; color: var(--accent); display: inline-block; min-width: 3.5rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
textarea { width: 100%; min-height: 14rem; font: .85rem/1.4 ui-monospace, monospace; box-sizing: border-box; }
pre { overflow: auto; max-height: 24rem; font-size: .85rem; padding: .6rem; border: 1px solid var(--line); }
button { font: inherit; padding: .3rem .9rem; margin: .4rem 0; }
"""
# The only script of the page: sends what stands in a text field and shows the answer.
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
    """The page for an OpenAPI document, and the policy that keeps the browser from loading anything else."""
    info = document["info"]
    body = [
        f"<h1>{escape(info['title'])}</h1>",
        _paragraph(f"{info.get('description', '')} Version {info['version']}."),
        '<p>OpenAPI document: <a href="/openapi.json">/openapi.json</a></p>',
        '<p><label>API key, where one is needed: <input id="key" type="password" autocomplete="off"></label></p>',
        *_sections(document),
        f"<script>{SCRIPT}</script>",
    ]
    return _page(info["title"], body), _policy()


def _page(title: str, body: Iterable[str]) -> str:
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{STYLE}</style>'
    view = '<meta name="viewport" content="width=device-width, initial-scale=1">'
    parts = "\n".join(body)
    return f'<!doctype html>\n<html lang="en"><head>{head}{view}</head>\n<body><main>\n{parts}\n</main></body></html>\n'


def _paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    first = "".join(f"<th>{escape(name)}</th>" for name in head)
    lines = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table><tr>{first}</tr>{lines}</table></div>'


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
        yield f"<section><h2>{escape(tag.capitalize())}</h2>{''.join(entries)}</section>"


def _operation(path: str, method: str, operation: dict[str, Any]) -> str:
    head = f'<span class="method">{method}</span> <code>{escape(path)}</code> {escape(operation.get("summary", ""))}'
    answers = [(status, answer.get("description", "")) for status, answer in operation["responses"].items()]
    parts = [
        *_request(operation),
        "<h3>Answers</h3>",
        _table(["status", "meaning"], answers),
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
        yield _paragraph(schema.get("description", ""))
        yield _table(["key", "required", "meaning"], rows)


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
