"""Open files and frames for policy checks, and population figures of ZIP areas."""

from contextlib import closing
from pathlib import Path
from typing import Any

from sfumato.engines.engine import Engine, MissingRules
from sfumato.engines.opening import open_frame
from sfumato.engines.postprocessing.formulas import open_published
from sfumato.errors import DataError, PlanError
from sfumato.microdata.data_plan import DataPlan


def opened(data: Any, reading: DataPlan, quotes: bool = False) -> Engine:
    """Open a frame, or a file in which formulas may be quoted."""
    if isinstance(data, Path):
        return open_published(data, reading, quotes)
    return open_frame(data)


def people_of(population: Any) -> dict[str, int] | None:
    """Return the population of each three-digit ZIP area, from a file or frame with both columns."""
    if population is None:
        return None
    data = Path(population) if isinstance(population, str | Path) else population
    with closing(opened(data, DataPlan(header=True))) as engine:
        if not {"zip3", "people"} <= {*engine.columns}:
            raise PlanError("population.the_population_needs_the_columns")
        text_counts = engine.count(("zip3", "people"), MissingRules())
    texts, numbers = text_counts.values
    try:
        return {
            str(texts[zip3]).zfill(3): int(float(str(numbers[people]))) for zip3, people in text_counts.codes.tolist()
        }
    except ValueError:
        raise DataError("population") from None
