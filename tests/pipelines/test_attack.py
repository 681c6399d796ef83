"""Attacks find every planted leak, and nothing in sound releases."""

import json

import jsonschema
import numpy as np
import polars as pl
import pytest

from refusals import refused
from sfumato import datasets
from sfumato.errors import DataError, PlanError
from sfumato.localization.messages import words_in
from sfumato.microdata.attacks.coded_rows import coded_rows
from sfumato.microdata.attacks.inference import infer
from sfumato.microdata.attacks.result import NOTHING_TRIED, AttackResult, Rate, judged_together
from sfumato.microdata.attacks.row_order import by_r
from sfumato.pipelines.attack import PARTS, STEPS, attack
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.report_folder import read_dossier
from sfumato.report.checks import attack_section, attack_text, page_of, summary
from sfumato.report.schema import external_schema
from sizes import size

ROWS = 1500
DIVERSE = {"model": "l-diversity", "variant": "distinct", "l": 2, "column": "salary-class"}
CLOSE = {"model": "t-closeness", "t": 0.3, "column": "salary-class"}


def census(seed: int, rows: int = ROWS) -> pl.DataFrame:
    return datasets.census(rows, seed).to_polars().with_columns(pl.col("age").cast(pl.String))


def plan(columns: dict[str, dict[str, str]] | None = None, **more: object) -> dict[str, object]:
    whole = datasets.census(10).plan("x.csv", k=10)
    whole.pop("data")
    whole["privacy"] += [DIVERSE, CLOSE]
    return whole | {"columns": whole["columns"] | (columns or {})} | more


@pytest.fixture(scope="module")
def raw():
    return census(1)


@pytest.fixture(scope="module")
def control():
    return census(2)


def found(report) -> set[str]:
    return {one.name for one in report.found}


def numbers(name: str, seed: int) -> pl.Series:
    return pl.Series(name, [str(number) for number in np.random.default_rng(seed).integers(20_000, 900_000, ROWS)])


@pytest.mark.parametrize("seed", range(size(1, 3)))
def test_sound_releases_are_not_accused(seed, raw, control) -> None:
    published = anonymize(raw, plan()).data
    report = attack(published, raw, control=control, plan=plan(), seed=seed, attempts=200)
    assert found(report) == set()
    assert report.highest == 0.0
    assert {one.name for one in report.attacks} == {"singling-out", "linking", "inference", "order"}


def test_many_sound_releases_are_not_accused() -> None:
    """All attacks on a release together may accuse one in a hundred; `bench/prove_attacks.py` asks 200 of them."""
    accused = 0
    for seed, method in enumerate(("optimal", "mondrian", "local", "optimal")):
        rows, others = census(10 + seed, 200), census(20 + seed, 200)
        sound = plan(method={"name": method})
        report = attack(anonymize(rows, sound).data, rows, control=others, plan=sound, seed=seed, attempts=100)
        accused += bool(report.found)
    assert accused == 0


def test_a_column_left_raw_is_found(raw, control) -> None:
    leaky = plan({"code": {"role": "insensitive"}})
    with_code, others = raw.with_columns(numbers("code", 1)), control.with_columns(numbers("code", 2))
    report = attack(anonymize(with_code, leaky).data, with_code, control=others, plan=leaky, attempts=200)
    assert "singling-out" in found(report)
    single = next(one for one in report.found if one.name == "singling-out")
    assert single.risk > 0.9 and "code" in single.details["columns"]


def test_unique_sensitive_numbers_are_found(raw, control) -> None:
    leaky = plan({"income": {"role": "sensitive"}})
    with_income, others = raw.with_columns(numbers("income", 1)), control.with_columns(numbers("income", 2))
    report = attack(anonymize(with_income, leaky).data, with_income, control=others, plan=leaky, attempts=200)
    assert "singling-out" in found(report)


