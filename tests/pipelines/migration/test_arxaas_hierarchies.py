"""Hierarchies as ARXaaS builds them: the answers that its own documentation and tests state."""

from typing import Any

import pytest

from sfumato.errors import DataError
from sfumato.pipelines.migration.arxaas_hierarchies import build

NUMBERS = [str(number) for number in range(10)]
PAIRS = [{"level": 0, "groups": [{"grouping": 2, "label": None}]}]


def intervals(*ends: tuple[Any, Any, str | None], kind: str = "LONG", **more: Any) -> dict[str, Any]:
    listed = [{"from": start, "to": end, "label": label} for start, end, label in ends]
    return {"type": "intervalBased", "dataType": kind, "intervals": listed, "levels": PAIRS} | more


def test_redaction() -> None:
    builder = {"type": "redactionBased", "paddingCharacter": " ", "redactionCharacter": "*"}
    builder |= {"paddingOrder": "RIGHT_TO_LEFT", "redactionOrder": "RIGHT_TO_LEFT"}
    assert build(builder, ["81667", "81668"])[0] == ["81667", "8166*", "816**", "81***", "8****", "*****"]
    left = builder | {"redactionOrder": "LEFT_TO_RIGHT", "paddingOrder": "LEFT_TO_RIGHT"}
    assert build(left, ["12", "3"])[1] == ["3", "* ", "**"]


def test_labeled_intervals_and_groups_that_repeat() -> None:
    upper = {"snapFrom": 81, "bottomTopCodingFrom": 100, "minMaxValue": 2**61}
    labels = ((0, 2, "young"), (2, 4, "adult"), (4, 8, "old"), (8, 2**63 - 1, "very-old"))
    rows = build(intervals(*labels, upperRange=upper), NUMBERS)
    assert rows[0] == ["0", "young", "[0, 4[", "*"]
    assert rows[3] == ["3", "adult", "[0, 4[", "*"]
    assert rows[7] == ["7", "old", "[4, 8[", "*"]
    assert rows[9] == ["9", "very-old", "[8, 12[", "*"]


def test_the_last_group_ends_where_the_intervals_end() -> None:
    rows = build(intervals((0, 2, "young"), (2, 4, "adult"), (4, 9, "old")), ["3", "4", "8"])
    assert rows == [["3", "adult", "[0, 4[", "*"], ["4", "old", "[4, 8[", "*"], ["8", "old", "[8, 9[", "*"]]


def test_decimal_intervals() -> None:
    ends = ((0.0, 3.5, "young"), (3.5, 6.1, "adult"), (6.1, 900, "old"))
    rows = build(intervals(*ends, kind="DOUBLE"), ["3.3", "5", "7.232"])
    assert rows == [
        ["3.3", "young", "[0.0, 6.1[", "*"],
        ["5", "adult", "[0.0, 6.1[", "*"],
        ["7.232", "old", "[6.1, 12.2[", "*"],
    ]


def test_order() -> None:
    groups = [{"grouping": 3, "label": "nordic-city"}, {"grouping": 2, "label": "mid-european-city"}]
    levels = [{"level": 0, "groups": [group]} for group in groups]
    rows = build({"type": "orderBased", "levels": levels}, ["Oslo", "Bergen", "Stockholm", "London", "Paris"])
    assert rows[2:4] == [["Stockholm", "nordic-city", "*"], ["London", "mid-european-city", "*"]]


def test_dates() -> None:
    names = ["SECOND_MINUTE_HOUR_DAY_MONTH_YEAR", "MINUTE_HOUR_DAY_MONTH_YEAR", "HOUR_DAY_MONTH_YEAR", "DAY_MONTH_YEAR"]
    builder = {"type": "dateBased", "dateFormat": "yyyy-MM-dd HH:mm:SSS", "granularities": names}
    assert build(builder, ["2020-07-16 15:28:024"]) == [
        ["2020-07-16 15:28:024", "16.07.2020-15:28:00", "16.07.2020-15:28", "16.07.2020-15:00", "16.07.2020"]
    ]


WRONG: dict[str, tuple[dict[str, Any], list[str]]] = {
    "no builder": ({"type": "guess"}, ["a"]),
    "no interval": (intervals(), ["1"]),
    "a value outside": (intervals((0, 2, "young")), ["3"]),
    "a gap": (intervals((0, 2, None), (3, 4, None)), ["1"]),
    "no number": (intervals((0, 2, None)), ["x"]),
    "endless": (intervals((0, "Infinity", None)), ["1"]),
    "no size": ({"type": "orderBased", "levels": [{"level": 0, "groups": [{"grouping": 0}]}]}, ["a"]),
    "no date": ({"type": "dateBased", "dateFormat": "yyyy", "granularities": ["YEAR"]}, ["soon"]),
    "no format": ({"type": "dateBased", "dateFormat": "sdgsdgdf", "granularities": ["YEAR"]}, ["2020"]),
    "no granularity": ({"type": "dateBased", "dateFormat": "yyyy", "granularities": []}, ["2020"]),
    "two marks": ({"type": "redactionBased", "redactionCharacter": "**"}, ["a"]),
    "a level that is no number": (
        {"type": "orderBased", "levels": [{"level": "x", "groups": [{"grouping": 2}]}]},
        ["a"],
    ),
    "a level that is no mapping": ({"type": "orderBased", "levels": [["a"]]}, ["a"]),
    "levels that are no list": ({"type": "orderBased", "levels": -1}, ["a"]),
    "a group that is no mapping": ({"type": "orderBased", "levels": [{"level": 0, "groups": [2]}]}, ["a"]),
    "an interval that is none": ({"type": "intervalBased", "intervals": [None]}, ["1"]),
    "an interval without width": ({"type": "intervalBased", "intervals": [{"from": 5, "to": 5}]}, ["5"]),
    "an interval that goes back": ({"type": "intervalBased", "intervals": [{"from": 5, "to": 1}]}, ["3"]),
    "an upper range that is none": (
        {"type": "intervalBased", "intervals": [{"from": 0, "to": 9}], "upperRange": [1]},
        ["3"],
    ),
    "a value as long as a book": ({"type": "redactionBased"}, ["x" * 100_000]),
}


@pytest.mark.parametrize(("builder", "column"), WRONG.values(), ids=WRONG)
def test_what_fits_no_builder_is_refused(builder: dict[str, Any], column: list[str]) -> None:
    with pytest.raises(DataError):
        build(builder, column)


def test_groups_of_any_size_are_added_up_at_once() -> None:
    intervals = [{"from": 0, "to": 2}, {"from": 2, "to": 5}]
    groups = [{"grouping": 3, "label": None}, {"grouping": 10**12, "label": "rest"}]
    builder = {"type": "intervalBased", "intervals": intervals, "levels": [{"level": 0, "groups": groups}]}
    upper = {"upperRange": {"bottomTopCodingFrom": 100}}
    labels = [row[2] for row in build(builder | upper, ["1", "6", "8"])]
    assert labels == ["[0, 7[", "[0, 7[", "rest"]
