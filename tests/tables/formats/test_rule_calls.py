"""Safety rules of batch files: those that call nothing unsafe, or cannot be meant, are refused with their line."""

import pytest

from refusals import coded
from sfumato.errors import DataError
from sfumato.tables.formats.batch_file import Command, rules_in, suppression_in

NONSENSE = (
    *("FREQ(-3,10)", "FREQ(3,-10)", "FREQ(0,10)", "FREQ(2.5,10)", "FREQ()", "FREQ(,10)", "FREQ(3,10,5)"),
    *("P(0,1)", "P(-5,1)", "P(1e9,1)", "P(100,1)", "P(15,0,1)", "P(15,10,1)", "P(15,0)", "P(15,1.5)", "P(15,1,1,1)"),
    *("NK(1,150)", "NK(0,50)", "NK(1,0)", "NK(1,100)", "NK(2)", "NK(-1,50)", "NK(1.5,50)"),
    *("ZERO(-1)", "REQ(-5,80,1,10)", "REQ(50,180,1,10)", "REQ(50,80,1,-1)", "WGT(2)", "MIS(-1)", "MAN(-20)"),
)
SENSE = (
    *("P(20,1)", "P(10)", "P(15,100,1)", "P(0,0)", "P(0)", "NK(2,85)", "NK(0,0)", "FREQ(3,30)", "FREQ(1)", "FREQ(0,0)"),
    *("ZERO(10)", "ZERO(0)", "REQ(50,80,1,10)", "REQ(0,0,0,0)", "REQ(50)", "WGT(0)", "WGT(1)", "MIS(1)", "MAN(15)"),
)


def command(rules):
    return Command("SAFETYRULE", rules, 4, 14)


@pytest.mark.parametrize("rule", NONSENSE)
def test_rules_that_cannot_be_meant_are_refused_with_line_and_column(rule):
    with pytest.raises(DataError, match=r"one\.arb, line 4, column 22: ") as caught:
        rules_in(command(f"P(10,1)|{rule}"), "one.arb")
    assert caught.value.hint


def test_rules_that_make_sense_are_read():
    rules = rules_in(command("|".join(SENSE)), "one.arb")
    assert [rule.name for rule in rules] == [text.partition("(")[0] for text in SENSE]


def test_a_bar_without_a_rule_is_refused_and_one_at_the_end_is_none():
    with pytest.raises(DataError, check=coded("data.batch.nothing_precedes_bar 4:22")):
        rules_in(command("P(10,1)||FREQ(3,10)"), "one.arb")
    assert len(rules_in(command("P(10,1)|FREQ(3,10)|"), "one.arb")) == 2


WRONG_WAYS = (
    *("OPT(1,-1)", "OPT(1,1,1)", "OPT(1.5,1)", "OPT(-1)", "GH(1,-5)", "GH(1,1,1,1,1)", "NET(1,2)", "CTA(1,2)"),
    *("RND(1)", "RND(1,0)", "RND(1,-5)", "RND(1,5,1.5)", "RND(1,5,0,-1)", "MOD(1,-1)", "CKM(1,2)"),
)


@pytest.mark.parametrize("way", WRONG_WAYS)
def test_ways_to_protect_with_numbers_that_cannot_be_meant_are_refused(way):
    with pytest.raises(DataError, check=coded("data.batch 4:14")):
        suppression_in(Command("SUPPRESS", way, 4, 14), "one.arb")


@pytest.mark.parametrize("way", ["OPT(1,5)", "OPT(1)", "GH(1,75,1,1)", "MOD(0)", "MOD(1,5,1,1,1)", "RND(1,5,0,10,0,1)"])
def test_ways_to_protect_are_read(way):
    assert suppression_in(Command("SUPPRESS", way, 4, 14), "one.arb").numbers[0] in (0.0, 1.0)
