"""A release is refused where a further column tells what a generalized quasi-identifier hides."""

import random
from functools import partial

import polars as pl
import pytest

import sfumato as sf
from sfumato.errors import UnattainableError
from sfumato.microdata.release_check.finer_labels import finer_labels
from sfumato.pipelines.apply import apply
from sfumato.report.checks import verdict_text
from sfumato.report.release.report import text

TOWNS = {"type": "tree", "parents": {f"town {number}": f"county {number // 3}" for number in range(9)}}
ROWS = 1500
AGES = {"type": "intervals", "start": 20, "end": 99, "widths": [5, 10, 20, 40]}


def crashes(rows: int = ROWS) -> pl.DataFrame:
    """Rows of persons in cars: whether an airbag was there, and what became of it, which says whether it was there."""
    draw = random.Random(5)
    airbags = [draw.random() < 0.55 for _ in range(rows)]
    return pl.DataFrame(
        {
            "age": [20 + int(60 * draw.random() ** 2) for _ in range(rows)],
            "airbag": ["airbag" if there else "none" for there in airbags],
            "year": [str(draw.randint(1997, 2002)) for _ in range(rows)],
            "town": [f"town {int(9 * draw.random() ** 2)}" for _ in range(rows)],
            "opened": [draw.choice(("yes", "no")) if there else "unavailable" for there in airbags],
            "injury": [str(draw.randint(0, 4)) for _ in range(rows)],
        }
    )


def plan(method: str = "local", role: str = "sensitive", **further: object) -> dict[str, object]:
    known = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
    return {
        "version": 1,
        "columns": {
            "age": {"role": "quasi-identifier", "type": "integer", "hierarchy": AGES},
            # An airbag costs least, so that it is what rows are published without.
            "airbag": {**known, **({"importance": 0.1} if method == "local-suppression" else {"weight": 0.1})},
            "year": known,
            "town": {"role": "quasi-identifier", "hierarchy": TOWNS},
            "opened": {"role": role},
            "injury": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 5}],
        "method": {"name": method},
        "seed": 3,
        **further,
    }


@pytest.mark.parametrize(
    ("method", "role"), [("local", "sensitive"), ("local", "insensitive"), ("local-suppression", "sensitive")]
)
def test_a_column_that_determines_a_quasi_identifier_stops_the_release(method, role) -> None:
    with pytest.raises(UnattainableError) as caught:
        sf.anonymize(crashes(600 if method == "local-suppression" else ROWS), plan(method, role))
    assert caught.value.message == 'An attacker infers "airbag" from "opened". k-anonymity then reaches 1, not 5.'
    assert '"opened"' in caught.value.hint
    assert caught.value.code == "unattainable.inference"


def test_with_warn_every_face_says_that_the_guarantee_fails(tmp_path, sfumato) -> None:
    release = sf.anonymize(crashes(), plan(on_inference="warn"))
    assert not release.report.satisfied
    assert "DOES NOT HOLD" in text(release.report).splitlines()[0]
    assert "DOES NOT HOLD" in repr(release)
    folder = release.save(tmp_path / "release")
    outside = (folder / "report-external.json").read_text()
    assert '"satisfied": false' in outside
    assert 'An attacker infers \\"airbag\\" from \\"opened\\".' in outside
    assert '<div class="verdict bad">' in (folder / "report-external.html").read_text()
    ran = sfumato("verify", folder)
    assert ran.code == 1
    assert "DOES NOT HOLD" in ran.out
    verdict = sf.verify(pl.read_csv(folder / "data.csv", infer_schema=False), plan(on_inference="warn"))
    assert not verdict.satisfied


@pytest.mark.parametrize("engine", ["frames", "duckdb"])
def test_engines_agree(engine, tmp_path) -> None:
    data: object = crashes()
    if engine == "duckdb":
        crashes().write_csv(tmp_path / "data.csv")
        data = tmp_path / "data.csv"
    release = sf.anonymize(data, plan(on_inference="warn"), engine=engine)
    assert release.report.details["release_check"]["inferences"][0]["columns"] == ["opened"]


