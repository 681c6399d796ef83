"""Names below the bins of a distribution: dates keep their year, and a missing value stands in no bin of numbers."""

from datetime import date, timedelta

import polars as pl
import pytest

from sfumato.pipelines.release import anonymize
from sfumato.report.page.plots import Pair, short_names
from sfumato.report.release.sections.before_after import gather


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("01.01.2024", "01.01.2024"),
        ("2024-01-31", "2024-01-31"),
        ("31.12.2024 10:00", "31.12.2024"),
        ("70000–70010", "70000–70010"),
        ("never smoked", "never sm…"),
    ],
)
def test_a_date_keeps_its_year(name, shown) -> None:
    assert short_names([Pair(name, 0.5, 0.5)])[0].name == shown


def _release(kind, values, hierarchy):
    rows = pl.DataFrame([{"of": value} for value in values for _ in range(5)])
    columns = {"of": {"role": "quasi-identifier", "type": kind, "hierarchy": hierarchy}}
    plan = {"version": 1, "language": "de", "columns": columns, "privacy": [{"model": "k-anonymity", "k": 5}]}
    return anonymize(rows, plan)


@pytest.mark.parametrize(
    ("kind", "values", "hierarchy"),
    [
        ("integer", [*range(20, 95), None], {"type": "intervals", "widths": [5, 10, 20]}),
        (
            "date",
            [*((date(2020, 1, 1) + timedelta(days=31 * month)).isoformat() for month in range(40)), None],
            {"type": "date"},
        ),
    ],
    ids=["numbers", "dates"],
)
def test_missing_values_stand_apart_from_numbers(kind, values, hierarchy) -> None:
    release = _release(kind, values, hierarchy)
    pairs = gather(release.plan, release.table, release.recoding).distributions["of"]
    release.close()
    assert [pair.name for pair in pairs if "fehl" in pair.name] == ["fehlend"]
    assert pairs[-1].before == pytest.approx(1 / len(values))
    assert sum(pair.before for pair in pairs) == pytest.approx(1.0)
