"""Draw the generalization lattice: a layer per sum of levels, a circle per node, lines to neighbors."""

from collections.abc import Sequence
from html import escape
from itertools import pairwise

from sfumato.web.microdata.result.result_figures import Point

WIDTH, LAYER, RADIUS, MARGIN = 720, 44, 7, 26
# Limits: nodes shown per layer, those with the least loss; nodes up to which lines are drawn.
MOST_IN_LAYER, MOST_LINED = 16, 160


def shown_nodes(points: Sequence[Point]) -> list[list[int]]:
    """Return the indices of the points in each layer, from fine to coarse; of many those with the least loss.

    >>> shown_nodes([Point({"a": 0, "b": 1}, 1.0, 0), Point({"a": 0, "b": 0}, 0.5, 3), Point({"a": 1, "b": 0}, 0.7, 0)])
    [[1], [2, 0]]
    """
    layers: dict[int, list[int]] = {}
    for place, point in enumerate(points):
        layers.setdefault(sum(point.levels.values()), []).append(place)
    least = [sorted(layers[height], key=lambda place: points[place].loss) for height in sorted(layers)]
    return [layer[:MOST_IN_LAYER] for layer in least]


def drawn(points: Sequence[Point], texts: Sequence[str], budget: int, levels: dict[str, int], about: str) -> str:
    """Draw the lattice as SVG.

    Args:
        texts: The tooltip of each point.
        budget: The maximum number of suppressed rows: nodes that need no more satisfy the models.
        levels: The released levels.
    """
    layers = shown_nodes(points)
    spots = _spots(layers)
    lines = _lines(points, layers, spots) if len(spots) <= MOST_LINED else ""
    circles = "".join(
        _circle(points[place], texts[place], place, spots[place], points[place].suppressed_rows <= budget, levels)
        for layer in layers
        for place in layer
    )
    height = LAYER * len(layers) + MARGIN
    box = f'viewBox="0 0 {WIDTH} {height}" role="group" aria-label="{escape(about)}"'
    return f'<svg class="sf-lattice" {box}>{lines}{circles}</svg>'


def _spots(layers: list[list[int]]) -> dict[int, tuple[float, float]]:
    """Return the position of each circle: coarse nodes at the top, each layer centered."""
    spots: dict[int, tuple[float, float]] = {}
    for depth, layer in enumerate(layers):
        step = min((WIDTH - 2 * MARGIN) / max(len(layer), 1), 60.0)
        left = WIDTH / 2 - step * (len(layer) - 1) / 2
        for at, place in enumerate(layer):
            spots[place] = (left + at * step, MARGIN + LAYER * (len(layers) - 1 - depth))
    return spots


def _lines(points: Sequence[Point], layers: list[list[int]], spots: dict[int, tuple[float, float]]) -> str:
    """Draw a line between nodes that differ by one level in one column."""
    parts = []
    for finer, coarser in pairwise(layers):
        for low in finer:
            for high in coarser:
                steps = [points[high].levels[name] - level for name, level in points[low].levels.items()]
                if min(steps) == 0 and max(steps) == 1:
                    (x1, y1), (x2, y2) = spots[low], spots[high]
                    parts.append(f"M{x1:.0f} {y1:.0f}L{x2:.0f} {y2:.0f}")
    return f'<path class="line" d="{"".join(parts)}"/>'


def _circle(point: Point, text: str, place: int, spot: tuple[float, float], holds: bool, levels: dict[str, int]) -> str:
    kind = " ".join(["holds" if holds else "fails", *(["best"] if point.best else [])])
    now = " now" if levels and point.levels == levels else ""
    reach = 0 if point.best or now else -1
    return (
        f'<circle class="{kind}{now}" cx="{spot[0]:.1f}" cy="{spot[1]:.1f}" r="{RADIUS}" tabindex="{reach}" '
        f'role="button" data-node="{place}" aria-label="{escape(text)}" data-help="{escape(text)}"/>'
    )
