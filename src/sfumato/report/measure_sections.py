"""What was measured of a release beside its promises, in words: utility, and where the risk comes from."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sfumato.report.html_parts import listing, paragraph, table
from sfumato.texts.numbers import percent

MOST_PAIRS = 10


def utility(measures: Mapping[str, Any]) -> Iterator[str]:
    """Losses, drift of distributions and associations, and the error of counts; what was not measured is not told."""
    yield from _distances(measures.get("distributions") or {})
    yield from _association(measures.get("association") or {}, measures.get("association_pairs") or ())
    yield from _queries(measures.get("range_counts") or {})
    yield from _classification(measures.get("classification") or {})
    yield from _losses(measures.get("losses") or {})


def _distances(distances: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    if not distances:
        return
    yield "<h3>How far distributions moved</h3>"
    yield paragraph(
        "0 is not at all, 1 as far as can be; the mass moved, and for ordered values how far it moved.", True
    )
    rows = [(name, figures.get("total_variation"), figures.get("earth_mover")) for name, figures in distances.items()]
    yield table(["column", "total variation", "earth mover's distance"], rows)


def _association(summary: Mapping[str, Any], pairs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if not pairs:
        return
    yield "<h3>How far associations drifted</h3>"
    mean = summary.get("mean_drift")
    if mean is not None:
        yield paragraph(
            f"Cramér's V of two columns changed by {mean:.2f} on average. It is 0 where columns have nothing to do "
            "with each other and 1 where one tells the other; raw columns of many values seem associated because few "
            "rows share a value."
        )
    order = sorted(pairs, key=lambda pair: -abs((pair.get("cramers_v_before") or 0) - (pair.get("cramers_v") or 0)))
    rows = [
        (f"{pair['first']} × {pair['second']}", pair.get("cramers_v_before"), pair.get("cramers_v"))
        for pair in order[:MOST_PAIRS]
    ]
    yield table(["columns", "Cramér's V before", "after"], rows)


def _queries(errors: Mapping[str, Any]) -> Iterator[str]:
    if errors:
        yield "<h3>How far counts are off</h3>"
        yield paragraph(
            f"{errors['queries']:,} random counts of rows in ranges, asked of the release, differ from the raw ones by "
            f"{percent(errors['mean_error'])} of the raw count on average, by {percent(errors['median_error'])} in the "
            "middle."
        )


def _classification(figures: Mapping[str, Any]) -> Iterator[str]:
    plain = [(name.replace("_", " "), value) for name, value in figures.items() if isinstance(value, int | float | str)]
    if plain:
        yield "<h3>What a model learns from the release</h3>" + table(["", "value"], plain)


def _losses(losses: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    if losses:
        yield "<h3>All losses</h3>" + table(["loss", "value"], [(name, loss["value"]) for name, loss in losses.items()])


def origins(risk: Mapping[str, Any], levels: Mapping[str, int]) -> Iterator[str]:
    """Where the risk comes from: columns, steps of generalization, and outliers."""
    origin_lines = [*_without(risk.get("contribution") or {}), *_steps(risk.get("contribution") or {}, levels)]
    if origin_lines:
        yield "<h3>Where the risk comes from</h3>" + listing(origin_lines)
    outliers = [*_outliers(risk.get("outliers") or {}), *forcing_sentences(risk, levels)]
    if outliers:
        yield "<h3>Outliers</h3>" + listing(outliers)


def _without(figures: Mapping[str, Any]) -> Iterator[str]:
    uniques = figures.get("uniques")
    for name, left in (figures.get("without") or {}).items():
        if uniques is not None and left != uniques:
            yield f"Without {name}, the raw rows that are unique would fall from {uniques:,} to {left:,}."


def _steps(figures: Mapping[str, Any], levels: Mapping[str, int]) -> Iterator[str]:
    """What the levels that were chosen do, each by itself."""
    for step in figures.get("steps") or ():
        if levels.get(step["column"]) == step["level"] and step["uniques"] != step["uniques_before"]:
            yield (
                f"{step['column']} at level {step['level']} alone: raw uniques fall from "
                f"{step['uniques_before']:,} to {step['uniques']:,}."
            )


def _outliers(figures: Mapping[str, Any]) -> Iterator[str]:
    for name, rows in (figures.get("singled_out_alone_by") or {}).items():
        if rows:
            yield f"{rows:,} raw rows have a value of {name} that nobody else has."


def forcing_sentences(risk: Mapping[str, Any], levels: Mapping[str, int]) -> Iterator[str]:
    """Which rows keep each column from being a level finer."""
    for name, entry in (risk.get("forcing") or {}).items():
        if name in levels:
            yield (
                f"{name} is at level {levels[name]} because of {entry['rows']:,} rows: at level {entry['level']}, all "
                "else alike, they would be in classes that fail a promise."
            )
