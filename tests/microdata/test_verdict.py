"""The verdict on counted rows: what a row of stars is, what an empty file keeps, what promises compare with."""

from collections.abc import Sequence

import numpy as np
import pytest

from sfumato.microdata.counts.frequency_table import ValueCounts
from sfumato.microdata.counts.persons import PersonCount
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.models.differential_privacy import DifferentialPrivacy
from sfumato.microdata.models.equivalence_classes import EquivalenceClasses, Histogram
from sfumato.microdata.models.k_anonymity import AlphaKAnonymity, KAnonymity, SetSizes
from sfumato.microdata.models.population_lists import DeltaPresence, KMap, Subset
from sfumato.microdata.models.re_identification_risk import AverageRisk, GlobalRisk, IndividualRisk
from sfumato.microdata.models.t_closeness import TCloseness
from sfumato.microdata.models.uniqueness import SampleUniqueness
from sfumato.microdata.verdict import Verdict, judge

Row = tuple[str | None, ...]


def counted(columns: Sequence[str], rows: Sequence[Row]) -> ValueCounts:
    """Rows as an engine counts them."""
    combinations = list(dict.fromkeys(rows))
    values = tuple(tuple(dict.fromkeys(row[place] for row in rows)) for place in range(len(columns)))
    codes = [[texts.index(text) for texts, text in zip(values, row, strict=True)] for row in combinations]
    counts = np.array([rows.count(row) for row in combinations], np.int64)
    return ValueCounts(tuple(columns), values, np.array(codes, np.int32).reshape(-1, len(columns)), counts, len(rows))


def test_no_row_keeps_no_promise() -> None:
    verdict = judge(counted(["q"], []), ["q"], [KAnonymity(1)])
    assert all(promise.satisfied for promise in verdict.promises)
    assert not verdict.satisfied


def test_a_generalized_value_is_no_wildcard() -> None:
    rows: list[Row] = [("*", "1"), ("a", "1"), ("a", "1")]
    verdict = judge(counted(["q", "r"], rows), ["q", "r"], [KAnonymity(2)], missing_matches=True)
    assert (verdict.promises[0].achieved, verdict.satisfied) == (1, False)


def test_a_missing_value_is_a_wildcard_and_a_star_row_matches_nothing() -> None:
    rows: list[Row] = [(None, "1"), ("a", "1"), ("*", "*"), ("*", "*")]
    table = counted(["q", "r"], rows)
    hidden = judge(table, ["q", "r"], [KAnonymity(2)], missing_matches=True)
    assert (hidden.promises[0].achieved, hidden.suppressed_rows, hidden.satisfied) == (2, 2, True)
    blank: list[Row] = [(None, None), *rows[2:]]
    alone = judge(counted(["q", "r"], blank), ["q", "r"], [KAnonymity(2)], missing_matches=True)
    assert (alone.promises[0].achieved, alone.satisfied) == (1, False)


def test_suppressed_rows_are_compared_with_the_raw_table_too() -> None:
    """Published shares are 5 to 3, the raw ones 1 to 1: star rows that are all of one value break t = 0.4."""
    rows: list[Row] = [("a", "x"), ("a", "y")] * 3 + [("*", "x"), ("*", "x")]
    raw = Histogram(np.array([0, 2]), np.array([0, 1], np.int32), np.array([5, 5]), 2, ("x", "y"))
    reference = EquivalenceClasses(np.array([10]), {"s": raw})
    for t, holds in ((0.5, True), (0.4, False)):
        verdict = judge(counted(["q", "s"], rows), ["q"], [TCloseness(t, "s")], reference=reference)
        assert verdict.satisfied is holds
    # Without the raw table the published shares are all there is: the star rows lie 0.375 away from them.
    assert judge(counted(["q", "s"], rows), ["q"], [TCloseness(0.38, "s")]).satisfied
    assert not judge(counted(["q", "s"], rows), ["q"], [TCloseness(0.37, "s")]).satisfied


def test_a_promise_says_what_it_was_compared_with() -> None:
    rows: list[Row] = [("a", "x"), ("a", "y")] * 3
    raw = Histogram(np.array([0, 2]), np.array([0, 1], np.int32), np.array([5, 5]), 2, ("x", "y"))
    known = EquivalenceClasses(np.array([10]), {"s": raw})
    for reference, against, compared in (
        (known, "both", "both"),
        (known, "raw", "raw"),
        (None, "both", "published"),
        (None, "raw", "nothing"),
    ):
        verdict = judge(
            counted(["q", "s"], rows), ["q"], [TCloseness(0.5, "s", reference=against)], reference=reference
        )
        assert verdict.promises[0].parameters["reference"] == compared


def test_sets_of_columns_are_judged_besides_all_of_them() -> None:
    """Each row stands twice; in one column alone `a` stands four times and `b` twice, in the other `1` five times."""
    rows: list[Row] = [("a", "1"), ("a", "2"), ("b", "1")] * 2 + [("c", "1")] * 2
    for sizes, holds in ((((1, 2),), True), (((1, 3),), False), (((1, 2), (2, 2)), True), (((2, 3),), False)):
        verdict = judge(counted(["q", "r"], rows), ["q", "r"], [KAnonymity(2, SetSizes(sizes))])
        assert verdict.satisfied is holds
        assert verdict.promises[0].parameters["subsets_achieved"] == {str(columns): 2 for columns, _ in sizes}


