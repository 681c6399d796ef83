"""What columns beside suppressed cells, rates and narrow ranges disclose."""

import json

import pandas
import pytest

import sfumato as sf
from sfumato import audit
from sfumato.cli.main import run

# Columns next to suppressed cells are judged by their numbers, whatever they are called.

PLAN = {
    "version": 1,
    "table": {"value": "n"},
    "dimensions": {"area": {"column": "area"}, "sex": {"column": "sex"}},
    "primary": [{"rule": "range", "min": 1, "max": 3}],
}
COUNTS = {"a": (2, 31), "b": (3, 48), "c": (24, 17), "d": (41, 36), "e": (9, 66)}
HIDDEN = {("a", "m"), ("a", "f"), ("b", "m"), ("b", "f")}
POPULATION = {"Total": "9304", "a": "4012", "b": "977", "c": "1290", "d": "2650", "e": "375"}


def cells():
    sums = {(area, "Total"): m + f for area, (m, f) in COUNTS.items()}
    fine = {(area, sex): n for area, own in COUNTS.items() for sex, n in zip("mf", own, strict=True)}
    across = {("Total", sex): sum(n for (_, own), n in fine.items() if own == sex) for sex in "mf"}
    return {**sums, **fine, **across, ("Total", "Total"): sum(sums.values())}


def published(hide=HIDDEN, **more):
    """The table as it is published, with further columns computed from area, sex, the true count and its totals."""
    own = cells()
    rows = [
        {"area": area, "sex": sex, "n": "*" if (area, sex) in hide else str(n)}
        | {name: of(area, sex, n, own) for name, of in more.items()}
        for (area, sex), n in own.items()
    ]
    return pandas.DataFrame(rows)


TELLING = {
    "row percent": lambda area, sex, n, own: f"{100 * n / own[area, 'Total']:.1f}",
    "column percent": lambda area, sex, n, own: f"{100 * n / own['Total', sex]:.1f}",
    "percent of all": lambda area, sex, n, own: f"{100 * n / own['Total', 'Total']:.2f}",
    "the rest of the row": lambda area, sex, n, own: str(own[area, "Total"] - n),
    "n + 1": lambda area, sex, n, own: str(n + 1),
    "7 n": lambda area, sex, n, own: str(7 * n),
    "1000 - n": lambda area, sex, n, own: str(1000 - n),
    "n squared": lambda area, sex, n, own: str(n * n),
    "logarithm": lambda area, sex, n, own: f"{__import__('math').log(n):.6f}",
}
DRESSED = ["{}", "{} %", "n={}", "({})", "about {}", "{}*"]


@pytest.mark.parametrize("name", ["v2", "andel"])
@pytest.mark.parametrize("kind", TELLING)
def test_no_relation_passes_under_any_name(kind, name):
    assert audit(published(), PLAN).passed
    review = audit(published(**{name: TELLING[kind]}), PLAN)
    (found,) = review.unexplained
    assert not review.passed and found.name == name and found.code == "audit.unexplained_column"
    assert found.relation and {"area a, sex m", "area b, sex f"} <= set(found.cells)


@pytest.mark.parametrize("dress", DRESSED)
def test_texts_that_carry_numbers_are_read(dress):
    review = audit(published(v=lambda area, sex, n, own: dress.format(7 * n)), PLAN)
    assert [one.name for one in review.unexplained] == ["v"]


