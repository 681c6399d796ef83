"""Options of WRITETABLE, and levels by digits: what cannot be meant is refused while it is read."""

from typing import get_args

import pytest

from refusals import coded
from sfumato.errors import DataError
from sfumato.tables.formats import BY_NAME, FORMATS, format_of
from sfumato.tables.formats.batch_file import Command, output_in
from sfumato.tables.formats.metadata import parse_metadata
from sfumato.tables.plan.table_plan import OfficeFile


def asked(kind, options):
    return output_in(Command("WRITETABLE", f'(1, {kind}, {options}, "a.txt")', 9, 14), "one.arb")


@pytest.mark.parametrize(
    ("kind", "options", "what"),
    [
        (7, "AO+AD+AC", "option_sign"),
        (3, "AS", "option_sign"),
        (3, "XX+", "unknown_option"),
        (1, "AS+", "idle_option"),
        *[(kind, f"{option}+", "idle_option") for kind in range(1, 7) for option in ("AO", "AD", "AC")],
    ],
)
def test_options_that_say_nothing_are_refused_with_their_line(kind, options, what):
    with pytest.raises(DataError, check=coded(f"parameter.{what} 9:14")) as caught:
        asked(kind, options)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("kind", "options"),
    [(1, "QU-"), (2, "AS+"), (3, "AS+FL+SE+"), (4, "HL+"), (5, "AR+HI+"), (6, "TR+"), (7, "AO+AD+AC+"), (1, "AS-")],
)
def test_options_of_a_kind_are_read(kind, options):
    assert asked(kind, options).kind == kind


@pytest.mark.parametrize("levels", ["1 1", "3 1", "2 -1 2", "1.5 1.5", "0 0"])
def test_levels_that_do_not_fit_the_width_of_the_code_are_refused(levels):
    lines = ["nace 1 3", "  <RECODEABLE>", "  <HIERARCHICAL>", f"  <HIERLEVELS> {levels}"]
    with pytest.raises(DataError, match=r"a\.rda, line 4, column \d+: "):
        parse_metadata(lines, "a.rda")


def test_levels_that_fit_are_read():
    lines = ["nace 1 3", "  <RECODEABLE>", "  <HIERARCHICAL>", "  <HIERLEVELS> 2 1 0"]
    assert parse_metadata(lines, "a.rda").variables[0].options["HIERLEVELS"] == ("2", "1", "0")


def test_every_file_that_a_plan_may_ask_for_has_a_format_and_a_writer():
    names = get_args(OfficeFile)
    assert set(names) <= set(BY_NAME)
    assert all(bool(BY_NAME[name].written) != (name == "tab") for name in names)
    assert all(not one.content or format_of(f"a{one.suffix.upper()}") is one for one in FORMATS)