@pytest.mark.parametrize("suppression", [0.0, 0.02])
def test_rows_shuffled_by_a_known_seed_are_found(suppression, raw, control) -> None:
    seeded = plan(seed=77, method={"name": "optimal", "suppression": suppression})
    report = attack(anonymize(raw, seeded).data, raw, control=control, plan=seeded, attempts=200)
    order = next(one for one in report.attacks if one.name == "order")
    assert order.evidence and order.variant.values["seed"] == 77


SHUFFLES = {
    "NumPy, pandas": lambda frame: frame[np.random.RandomState(42).permutation(ROWS)],
    "Polars": lambda frame: frame.sample(fraction=1.0, shuffle=True, seed=42),
    "R": lambda frame: frame[by_r(42, ROWS)],
}


@pytest.mark.parametrize("program", SHUFFLES)
def test_others_shuffles_are_found_too(program, raw, control) -> None:
    published = anonymize(raw, plan(output={"order": "keep"}, method={"name": "optimal", "suppression": 0.0})).data
    report = attack(SHUFFLES[program](published), raw, control=control, plan=plan(), attempts=20)
    order = next(one for one in report.attacks if one.name == "order")
    assert order.evidence and order.variant.values == {"seed": 42, "by": program}


def test_copies_are_found_without_a_plan(raw, control) -> None:
    known = [name for name in raw.columns if name != "salary-class"]
    report = attack(raw, raw, control=control, quasi_identifiers=known, sensitive=["salary-class"], attempts=200)
    assert {"singling-out", "linking", "inference", "order"} <= found(report)


def test_other_rows_of_the_same_kind_are_not_accused(raw, control) -> None:
    known = [name for name in raw.columns if name != "salary-class"]
    synthetic = census(3)
    report = attack(synthetic, raw, control=control, quasi_identifiers=known, sensitive=["salary-class"], attempts=200)
    assert found(report) == set()


def test_minimality(tmp_path) -> None:
    """After Wong et al. 2007: that the class was generalized tells that the two of q1 have what must not be told."""
    lines = ["q,sex,illness", *["q1,f,HIV", "q1,m,flu"] * 2, *["q2,f,flu", "q2,m,flu"] * 4]
    path = tmp_path / "raw.csv"
    path.write_text("\n".join(lines) + "\n")
    promise = {"model": "alpha-k-anonymity", "alpha": 0.5, "k": 1, "column": "illness", "values": ["HIV"]}
    asked = {
        "version": 1,
        "columns": {
            "q": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
            "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}, "max_level": 0},
            "illness": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 1}, promise],
        "method": {"name": "optimal", "suppression": 0.0},
    }
    folder = anonymize(path, asked).save(tmp_path / "release")
    others = tmp_path / "others.csv"
    others.write_text("\n".join([lines[0], *lines[5:]]) + "\n")
    report = attack(folder, path, control=others)
    leak = next(one for one in report.attacks if one.name == "minimality")
    assert leak.evidence and leak.certain >= 2


def test_two_releases_with_a_difference(raw, control, tmp_path) -> None:
    same = plan(method={"name": "optimal", "suppression": 0.0})
    later = anonymize(raw, same)
    path = tmp_path / "later.csv"
    later.data.write_csv(path)
    lines = path.read_text().splitlines()
    earlier = tmp_path / "earlier.csv"
    earlier.write_text("\n".join([lines[0], *lines[2:]]) + "\n")
    report = attack(path, raw, control=control, plan=same, earlier=earlier, attempts=50)
    difference = next(one for one in report.attacks if one.name == "differences")
    assert difference.evidence and difference.certain == 1