def test_a_column_that_tells_nothing_passes() -> None:
    columns = {**plan()["columns"], "opened": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}}  # type: ignore[dict-item]
    release = sf.anonymize(crashes(), {**plan(), "columns": columns})
    assert release.report.satisfied
    assert sf.verify(release).satisfied


def test_one_value_may_tell_though_its_column_does_not() -> None:
    rows = crashes()
    opened = pl.when(pl.col("airbag") == "none").then(pl.lit("?")).otherwise(pl.col("opened")).alias("opened")
    told = rows.with_columns(
        pl.when(pl.col("opened") == "yes").then(pl.lit("yes")).otherwise(pl.lit("?")).alias("opened")
    )
    assert rows.with_columns(opened)["opened"].n_unique() == 3
    with pytest.raises(UnattainableError, match='"airbag" from "opened"'):
        sf.anonymize(told, plan())


def test_a_value_tells_that_never_stands_with_a_finer_label() -> None:
    """Where the bag opened, none of the labels shown is the true one: classes part by that as by the label itself."""
    draw = random.Random(4)
    ages = [20 + draw.randint(0, 59) for _ in range(ROWS)]
    kinds = [draw.choice(("opened", "closed", "none", "none")) for _ in range(ROWS)]
    published = pl.DataFrame(
        {
            "age": [f"{age // 20 * 20}-{age // 20 * 20 + 19}" for age in ages],
            "airbag": ["none" if kind == "none" else "*" for kind in kinds],
            "year": ["*"] * ROWS,
            "town": ["*"] * ROWS,
            "opened": ["1" if kind == "opened" else "0" for kind in kinds],
            "injury": ["0"] * ROWS,
        }
    )
    asked = plan(privacy=[{"model": "k-anonymity", "k": 150}])
    verdict = sf.verify(published, asked)
    assert verdict.faults[0] == 'An attacker infers "airbag" from "opened".'


def test_suggest_proposes_what_passes() -> None:
    """A yes or no that tells a category of a quasi-identifier for certain is not published next to it."""
    rows = (
        crashes()
        .rename({"airbag": "bag", "opened": "state"})
        .with_columns(deployed=pl.when(pl.col("state") == "yes").then(1).otherwise(0))
    )
    assert sf.anonymize(rows, sf.suggest(rows)).report.satisfied


def test_a_column_nearly_tells_where_19_of_20_rows_agree() -> None:
    draw = random.Random(1)
    rows = crashes()
    noisy = [draw.choice(("yes", "no", "unavailable")) if draw.random() < 0.02 else text for text in rows["opened"]]
    with pytest.raises(UnattainableError, match='"airbag" from "opened"'):
        sf.anonymize(rows.with_columns(pl.Series("opened", noisy)), plan())


def test_two_columns_together_may_tell() -> None:
    draw = random.Random(2)
    keys = [draw.randint(0, 1) for _ in range(ROWS)]
    rows = crashes().with_columns(pl.Series("injury", [str(key) for key in keys]))
    mixed = [str((there == "airbag") ^ key) for there, key in zip(rows["airbag"], keys, strict=True)]
    with pytest.raises(UnattainableError, match='"airbag" from "opened" and "injury"'):
        sf.anonymize(rows.with_columns(pl.Series("opened", mixed)), plan())


def test_suppressed_rows_are_read_back_too() -> None:
    old = crashes(8).with_columns(age=pl.Series([99] * 8))
    rows = pl.concat([crashes(), old]).with_columns(opened=pl.col("year"))
    columns = plan(output={"suppressed": "star"}) | {"method": {"name": "optimal", "suppression": {"rows": 8}}}
    with pytest.raises(UnattainableError, match='"year" from "opened"'):
        sf.anonymize(rows, columns)


