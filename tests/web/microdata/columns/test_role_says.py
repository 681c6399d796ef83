"""What the panel of a column says of its role follows the reason for it."""

from sfumato.hierarchies.role_detection.role_reasons import OWN_NUMBER, UNDECIDED
from sfumato.localization.messages import words_in
from sfumato.web.microdata.columns_table import role_says


def test_what_is_withheld_until_somebody_decides_names_nobody() -> None:
    words, plan = words_in(), {"role": "identifier"}
    assert role_says(words, plan, UNDECIDED + OWN_NUMBER) == words["columns.says.identifier.undecided"]
    assert role_says(words, plan, "Its values are keys.") == words["columns.says.identifier"]
    assert words["columns.says.identifier.undecided"] != words["columns.says.identifier"]