def test_without_a_control_the_plan_is_run_again(raw, tmp_path, sfumato) -> None:
    path = tmp_path / "raw.csv"
    raw.head(600).write_csv(path)
    folder = anonymize(path, plan()).save(tmp_path / "release")
    told: list[tuple[str, int, int]] = []
    report = attack(folder, path, attempts=100, progress=lambda *progress: told.append(progress))
    assert {"attack", "count", "search", "apply"} <= {stage for stage, _, _ in told}, "the plan is run again, too"
    shares = [done for stage, done, _ in told if stage == "attack"]
    assert shares == sorted(shares) and {step * PARTS for step in range(STEPS)} < {*shares}, "parts of steps, too"
    assert report.rerun and report.rows["control"] == 120 and report.rows["raw"] == 480
    assert "run again" in report.notes[0]
    answer = sfumato(
        "attack", str(folder), "--raw", str(path), "--attempts", "50", "--json", "--fail-above", "0.99", "--save"
    )
    assert answer.code == 0, answer.err
    assert json.loads(answer.out)["control"] == "rerun"
    figures = json.loads((folder / "attack.json").read_text())
    assert figures["attacks"] and json.loads((folder / "report.json").read_text())["attack"] == figures
    told = json.loads((folder / "report-external.json").read_text())["attack"]
    assert told == summary(figures) and "details" not in told
    for name in ("report.html", "report-external.html"):
        page = (folder / name).read_text()
        assert page.count(words_in()["attack.title"]) == 1 and page.rstrip().endswith("</html>")
    assert (folder / "report.json").stat().st_mode & 0o77 == 0
    again = sfumato("attack", str(folder), "--raw", str(path), "--attempts", "50", "--seed", "1", "--quiet", "--save")
    assert again.code == 0 and again.out, "results are printed quietly, too"
    assert (folder / "report.html").read_text().count(words_in()["attack.title"]) == 1
    assert not list(folder.glob(".*"))


def test_attacked_as_a_stage_of_the_release(raw, tmp_path, sfumato) -> None:
    raw.head(400).write_csv(tmp_path / "raw.csv")
    written = plan(data={"source": "raw.csv"}, language="de")
    (tmp_path / "plan.yaml").write_text(json.dumps(written))
    folder = tmp_path / "release"
    answer = sfumato("anonymize", str(tmp_path / "plan.yaml"), "--attack", "--out", str(folder), "--quiet")
    assert answer.code == 0, answer.err
    report = json.loads((folder / "report.json").read_text())
    assert report["attack"]["control"] == "rerun" and report["attack"]["rows"]["raw"] == 320
    assert words_in("de")["attack.title"] in (folder / "report.html").read_text()
    told = json.loads((folder / "report-external.json").read_text())
    jsonschema.validate(told, external_schema())
    assert told["attack"]["found"] == report["attack"]["found"]
    assert "attack" in read_dossier(folder).report.details


def test_a_folder_whose_plan_names_no_file_asks_for_the_raw_rows(raw, tmp_path, sfumato) -> None:
    folder = anonymize(raw.head(300), plan()).save(tmp_path / "release")
    answer = sfumato("attack", str(folder))
    assert answer.code == 2 and "--raw" in answer.err


def test_a_share_that_is_asked_for_decides_the_exit_code(raw, control, tmp_path, sfumato) -> None:
    paths = {name: tmp_path / f"{name}.csv" for name in ("raw", "control")}
    raw.head(400).write_csv(paths["raw"])
    control.head(400).write_csv(paths["control"])
    arguments = ("attack", str(paths["raw"]), "--raw", str(paths["raw"]), "--control", str(paths["control"]))
    assert sfumato(*arguments, "--attempts", "100").code == 0
    assert sfumato(*arguments, "--attempts", "100", "--fail-above", "0.05").code == 1
    assert sfumato("attack", str(paths["raw"]), "--raw", str(paths["raw"])).code == 2


def test_a_register_is_a_measure_of_its_own(raw, control) -> None:
    named = raw.with_columns(pl.Series("name", [f"n{place}" for place in range(ROWS)]))
    strangers = control.with_columns(pl.Series("name", [f"m{place}" for place in range(ROWS)]))
    register = pl.concat([named.head(200), strangers.head(200)]).drop("salary-class")
    report = attack(raw, named, control=strangers, register=register, attempts=50, sensitive=["salary-class"])
    linked = next(one for one in report.attacks if one.variant == "register")
    assert linked.attack.attempts == 200 and linked.control.attempts == 200
    assert linked.evidence


