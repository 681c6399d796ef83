"""What values are, and hierarchies for them that typing errors cannot ruin and whose every level changes something."""

import random
from collections import Counter
from datetime import date, timedelta

import pytest

from sfumato.hierarchies.registry import HIERARCHY
from sfumato.hierarchies.role_detection.content_detection import content_of, short_postcodes
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.roles import suggest
from sfumato.localization.messages import words_in
from sfumato.schema.composite import read

DAYS = [date(1950, 1, 1) + timedelta(days=7 * place) for place in range(800)]
LATER = [day + timedelta(days=9200) for day in DAYS]


def content(name, values, *concepts):
    return content_of(Profile(name, Counter(map(str, values)), len(values)), concepts)


def ladder(entry, values):
    return read(HIERARCHY, entry.hierarchy).fit(list(dict.fromkeys(map(str, values)))).hierarchy


@pytest.mark.parametrize(("name", "code"), [("CP", "{}"), ("CAP", "{}"), ("PC", "{} AB")])
def test_postcodes_under_a_short_word_have_steps_of_characters(name, code):
    """They were groups of numbers such as 30000-49999, which are no places, or numbers in the units AB and CD."""
    values = [code.format(1000 + place % 70 * 11) for place in range(600)]
    assert content(name, values).hierarchy["type"] == "digits"


@pytest.mark.parametrize(
    "values",
    [
        [f"{year}{month:02}" for year in range(2001, 2013) for month in range(1, 13)],
        [str(240101 + place) for place in range(300)],
        [f"{day:%y%m%d}" for day in DAYS[:6]],
        [str(100101 + place) for place in range(30)],
        [f"{year}{month:02}" for year in (2009, 2010) for month in range(1, 13)],
        [f"{2009 + place // 12}{place % 12 + 1:02}" for place in range(30)],
    ],
)
def test_months_after_years_and_numbers_in_a_row_are_no_dates_of_six_digits(values):
    assert content("x", values).kind != "dates"


@pytest.mark.parametrize(
    ("name", "values", "hierarchy"),
    [
        ("dob", [f"{day:%Y%m%d}" for day in DAYS], {"type": "date", "format": "%Y%m%d"}),
        ("x", [f"{day:%d.%m.%Y}" for day in DAYS], {"type": "date", "format": "%d.%m.%Y"}),
        ("x", [f"{day:%m/%d/%Y}" for day in DAYS], {"type": "date", "format": "%m/%d/%Y"}),
        ("x", [f"{day:%d %b %Y}" for day in DAYS], {"type": "date", "format": "%d %b %Y"}),
        ("x", [f"{day:%y%m%d}" for day in LATER], {"type": "date", "format": "%y%m%d"}),
        ("x", [f"{day:%d%m%y}" for day in LATER], {"type": "date", "format": "%d%m%y"}),
    ],
)
def test_dates(name, values, hierarchy):
    assert content(name, values).hierarchy == hierarchy | {"levels": ["month", "quarter", "year", "decade"]}


@pytest.mark.parametrize(
    ("name", "values", "hierarchy"),
    [
        ("plz", ["72021", "72022", "72107", "01067"], {"type": "digits", "length": 5, "shown": [4, 2]}),
        ("postcode", ["SW1A 1", "N19", "N17"], {"type": "digits"}),
        ("icd", ["E11", "E12", "J45", "J46"], {"type": "digits", "length": 3, "shown": [2]}),
        ("pain", ["High", "low", "Medium"], {"type": "order", "size": 2, "values": ["low", "Medium", "High"]}),
        ("color", ["red", "green"] * 9, {"type": "any"}),
        ("flag", ["0", "1"] * 9, {"type": "any"}),
        ("zz", ["0071", "0102", "0913"], {"type": "any"}),
    ],
)
def test_codes_scales_and_categories(name, values, hierarchy):
    concept = ["place"] if name == "plz" else []
    assert content(name, values, *concept).hierarchy == hierarchy


def test_letters_before_a_number_group_codes():
    entry = content("station", ["CARD-01", "CARD-02", "NEURO-01", "NEURO-7"])
    assert entry.hierarchy["parents"]["NEURO-7"] == "NEURO"


def test_two_typing_errors_do_not_ruin_the_years_of_birth():
    years = [*range(1971, 2021)] * 8 + [11, 18]
    entry = content("GEBURTSJAHR_HUND", years, "age")
    assert entry.rejected == ()
    assert entry.hierarchy == {"type": "intervals", "bottom": 1960, "end": 2039, "widths": [5, 10, 20]}
    labels = ladder(entry, years).labels
    assert len({*labels[1]} - {"<1960"}) >= 10
    assert ladder(entry, years).published("11", 1) == "<1960"


