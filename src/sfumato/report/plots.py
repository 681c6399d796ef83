"""Charts for reports as plain SVG and HTML: no script, no font, no further package."""

import re
from collections.abc import Sequence
from html import escape
from math import ceil

from sfumato.localization.messages import Messages
from sfumato.values import Value

WIDTH, HEIGHT, LEFT, FOOT, HEAD = 720, 220, 46, 42, 12
# Horizontal bars: the height of each, and the space for names and values.
BAR, NAMES, FIGURES, LONGEST_NAME = 26, 180, 90, 26
# The width of a digit below a column.
SIGN = 7.6
# Characters of numbers, ranges and dates.
OF_NUMBERS = frozenset("0123456789.,-–…<> ")
# A day at the beginning of a name; numbers, ranges and days of this length are not shortened.
DAY, LONGEST_NUMBER = re.compile(r"\d{1,4}([-./])\d{1,2}\1\d{1,4}(?!\d)"), 13


class Pair(Value):
    """One measure before and after, as shares of a total; only `after` if there is no before."""

    name: str
    before: float | None
    after: float | None


def legend(words: Messages) -> str:
    """Return the color legend."""
    before, after = escape(words["report.before"]), escape(words["report.after"])
    return f'<p class="legend"><i class="before"></i>{before}<i></i>{after}</p>'


def meters(words: Messages, pairs: Sequence[Pair]) -> str:
    """Return for each pair its name, and a bar for each of its shares."""
    lines = "".join(
        f'<div class="name" title="{escape(pair.name)}">{escape(pair.name)}</div>{_rails(words, pair)}'
        for pair in pairs
    )
    return f'<div class="bars">{lines}</div>'


def _rails(words: Messages, pair: Pair) -> str:
    shown = [(share, kind) for share, kind in ((pair.before, "before"), (pair.after, "after")) if share is not None]
    return "<div>" + "".join(meter(words, share, kind) for share, kind in shown) + "</div>"


def meter(words: Messages, share: float, kind: str = "after") -> str:
    """Return one horizontal bar, filled by a share."""
    width = 100 * min(max(share, 0.0), 1.0)
    return (
        f'<div class="measure"><div class="rail {kind}"><i style="width:{width:.2f}%"></i></div>'
        f"<span>{words.percent(share)}</span></div>"
    )


