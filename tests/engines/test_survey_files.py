"""What packages of statistics cannot label is refused with a sentence that says so."""

import pytest

from sfumato.engines.survey_files import SurveyLabels, write_survey
from sfumato.errors import DataError

pytest.importorskip("pyreadstat")
LABELS = SurveyLabels({}, {"frac": {"1.5": "one and a half"}})


def test_stata_labels_whole_numbers_alone(tmp_path) -> None:
    with pytest.raises(DataError, match='"frac": Stata labels whole numbers'):
        write_survey({"frac": ["1.5", "1.5"]}, LABELS, tmp_path / "rows.dta")
    assert not (tmp_path / "rows.dta").exists()
    write_survey({"frac": ["1.5", "1.5"]}, LABELS, tmp_path / "rows.sav")
    assert (tmp_path / "rows.sav").stat().st_size
