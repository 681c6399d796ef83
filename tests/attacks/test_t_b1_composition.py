"""Several releases together: noise that averages out, pseudonyms of a rare length, a recoding applied a year later."""

import random
from pathlib import Path

import polars as pl
import pytest
import yaml

import sfumato as sf
from sfumato.errors import PlanError, SfumatoError, UnattainableError
from sfumato.microdata.pseudonyms import KeyedPseudonyms, PseudonymKey
from sfumato.pipelines.apply import apply

K = 3
INCOME = {"role": "insensitive", "type": "integer", "publish": {"noise": 0.5}}
VOTE = {"role": "insensitive", "publish": {"pram": 0.5}}
SEEN = {"role": "insensitive", "publish": {"shift_days": 30}}


def people(number: int = 60, change: int = 0) -> pl.DataFrame:
    draw = random.Random(3)
    return pl.DataFrame(
        {
            "id": [f"P{place:03}" for place in range(number)],
            "sex": ["f" if place % 2 else "m" for place in range(number)],
            "income": [draw.randrange(1000, 9000) + change for _ in range(number)],
            "vote": [draw.choice(("red", "green", "blue")) for _ in range(number)],
            "seen": [f"2024-03-{draw.randrange(1, 29):02}" for _ in range(number)],
        }
    )


def plan(previous: int = 0, **columns: object) -> dict[str, object]:
    used = {"income": INCOME, "vote": VOTE, "seen": SEEN} | columns
    return {
        "version": 1,
        "columns": {
            "id": {"role": "person"},
            "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
            **used,
        },
        "privacy": [{"model": "k-anonymity", "k": K}],
        "method": {"name": "optimal"},
        **({"previous": [f"release{place}" for place in range(previous)]} if previous else {}),
    }


def released(folder: Path, place: int, rows: pl.DataFrame, **columns: object) -> pl.DataFrame:
    """One release of a chain; its published rows with the internal keys of their persons."""
    written = folder / f"plan{place}.yaml"
    written.write_text(yaml.safe_dump(plan(place, **columns)))
    release = sf.anonymize(rows, written)
    out = release.save(folder / f"release{place}")
    release.close()
    data = pl.read_csv(out / "data.csv", infer_schema=False)
    return data.with_columns(person=pl.read_parquet(out / "persons.parquet").to_series().cast(pl.Utf8))


def test_what_chance_changed_is_the_same_in_every_release_of_a_chain(tmp_path) -> None:
    first, *later = (released(tmp_path, place, people()) for place in range(3))
    for other in later:
        both = first.join(other, on="person", suffix="_later")
        assert len(both) == 60
        for name in ("income", "vote", "seen"):
            assert both[name].to_list() == both[f"{name}_later"].to_list(), f"{name} averages out"
    assert first["income"].to_list() != people()["income"].cast(pl.Utf8).to_list()


def test_noise_keeps_its_size_in_a_chain_whose_other_persons_change(tmp_path) -> None:
    released(tmp_path, 0, people())
    wider = pl.concat([people(), people(90)[60:].with_columns(income=pl.lit(90_000, pl.Int64))])
    later = released(tmp_path, 1, wider)
    first = pl.read_csv(tmp_path / "release0" / "data.csv", infer_schema=False)
    assert set(first["income"]) < set(later["income"]), "two sizes of one draw give the value away"


def test_values_that_drift_are_not_averaged(tmp_path) -> None:
    released(tmp_path, 0, people())
    with pytest.raises(UnattainableError, match="income") as refused:
        released(tmp_path, 1, people(change=7))
    assert refused.value.code == "unattainable.previous-noise"
    assert not (tmp_path / "release1").exists()


def test_noise_of_another_size_is_refused_in_a_chain(tmp_path) -> None:
    released(tmp_path, 0, people())
    with pytest.raises(PlanError, match="income"):
        released(tmp_path, 1, people(), income=INCOME | {"publish": {"noise": 0.4}})


@pytest.mark.parametrize("publish", [{"swap": 0.1}, {"microaggregate": 3}, {"noise": {"share": 0.5, "group": "money"}}])
def test_what_is_drawn_anew_in_each_release_is_refused_in_a_chain(tmp_path, publish) -> None:
    column = INCOME | {"publish": publish}
    released(tmp_path, 0, people(), income=column)
    with pytest.raises(PlanError, match="income"):
        released(tmp_path, 1, people(), income=column)


def test_rows_of_one_person_with_one_value_are_not_tied_together_by_their_noise() -> None:
    rows = pl.concat([people(30), people(30)]).with_columns(income=pl.lit(5000, pl.Int64))
    rows = pl.concat([rows, people(60)[30:]])
    release = sf.anonymize(rows, plan())
    assert release.data["income"].n_unique() > 80


def keys() -> PseudonymKey:
    return PseudonymKey("register", bytes(range(64)))


def test_keyed_pseudonyms_have_one_length() -> None:
    tokens = KeyedPseudonyms(keys())
    names = ["A", "Ada Lovelace", "x" * 47]
    assert len({len(tokens.hide(name)) for name in names}) == 1
    assert [tokens.reveal(tokens.hide(name)) for name in names] == names


