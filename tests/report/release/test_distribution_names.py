"""Names below the bins of a distribution: dates keep their year, and a missing value stands in no bin of numbers."""

from contextlib import closing
from datetime import date, timedelta

import polars as pl
import pytest
from dossiers import files

from sfumato.localization.messages import words_in
from sfumato.pipelines.release import anonymize
from sfumato.report.plots import Pair, short_names
from sfumato.report.release.column_evidence import gather


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


@pytest.mark.parametrize("language", ["en", "de"])
def test_what_after_means_is_said_and_stars_alone_have_none(language) -> None:
    rows = pl.DataFrame([{"town": f"t{place % 20}", "sex": "mf"[place % 2]} for place in range(40)])
    columns = {name: {"role": "quasi-identifier", "hierarchy": {"type": "any"}} for name in rows.columns}
    plan = {"version": 1, "language": language, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 5}]}
    with closing(anonymize(rows, plan | {"method": {"name": "optimal"}})) as release:
        page = files(release)["report.html"]
    words = words_in(language)
    assert words["report.distributions_text"] in page
    town, sex = (page.split(f'<div class="card"><h3>{name}</h3>')[1].split("</div></div>")[0] for name in columns)
    assert 'class="after"' not in town
    assert words["report.nothing_left"] in page.split('<div class="card"><h3>town</h3>')[1].split("<h3>sex</h3>")[0]
    assert "rail after" in sex
