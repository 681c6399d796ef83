"""What the result step shows of a release: figures, rows before and after, and the nodes of the lattice."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.delimited import Dialect, read_lines
from sfumato.engines.duckdb.engine import Row
from sfumato.microdata.recoding.recoding_file import read_recoding
from sfumato.report.measure_sections import forcing_sentences
from sfumato.texts.words import Words

MOST_POINTS = 3_000


def figures(folder: Path, words: Words) -> list[tuple[str, str]]:
    """The figures of report.json that stand out."""
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    before, after = report["risk"]["before"], report["risk"]["after"]
    published = report["rows"] - report["suppressed_rows"]
    share = words.percent(report["suppressed_rows"] / max(report["rows"], 1))
    return [
        (words.count(published), words["published"]),
        (f"{words.count(report['suppressed_rows'])} ({share})", words["suppressed"]),
        (f"{words.percent(before['highest'])} → {words.percent(after['highest'])}", words["highest"]),
        (f"{words.count(before['uniques'])} → {words.count(after['uniques'])}", words["uniques"]),
        (words.amount(report["loss"]["value"]), f"{words['loss']} ({report['loss']['name']})"),
    ]


def reasons(folder: Path) -> list[str]:
    """Why columns had to be generalized, in sentences."""
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return list(forcing_sentences(report["risk"], report["levels"]))


def published_rows(folder: Path, rows: Sequence[Row], plan: Mapping[str, Any]) -> list[tuple[Row, Row | None]]:
    """Raw rows, and what each is published as; None where it is withheld."""
    recoding = json.loads((folder / "recoding.json").read_text(encoding="utf-8"))
    recoded = read_recoding(recoding)
    names = list(recoding["columns"])
    removed = [name for name, column in plan["columns"].items() if column["role"] == "identifier"]
    missing = set(plan["data"].get("missing", ()))
    found: list[tuple[Row, Row | None]] = []
    for row in rows:
        texts = [None if row[name] in missing else row[name] for name in names]
        codes = [coding.places.get(text) for coding, text in zip(recoded.codings, texts, strict=True)]
        outcome = None if None in codes else recoded.publish(tuple(code for code in codes if code is not None))
        if outcome is None or outcome[1]:
            found.append((row, None))
        else:
            labels = dict(zip(names, outcome[0], strict=True))
            found.append((row, {**row, **labels, **dict.fromkeys(removed, "*")}))
    return found


def divided(folder: Path) -> bool:
    """Whether rows that look alike were divided between classes: then what is shown of them is one of several."""
    return "division" in json.loads((folder / "recoding.json").read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class Point:
    """A node of the lattice: its levels, its loss, the rows it withholds, and whether none beats it in both."""

    levels: dict[str, int]
    loss: float
    suppressed_rows: int
    best: bool = False


def points(folder: Path, rows: int) -> list[Point]:
    """The nodes of an exhaustive search that publish something, those that none beats marked."""
    table = [line.fields for line in read_lines(folder / "nodes.csv", Dialect(";"))]
    head, place = table[0], table[0].index("loss")
    lost = head.index("suppressed_rows")
    found = [
        Point(dict(zip(head[:place], map(int, line[:place]), strict=True)), float(line[place]), int(line[lost]))
        for line in table[1:]
        if int(line[lost]) < rows
    ]
    return _thinned(_marked(found))


def _marked(found: Sequence[Point]) -> list[Point]:
    """All points, in the order of rows withheld; marked where no other loses less with as few rows."""
    marked, least = [], float("inf")
    for point in sorted(found, key=lambda point: (point.suppressed_rows, point.loss)):
        best = point.loss < least - 1e-9
        least = min(least, point.loss)
        marked.append(Point(point.levels, point.loss, point.suppressed_rows, best))
    return marked


def _thinned(found: list[Point]) -> list[Point]:
    """At most so many points; the marked ones all stay."""
    if len(found) <= MOST_POINTS:
        return found
    step = -(-len(found) // MOST_POINTS)
    return [point for place, point in enumerate(found) if point.best or place % step == 0]
