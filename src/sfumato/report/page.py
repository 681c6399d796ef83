"""The page that every HTML report is set on: one file, no script, no network, light and dark, prints well."""

from collections.abc import Iterable, Sequence
from html import escape

STYLE = """
:root { color-scheme: light dark; --ink: #1d2330; --paper: #fbfaf7; --soft: #6b7280; --line: #dcd8cf;
  --card: #ffffff; --good: #1f7a4d; --bad: #b3261e; --accent: #4a5f8f; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7e5df; --paper: #16181d; --soft: #9aa1ad; --line: #343842;
  --card: #1e2128; --good: #5fc391; --bad: #ff8a80; --accent: #9db2e6; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 0; }
main { max-width: 60rem; margin: 0 auto; padding: 2rem 1rem 4rem; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; } h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; }
p { margin: .4rem 0; } .soft { color: var(--soft); } code { font-size: .9em; }
.verdict { border-left: .4rem solid var(--good); background: var(--card); padding: .8rem 1rem; margin: 1rem 0; }
.verdict.bad { border-color: var(--bad); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; background: var(--card); font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 600; } td.number, th.number { text-align: right; }
.masked { background: color-mix(in srgb, var(--accent) 18%, transparent); }
svg { max-width: 100%; height: auto; }
@media print { body { background: white; color: black; } h2 { break-after: avoid; } tr { break-inside: avoid; } }
"""


_SOFT = ' class="soft"'


def page(title: str, body: Iterable[str]) -> str:
    """A whole HTML document.

    >>> page("Release", ["<p>fine</p>"]).startswith("<!doctype html>")
    True
    """
    parts = "\n".join(body)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<style>{STYLE}</style>\n</head>\n'
        f"<body><main>\n{parts}\n</main></body>\n</html>\n"
    )


def section(title: str, *parts: str) -> str:
    """A heading and what stands below it."""
    return f"<section><h2>{escape(title)}</h2>\n" + "\n".join(parts) + "</section>"


def paragraph(text: str, soft: bool = False) -> str:
    """A paragraph of plain text."""
    return f"<p{_SOFT if soft else ''}>{escape(text)}</p>"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; numbers stand to the right."""
    first = "".join(f"<th>{escape(name)}</th>" for name in head)
    lines = "".join(f"<tr>{''.join(_cell(value) for value in row)}</tr>\n" for row in rows)
    return f'<div class="wide"><table><thead><tr>{first}</tr></thead>\n<tbody>{lines}</tbody></table></div>'


def _cell(value: object) -> str:
    if value is None:
        return "<td></td>"
    if isinstance(value, bool):
        return f"<td>{'yes' if value else 'no'}</td>"
    if isinstance(value, int | float):
        shown = f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"
        return f'<td class="number">{shown}</td>'
    return f"<td>{escape(str(value))}</td>"
