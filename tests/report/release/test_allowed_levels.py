"""Where a plan says levels, a report does not call the release the least of all, nor ways tried that it forbids."""

from contextlib import closing

import polars as pl
import pytest
from dossiers import dossier_of

from sfumato.localization.messages import words_in
from sfumato.pipelines.release import anonymize
from sfumato.report.release.report import files, text

LEAST = {
    "en": ("proven minimum<", "Of all such releases, this one", "proven optimal"),
    "de": ("bewiesenes Minimum<", "Von allen solchen Veröffentlichungen hat", "bewiesen optimal"),
}
ALLOWED = {
    "en": "among the levels that the plan allows",
    "de": "unter den im Plan erlaubten Stufen",
}


def _release(language="en", **levels):
    """Forty rows of four ages and two sexes and one of its own, with limits of levels for some columns."""
    rows = pl.DataFrame([{"sex": "mf"[place % 2], "age": 20 + 10 * (place % 4)} for place in range(40)])
    rows = pl.concat([rows, pl.DataFrame([{"sex": "f", "age": 99}])])
    columns = {
        "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        "age": {"role": "quasi-identifier", "hierarchy": {"type": "intervals", "widths": [20, 40]}},
    }
    for name, (low, high) in levels.items():
        columns[name] |= {"min_level": low, "max_level": high}
    plan = {"version": 1, "language": language, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 5}]}
    return anonymize(rows, plan | {"method": {"name": "optimal", "suppression": 0.1}})


def _told(release):
    return files(dossier_of(release))["report.html"]


@pytest.mark.parametrize("language", ["en", "de"])
def test_chosen_levels_are_a_decision_and_prove_nothing(language) -> None:
    with closing(_release(language, sex=(1, 1), age=(0, 0))) as release:
        page = _told(release)
        assert not any(words in page for words in LEAST[language])
        assert {"en": "fixed levels", "de": "festgelegte Stufen"}[language] in page
        assert "sex 1, age 0" in page
        assert "proved" not in text(release.report)


@pytest.mark.parametrize("language", ["en", "de"])
def test_limited_levels_prove_least_within_their_limits(language) -> None:
    with closing(_release(language, sex=(1, 1))) as release:
        page = _told(release)
        assert not any(words in page for words in LEAST[language][:2])
        assert ALLOWED[language] in page
        assert "among the levels" in text(release.report)


def test_levels_that_limit_nothing_are_proved_as_ever() -> None:
    with closing(_release(sex=(0, 1))) as release:
        assert all(words in _told(release) for words in LEAST["en"])
        assert "(proved optimal)" in text(release.report)


def test_no_trade_off_without_a_choice() -> None:
    with closing(_release(sex=(1, 1), age=(0, 0))) as release:
        assert words_in()["report.trade_off_intro"] not in _told(release)
