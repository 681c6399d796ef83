"""Draw the pictures of the methods' pages as SVG: `python tools/draw_methods.py docs/images/methods`."""

import random
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

INK, SOFT, PAPER, BLUE, GREEN, RED = "#1f2937", "#9ca3af", "#ffffff", "#3949ab", "#2e7d32", "#c62828"
PALE = {"blue": "#e8eaf6", "green": "#e8f5e9", "red": "#ffebee", "gray": "#f3f4f6"}
Point = tuple[float, float]
Box = tuple[float, float, float, float]


def text(x: float, y: float, says: str, size: int = 13, color: str = INK, anchor: str = "middle") -> str:
    """Return a line of text; its middle, start or end is at x."""
    safe = says.replace("&", "&amp;").replace("<", "&lt;")
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{color}" text-anchor="{anchor}">{safe}</text>'


def box(x: float, y: float, width: float, height: float, fill: str = PAPER, line: str = SOFT, round_by: int = 4) -> str:
    """Return a rectangle."""
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{round_by}" fill="{fill}" '
        f'stroke="{line}" stroke-width="1.2"/>'
    )


def line(start: Point, end: Point, color: str = SOFT, width: float = 1.2, dashes: str = "") -> str:
    """Return a straight line."""
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return (
        f'<line x1="{start[0]:g}" y1="{start[1]:g}" x2="{end[0]:g}" y2="{end[1]:g}" stroke="{color}" '
        f'stroke-width="{width:g}"{dashed}/>'
    )


def dot(x: float, y: float, radius: float, fill: str, stroke: str = INK) -> str:
    """Return a circle."""
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{fill}" stroke="{stroke}" stroke-width="1.2"/>'


