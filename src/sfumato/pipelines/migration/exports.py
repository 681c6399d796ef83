"""Export hierarchies and published rows as CSV files that other tools read."""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from sfumato.atomic_folders import staged, write_text
from sfumato.hierarchies.hierarchy import hierarchy_csv
from sfumato.pipelines.release_folder import Release

Tool = Literal["arx", "sdcmicro"]
# Field separators: ARX uses ; by default, read.csv of R a comma.
SEPARATORS: dict[Tool, str] = {"arx": ";", "sdcmicro": ","}
# Missing values: NULL in ARX, NA in R.
MISSING: dict[Tool, str] = {"arx": "NULL", "sdcmicro": "NA"}


def export(release: Release, folder: str | Path, tool: Tool = "arx") -> Path:
    """Write a release for another tool: data.csv, and hierarchies/<column>.csv with one row for each value.

    Args:
        folder: The folder to create; it must not exist.
        tool: The layout: `arx` (separator ;), or `sdcmicro` (a comma, as read.csv of R expects).

    Raises:
        PlanError: The folder exists.
    """
    target, separator = Path(folder), SEPARATORS[tool]
    with staged(target) as stage:
        (stage / "hierarchies").mkdir()
        for column, ladder in zip(release.table.columns, release.table.ladders, strict=True):
            name = "".join(sign if sign.isalnum() or sign in "_.-" else "-" for sign in column)
            write_text(stage / "hierarchies" / f"{name}.csv", hierarchy_csv(ladder, separator))
        with (stage / "data.csv").open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, delimiter=separator, lineterminator="\n")
            writer.writerows(_rows(release, MISSING[tool]))
    return target


def _rows(release: Release, missing: str) -> Iterator[Sequence[Any]]:
    """Yield the header and the published rows as texts."""
    import narwhals as nw

    data = release.data
    frame: Any = nw.from_native(release.published.frame() if isinstance(data, Path) else data, eager_only=True)  # type: ignore[attr-defined]
    yield frame.columns
    for row in frame.iter_rows():
        yield [missing if value is None else value for value in row]