@pytest.mark.parametrize(
    ("kind", "odd"), [("keyed", "Maria Theresia " * 6), ("format", "AB-123-4567"), ("format", "aB1234567")]
)
def test_a_pseudonym_whose_shape_stands_for_fewer_than_k_is_refused(tmp_path, kind, odd) -> None:
    rows = people().with_columns(name=pl.Series([odd, *(f"AB{place:07}" for place in range(59))])).drop("id")
    asked = plan()
    asked["columns"] = {
        "sex": asked["columns"]["sex"],
        "income": {"role": "insensitive"},
        "vote": {"role": "insensitive"},
        "seen": {"role": "insensitive"},
        "name": {"role": "identifier", "publish": {"pseudonym": kind}},
    }
    with pytest.raises(SfumatoError, match="name") as refused:
        sf.anonymize(rows, asked)
    assert refused.value.code == "data.pseudonym-shape"
    assert odd not in str(refused.value)


@pytest.mark.parametrize("kind", ["keyed", "format"])
def test_a_missing_identifier_is_no_pseudonym_of_a_shape_of_its_own(kind) -> None:
    rows = people().with_columns(name=pl.Series(["?", *(f"AB{place:07}" for place in range(59))])).drop("id")
    asked = plan()
    further = {name: {"role": "insensitive"} for name in ("income", "vote", "seen")}
    name = {"role": "identifier", "publish": {"pseudonym": kind}}
    asked |= {"columns": {"sex": asked["columns"]["sex"], **further, "name": name}, "data": {"missing": ["?"]}}
    assert sf.anonymize(rows, asked).report.satisfied


# A year later


def raw(folder: Path, rows: pl.DataFrame) -> Path:
    path = folder / "rows.csv"
    rows.write_csv(path)
    return path


@pytest.mark.parametrize("persons", [True, False])
@pytest.mark.parametrize(("more", "less"), [(1, 0), (0, 1), (K - 1, K), (1, 30)])
def test_a_recoding_is_not_applied_to_rows_that_differ_by_few_persons(tmp_path, persons, more, less) -> None:
    columns = {name: {"role": "insensitive"} for name in ("income", "vote", "seen")}
    columns |= {"id": {"role": "person" if persons else "identifier"}}
    asked = plan(**columns)
    out = sf.anonymize(people(60), asked).save(tmp_path / "release")
    rows = pl.concat([people(60)[less:], people(90)[60 : 60 + more]])
    with pytest.raises(UnattainableError) as refused:
        apply(out / "recoding.json", raw(tmp_path, rows), tmp_path / "later")
    assert refused.value.code == "unattainable.reapply-difference" and not (tmp_path / "later").exists()


def test_a_recoding_applied_to_rows_of_many_other_persons_says_how_many(tmp_path) -> None:
    out = sf.anonymize(people(60), plan()).save(tmp_path / "release")
    outcome = apply(out / "recoding.json", raw(tmp_path, pl.concat([people(60), people(90)[60:]])), tmp_path / "later")
    assert (outcome.added, outcome.removed) == (30, 0)
    assert "30" in outcome.text()


@pytest.mark.parametrize("persons", [True, False])
def test_recodings_applied_one_after_the_other_are_compared_with_each_other(tmp_path, persons) -> None:
    columns = {name: {"role": "insensitive"} for name in ("income", "vote", "seen")}
    columns |= {"id": {"role": "person" if persons else "identifier"}}
    out = sf.anonymize(people(60), plan(**columns)).save(tmp_path / "release")
    more = people(90)[60:]
    assert (
        apply(out / "recoding.json", raw(tmp_path, pl.concat([people(60), more[:6]])), tmp_path / "second").added == 6
    )
    with pytest.raises(UnattainableError, match="published last"):
        apply(out / "recoding.json", raw(tmp_path, pl.concat([people(60), more[:7]])), tmp_path / "third")
    assert apply(out / "recoding.json", raw(tmp_path, pl.concat([people(60), more[:6]])), tmp_path / "same").added == 6
    assert sf.verify(out).satisfied


@pytest.mark.parametrize("written", ["0{}", "{}e0", "{0:,}", "€ {}"])
def test_a_recoding_for_the_same_rows_with_numbers_written_otherwise_and_one_more_is_refused(tmp_path, written) -> None:
    columns = {name: {"role": "insensitive"} for name in ("income", "vote", "seen")}
    out = sf.anonymize(people(60), plan(**columns, id={"role": "identifier"})).save(tmp_path / "release")
    pay = [written.format(income) for income in people(60)["income"]]
    newcomer = pl.DataFrame({"id": "new", "sex": "f", "income": "12", "vote": "red", "seen": "2024-03-30"})
    again = pl.concat([people(60).with_columns(income=pl.Series(pay)), newcomer])
    with pytest.raises(UnattainableError, match="1 rows were added and 0 removed"):
        apply(out / "recoding.json", raw(tmp_path, again), tmp_path / "later")


def test_a_recoding_for_the_same_persons_with_other_values_and_one_more_is_refused(tmp_path) -> None:
    columns = {name: {"role": "insensitive"} for name in ("income", "vote", "seen")}
    out = sf.anonymize(people(60), plan(**columns)).save(tmp_path / "release")
    rows = pl.concat([people(60, change=7), people(61)[60:]])
    with pytest.raises(UnattainableError, match="1 persons were added and 0 removed"):
        apply(out / "recoding.json", raw(tmp_path, rows), tmp_path / "later")
