"""What became of columns is told by what was published of them, alike in both reports and in the annex."""

from contextlib import closing

import polars as pl
import pytest
from dossiers import dossier_of

from sfumato.localization.messages import words_in
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.report_folder import read_annex
from sfumato.report.annex import markdown
from sfumato.report.release.report import files


def _release(method, **more):
    """Persons in classes of five and more as they are, but for a code that is each one's own."""
    rows = pl.DataFrame(
        [
            {
                "name": f"p{place}",
                "sex": "mf"[place % 2],
                "code": 7919 * place,
                "pay": 10 * place,
                "ill": "aab"[place % 3],
            }
            for place in range(40)
        ]
    )
    columns = {
        "name": {"role": "identifier"},
        "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        "code": {"role": "quasi-identifier", "hierarchy": {"type": "any"}, "min_level": 1},
        "pay": {"role": "insensitive", "publish": {"round": 100}},
        "ill": {"role": "sensitive"},
    }
    plan = {"version": 1, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 5}]}
    return anonymize(rows, plan | {"method": {"name": method}} | more)


@pytest.mark.parametrize("method", ["local", "optimal"])
def test_all_documents_count_what_was_published(method, tmp_path) -> None:
    with closing(_release(method)) as release:
        assert release.report.details["column_outcomes"] == {
            "name": "removed",
            "sex": "kept",
            "code": "fully_generalized",
            "pay": "changed",
            "ill": "kept",
        }
        annex = markdown(read_annex(release.save(tmp_path / "out")))
        assert (
            "Of 5 columns, 1 is removed, 1 published as stars in every row, 0 generalized in all or some rows, "
            "1 transformed or perturbed and 2 published unchanged" in annex
        )
        told = files(dossier_of(release))
    for name in ("report.html", "report-external.html"):
        assert words_in()["external.by_class"] not in told[name]
        assert words_in()["report.by_class"] not in told[name]
        assert words_in()["fate.withheld"] in told[name]


def test_what_some_rows_tell_less_of_is_coarser() -> None:
    rows = pl.DataFrame([{"age": 20 if place < 10 else 30 + place, "sex": "mf"[place % 2]} for place in range(20)])
    columns = {
        "age": {"role": "quasi-identifier", "hierarchy": {"type": "intervals", "widths": [20]}},
        "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
    }
    plan = {"version": 1, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 5}]}
    with closing(anonymize(rows, plan | {"method": {"name": "local"}})) as release:
        assert release.report.details["column_outcomes"]["age"] == "generalized"


def test_masked_codes_are_told_as_stars_alone() -> None:
    """The file has `*****` where every character is masked."""
    rows = pl.DataFrame([{"zip": str(10_000 + 7919 * place)} for place in range(9)])
    columns = {"zip": {"role": "quasi-identifier", "hierarchy": {"type": "digits"}}}
    plan = {"version": 1, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 9}]}
    with closing(anonymize(rows, plan)) as release:
        assert "every row has * here" not in files(dossier_of(release))["report-external.html"]
