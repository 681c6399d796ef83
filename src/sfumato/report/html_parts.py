"""The page that every HTML report is set on: one file, no script, no network, light and dark, prints well."""

from collections.abc import Iterable, Sequence
from html import escape

STYLE = """
:root { color-scheme: light dark; --ink: #1d2330; --paper: #f7f5f0; --soft: #646b78; --line: #e0dbd0;
  --card: #ffffff; --good: #1f7a4d; --bad: #b3261e; --accent: #44598c; --before: #c98a3c; --after: #44598c;
  --good-tint: #eaf5ef; --bad-tint: #fbecea; --rail: #ebe7de; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7e5df; --paper: #15171b; --soft: #9ba2ae; --line: #333741;
  --card: #1d2026; --good: #5fc391; --bad: #ff8a80; --accent: #9db2e6; --before: #e0a85f; --after: #8ea5df;
  --good-tint: #17291f; --bad-tint: #331d1b; --rail: #2b2f37; } }
* { box-sizing: border-box; }
body { font: 16px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; color: var(--ink); background: var(--paper);
  margin: 0; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
main { max-width: 62rem; margin: 0 auto; padding: 2.2rem 1.1rem 4rem; }
h1 { font-size: 1.75rem; line-height: 1.2; letter-spacing: -.01em; margin: 0 0 .25rem; }
h2 { font-size: 1.2rem; margin: 2.6rem 0 .5rem; } h3 { font-size: 1rem; margin: 1.4rem 0 .4rem; }
p { margin: .45rem 0; max-width: 46rem; } .soft { color: var(--soft); }
code { font: .88em ui-monospace, SFMono-Regular, Menlo, monospace; overflow-wrap: anywhere; }
.verdict { border-left: .4rem solid var(--good); background: var(--good-tint); border-radius: .3rem;
  padding: .9rem 1.2rem; margin: 1.2rem 0; }
.verdict.bad { border-color: var(--bad); background: var(--bad-tint); }
.verdict strong { font-size: 1.15rem; } .verdict ul { margin: .5rem 0; padding-left: 1.2rem; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: .8rem; margin: 1rem 0; }
.tile { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .8rem; }
.tile b { display: block; font-size: 1.15rem; line-height: 1.25; font-variant-numeric: tabular-nums; }
.tile span { color: var(--soft); font-size: .88rem; }
.wide { overflow-x: auto; border: 1px solid var(--line); border-radius: .5rem; background: var(--card);
  margin: .6rem 0; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .45rem .8rem; border-bottom: 1px solid var(--line); vertical-align: top; }
tbody tr:last-child td { border-bottom: 0; }
th { color: var(--soft); font-weight: 600; font-size: .85rem; } td.number, th.number { text-align: right; }
@media (max-width: 40rem) { td { min-width: 9rem; } }
.masked { background: color-mix(in srgb, var(--accent) 18%, transparent); }
.arrow { color: var(--soft); padding: 0 .35em; } .pair { white-space: nowrap; display: block; }
.chip { display: inline-block; border: 1px solid var(--line); border-radius: 1rem; padding: 0 .6em; font-size: .82rem;
  color: var(--soft); white-space: nowrap; }
.labels .chip { white-space: normal; overflow-wrap: anywhere; }
.bars { display: grid; grid-template-columns: minmax(5rem, 13rem) 1fr; gap: .3rem .8rem; align-items: center;
  font-size: .9rem; margin: .5rem 0; }
.bars .name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; text-align: right; }
.rail { background: var(--rail); border-radius: .2rem; height: .55rem; overflow: hidden; min-width: 3rem; flex: 1; }
.rail i { display: block; height: 100%; background: var(--after); border-radius: .2rem; min-width: 1px; }
.rail.before i, i.before { background: var(--before); }
.measure { display: flex; gap: .6rem; align-items: center; }
.measure + .measure { margin-top: .15rem; }
.measure span { font-variant-numeric: tabular-nums; min-width: 4.2rem; font-size: .85rem; color: var(--soft); }
.legend { font-size: .85rem; color: var(--soft); } .legend i { display: inline-block; width: .8em; height: .8em;
  border-radius: .15em; background: var(--after); margin: 0 .35em 0 .9em; vertical-align: -.05em; }
.legend i:first-child { margin-left: 0; } .legend i.before { background: var(--before); }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(19rem, 1fr)); gap: .8rem; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .8rem 1rem;
  break-inside: avoid; min-width: 0; }
.card h3 { margin: 0 0 .3rem; } .card .bars { grid-template-columns: minmax(3.5rem, 8rem) 1fr; }
figure { margin: .8rem 0; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: 1rem; }
figcaption { color: var(--soft); font-size: .88rem; margin-top: .4rem; }
svg { max-width: 100%; height: auto; display: block; } svg text { fill: var(--soft); font-size: 12px; }
svg .before { fill: var(--before); } svg .after { fill: var(--after); } svg line { stroke: var(--line); }
details { margin: .6rem 0; } summary { cursor: pointer; color: var(--accent); }
pre { overflow: auto; font: .82rem/1.45 ui-monospace, SFMono-Regular, Menlo, monospace; background: var(--card);
  border: 1px solid var(--line); border-radius: .5rem; padding: .8rem 1rem; }
@media print { :root { --ink: #000; --paper: #fff; --card: #fff; --soft: #444; --line: #bbb; --rail: #e6e6e6; }
  body { font-size: 11pt; } main { padding: 0; max-width: none; } h2, h3 { break-after: avoid; }
  tr, .tile, figure { break-inside: avoid; } pre { white-space: pre-wrap; } }
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


def listing(sentences: Iterable[str]) -> str:
    """Sentences as a list."""
    return "<ul>" + "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences) + "</ul>"


def tiles(figures: Iterable[tuple[str, str]]) -> str:
    """Figures that stand out, each with the words below it."""
    shown = "".join(
        f'<div class="tile"><b>{_kept(value)}</b><span>{_kept(words)}</span></div>' for value, words in figures
    )
    return f'<div class="tiles">{shown}</div>'


def _kept(text: str) -> str:
    """A text in which a percent sign stays with its number."""
    return escape(text).replace(" %", "&nbsp;%")


def folded(summary: str, content: str) -> str:
    """Text as it is, under a line that opens it; printed only when open."""
    return f"<details><summary>{escape(summary)}</summary><pre>{escape(content)}</pre></details>"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; numbers stand to the right."""
    lines = [tuple(row) for row in rows]
    numeric = [_are_numbers([row[place] for row in lines]) for place in range(len(head))]
    return raw_table(head, (tuple(_cell(value) for value in row) for row in lines), numeric)


def raw_table(head: Sequence[str], rows: Iterable[Sequence[str]], numeric: Sequence[bool] = ()) -> str:
    """A table whose cells are HTML already, `<td>` included; `numeric` says which headings stand to the right."""
    marks = [' class="number"' if number else "" for number in numeric] or [""] * len(head)
    first = "".join(f'<th scope="col"{mark}>{escape(name)}</th>' for name, mark in zip(head, marks, strict=True))
    lines = "".join(f"<tr>{''.join(row)}</tr>\n" for row in rows)
    return f'<div class="wide"><table><thead><tr>{first}</tr></thead>\n<tbody>{lines}</tbody></table></div>'


def _are_numbers(values: Sequence[object]) -> bool:
    """Whether a column holds numbers, and nothing else but gaps."""
    there = [value for value in values if value is not None]
    return bool(there) and all(isinstance(value, int | float) and not isinstance(value, bool) for value in there)


def _cell(value: object) -> str:
    if value is None:
        return "<td></td>"
    if isinstance(value, bool):
        return f"<td>{'yes' if value else 'no'}</td>"
    if isinstance(value, int | float):
        shown = f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"
        return f'<td class="number">{shown}</td>'
    return f"<td>{escape(str(value))}</td>"