def test_a_sentinel_among_ages_is_coded_above():
    ages = [random.Random(1).randint(18, 95) for _ in range(500)] + [*range(18, 90)] * 3 + [999]
    entry = content("age", ages, "age")
    assert entry.kind == "ages"
    assert ladder(entry, ages).published("999", 1).startswith(">")
    assert len(ladder(entry, ages).labels[1]) > 12


def test_crowded_numbers_are_cut_at_quantiles():
    draw = random.Random(1)
    incomes = [int(draw.lognormvariate(10, 1)) for _ in range(3000)] + [40_000_000]
    entry = content("zz", incomes)
    level = ladder(entry, incomes)
    sizes = Counter(level.published(str(income), 1) for income in incomes)
    assert max(sizes.values()) < 0.2 * len(incomes)
    assert level.published("40000000", 1).startswith(">")


def test_zeros_have_an_interval_of_their_own():
    draw = random.Random(1)
    gains = [0] * 900 + [draw.randint(100, 20_000) for _ in range(100)]
    entry = content("zz", gains)
    assert ladder(entry, gains).published("0", 1) == "0"


def test_words_among_numbers_are_rejected_not_the_numbers():
    entry = content("age", [*(str(place % 70 + 18) for place in range(400)), "unclear"], "age")
    assert entry.kind == "ages"
    assert entry.rejected == ("unclear",)


def test_impossible_dates_are_rejected():
    entry = content("x", [f"{day:%Y%m%d}" for day in DAYS[:60]] + ["19911520"])
    assert entry.rejected == ("19911520",)


@pytest.mark.parametrize(("wrong", "concepts", "kind"), [(2, (), "dates"), (3, (), "whole"), (4, ("age",), "dates")])
def test_a_name_that_speaks_of_dates_forgives_more_of_them(wrong, concepts, kind):
    values = [f"{day:%Y%m%d}" for day in DAYS[: 20 - wrong]] + [f"1991{15 + place}20" for place in range(wrong)]
    assert content("x", values, *concepts).kind == kind


def test_dates_of_three_kinds_in_one_column_meet_on_the_same_labels():
    forms = ("%d.%m.%Y", "%Y-%m-%d", "%d/%m/%Y")
    values = [DAYS[place].strftime(forms[place % 3]) for place in range(len(DAYS))]
    entry = content("x", values)
    assert {entry.hierarchy["format"], *entry.hierarchy["formats"]} == {*forms}
    assert entry.rejected == ()
    same = ladder(entry, ["03.01.1971", "1971-01-04", "05/01/1971"])
    assert {same.published(value, 1) for value in ("03.01.1971", "1971-01-04", "05/01/1971")} == {"197101**"}


def test_day_and_month_are_never_both_first():
    values = [f"{day:%d/%m/%Y}" for day in DAYS] + ["05/30/1971"] * 20
    assert "formats" not in content("x", values).hierarchy


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("plz", [f"7207{place}" for place in range(10)] * 5),
        ("age", [*range(30, 48)] * 9),
        ("x", [f"{day:%Y-%m-%d}" for day in DAYS[:40]]),
        ("zz", [place / 8 for place in range(300)]),
    ],
)
def test_every_level_changes_something(name, values):
    entry = content(name, values, "age" if name == "age" else "place")
    texts = list(dict.fromkeys(map(str, values)))
    bound = ladder(entry, values)
    sizes = [len({bound.published(text, level) for text in texts}) for level in range(bound.height)]
    assert sizes == sorted({*sizes}, reverse=True)
    assert sizes[-1] == 1


def test_birth_dates_of_two_digits_lie_in_the_past():
    births = [f"{day:%d.%m.%y}" for day in DAYS]
    entry = content("birth", births, "age")
    assert entry.hierarchy["latest_year"] == date.today().year
    bound = ladder(entry, births)
    assert {bound.published(text, bound.height - 2) for text in births} == {"195*", "196*"}


def test_other_dates_of_two_digits_lie_not_far_ahead():
    entries = [f"{day:%d.%m.%y}" for day in DAYS]
    assert content("entry", entries, "date").hierarchy["latest_year"] == date.today().year + 20
    recent = [f"{day.replace(year=day.year + 60):%d.%m.%y}" for day in DAYS[:300] if (day.month, day.day) != (2, 29)]
    assert "latest_year" not in content("entry", recent, "date").hierarchy


