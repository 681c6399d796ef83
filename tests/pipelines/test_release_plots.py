"""Charts of a release, and what is told of one column."""

from xml.etree import ElementTree

import polars as pl
import pytest

import sfumato as sf
from refusals import coded, refused

ROWS = pl.DataFrame(
    {
        "zip": [f"{10 + row % 9}{row % 7}00" for row in range(120)],
        "sex": ["m" if row % 3 else "f" for row in range(120)],
        "illness": [("flu", "cold", "cough")[row // 2 % 3] for row in range(120)],
    }
)
PLAN = sf.Plan(sf.KAnonymity(4), sf.LDiversity(2, "illness")).quasi("sex", zip=sf.digits(5))


@pytest.fixture(scope="module")
def release():
    return sf.anonymize(ROWS, PLAN)


@pytest.mark.parametrize("name", ["risk", "columns", "tradeoff"])
def test_charts_are_drawings_that_stand_alone(release, name, tmp_path):
    drawing = getattr(release.plot, name)()
    root = ElementTree.parse(drawing.save(tmp_path / "chart.svg")).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "<svg" in drawing._repr_html_()
    assert root.findall(".//{*}rect")


@pytest.mark.parametrize(("kind", "start"), [("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_a_chart_is_written_as_the_end_of_its_name_says(release, kind, start, tmp_path):
    assert release.plot.risk().save(tmp_path / f"risk.{kind}").read_bytes().startswith(start)


def test_a_chart_is_written_as_no_other_kind(release, tmp_path):
    with pytest.raises(sf.PlanError, check=refused("error.plan.chart", name="chart.docx")):
        release.plot.risk().save(tmp_path / "chart.docx")
    assert not list(tmp_path.iterdir())


def test_bars_are_as_long_as_their_figures(release):
    root = ElementTree.fromstring(release.plot.columns().svg)
    widths = {bar[0].text.partition(":")[0]: float(bar.get("width")) for bar in root.findall(".//{*}rect")}
    losses = release.report.loss.per_column
    assert set(widths) == set(losses)
    longest = max(losses, key=losses.get)
    for name, width in widths.items():
        assert width == pytest.approx(max(widths[longest] * losses[name] / losses[longest], 1), abs=0.2)


def test_there_is_no_trade_off_without_levels():
    release = sf.anonymize(ROWS, PLAN.by(sf.Mondrian()))
    with pytest.raises(sf.PlanError, check=coded("plan.plot.there_is_no_trade_off")):
        release.plot.tradeoff()


def test_a_column_is_explained(release):
    words = str(release.explain("zip"))
    assert words.startswith("zip (quasi-identifier): ")
    assert "digits: length 5" in words
    assert "→" in words
    assert "at least 2" in str(release.explain("illness"))
    with pytest.raises(sf.PlanError, check=refused("error.plan.columns.there_is_no_column")):
        release.explain("zipp")


def test_codes_that_lost_their_zeros_are_known():
    rows = pl.DataFrame({"zip": [1067 + row % 5 for row in range(30)], "sex": ["m"] * 30})
    with pytest.raises(sf.DataError, check=coded("data.invalid-value")):
        sf.anonymize(rows, sf.Plan(sf.KAnonymity(2)).quasi("sex", zip=sf.digits(5)))
    mixed = pl.DataFrame({"zip": ["1067", "x"] * 15, "sex": ["m"] * 30})
    with pytest.raises(sf.DataError) as error:
        sf.anonymize(mixed, sf.Plan(sf.KAnonymity(2)).quasi("sex", zip=sf.digits(5)))
    assert "zeros" not in str(error.value)