def test_persons_are_counted_where_the_plan_names_them() -> None:
    rows = crashes().with_columns(who=pl.Series([str(row // 2) for row in range(ROWS)]))
    columns = {**plan()["columns"], "who": {"role": "person"}}  # type: ignore[dict-item]
    with pytest.raises(UnattainableError, match='"airbag" from "opened"'):
        sf.anonymize(rows, {**plan(), "columns": columns})


@pytest.mark.parametrize(
    ("label", "finer", "other"),
    [
        ("*", "x", None),
        ("30-39", "31", "40"),
        ("[1–9]", "[2–3]", "[5–12]"),
        ("{a, b}", "a", "c"),
        ("72***", "7202*", "8"),
    ],
)
def test_labels_are_understood(label, finer, other) -> None:
    assert finer_labels([label, finer, other])[0].tolist() == [False, True, label == "*"]


def test_what_was_not_looked_at_is_named(monkeypatch) -> None:
    """Of many rows no pairs of further columns are read, of many labels only `*`: the findings say so."""
    monkeypatch.setattr("sfumato.pipelines.release_stages.release_check.MOST_AT_ONCE", 10)
    monkeypatch.setattr("sfumato.pipelines.release_stages.release_check.MOST_LABELS", 3)
    release = sf.anonymize(crashes(), plan(on_inference="warn"))
    unchecked = release.report.details["release_check"]["unchecked"]
    assert any('"opened" and "injury" tell together' in sentence for sentence in unchecked)
    assert any('"age"' in sentence for sentence in unchecked)
    verdict = sf.verify(release)
    for face in (text(release.report), verdict_text(verdict)):
        assert all(sentence in face for sentence in unchecked)
    assert verdict.to_dict()["unchecked"] == unchecked


@pytest.mark.parametrize("on_inference", ["refuse", "warn"])
def test_a_recoding_applied_to_rows_whose_columns_tell_is_checked_alike(tmp_path, on_inference) -> None:
    draw = random.Random(6)
    answers = pl.Series("opened", [draw.choice(("yes", "no", "unavailable")) for _ in range(ROWS)])
    out = sf.anonymize(crashes().with_columns(answers), plan(on_inference=on_inference)).save(tmp_path / "release")
    crashes().write_csv(tmp_path / "later.csv")
    run = partial(apply, out / "recoding.json", tmp_path / "later.csv", tmp_path / "applied")
    if on_inference == "warn":
        assert 'An attacker infers "airbag" from "opened".' in run().text()
        return
    with pytest.raises(UnattainableError) as refused:
        run()
    assert refused.value.code == "unattainable.inference" and not (tmp_path / "applied").exists()


def test_whether_a_column_is_filled_may_tell() -> None:
    """Half of the airbags have a time, of few rows each; the empty fields say nothing."""
    draw = random.Random(7)
    rows = crashes()
    times = [
        str(draw.randint(1, 200)) if there == "airbag" and draw.random() < 0.5 else None for there in rows["airbag"]
    ]
    with pytest.raises(UnattainableError, match='"airbag" from "opened"'):
        sf.anonymize(rows.with_columns(pl.Series("opened", times)), plan())


@pytest.mark.parametrize("told", ["one", "all"])
def test_raw_rows_confirm_a_rule_that_few_published_rows_suggest(told) -> None:
    """In a small file an attacker guesses from a row or two, and is right: one value, or a column coded otherwise."""
    draw = random.Random(8)
    rows = crashes(60)
    codes = {"airbag": "yes", "none": "no"}
    opened = [codes[there] if told == "all" or there == "airbag" else draw.choice("xyz") for there in rows["airbag"]]
    rows = rows.with_columns(pl.Series("opened", opened))
    with pytest.raises(UnattainableError, match='"airbag" from "opened"'):
        sf.anonymize(rows, plan("local-suppression"))
    release = sf.anonymize(rows, plan("local-suppression", on_inference="warn"))
    assert 'An attacker infers "airbag" from "opened".' in sf.verify(release).faults


@pytest.mark.parametrize("publish", [{"round": 1000}, {"bin": 1000}, {"bottom": 900}, {"pram": 0.99}, {"swap": 0.01}])
def test_raw_rows_confirm_rules_of_values_that_are_published_changed(publish) -> None:
    draw = random.Random(8)
    rows = crashes(60)
    costs = [draw.choice((8100, 8200)) if there == "airbag" else draw.choice((100, 200)) for there in rows["airbag"]]
    rows, asked = rows.with_columns(pl.Series("opened", costs)), plan("local-suppression")
    asked["columns"]["opened"] |= {"publish": publish}
    with pytest.raises(UnattainableError, match='"airbag" from "opened"'):
        sf.anonymize(rows, asked)