def test_a_release_of_stars_tells_nothing(raw, control) -> None:
    stars = raw.with_columns(pl.lit("*").alias(name) for name in raw.columns)
    report = attack(stars, raw, control=control, register=raw.head(5), sensitive=["salary-class"], attempts=20)
    assert found(report) == set()
    assert {"singling-out", "linking", "linking with a register"} <= {one.name for one in report.absences}


def test_the_report_in_words(raw, control) -> None:
    figures = attack(raw, raw, control=control, attempts=50).to_dict()
    json.dumps(figures, allow_nan=False)
    assert "attacks succeeded" in attack_text(figures) and "no proof" not in attack_text(figures)
    assert "Measured attacks" in page_of(figures)
    assert "Gemessene Angriffe" in attack_section(figures, words_in("de"))


def test_files_without_a_common_column_are_refused(raw) -> None:
    with pytest.raises(PlanError):
        attack(raw, pl.DataFrame({"other": ["1"]}), control=raw)


MONEY = {
    "version": 1,
    "data": {"source": "raw.csv", "separator": ";", "decimal": ","},
    "columns": {
        "name": {"role": "identifier"},
        "plz": {"role": "quasi-identifier", "hierarchy": {"type": "digits", "length": 5}, "min_level": 2},
        "lohn": {"role": "insensitive"},
    },
    "privacy": [{"model": "k-anonymity", "k": 2}],
}


def money(path, seed: int, mark: str = ",", separator: str = ";", rows: int = 60):
    """Persons with a wage, written with a decimal mark."""
    random = np.random.default_rng(seed)
    lines = [separator.join(("name", "plz", "lohn"))]
    for place in range(rows):
        wage = f"{random.integers(1000, 9000)}{mark}{random.integers(1, 9)}5"
        lines.append(separator.join((f"n{seed}-{place}", f"{10000 + place % 4 * 1000 + place}", wage)))
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(("mark", "separator"), [(",", ";"), (".", ";"), (".", ",")])
def test_a_register_is_compared_whatever_its_decimal_mark(mark, separator, tmp_path) -> None:
    raw, others = money(tmp_path / "raw.csv", 1), money(tmp_path / "others.csv", 2)
    (tmp_path / "plan.yaml").write_text(json.dumps(MONEY))
    folder = anonymize(raw, tmp_path / "plan.yaml").save(tmp_path / "release")
    lines = money(tmp_path / "known.csv", 1, mark, separator).read_text().splitlines()
    register = tmp_path / "register.csv"
    register.write_text("\n".join(line.split(separator, 1)[1] for line in lines) + "\n")
    report = attack(folder, raw, control=others, register=register, attempts=50)
    linked = next(one for one in report.attacks if one.variant == "register")
    assert (linked.attack.successes, linked.attack.attempts) == (60, 60)


@pytest.mark.parametrize("mark", [",", "."])
def test_a_file_is_compared_whatever_its_decimal_mark(mark, tmp_path) -> None:
    raw, others = money(tmp_path / "raw.csv", 1), money(tmp_path / "others.csv", 2)
    report = attack(money(tmp_path / "published.csv", 1, mark), raw, control=others, attempts=50)
    single = next(one for one in report.attacks if one.variant == "one column")
    assert single.attack.successes == 50 and "lohn" in single.details["columns"]


def test_a_register_of_strangers_is_not_comparable(tmp_path) -> None:
    raw, others = money(tmp_path / "raw.csv", 1), money(tmp_path / "others.csv", 2)
    report = attack(raw, raw, control=others, register=money(tmp_path / "register.csv", 3), attempts=50)
    linked = next(one for one in report.attacks if one.variant == "register")
    assert not linked.comparable and linked.verdict == "not applicable: no attempt was possible"
    assert "(register): not applicable" in attack_text(report.to_dict())
    assert "nicht anwendbar" in attack_section(report.to_dict(), words_in("de"))


