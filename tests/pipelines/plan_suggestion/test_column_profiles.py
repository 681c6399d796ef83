"""Which texts mean that nothing is there."""

from sfumato.pipelines.suggest import missing_words

INCOMES = {f"{900 + 13 * place} EUR": 1 for place in range(80)}


def test_a_few_words_among_numbers_mean_that_nothing_is_there():
    assert missing_words({"income": INCOMES | {"refus": 5, "n.d.": 2}}) == ["n.d.", "refus"]


def test_a_word_that_another_column_holds_is_a_value():
    decisions = {"refus": 40, "accord": 60}
    assert missing_words({"income": INCOMES | {"refus": 5}, "decision": decisions}) == []


def test_a_word_among_a_few_numbers_is_a_value():
    assert missing_words({"children": {"none": 30, "1": 20, "2": 10, "3": 4}}) == []