def histogram(words: Messages, pairs: Sequence[Pair], below: str, about: str) -> str:
    """Return vertical bars, before and after, over named bins.

    Args:
        below: Label of the bins.
        about: Alternative text of the chart.
    """
    highest = max((share for pair in pairs for share in (pair.before, pair.after) if share), default=1.0)
    top = min(-(-highest * 10 // 1) / 10, 1.0)
    step = (WIDTH - LEFT) / max(len(pairs), 1)
    parts = [_rule(share, top) for share in (0.0, top / 2, top)]
    names = [pair.name for pair in pairs]
    named = _named_places(names, named_every(names, step))
    for place, pair in enumerate(pairs):
        parts += _columns(words, LEFT + place * step, step, pair, top, named=place in named)
    parts.append(f'<text x="{(WIDTH + LEFT) / 2:.0f}" y="{HEIGHT - 4}" text-anchor="middle">{escape(below)}</text>')
    box = f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(about)}"'
    return f"<svg {box}>{''.join(parts)}</svg>"


def short_names(pairs: Sequence[Pair], length: int = 9) -> list[Pair]:
    """Return pairs whose names fit next to each other; of long numbers only some are named (`named_every`).

    >>> [pair.name for pair in short_names([Pair("never smoked", 0.5, 0.5), Pair("31.12.2024 10:00", 0.5, 0.5)])]
    ['never sm…', '31.12.2024']
    """
    return [Pair(_short(pair.name, length), pair.before, pair.after) for pair in pairs]


def _short(name: str, length: int) -> str:
    """Return a name of limited length; a number keeps all digits, and a date loses only its time."""
    day = DAY.match(name)
    whole = len(name) <= length or (_of_numbers(name) and len(name) <= LONGEST_NUMBER)
    return name if whole else day[0] if day else name[: length - 1] + "…"


def _of_numbers(name: str) -> bool:
    return set(name) <= OF_NUMBERS


def named_every(names: Sequence[str], step: float) -> int:
    """Return n if every n-th column has its name below it: long numbers are shown for some columns only.

    >>> named_every(["19180808", "19280630"], 50), named_every(["70000", "70010"], 50), named_every(["male", "no"], 9)
    (2, 1, 1)
    >>> named_every(["3,83–4,64", "4,65–5,40"], 56), named_every(["2024-01-01", "2024-02-01", "missing"], 56)
    (2, 2)
    """
    # Non-numbers, or the rest, may be at the end.
    numbers = names if all(map(_of_numbers, names)) else names[:-1]
    if not all(map(_of_numbers, numbers)):
        return 1
    return max(ceil(SIGN * max(map(len, numbers), default=0) / step), 1)


def _named_places(names: Sequence[str], every: int) -> set[int]:
    """Return the columns with a name: some of the numbers, and the non-numbers at their end.

    >>> sorted(_named_places(["2024-01-01", "2024-02-01", "2024-03-01", "missing"], 2))
    [0, 3]
    """
    places = set(range(0, len(names), every))
    if every == 1 or not names or _of_numbers(names[-1]):
        return places
    return {place for place in places if place <= len(names) - 1 - every} | {len(names) - 1}


def _height(share: float, top: float) -> float:
    return share / top * (HEIGHT - FOOT - HEAD)


def _rule(share: float, top: float) -> str:
    y = HEIGHT - FOOT - _height(share, top)
    return (
        f'<line x1="{LEFT}" x2="{WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>'
        f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{100 * share:.0f} %</text>'
    )


def _columns(words: Messages, x: float, step: float, pair: Pair, top: float, named: bool = True) -> list[str]:
    width = step * 0.34
    middle = x + step / 2
    name = f'<text x="{middle:.1f}" y="{HEIGHT - FOOT + 16}" text-anchor="middle">{escape(pair.name)}</text>'
    marks = [name] if named else []
    for share, kind, left in ((pair.before, "before", middle - width), (pair.after, "after", middle)):
        if share:
            height, says = max(_height(share, top), 1.0), escape(f"{words[f'report.{kind}']}: {words.percent(share)}")
            marks.append(
                f'<rect class="{kind}" x="{left:.1f}" y="{HEIGHT - FOOT - height:.1f}" width="{width - 1:.1f}" '
                f'height="{height:.1f}" rx="2"><title>{says} ({escape(pair.name)})</title></rect>'
            )
    return marks


def bars(pairs: Sequence[tuple[str, float, str]], below: str, about: str) -> str:
    """Return horizontal bars, each with its name and its value.

    Args:
        pairs: Name, length as a share of the longest, and value.
        below: Label of the values.
        about: Alternative text of the chart.
    """
    longest = max((length for _, length, _ in pairs), default=0.0) or 1.0
    parts = [_bar(place, name, length / longest, figure) for place, (name, length, figure) in enumerate(pairs)]
    height = BAR * len(pairs) + HEAD + 24
    parts.append(f'<text x="{WIDTH / 2:.0f}" y="{height - 6}" text-anchor="middle">{escape(below)}</text>')
    return f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(about)}">{"".join(parts)}</svg>'


def _bar(place: int, name: str, share: float, figure: str) -> str:
    y, width = HEAD + place * BAR, max(share, 0.0) * (WIDTH - NAMES - FIGURES)
    shown = name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
    return (
        f'<text x="{NAMES - 8}" y="{y + 15}" text-anchor="end">{escape(shown)}</text>'
        f'<rect class="after" x="{NAMES}" y="{y}" width="{max(width, 1.0):.1f}" height="{BAR - 8}" rx="2">'
        f"<title>{escape(name)}: {escape(figure)}</title></rect>"
        f'<text x="{NAMES + width + 6:.1f}" y="{y + 15}">{escape(figure)}</text>'
    )


def alone(svg: str, words: Messages | None = None) -> str:
    """Return a chart that is shown without page and styles, in a notebook or as a file: with a background of its own.

    Args:
        words: If given, a color legend in this language is drawn above the chart.
    """
    style = (
        "<style>text{fill:#575f6c;font:12px system-ui,sans-serif}line{stroke:#e2ddd2}"
        ".before{fill:#c98a3c}.after{fill:#44659f}</style>"
    )
    head, _, rest = svg.partition(">")
    start, (width, height) = -24 if words else 0, map(int, head.partition('viewBox="0 0 ')[2].partition('"')[0].split())
    paper = f'<path d="M0 {start}H{width}V{height}H0z" fill="#fff"/>'
    framed = head.replace(f'viewBox="0 0 {width} {height}"', f'viewBox="0 {start} {width} {height - start}"')
    return f'{framed} xmlns="http://www.w3.org/2000/svg" width="{WIDTH}">{style}{paper}{_key(words)}{rest}'


def _key(words: Messages | None) -> str:
    """Return the color legend inside the chart."""
    if words is None:
        return ""
    marks = [("before", words["report.before"], WIDTH - 220), ("after", words["report.after"], WIDTH - 110)]
    return "".join(
        f'<path class="{kind}" d="M{left} -18h12v12h-12z"/><text x="{left + 18}" y="-8">{escape(says)}</text>'
        for kind, says, left in marks
    )
