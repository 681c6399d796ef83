"""Releases of before: what they published is known for good, and what they masked stays masked."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sfumato.errors import PlanError
from sfumato.tables.build.joint import Joint, Sheet, merged
from sfumato.tables.cells.cells import Bounds, Mask, no_bounds
from sfumato.tables.cells.columns import read_columns
from sfumato.tables.plan.plan import TablePlan, read_table_plan
from sfumato.tables.published.reading import Reading, read_published


@dataclass(frozen=True, slots=True)
class Release:
    """One table of a release of before, as the house keeps it, and what was published of it."""

    sheet: Sheet
    reading: Reading


@dataclass(frozen=True, slots=True)
class History:
    """What was published before of the cells of a table.

    Attributes:
        published: Cells whose value is known for good.
        masked: Cells that were masked.
        ranges: The ranges that were published of those.
    """

    published: Mask
    masked: Mask
    ranges: Bounds


def read_releases(plan: TablePlan) -> list[Release]:
    """The tables of the release folders that a plan names.

    Raises:
        PlanError: A folder is no release of a table.
    """
    releases = []
    for name in plan.previous:
        folder = plan.folder / name
        folders = (
            [folder] if (folder / "table.csv").exists() else sorted(path.parent for path in folder.glob("*/table.csv"))
        )
        if not folders:
            raise PlanError(
                f"previous: {name} is no release folder of a table.",
                "Name the folder that protect wrote; it needs table.csv and plan.yaml.",
                "no-release",
            )
        releases += [_release(own) for own in folders]
    return releases


def _release(folder: Path) -> Release:
    plan = read_table_plan(folder / "plan.yaml")
    dimensions = {key: dimension.placed(plan.folder) for key, dimension in plan.dimensions.items()}
    columns = read_columns(folder / "table.csv")
    return Release(Sheet(folder.name, dimensions, columns), read_published(columns, plan))


def history_of(joint: Joint, releases: list[Release], step: float) -> History | None:
    """What releases, whose tables stand last among the joint ones, published of each cell."""
    if not releases:
        return None
    size = len(joint.names)
    own = joint.sections[-len(releases) :]
    earlier = Joint(own, joint.columns, joint.relations, joint.names, joint.heights)
    exact = merged(earlier, [release.reading.exact for release in releases], step)
    masked, ranges = np.zeros(size, bool), no_bounds(size)
    for section, release in zip(own, releases, strict=True):
        masked[section.cells] = True
        ranges.low[section.cells] = np.fmax(ranges.low[section.cells], release.reading.ranges.low)
        ranges.high[section.cells] = np.fmin(ranges.high[section.cells], release.reading.ranges.high)
    published = ~np.isnan(exact)
    return History(published, masked & ~published, ranges.only(~published))