def test_values_are_compared_by_what_they_are_not_by_their_places() -> None:
    """The raw table has nine y and one x; of the published rows x stands first."""
    rows: list[Row] = [("a", "x")] + [("a", "y")] * 9
    raw = Histogram(np.array([0, 2]), np.array([0, 1], np.int32), np.array([9, 1]), 2, ("y", "x"))
    reference = EquivalenceClasses(np.array([10]), {"s": raw})
    promise = TCloseness(0.0, "s", reference="raw")
    verdict = judge(counted(["q", "s"], rows), ["q"], [promise], reference=reference)
    assert (verdict.promises[0].achieved, verdict.satisfied) == (0.0, True)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (TCloseness(0.5, "s", reference="raw"), "promised against the raw table alone"),
        (DeltaPresence(0.0, 1.0, Subset("s", "x")), "is about a list of persons"),
        (DifferentialPrivacy(1.0, 1e-6), "is about how the rows were drawn"),
        (IndividualRisk(1.0), "is about the weights of the rows"),
        (GlobalRisk(1.0), "is about the weights of the rows"),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_what_the_rows_do_not_tell_is_said_and_fails(model, words) -> None:
    rows: list[Row] = [("a", "x"), ("a", "y")] * 60
    verdict = judge(counted(["q", "s"], rows), ["q"], [model])
    assert words in verdict.faults[0]
    assert not verdict.satisfied


def test_what_is_known_is_not_called_unknown() -> None:
    rows: list[Row] = [("a", "x"), ("a", "y")] * 60
    raw = Histogram(np.array([0, 2]), np.array([0, 1], np.int32), np.array([60, 60]), 2, ("x", "y"))
    known = EquivalenceClasses(np.array([120]), {"s": raw})
    models = [DifferentialPrivacy(1.0, 1e-6), IndividualRisk(1.0, sampling_fraction=0.5)]
    assert judge(counted(["q", "s"], rows), ["q"], models, reference=known).faults == ()


@pytest.mark.parametrize(
    ("model", "holds"),
    [
        (AverageRisk(0.4), True),
        (AverageRisk(0.3), False),
        (SampleUniqueness(0.2), True),
        (SampleUniqueness(0.1), False),
    ],
    ids=str,
)
def test_a_promise_about_the_release_is_judged_by_all_classes(model, holds) -> None:
    """Two classes in five rows, one of them a single row."""
    verdict = judge(counted(["q"], [("a",)] * 4 + [("b",)]), ["q"], [model])
    assert (verdict.satisfied, verdict.faults) == (holds, ())


# Four rows of two persons, who are ill of the same, and three of three.
VISITS: list[Row] = [("a", "flu"), ("a", "flu"), ("a", "flu"), ("a", "cold"), ("b", "flu"), ("b", "cold"), ("b", "flu")]
VISITORS = [0, 0, 1, 1, 2, 3, 4]


def members() -> dict[str | None, PersonCount]:
    """The persons of each class, and with each illness."""
    counts: dict[str | None, PersonCount] = {}
    for name, columns in ((None, ["q"]), ("s", ["q", "s"])):
        entries = list(
            dict.fromkeys((row[: len(columns)], person) for row, person in zip(VISITS, VISITORS, strict=True))
        )
        table = counted(columns, [row for row, _ in entries])
        places = [[texts.index(text) for texts, text in zip(table.values, row, strict=True)] for row, _ in entries]
        ones = np.ones(len(entries), np.int64)
        each = ValueCounts(table.columns, table.values, np.array(places, np.int32), ones, len(entries))
        counts[name] = PersonCount(each, np.array([person for _, person in entries]))
    return counts


@pytest.mark.parametrize(
    ("model", "by_rows", "by_persons"),
    [(KAnonymity(2), (3, True), (2, True)), (KAnonymity(3), (3, True), (2, False))],
    ids=str,
)
def test_persons_are_counted_where_they_are_known(model, by_rows, by_persons) -> None:
    table = counted(["q", "s"], VISITS)
    for people, (reached, holds) in ((None, by_rows), (members(), by_persons)):
        verdict = judge(table, ["q"], [model], members=people)
        assert (verdict.promises[0].achieved, verdict.satisfied) == (reached, holds)


def test_shares_of_values_are_those_of_persons() -> None:
    """Three of four rows say flu; both persons have it, and one of them a cold, too."""
    table, model = counted(["q", "s"], VISITS), AlphaKAnonymity(alpha=0.7, k=1, column="s")
    rows, persons = (judge(table, ["q"], [model], members=people) for people in (None, members()))
    assert (rows.promises[0].achieved, rows.satisfied) == (pytest.approx(3 / 4), False)
    assert (persons.promises[0].achieved, persons.satisfied) == (1, False)


@pytest.mark.parametrize(("k", "holds"), [(9, True), (10, False)])
def test_a_population_stays_known_where_persons_are_counted(k, holds) -> None:
    model = KMap(k, DataPlan(source="people.csv"))
    population = {("a",): 9, ("b",): 30}
    verdict = judge(counted(["q", "s"], VISITS), ["q"], [model], persons=population, members=members())
    assert (verdict.promises[0].achieved, verdict.satisfied) == (9, holds)


def test_a_verdict_in_plain_values_says_what_was_judged_and_no_more() -> None:
    """As reports and jobs hand it over: a promise of no column names none, and nothing found is an empty list."""
    rows = counted(["q", "s"], [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")])
    verdict = judge(rows, ["q"], [KAnonymity(2), TCloseness(0.5, "s")])
    plain = verdict.to_dict()
    assert plain["models"][0] == {"model": "k-anonymity", "requested": 2, "achieved": 2, "satisfied": True}
    assert plain["models"][1]["column"] == "s"
    assert (plain["satisfied"], plain["rows"], plain["suppressed_rows"], plain["faults"]) == (True, 4, 0, [])
    assert plain["classes"] == {"count": 2, "smallest": 2, "largest": 2}
    # Unless something is said against it, nothing speaks against a release.
    assert Verdict(4, 0, 2, 2, 2, verdict.promises).to_dict() == plain