def test_years_of_two_digits_are_those_around_years_of_four():
    """Whoever was born in 1930 and is written 5.3.30 was not born in 2030, though no name speaks of birth."""
    days = random.Random(4).sample([date(1930, 1, 1) + timedelta(days=20 * place) for place in range(1650)], 1650)
    texts = [f"{day:%d.%m.%Y}" if place % 3 else f"{day:%d.%m.%y}" for place, day in enumerate(days)]
    entry = content("entry", texts, "date")
    bound = ladder(entry, texts)
    short = {bound.published(text, bound.height - 2) for place, text in enumerate(texts) if not place % 3}
    assert short == {f"{decade}*" for decade in range(193, 203)}
    visits = [f"05.{month:02}.{year}" for year in (2019, 2020, 2021) for month in range(1, 13)]
    visits += [f"05.{month:02}.22" for month in range(1, 13)]
    bound = ladder(content("entry", visits, "date"), visits)
    assert {bound.published(text, bound.height - 2) for text in visits} == {"201*", "202*"}


@pytest.mark.parametrize("form", ["{}%", "€ {}", "{} EUR", "{:,}.50", "${:,}", "{} m²", "{} kg"])
def test_numbers_with_a_unit_have_intervals(form):
    entry = content("x", [form.format(number) for number in range(1000, 3000, 7)])
    assert entry.type == "amount" and entry.hierarchy["type"] == "intervals" and entry.rejected == ()


@pytest.mark.parametrize("form", ["T{}", "{}A", "{} / {}", "No. {}"])
def test_codes_are_no_numbers_with_a_unit(form):
    assert content("x", [form.format(number, number % 7) for number in range(300)]).type == "text"


def test_two_units_are_no_numbers():
    values = [f"{number} kg" for number in range(100)] + [f"{number} g" for number in range(100)]
    assert content("x", values).type == "text"


def test_postcodes_of_two_spellings_are_one_place() -> None:
    short = {f"275{place:02d}": 8 for place in range(10)}
    long = {f"275{place:02d}-{place + 1000}": 2 for place in range(10)}
    content = content_of(Profile("zip_code", short | long, rows=100), ["place"])
    assert content.hierarchy["type"] == "digits" and content.hierarchy["shown"][0] == 5 and not content.rejected
    dutch = {f"25{place:02d} AB": 5 for place in range(10)} | {f"25{place:02d}CD": 5 for place in range(10)}
    assert content_of(Profile("postcode", dutch, rows=100), ["place"]).hierarchy["shown"][0] == 4


def test_numbers_of_which_some_have_the_unit_of_the_others_are_numbers() -> None:
    counts = {f"{number} km": 3 for number in range(1, 60)} | {str(number): 3 for number in range(1, 40)}
    content = content_of(Profile("distance", counts, rows=sum(counts.values())))
    assert content.type == "amount" and content.hierarchy["type"] == "intervals"


def test_numbers_in_several_units_are_withheld_with_that_reason() -> None:
    counts = {f"{number} {unit}": 3 for number in range(1, 40) for unit in ("km", "mi")} | {"9": 3, "12": 3}
    suggestion = suggest(Profile("DistanceFromHome", counts, rows=sum(counts.values())))
    assert suggestion.role == "identifier" and suggestion.undecided
    assert "several units (km, mi)" in suggestion.reason and "Einheiten (km, mi)" in words_in("de").text(
        suggestion.reason
    )


def test_times_of_a_day_are_told_by_their_hours():
    times = Profile("opn_tijd", {f"{hour:02}:{minute:02}": 1 for hour in range(24) for minute in range(0, 60, 7)}, 216)
    suggestion = suggest(times)
    assert (suggestion.role, suggestion.hierarchy) == (
        "quasi-identifier",
        {"type": "digits", "length": 5, "shown": [2]},
    )
    moments = [f"{hour:02}:{minute:02}:{second}" for hour in range(24) for minute in range(60) for second in (10, 30)]
    seconds = Profile("x", dict.fromkeys(moments, 1), len(moments))
    assert suggest(seconds).hierarchy == {"type": "digits", "length": 8, "shown": [5, 2]}


def test_groups_of_ages_are_known_by_their_values():
    groups = Profile("v9", dict.fromkeys(("15-19", "20-24", "25-29", "30-34", "50+"), 40), 200)
    suggestion = suggest(groups)
    assert (suggestion.role, suggestion.concept) == ("quasi-identifier", "age")


def test_numbers_of_persons_are_known_in_one_word():
    numbers = Profile("patnr", {str(4_000_000 + 7919 * place): 3 for place in range(120)}, 360)
    assert suggest(numbers).role == "person"


def test_a_cap_of_round_sums_is_no_postcode():
    sums, codes = (
        Profile("cap", dict.fromkeys(texts, 99), 495)
        for texts in (("5000", "7500", "10000", "15000", "20000"), ("20121", "00185", "10100", "80133", "40126"))
    )
    assert [short_postcodes(one) for one in (sums, codes)] == [set(), {"cap"}]