def picture(width: int, height: int, title: str, parts: list[str]) -> str:
    """Return a complete picture on a white background, so that it is legible on a dark page, too."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="system-ui, sans-serif" role="img">\n<title>{title}</title>\n'
    )
    return head + "\n".join([box(0, 0, width, height, PAPER, PAPER, 8), *parts]) + "\n</svg>\n"


# The lattice of two columns in all full-domain pictures: age in 4 levels, zip in 3. A node satisfies the model
# if it is generalized enough; its loss is the mean of both columns.
AGE, ZIP = 4, 3
NODES = [(age, code) for age in range(AGE) for code in range(ZIP)]
KEEPS = {node: 2 * node[0] + 3 * node[1] >= 5 for node in NODES}
LOSS = {(age, code): (age / (AGE - 1) * 0.9 + code / (ZIP - 1)) / 2 for age, code in NODES}
LEAST = min((node for node in NODES if KEEPS[node]), key=lambda node: LOSS[node])


def at(node: tuple[int, int]) -> Point:
    """Return the position of a node: coarser ones are higher."""
    age, code = node
    return 190 + (age - code) * 80, 300 - (age + code) * 52


def edges() -> Iterator[str]:
    """Yield a line between nodes that differ by one level of one column."""
    for age, code in NODES:
        for above in ((age + 1, code), (age, code + 1)):
            if above in KEEPS:
                yield line(at((age, code)), at(above))


def node_mark(node: tuple[int, int], fill: str, stroke: str = INK, label: str = "") -> str:
    """Return a node with its levels."""
    x, y = at(node)
    return box(x - 30, y - 15, 60, 30, fill, stroke, 15) + text(x, y + 5, label or f"{node[0]}, {node[1]}", 13)


def lattice(title: str, caption: str, marks: list[str], over: list[str] | None = None) -> str:
    """Return the lattice with its nodes as a method sees them."""
    sides = [text(60, 322, "raw values", 12, SOFT), text(60, 48, "all *", 12, SOFT)]
    return picture(520, 360, title, [*sides, *edges(), *marks, *(over or []), text(260, 348, caption, 13)])


def colored(node: tuple[int, int]) -> str:
    return PALE["green"] if KEEPS[node] else PALE["red"]


def optimal() -> str:
    """Nodes above a good one cannot be better; those below a failing one cannot satisfy the model."""
    looked = {LEAST, (1, 1), (2, 0), (1, 0), (3, 0), (0, 1)}
    marks = [node_mark(node, colored(node) if node in looked else PALE["gray"], SOFT) for node in NODES]
    marks.append(
        node_mark(LEAST, PALE["green"], GREEN) + text(at(LEAST)[0] + 62, at(LEAST)[1] + 5, "least loss", 12, GREEN)
    )
    return lattice("optimal", "gray: ruled out without being looked at · red: fails · green: keeps the promise", marks)


def samarati() -> str:
    """The heights are bisected; at the lowest one with a satisfying node, the node of minimum loss is taken."""
    heights = sorted({sum(node) for node in NODES})
    lowest = min(sum(node) for node in NODES if KEEPS[node])
    bands = []
    for height in heights:
        y = 300 - height * 52
        word = {lowest: "lowest with one", lowest - 1: "none"}.get(height, "")
        bands.append(line((105, y + 26), (420, y + 26), SOFT, 0.8, "4 4") + text(512, y + 5, word, 12, BLUE, "end"))
    marks = [node_mark(node, colored(node), SOFT) for node in NODES]
    chosen = min((node for node in NODES if KEEPS[node] and sum(node) == lowest), key=lambda node: LOSS[node])
    return lattice(
        "samarati",
        "heights are halved, as one looks up a word in a dictionary",
        [*bands, *marks, node_mark(chosen, PALE["green"], GREEN)],
    )


def greedy() -> str:
    """From the top, the step that saves most is taken as long as the model is satisfied."""
    path = [(3, 2)]
    while True:
        age, code = path[-1]
        below = [node for node in ((age - 1, code), (age, code - 1)) if KEEPS.get(node)]
        if not below:
            break
        path.append(min(below, key=lambda node: LOSS[node]))
    steps = [line(at(one), at(other), BLUE, 4) for one, other in pairwise(path)]
    marks = [
        node_mark(node, PALE["blue"] if node in path else PALE["gray"], BLUE if node in path else SOFT)
        for node in NODES
    ]
    return lattice("greedy", "one step at a time, the one that looks best; the rest is never seen", [*steps, *marks])


def exhaustive() -> str:
    """Every node is shown with its loss."""
    marks = [node_mark(node, colored(node), GREEN if node == LEAST else SOFT, f"{LOSS[node]:.2f}") for node in NODES]
    return lattice("exhaustive", "every node is looked at; its loss stands in nodes.csv", marks)


def table(
    x: float, y: float, head: list[str], rows: list[list[str]], fills: list[list[str]] | None = None
) -> list[str]:
    """Return a small table."""
    width, height, parts = 84, 26, []
    for column, name in enumerate(head):
        parts.append(text(x + column * width + width / 2, y - 8, name, 13, SOFT))
    for number, row in enumerate(rows):
        for column, value in enumerate(row):
            fill = fills[number][column] if fills else PAPER
            left, top = x + column * width, y + number * height
            parts.append(
                box(left, top, width, height, fill, "#d1d5db", 0) + text(left + width / 2, top + 18, value, 13)
            )
    return parts


def arrow(x: float, y: float) -> str:
    return line((x, y), (x + 36, y), INK, 2) + f'<path d="M{x + 36:g} {y - 6:g} l10 6 l-10 6 z" fill="{INK}"/>'


ROWS = [["28", "70173"], ["28", "70173"], ["34", "70173"], ["36", "70178"], ["61", "71034"], ["69", "71065"]]


def local() -> str:
    """Each class is published at the levels at which its rows agree."""
    published = [
        ["28", "70173"],
        ["28", "70173"],
        ["30-39", "7017*"],
        ["30-39", "7017*"],
        ["60-69", "710**"],
        ["60-69", "710**"],
    ]
    tints = [PALE["blue"], PALE["blue"], PALE["green"], PALE["green"], PALE["red"], PALE["red"]]
    fills = [[tint, tint] for tint in tints]
    parts = [*table(20, 50, ["age", "zip"], ROWS), arrow(206, 128), *table(272, 50, ["age", "zip"], published, fills)]
    return picture(
        460, 250, "local", [*parts, text(230, 236, "k = 2: every row at the finest levels at which it has company", 13)]
    )


def local_suppression() -> str:
    """Single cells are suppressed."""
    raw = [["28", "70173"], ["28", "70173"], ["34", "70178"], ["36", "70178"], ["61", "71034"], ["61", "71065"]]
    published = [["28", "70173"], ["28", "70173"], ["", "70178"], ["", "70178"], ["61", ""], ["61", ""]]
    fills = [[PALE["gray"] if not value else PAPER for value in row] for row in published]
    parts = [*table(20, 50, ["age", "zip"], raw), arrow(206, 128), *table(272, 50, ["age", "zip"], published, fills)]
    return picture(
        460, 250, "local-suppression", [*parts, text(230, 236, "k = 2: values stay as they are, or are missing", 13)]
    )


def points(number: int, seed: int) -> list[Point]:
    draw = random.Random(seed)
    return [(40 + 380 * draw.random(), 30 + 220 * draw.random() ** 1.4) for _ in range(number)]


def mondrian() -> str:
    """Points are cut at the median of the wider side, as long as both parts have three."""
    parts: list[str] = []

    def cut(members: list[Point], room: Box) -> None:
        left, top, right, bottom = room
        axis = 0 if right - left >= bottom - top else 1
        members = sorted(members, key=lambda point: point[axis])
        middle = len(members) // 2
        if len(members) < 6:
            parts.append(box(left, top, right - left, bottom - top, PALE["blue"], BLUE, 0))
            return
        border = (members[middle - 1][axis] + members[middle][axis]) / 2
        rooms = (
            ((left, top, border, bottom), (border, top, right, bottom))
            if axis == 0
            else ((left, top, right, border), (left, border, right, bottom))
        )
        cut(members[:middle], rooms[0])
        cut(members[middle:], rooms[1])

    rows = points(34, 5)
    cut(rows, (30, 20, 430, 260))
    marks = [dot(x, y, 4, PAPER) for x, y in rows]
    words = [text(230, 286, "age →", 12, SOFT), text(230, 306, "every rectangle is a class of at least three rows", 13)]
    return picture(460, 320, "mondrian", [*parts, *marks, *words])


def k_optimize() -> str:
    """Cuts between ordered values; those of the best set are solid lines."""
    ages = [18, 23, 28, 33, 38, 43, 48, 53, 58, 63, 68]
    chosen = {28, 43, 58}
    parts = [line((30, 90), (490, 90), INK, 2)]
    for place, age in enumerate(ages):
        x = 50 + place * 42
        parts.append(dot(x, 90, 4, PAPER) + text(x, 114, str(age), 12))
        if age != ages[0]:
            kept = age in chosen
            parts.append(
                line((x - 21, 60), (x - 21, 120), BLUE if kept else SOFT, 3 if kept else 1, "" if kept else "3 4")
            )
    edges_of = [29, *(50 + ages.index(age) * 42 - 21 for age in sorted(chosen)), 491]
    for start, end, says in zip(edges_of, edges_of[1:], ("18-27", "28-42", "43-57", "58-68"), strict=False):
        parts.append(
            box(start + 3, 140, end - start - 6, 28, PALE["blue"], BLUE) + text((start + end) / 2, 159, says, 13)
        )
    words = text(260, 200, "each dashed line is a cut that may be made or not: 2¹⁰ sets for one column", 13)
    return picture(520, 220, "k-optimize", [*parts, text(260, 40, "one column, its values in order", 12, SOFT), words])


def microaggregation() -> str:
    """Groups of similar rows are published as their means."""
    rows, groups = points(18, 11), []
    left = list(rows)
    while left:
        far = max(left, key=lambda point: (point[0] - 230) ** 2 + (point[1] - 140) ** 2)
        near = sorted(left, key=lambda point: (point[0] - far[0]) ** 2 + (point[1] - far[1]) ** 2)[:3]
        groups.append(near)
        left = [point for point in left if point not in near]
    parts = []
    for group in groups:
        x, y = sum(point[0] for point in group) / 3, sum(point[1] for point in group) / 3
        parts += [line((x, y), point, BLUE, 1.5) for point in group]
        parts += [dot(*point, 4, PAPER) for point in group] + [dot(x, y, 6, BLUE, BLUE)]
    return picture(
        460, 300, "microaggregation", [*parts, text(230, 284, "three rows at a time are published as their mean", 13)]
    )


def auto() -> str:
    """Three methods run on the same counts; the least loss wins."""
    parts = [box(20, 80, 110, 60, PALE["gray"]), text(75, 106, "frequency", 13), text(75, 124, "table", 13)]
    for place, (name, loss) in enumerate((("local", "0.050"), ("mondrian", "0.062"), ("optimal", "0.661"))):
        y, best = 26 + place * 66, place == 0
        parts += [
            line((130, 110), (190, y + 22), SOFT),
            box(190, y, 120, 44, PALE["green" if best else "gray"], GREEN if best else SOFT),
        ]
        parts += [text(250, y + 19, name, 13), text(250, y + 36, f"loss {loss}", 12, SOFT)]
        parts.append(line((310, y + 22), (360, 110), GREEN if best else SOFT, 3 if best else 1, "" if best else "3 4"))
    parts += [box(360, 84, 110, 52, PALE["green"], GREEN), text(415, 115, "release", 13)]
    return picture(
        490, 250, "auto", [*parts, text(245, 236, "all are tried on the same count; the least loss is released", 13)]
    )


def safepub() -> str:
    """Some rows are sampled; those that are equal in large numbers are published."""
    draw, parts = random.Random(3), []
    for place in range(40):
        x, y = 40 + place % 8 * 18, 60 + place // 8 * 26
        parts.append(dot(x, y, 5, BLUE if draw.random() < 0.7 else PAPER, BLUE))
    for column, (rows, kept) in enumerate(((9, True), (8, True), (2, False), (7, True))):
        x = 290 + column * 50
        for row in range(rows):
            parts.append(dot(x, 176 - row * 14, 5, GREEN if kept else PAPER, GREEN if kept else RED))
        parts.append(text(x, 200, "" if kept else "withheld", 11, RED))
    parts += [line((270, 120), (460, 120), SOFT, 1.2, "4 4"), text(470, 124, "k", 12, SOFT), arrow(196, 110)]
    words = [text(103, 36, "rows, some of them drawn", 12, SOFT), text(365, 36, "classes of those", 12, SOFT)]
    return picture(
        490, 250, "safepub", [*parts, *words, text(245, 234, "chance decides which rows count, k which classes", 13)]
    )


PICTURES = (
    auto,
    optimal,
    samarati,
    greedy,
    exhaustive,
    local,
    mondrian,
    k_optimize,
    local_suppression,
    microaggregation,
    safepub,
)


def main(folder: Path) -> None:
    """Write all pictures to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for draw in PICTURES:
        (folder / f"{draw.__name__.replace('_', '-')}.svg").write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