@pytest.mark.parametrize("empty", ["release", "raw", "control", "register"])
def test_files_without_rows_are_refused(empty, tmp_path) -> None:
    names = {name: money(tmp_path / f"{name}.csv", seed) for seed, name in enumerate(("release", "raw", "control"))}
    names["register"] = money(tmp_path / "register.csv", 0)
    names[empty].write_text("name;plz;lohn\n")
    with pytest.raises(DataError, check=refused("error.data.no-rows.has_no_rows")):
        attack(names["release"], names["raw"], control=names["control"], register=names["register"], attempts=20)


@pytest.mark.parametrize("part", [1.0, 0.5])
def test_raw_rows_are_no_control(part, raw) -> None:
    with pytest.raises(PlanError, check=refused("error.plan.control.raw_rows")):
        attack(raw, raw, control=raw.sample(fraction=part, shuffle=True, seed=1), attempts=20)


def test_rows_sorted_by_a_date_that_is_withheld_are_found() -> None:
    random = np.random.default_rng(3)
    days = [f"{d}.{m}.{y}" for d, m, y in random.integers((1, 1, 2018), (28, 12, 2023), (400, 3)).tolist()]
    columns = {name: random.choice(list("abcdefgh"), 400) for name in ("ward", "kind")}
    raw = pl.DataFrame(columns | {"day": days})
    others = pl.DataFrame({name: random.choice(list("abcdefgh"), 400) for name in columns})
    order = sorted(range(400), key=lambda row: [int(part) for part in reversed(days[row].split("."))])
    report = attack(raw.drop("day")[order], raw, control=others, quasi_identifiers=["ward"], attempts=20)
    leak = next(one for one in report.attacks if one.name == "order")
    assert leak.evidence and leak.variant == "sorted by a raw column" and leak.attack.share > 0.9