BARS = {
    "a sign each": lambda n: "#" * n,
    "half signs": lambda n: "█" * (n // 2) + "▌" * (n % 2),
    "small digits": lambda n: str(n).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")),
}


@pytest.mark.parametrize("kind", BARS)
def test_bars_and_small_digits_are_read(kind):
    review = audit(published(v=lambda area, sex, n, own: BARS[kind](n)), PLAN)
    assert [found.name for found in review.unexplained] == ["v"]
    assert audit(published(v=lambda area, sex, n, own: "#" * len(area + sex)), PLAN).passed


@pytest.mark.parametrize("kind", ["7 n", "n squared", "row percent"])
def test_a_small_table_proves_nothing_and_is_refused(kind):
    plan = PLAN | {"dimensions": {"area": {"column": "area"}}}
    own = {"a": 1, "b": 2, "c": 30, "Total": 33}
    of = {"7 n": lambda n: 7 * n, "n squared": lambda n: n * n, "row percent": lambda n: round(100 * n / 33)}[kind]
    rows = [{"area": area, "n": "*" if n < 3 else n, "v": of(n)} for area, n in own.items()]
    (found,) = audit(pandas.DataFrame(rows), plan).unexplained
    assert found.name == "v" and "harmless" in found.what


def test_a_column_of_chance_is_refused_until_it_is_named_harmless():
    frame = published(v=lambda area, sex, n, own: str(sum(map(ord, area * 3 + sex)) % 89))
    (found,) = audit(frame, PLAN).unexplained
    assert not found.relation and not found.cells
    assert audit(frame, PLAN, harmless=["v"]).passed
    assert audit(frame, PLAN | {"table": {"value": "n", "harmless": ["v"]}}).passed


@pytest.mark.parametrize(
    "of",
    [
        lambda area, sex, n, own: "2021",
        lambda area, sex, n, own: "" if (area, sex) in HIDDEN else f"{100 * n / own[area, 'Total']:.1f}",
        lambda area, sex, n, own: "low" if n < 9 else "high",
        lambda area, sex, n, own: POPULATION[area] if sex == "Total" else "",
    ],
    ids=["year", "shares of what is shown", "words", "population next to totals"],
)
def test_what_the_file_explains_passes(of):
    assert audit(published(v=of), PLAN).passed


FACTS = {
    "population": lambda m, f: 4012 * m % 977,
    "share of women": lambda m, f: f"{100 * f / (m + f):.1f}",
    "men for 100 women": lambda m, f: f"{100 * m / f:.1f}",
    "the larger part": max,
    "how far parts differ": lambda m, f: abs(m - f),
    "squared": lambda m, f: f * f,
}


@pytest.mark.parametrize("kind", FACTS)
def test_a_fact_of_each_area_may_be_computed_from_its_suppressed_parts(kind):
    """With the published total, the share of women is the number of women: no number says that a fact is none."""
    frame = published(v=lambda area, sex, n, own: str(FACTS[kind](own[area, "m"], own[area, "f"])))
    assert [one.name for one in audit(frame, PLAN).unexplained] == ["v"]
    assert audit(frame, PLAN, harmless=["v"]).passed


PARTS = {
    "women": lambda m, f: f,
    "share of women": lambda m, f: f"{100 * f / (m + f):.1f}",
    "women less men": lambda m, f: f - m,
    "men for 100 women": lambda m, f: f"{100 * m / f:.1f}",
}
MORE = {f"p{place}": (7 * place % 41 + 5, 11 * place % 37 + 8) for place in range(6)}


@pytest.mark.parametrize("kind", PARTS)
def test_numbers_next_to_totals_that_tell_their_suppressed_parts_do_not_pass(kind, monkeypatch):
    monkeypatch.setitem(globals(), "COUNTS", COUNTS | MORE)
    of = lambda area, sex, n, own: str(PARTS[kind](own[area, "m"], own[area, "f"])) if sex == "Total" else ""  # noqa: E731
    (found,) = audit(published(v=of), PLAN).unexplained
    assert found.name == "v" and {"area a, sex m", "area a, sex f"} & set(found.cells)


@pytest.mark.parametrize(
    "of",
    [
        lambda area, sex, n, own: str(own[area, "Total"]),
        lambda area, sex, n, own: f"{100 * n / own[area, 'Total']:.1f}" if (area, sex) != ("a", "Total") else "",
    ],
    ids=["the total as a fact of the area", "shares of the total"],
)
def test_columns_that_reveal_a_suppressed_total_do_not_pass(of):
    hide = HIDDEN | {("a", "Total"), ("b", "Total")}
    assert [one.name for one in audit(published(hide, v=of), PLAN).unexplained] == ["v"]


def test_a_part_of_each_area_as_a_fact_of_the_area_does_not_pass():
    (found,) = audit(published(women=lambda area, sex, n, own: str(own[area, "f"])), PLAN).unexplained
    assert found.name == "women"


def test_columns_that_the_plan_names_are_no_exceptions():
    plan = PLAN | {"table": {"value": "n", "frequency": "f"}, "method": {"name": "optimal", "cost": "c"}}
    frame = published(c=lambda area, sex, n, own: str(n), f=lambda area, sex, n, own: str(n))
    assert [one.name for one in audit(frame, plan).unexplained] == ["c"]
    ends = published(n_lower=lambda area, sex, n, own: str(n), n_upper=lambda area, sex, n, own: str(n))
    assert [one.name for one in audit(ends, PLAN).unexplained] == ["n_lower"]
    reasons = published(n_published=lambda area, sex, n, own: "*" if n < 9 else str(n))
    reasons["n_reason"] = [f"n={n}" for n in cells().values()]
    assert "n_reason" in [one.name for one in audit(reasons.drop(columns="n"), PLAN).unexplained]


def test_measures_that_are_audited_themselves_are_explained():
    other = {
        key: (7 * place * place) % 83 + 5 for place, key in enumerate(key for key in cells() if "Total" not in key)
    }
    staff = lambda area, sex, n, own: str(  # noqa: E731
        sum(m for (a, s), m in other.items() if area in (a, "Total") and sex in (s, "Total"))
    )
    frame, plans = published(staff=staff), [PLAN, PLAN | {"table": {"value": "staff"}}]
    assert [one.name for one in audit(frame, PLAN).unexplained] == ["staff"]
    assert audit([frame, frame], plans).unexplained == ()


def test_true_shares_next_to_rounded_counts_do_not_pass():
    plan = PLAN | {"method": {"name": "rounding", "kind": "deterministic", "base": 5}}
    exact = published(set(), v=TELLING["row percent"])
    exact["n"] = [str(5 * round(int(n) / 5)) for n in exact["n"]]
    assert [one.name for one in audit(exact, plan).unexplained] == ["v"]


@pytest.mark.parametrize("kind", PARTS)
def test_numbers_in_another_table_that_tell_suppressed_parts_do_not_pass(kind, monkeypatch):
    monkeypatch.setitem(globals(), "COUNTS", COUNTS | MORE)
    of = lambda area, sex, n, own: str(PARTS[kind](own[area, "m"], own[area, "f"]))  # noqa: E731
    areas = published(v=of).query("sex == 'Total'").drop(columns="sex")
    plans = [PLAN, PLAN | {"dimensions": {"area": {"column": "area"}}}]
    assert audit([published(), areas.drop(columns="v")], plans).unexplained == ()
    (found,) = audit([published(), areas], plans).unexplained
    assert found.name == "v" and {"area a, sex m", "area a, sex f"} & set(found.cells)


@pytest.mark.parametrize("text", ["{0} ({1})", "{0} +{1}", "{0}; {1} persons"])
def test_a_second_number_next_to_rounded_counts_does_not_pass(text):
    plan = PLAN | {"method": {"name": "rounding", "kind": "deterministic", "base": 5}}
    exact = published(set(), v=lambda area, sex, n, own: text.format(5 * round(n / 5), n))
    exact["n"] = [str(5 * round(int(n) / 5)) for n in exact["n"]]
    assert [one.name for one in audit(exact, plan).unexplained] == ["v"]


CASES = {
    "n_case": ("primary", "secondary", ""),
    "n_fallLang": ("Zu wenige oder zu dominante Auskunftgebende.", "Anonymisiert", ""),
    "Status": ("3", "11", "1"),
    "CONF_STATUS": ("A", "D", "F"),
}


@pytest.mark.parametrize("value", ["n", "n_published"])
@pytest.mark.parametrize("name", CASES)
def test_columns_that_tell_which_cells_are_sensitive_take_part_in_the_attack(name, value):
    """Of 5 = 1 + 4, the one that is not small is 4."""
    if (name, value) == ("n_fallLang", "n_published"):
        value = "n_korr"
    plan = PLAN | {"dimensions": {"area": {"column": "area"}}}
    frame = pandas.DataFrame({"area": ["Total", *"abc"], value: ["45", "*", "*", "40"]})
    assert audit(frame, plan).passed
    primary, secondary, shown = CASES[name]
    if "STATUS" in name.upper():  # one flag for all suppressed cells, as files of offices have
        assert audit(frame.assign(**{name: [shown, primary, primary, shown]}), plan).passed
    review = audit(frame.assign(**{name: [shown, primary, secondary, shown]}), plan)
    assert not review.passed and len(review.leaks) == 2 and review.by_cases


@pytest.mark.parametrize("ending", ["csv", "xlsx", "json", "parquet"])
def test_the_command_says_it_in_every_format(tmp_path, capsys, ending):
    frame = published(andel=TELLING["row percent"])
    path, plan = tmp_path / f"table.{ending}", tmp_path / "plan.json"
    plan.write_text(json.dumps(PLAN))
    write = {"csv": frame.to_csv, "xlsx": frame.to_excel, "parquet": frame.to_parquet}
    if ending == "json":
        path.write_text(frame.to_json(orient="records"))
    else:
        write[ending](path, index=False)
    assert run(["audit", str(path), "--plan", str(plan), "--json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["unexplained"]
    assert found["code"] == "audit.unexplained_column" and found["column"] == "andel"
    assert run(["audit", str(path), "--plan", str(plan), "--harmless", "andel", "--quiet"]) == 0


# A policy's clause on rates judges a column of shares by its numbers, whatever it is called and wherever it stands.

RATE_COUNTS = {
    "a": (3, 27, 40),
    "b": (5, 33, 28),
    "c": (19, 22, 61),
    "d": (44, 31, 17),
    "Total": (71, 113, 146),
}


def written(path, name, share, small=("a", "b")):
    """A table of which the first two counts of some areas are suppressed, with a share next to each total."""
    lines = [f"area,m,f,x,Total,{name}"]
    for area, counts in RATE_COUNTS.items():
        shown = [str(count) if area not in small or place == 2 else "*" for place, count in enumerate(counts)]
        text = share(counts, area in small)
        lines.append(",".join([area, *shown, str(sum(counts)), text]))
    path.write_text("\n".join(lines) + "\n")
    return str(path)


@pytest.mark.parametrize("name", ["v2", "andel", "share of Total", "x %"])
@pytest.mark.parametrize("of", [4, 1, None])
def test_shares_of_suppressed_counts_do_not_pass(tmp_path, name, of):
    """Of the row's total, of another count, of the column's total."""

    def share(counts, _):
        whole = 71 if of is None else (*counts, 0, sum(counts))[of]
        return f"{100 * counts[0] / whole:.1f} %"

    assert run(["check", written(tmp_path / "t.csv", name, share), "--policy", "cms-11", "--quiet"]) == 1


def test_shares_of_shown_counts_pass(tmp_path):
    def share(counts, _):
        return f"{100 * counts[2] / sum(counts):.1f} %"

    assert run(["check", written(tmp_path / "t.csv", "v2", share), "--policy", "cms-11", "--quiet"]) == 0


def test_shares_next_to_shown_counts_alone_pass(tmp_path):
    def share(counts, suppressed):
        return "*" if suppressed else f"{100 * counts[0] / sum(counts):.1f} %"

    assert run(["check", written(tmp_path / "t.csv", "v2", share), "--policy", "cms-11", "--quiet"]) == 0


# Ranges that end nearer than the rules ask: of the house's own tables and of published ones.

AREA = {"area": {"column": "area", "total": "Total"}}


def published_ranges(tmp_path, *texts, rule=None, **more):
    """The audit of a table of which the first line is the total."""
    lines = [f"{area},{text}" for area, text in zip(["Total", *"abcdef"], texts, strict=False)]
    (tmp_path / "table.csv").write_text("\n".join(["area,n", *lines]) + "\n")
    plan = {
        "version": 1,
        "table": {"value": "n"},
        "dimensions": AREA,
        "primary": [rule or {"rule": "frequency", "min": 4}],
    }
    return sf.audit(tmp_path / "table.csv", plan | more)


@pytest.mark.parametrize(
    ("texts", "narrow"),
    [
        (("20", "2-3", "*", "10"), 1),  # 2 needs 1 to 3, and 3 needs 2 to 4.
        (("20", "1-3", "*", "10"), 0),  # All that the rule calls sensitive.
        (("20", "1-2", "*", "10"), 0),  # 1 needs 1 to 2: nothing below is possible.
        (("20", "2-4", "*", "10"), 0),  # 4 is not sensitive.
        (("20", "≤3", "*", "10"), 0),
        (("14", "2-3", "*", "10"), 1),  # What is left of 4 may be 1.
    ],
)
def test_a_published_range_within_the_sensitive_values_is_too_narrow(tmp_path, texts, narrow):
    assert published_ranges(tmp_path, *texts).counts()["too_narrow"] == narrow


def test_it_does_not_matter_which_rule_calls_the_values_sensitive(tmp_path):
    assert (
        published_ranges(tmp_path, "20", "2-3", "*", "10", rule={"rule": "range", "min": 1, "max": 3}).too_narrow == 1
    )
    assert published_ranges(tmp_path, "60", "12-13", "*", "10", rule={"rule": "frequency", "min": 20}).too_narrow == 1
    wide = published_ranges(tmp_path, "20", "2-3", "*", "10", protection={"lower": 1, "upper": 0})
    assert wide.too_narrow == 0


def test_what_empty_cells_tell_anyway_is_no_finding(tmp_path):
    assert published_ranges(tmp_path, "3", "1-2", "1-2", "0").too_narrow == 0


def test_own_releases_pass(tmp_path):
    cells = pandas.DataFrame({"area": ["Total", *"abcdef"], "n": [33, 2, 3, 0, 1, 7, 20]})
    plan = {"version": 1, "table": {"value": "n"}, "dimensions": AREA, "primary": [{"rule": "frequency", "min": 4}]}
    sf.protect(cells, plan).save(tmp_path / "out")
    assert sf.audit(tmp_path / "out" / "table-external.csv", plan).passed


def test_the_report_lists_the_ends_that_are_nearer_than_asked():
    """A count of 1 must not be known within 1, and everyone knows that it is not 0: a zero would be printed."""
    cells = pandas.DataFrame({"area": ["Total", *"abcd"], "n": [24, 1, 0, 10, 13]})
    done = sf.protect(cells, value="n", dimensions=AREA, primary=[{"rule": "frequency", "min": 3}])
    (end,) = done.report["inherent_disclosure"]
    assert end == {"cell": "area a", "end": "lower", "requested": 1, "guaranteed": 0, "attacker": "everyone"}
    assert sf.audit(done).inherently_disclosed