@pytest.mark.parametrize("how", ["floored", "rounded", "noisy"])
def test_the_order_is_found_by_numbers_that_were_changed(how) -> None:
    random = np.random.default_rng(1)
    ages, wages = random.integers(0, 100, 300), random.integers(1000, 9000, 300)
    others = pl.DataFrame({"age": random.integers(0, 100, 300), "wage": random.integers(1000, 9000, 300)})
    shown = {
        "floored": (ages // 20 * 20, wages // 1000 * 1000),
        "rounded": ((ages / 10).round().astype(int) * 10, (wages / 500).round().astype(int) * 500),
        "noisy": (ages, wages + random.integers(-60, 60, 300)),
    }[how]
    published, strings = pl.DataFrame(dict(zip(("age", "wage"), shown, strict=True))), pl.all().cast(pl.String)
    raw = pl.DataFrame({"age": ages, "wage": wages})
    tables = [frame.with_columns(strings) for frame in (published, raw, others)]
    report = attack(tables[0], tables[1], control=tables[2], quasi_identifiers=["age", "wage"], attempts=20)
    order = next(one for one in report.attacks if one.name == "order")
    assert order.evidence and order.variant == "that of the raw file" and order.attack.share > 0.9
    mixed = tables[0].sample(fraction=1, shuffle=True, seed=987_654_321)  # one that nobody tries
    report = attack(mixed, tables[1], control=tables[2], quasi_identifiers=["age", "wage"], attempts=20)
    assert not next(one for one in report.attacks if one.name == "order").evidence


def patients(seed: int, rows: int = 400, visits: int = 1) -> pl.DataFrame:
    """Persons whose illness and drug have nothing to do with who they are."""
    random = np.random.default_rng(seed)
    columns = {
        "person": [f"p{seed}-{number}" for number in range(rows)],
        "age": random.integers(18, 98, rows).astype(str),
        "zip": [f"{region}{place:03d}" for region, place in random.integers((10, 0), (14, 40), (rows, 2)).tolist()],
        "work": random.choice(list("bcdefg"), rows),
        "illness": random.choice(list("abcde"), rows),
        "drug": random.choice(list("xyzuv"), rows),
    }
    return pl.concat([pl.DataFrame(columns)] * visits).sample(fraction=1.0, shuffle=True, seed=seed)


def hidden_patients(k: int = 5, role: str = "identifier", columns: tuple[str, ...] = ("illness",)) -> dict[str, object]:
    """A plan that hides each patient among k, with l and t for what is sensitive."""
    ages = {"type": "intervals", "start": 0, "end": 119, "widths": [10, 20, 40]}
    shown = {name: {"role": "sensitive" if name in columns else "identifier"} for name in ("illness", "drug")}
    promises = [
        promise | {"column": name}
        for name in columns
        for promise in ({"model": "l-diversity", "l": 2}, {"model": "t-closeness", "t": 0.6})
    ]
    return {
        "version": 1,
        "columns": {
            "person": {"role": role},
            "age": {"role": "quasi-identifier", "type": "integer", "hierarchy": ages},
            "zip": {"role": "quasi-identifier", "hierarchy": {"type": "digits", "length": 5}},
            "work": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
            **shown,
        },
        "privacy": [{"model": "k-anonymity", "k": k}, *promises],
        "method": {"name": "mondrian"},
    }


@pytest.mark.parametrize(
    ("asked", "visits"),
    [
        (hidden_patients(), 1),
        (hidden_patients(3), 1),
        (hidden_patients(columns=("illness", "drug")), 1),
        (hidden_patients(role="person"), 3),
    ],
    ids=["k 5", "k 3", "two sensitive columns", "three rows a person"],
)
def test_ones_own_row_in_a_small_class_accuses_nobody(asked, visits) -> None:
    """It makes a guess right twice as often as for who is not in the data, whatever is published."""
    raw, others = patients(1, visits=visits), patients(2, visits=visits)
    report = attack(anonymize(raw, asked), raw, control=others, attempts=400)
    nearest = next(one for one in report.attacks if one.variant == "illness: nearest rows")
    assert nearest.attack.share > 1.4 * nearest.control.share, "else this shows nothing"
    assert nearest.attack.attempts == 400, "one row of each person"
    assert found(report) == set()


def test_classes_of_one_value_are_found_without_ones_own_row() -> None:
    asked = hidden_patients()
    raw, others = patients(1), patients(2)
    published = anonymize(raw, asked | {"privacy": asked["privacy"][:1], "output": {"order": "keep"}}).data
    known = ["age", "zip", "work"]
    places = published.select(pl.struct(known).rank("dense").alias("place"))["place"]
    said = pl.Series("illness", ["abcde"[place * 7 % 5] for place in places.to_list()])
    shuffled = published.with_columns(said).sample(fraction=1.0, shuffle=True, seed=987654)
    report = attack(shuffled, raw.with_columns(said), control=others, plan=asked, attempts=400)
    assert {one.variant for one in report.found} == {"illness: nearest rows", "illness: boosted trees"}


def test_who_knows_other_sensitive_values_is_told_of_and_accuses_nobody() -> None:
    asked = hidden_patients(columns=("illness", "drug"))
    raw = patients(1)
    report = attack(anonymize(raw, asked), raw, control=patients(2), attempts=400)
    more = [one for one in report.attacks if one.variant.endswith("other sensitive values known too")]
    assert [one.details["column"] for one in more] == ["illness", "drug"]
    assert all(one.evidence and not one.counted and one.remark for one in more)
    assert "andere sensible Werte auch bekannt" in attack_section(report.to_dict(), words_in("de"))


def test_a_column_in_words_of_its_own_hides_no_order() -> None:
    draw = np.random.default_rng(4)
    chosen = {"school": ["primary", "middle", "high"], "year": range(1950, 2010), "ill": ["flu", "cold", "none"]}
    raw, control = (pl.DataFrame({name: draw.choice(of, 300) for name, of in chosen.items()}) for _ in range(2))
    published = raw.with_columns(pl.col("school").replace({"primary": "low", "middle": "low", "high": "upper"}))
    report = attack(published, raw, control=control, sensitive=["ill"], attempts=100)
    assert "order" in found(report)
    assert "school" in report.notes[0]


def incomes(seed: int, rows: int = 600) -> pl.DataFrame:
    """Incomes that the district tells, so that what is published of neighbors tells one's own."""
    random = np.random.default_rng(seed)
    district = random.integers(0, 60, rows)
    income = 700 + 160.0 * district + random.uniform(-20, 20, rows)
    return pl.DataFrame(
        {
            "district": [str(10_000 + number) for number in district],
            "income": [f"{number:.2f}" for number in income],
        }
    )


@pytest.mark.parametrize(
    "published",
    [
        {"round": 50},
        {"round": 50, "bottom": 1000, "top": 9200},
        {"round": 50, "top": 9200},
        {"bin": 100, "bottom": 1000},
    ],
)
def test_numbers_coded_at_their_ends_are_inferred_as_others_are(published) -> None:
    rows = incomes(1)
    hidden = {
        "version": 1,
        "columns": {
            "district": {"role": "quasi-identifier", "hierarchy": {"type": "digits", "length": 5}},
            "income": {"role": "sensitive", "publish": published},
        },
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "method": {"name": "optimal", "suppression": 0.05},
    }
    report = attack(anonymize(rows, hidden), rows, control=incomes(2), attempts=300)
    asked = next(one for one in report.attacks if one.variant == "income: nearest rows")
    assert asked.attack.share > 0.9
    assert not report.notes


def test_the_guesser_of_numbers_is_as_tolerant_as_the_attack() -> None:
    """Who always says the same number is right about all that are near it, or beyond the same end."""
    rows = {"income": [f"{1990 + place}.5" for place in range(40)], "group": ["a"] * 40}
    coded = coded_rows({**rows, "income": ["2000"] * 40}, rows, rows, ["group"], ["income"])
    asked = infer(coded, 40, np.random.default_rng(0), 5)[0]
    assert asked.baseline.share == asked.attack.share == 1.0


def test_ranges_of_too_many_numbers_for_a_table_are_inferred_too(monkeypatch) -> None:
    """Whether a table of labels by values is made decides how they are compared, not whether."""
    monkeypatch.setattr("sfumato.microdata.attacks.coded_rows.MOST_PAIRS", 100)
    random = np.random.default_rng(0)
    group = random.integers(0, 20, 400)
    income = 1000 * group + random.uniform(0, 999, 400)
    rows = {"group": [str(one) for one in group], "income": [f"{one:.2f}" for one in income]}
    bins = [f"[{one}000, {one + 1}000)" if one else "<1000" for one in group.tolist()]
    asked = infer(coded_rows({**rows, "income": bins}, rows, rows, ["group"], ["income"]), 100, random, 5)[0]
    assert asked.attack.share == 1.0
    assert 0.02 < asked.baseline.share < 0.15


def test_a_sensitive_column_in_words_of_its_own_is_not_comparable_and_not_counted() -> None:
    rows = {"group": [str(place % 8) for place in range(80)], "ill": [f"code {place % 4}" for place in range(80)]}
    named = ["a word" if place % 4 else "another" for place in range(80)]
    coded = coded_rows({**rows, "ill": named}, rows, rows, ["group"], ["ill"])
    attacks = judged_together(infer(coded, 40, np.random.default_rng(0), 5))
    assert attacks and not any(one.comparable for one in attacks)
    assert {one.verdict for one in attacks} == {NOTHING_TRIED}
    assert judged_together((*attacks * 50, ALMOST))[-1].evidence == judged_together((ALMOST,))[0].evidence is True


# Evidence by itself, and none among fifty others.
ALMOST = AttackResult("inference", "nearest rows", Rate(40, 100), Rate(18, 100), Rate(18, 100))
