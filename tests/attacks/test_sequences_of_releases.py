"""What a stranger reads from several releases together, from applied rows, and from changed release folders."""

import json
import random
import shutil
from datetime import datetime, timedelta
from pathlib import Path

import polars as pl
import pytest
import yaml

import sfumato as sf
from refusals import refused
from sfumato.errors import PlanError, SfumatoError, UnattainableError
from sfumato.microdata.pseudonyms import KeyedPseudonyms, PseudonymKey
from sfumato.pipelines.apply import apply
from sfumato.pipelines.attack import attack
from sfumato.pipelines.report_folder import add_to_folder

# What a stranger reads from the order of values, of rows, and from files that differ in spelling alone.


KNOWN = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}


def rows(kind: str, number: int = 500) -> pl.DataFrame:
    """Rows with a bracket that a further column, whose values hardly repeat, tells by its order."""
    draw = random.Random(11)
    entries = []
    for _ in range(number):
        pay = round(draw.lognormvariate(7.6, 0.5), 2)
        moment = datetime(2018, 1, 1) + timedelta(minutes=draw.randint(0, 6 * 365 * 1440))
        zip_code = draw.choice(("10115", "10117", "20095", "20097", "80331"))
        bracket, told = {
            "numbers": ("ABCDEFG"[min(6, int(pay // 600))], str(pay)),
            "moments": (str(moment.year), moment.strftime("%d.%m.%Y %H:%M")),
            "codes": (zip_code, f"{zip_code}/{draw.randint(1000, 9999)}"),
            "chance": (zip_code, str(pay)),
        }[kind]
        entries.append(
            {"bracket": bracket, "sex": draw.choice("mf"), "job": draw.choice("abcdefghij"), "told": told, "ill": "x"}
        )
    return pl.DataFrame(entries)


def plan(**further: object) -> dict[str, object]:
    columns = {
        "bracket": KNOWN,
        "sex": KNOWN,
        "job": KNOWN,
        "told": {"role": "sensitive"},
        "ill": {"role": "sensitive"},
    }
    return {
        "version": 1,
        "columns": columns,
        "privacy": [{"model": "k-anonymity", "k": 5}],
        "method": {"name": "local"},
        "seed": 3,
        **further,
    }


@pytest.mark.parametrize("kind", ["numbers", "moments", "codes"])
def test_a_column_whose_order_tells_a_quasi_identifier_stops_the_release(kind) -> None:
    with pytest.raises(UnattainableError, match='An attacker infers "bracket" from "told"'):
        sf.anonymize(rows(kind, 900 if kind == "moments" else 500), plan())


def test_a_column_whose_order_tells_nothing_is_published() -> None:
    assert sf.anonymize(rows("chance"), plan()).report.satisfied


def test_rows_that_are_kept_in_the_order_of_a_quasi_identifier_stop_the_release() -> None:
    ordered = rows("chance", 300).sort("bracket").drop("told")
    columns = {name: column for name, column in plan()["columns"].items() if name != "told"}
    with pytest.raises(UnattainableError, match='An attacker infers "bracket" from "order of rows"') as caught:
        sf.anonymize(ordered, plan(columns=columns, output={"order": "keep"}))
    assert "output.order: shuffle" in caught.value.hint
    assert sf.anonymize(ordered, plan(columns=columns)).report.satisfied
    assert sf.anonymize(
        ordered.sample(fraction=1.0, shuffle=True, seed=1), plan(columns=columns, output={"order": "keep"})
    ).report.satisfied


@pytest.mark.parametrize("written", ["{}.0", " {}", "{}.00"])
def test_a_recoding_for_the_same_rows_in_other_spellings_and_one_more_is_refused(tmp_path, written) -> None:
    draw = random.Random(4)
    people = [{"sex": draw.choice("mf"), "pay": str(draw.randint(1000, 5000))} for _ in range(60)]
    columns = {"sex": KNOWN, "pay": {"role": "sensitive"}}
    release = sf.anonymize(pl.DataFrame(people), plan(columns=columns, method={"name": "optimal"}))
    release.save(tmp_path / "release")
    again = [{**person, "pay": written.format(person["pay"])} for person in people] + [{"sex": "f", "pay": "9999"}]
    pl.DataFrame(again).write_csv(tmp_path / "rows.csv")
    with pytest.raises(
        UnattainableError,
        check=refused("error.unattainable.reapply-difference.release", added="1", unit="rows", removed="0"),
    ):
        apply(tmp_path / "release" / "recoding.json", tmp_path / "rows.csv", tmp_path / "again")


# What a stranger reads from several files of one recoding, and from applied rows beside later releases.

AGES = {"type": "intervals", "start": 20, "end": 59, "widths": [10, 20]}
AGE_AND_SEX = {
    "age": {"role": "quasi-identifier", "type": "integer", "hierarchy": AGES},
    "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
}


def people(first: int, number: int, **fixed: object) -> pl.DataFrame:
    draw = random.Random(first)
    return pl.DataFrame(
        [
            {
                "pid": f"p{first + place}",
                "age": str(draw.randint(20, 59)),
                "sex": draw.choice("mf"),
                "ill": draw.choice(["flu", "hiv", "gout", "ms"]),
                **fixed,
            }
            for place in range(number)
        ]
    )


def chain_plan(named: bool, **further: object) -> dict[str, object]:
    return {
        "version": 1,
        "columns": {"pid": {"role": "person" if named else "identifier"}, **AGE_AND_SEX, "ill": {"role": "sensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 5}],
        "method": {"name": "optimal", "suppression": 0.2},
        **further,
    }


def applied(tmp_path, name: str, rows: pl.DataFrame, release: str = "A"):
    rows.write_csv(tmp_path / f"{name}.csv")
    return apply(tmp_path / release / "recoding.json", tmp_path / f"{name}.csv", tmp_path / name)


@pytest.fixture(params=[True, False], ids=["persons", "rows"])
def released(request, tmp_path):
    sf.anonymize(people(0, 200), chain_plan(request.param)).save(tmp_path / "A")
    return tmp_path


def test_one_person_is_not_what_two_published_files_lack_of_a_third(released) -> None:
    first, later, late = people(0, 200), people(1000, 150), people(5000, 1)
    applied(released, "later", later)
    with pytest.raises(
        UnattainableError, check=refused("error.unattainable.reapply-difference.several", added="1", removed="0")
    ) as caught:
        applied(released, "both", pl.concat([first, later, late]))
    assert "all files" in caught.value.message
    assert applied(released, "exactly", pl.concat([first, later])).added == 150


def test_one_person_is_not_told_by_newcomers_of_two_files(released) -> None:
    first, one, other = people(0, 200), people(1000, 20), people(2000, 20)
    applied(released, "one", pl.concat([first, one]))
    applied(released, "other", pl.concat([first, other]))
    with pytest.raises(
        UnattainableError, check=refused("error.unattainable.reapply-difference.several", added="1", removed="0")
    ):
        applied(released, "both", pl.concat([first, one, other, people(5000, 1)]))


@pytest.mark.parametrize("seed", [{}, {"seed": 3}], ids=["secret", "seed"])
def test_a_later_release_is_compared_with_the_rows_to_which_an_earlier_one_was_applied(tmp_path, seed) -> None:
    first, later = people(0, 200), people(1000, 20, age="30", sex="f")
    sf.anonymize(first, chain_plan(True, **seed)).save(tmp_path / "A")
    applied(tmp_path, "later", pl.concat([first, later]))
    next_plan = chain_plan(True, previous=[str(tmp_path / "A")], **seed)
    with pytest.raises(
        UnattainableError,
        check=refused("error.unattainable.reapply-difference.rows", added="1", unit="persons", removed="0"),
    ):
        sf.anonymize(pl.concat([first, later, people(5000, 1, age="30", sex="f")]), next_plan)
    more = pl.concat([first, later, people(5000, 30, age="30", sex="f")])
    sf.anonymize(more, next_plan).save(tmp_path / "B")
    with pytest.raises(
        UnattainableError,
        check=refused("error.unattainable.reapply-difference.rows", added="1", unit="persons", removed="0"),
    ):
        applied(tmp_path, "again", more.head(221), "B")


# Several releases together: noise that averages out, pseudonyms of a rare length, a recoding applied a year later.

K = 3
INCOME = {"role": "insensitive", "type": "integer", "publish": {"noise": 0.5}}
VOTE = {"role": "insensitive", "publish": {"pram": 0.5}}
SEEN = {"role": "insensitive", "publish": {"shift_days": 30}}


def voters(number: int = 60, change: int = 0) -> pl.DataFrame:
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


def voters_plan(previous: int = 0, **columns: object) -> dict[str, object]:
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


def released_voters(folder: Path, place: int, rows: pl.DataFrame, **columns: object) -> pl.DataFrame:
    """One release of a chain; its published rows with the internal keys of their persons."""
    written = folder / f"plan{place}.yaml"
    written.write_text(yaml.safe_dump(voters_plan(place, **columns)))
    release = sf.anonymize(rows, written)
    out = release.save(folder / f"release{place}")
    release.close()
    data = pl.read_csv(out / "data.csv", infer_schema=False)
    return data.with_columns(person=pl.read_parquet(out / "persons.parquet").to_series().cast(pl.Utf8))


def test_what_chance_changed_is_the_same_in_every_release_of_a_chain(tmp_path) -> None:
    first, *later = (released_voters(tmp_path, place, voters()) for place in range(3))
    for other in later:
        both = first.join(other, on="person", suffix="_later")
        assert len(both) == 60
        for name in ("income", "vote", "seen"):
            assert both[name].to_list() == both[f"{name}_later"].to_list(), f"{name} averages out"
    assert first["income"].to_list() != voters()["income"].cast(pl.Utf8).to_list()


def test_noise_keeps_its_size_in_a_chain_whose_other_persons_change(tmp_path) -> None:
    released_voters(tmp_path, 0, voters())
    wider = pl.concat([voters(), voters(90)[60:].with_columns(income=pl.lit(90_000, pl.Int64))])
    later = released_voters(tmp_path, 1, wider)
    first = pl.read_csv(tmp_path / "release0" / "data.csv", infer_schema=False)
    assert set(first["income"]) < set(later["income"]), "two sizes of one draw give the value away"


def test_values_that_drift_are_not_averaged(tmp_path) -> None:
    released_voters(tmp_path, 0, voters())
    with pytest.raises(UnattainableError, check=refused("unattainable.previous-noise", name="income")) as caught:
        released_voters(tmp_path, 1, voters(change=7))
    assert caught.value.code == "unattainable.previous-noise"
    assert not (tmp_path / "release1").exists()


def test_noise_of_another_size_is_refused_in_a_chain(tmp_path) -> None:
    released_voters(tmp_path, 0, voters())
    with pytest.raises(PlanError, check=refused("plan.faults", "differs_from")):
        released_voters(tmp_path, 1, voters(), income=INCOME | {"publish": {"noise": 0.4}})


@pytest.mark.parametrize("publish", [{"swap": 0.1}, {"microaggregate": 3}, {"noise": {"share": 0.5, "group": "money"}}])
def test_what_is_drawn_anew_in_each_release_is_refused_in_a_chain(tmp_path, publish) -> None:
    column = INCOME | {"publish": publish}
    released_voters(tmp_path, 0, voters(), income=column)
    with pytest.raises(PlanError, check=refused("plan.faults", "drawn_again")):
        released_voters(tmp_path, 1, voters(), income=column)


def test_rows_of_one_person_with_one_value_are_not_tied_together_by_their_noise() -> None:
    rows = pl.concat([voters(30), voters(30)]).with_columns(income=pl.lit(5000, pl.Int64))
    rows = pl.concat([rows, voters(60)[30:]])
    release = sf.anonymize(rows, voters_plan())
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
    rows = voters().with_columns(name=pl.Series([odd, *(f"AB{place:07}" for place in range(59))])).drop("id")
    asked = voters_plan()
    asked["columns"] = {
        "sex": asked["columns"]["sex"],
        "income": {"role": "insensitive"},
        "vote": {"role": "insensitive"},
        "seen": {"role": "insensitive"},
        "name": {"role": "identifier", "publish": {"pseudonym": kind}},
    }
    with pytest.raises(SfumatoError, check=refused("data.pseudonym-shape", column="name", count="3")) as caught:
        sf.anonymize(rows, asked)
    assert caught.value.code == "data.pseudonym-shape"
    assert odd not in str(caught.value)


@pytest.mark.parametrize("kind", ["keyed", "format"])
def test_a_missing_identifier_is_no_pseudonym_of_a_shape_of_its_own(kind) -> None:
    rows = voters().with_columns(name=pl.Series(["?", *(f"AB{place:07}" for place in range(59))])).drop("id")
    asked = voters_plan()
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
    asked = voters_plan(**columns)
    out = sf.anonymize(voters(60), asked).save(tmp_path / "release")
    rows = pl.concat([voters(60)[less:], voters(90)[60 : 60 + more]])
    with pytest.raises(UnattainableError) as caught:
        apply(out / "recoding.json", raw(tmp_path, rows), tmp_path / "later")
    assert caught.value.code == "unattainable.reapply-difference" and not (tmp_path / "later").exists()


def test_a_recoding_applied_to_rows_of_many_other_persons_says_how_many(tmp_path) -> None:
    out = sf.anonymize(voters(60), voters_plan()).save(tmp_path / "release")
    outcome = apply(
        out / "recoding.json",
        raw(tmp_path, pl.concat([voters(60), voters(90)[60:]])),
        tmp_path / "later",
    )
    assert (outcome.added, outcome.removed) == (30, 0)
    assert "30" in outcome.text()


@pytest.mark.parametrize("persons", [True, False])
def test_recodings_applied_one_after_the_other_are_compared_with_each_other(tmp_path, persons) -> None:
    columns = {name: {"role": "insensitive"} for name in ("income", "vote", "seen")}
    columns |= {"id": {"role": "person" if persons else "identifier"}}
    out = sf.anonymize(voters(60), voters_plan(**columns)).save(tmp_path / "release")
    more = voters(90)[60:]
    assert (
        apply(out / "recoding.json", raw(tmp_path, pl.concat([voters(60), more[:6]])), tmp_path / "second").added == 6
    )
    with pytest.raises(
        UnattainableError, check=refused("error.unattainable.reapply-difference.rows", added="1", removed="0")
    ):
        apply(out / "recoding.json", raw(tmp_path, pl.concat([voters(60), more[:7]])), tmp_path / "third")
    assert apply(out / "recoding.json", raw(tmp_path, pl.concat([voters(60), more[:6]])), tmp_path / "same").added == 6
    assert sf.verify(out).satisfied


@pytest.mark.parametrize("written", ["0{}", "{}e0", "{0:,}", "€ {}"])
def test_a_recoding_for_the_same_rows_with_numbers_written_otherwise_and_one_more_is_refused(tmp_path, written) -> None:
    columns = {name: {"role": "insensitive"} for name in ("income", "vote", "seen")}
    out = sf.anonymize(voters(60), voters_plan(**columns, id={"role": "identifier"})).save(tmp_path / "release")
    pay = [written.format(income) for income in voters(60)["income"]]
    newcomer = pl.DataFrame({"id": "new", "sex": "f", "income": "12", "vote": "red", "seen": "2024-03-30"})
    again = pl.concat([voters(60).with_columns(income=pl.Series(pay)), newcomer])
    with pytest.raises(
        UnattainableError,
        check=refused("error.unattainable.reapply-difference.release", added="1", unit="rows", removed="0"),
    ):
        apply(out / "recoding.json", raw(tmp_path, again), tmp_path / "later")


def test_a_recoding_for_the_same_persons_with_other_values_and_one_more_is_refused(tmp_path) -> None:
    columns = {name: {"role": "insensitive"} for name in ("income", "vote", "seen")}
    out = sf.anonymize(voters(60), voters_plan(**columns)).save(tmp_path / "release")
    rows = pl.concat([voters(60, change=7), voters(61)[60:]])
    with pytest.raises(
        UnattainableError,
        check=refused("error.unattainable.reapply-difference.release", added="1", unit="persons", removed="0"),
    ):
        apply(out / "recoding.json", raw(tmp_path, rows), tmp_path / "later")


# What a stranger changes in a release folder besides its rows: the reports for publication, further files.

FRAME = pl.DataFrame([{"sex": "mf"[row % 2], "town": f"t{row // 2 % 4}", "ill": f"i{row % 3}"} for row in range(120)])
PLAN = {
    "version": 1,
    "columns": {"sex": KNOWN, "town": KNOWN, "ill": {"role": "sensitive"}},
    "privacy": [{"model": "k-anonymity", "k": 5}],
    "method": {"name": "optimal"},
    "seed": 1,
}


@pytest.fixture(scope="module")
def released_folder(tmp_path_factory):
    return sf.anonymize(FRAME, PLAN).save(tmp_path_factory.mktemp("fresh") / "release")


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("report-external.json", '"requested": 5', '"requested": 50'),
        ("report-external.json", "at least 5 rows", "at least 50 rows"),
        ("report-external.html", "at least 5 rows", "at least 50 rows"),
    ],
)
def test_a_report_for_publication_that_promises_more_is_found(released_folder, tmp_path, name, old, new) -> None:
    folder = shutil.copytree(released_folder, tmp_path / "changed")
    assert sf.verify(folder).satisfied
    text = (folder / name).read_text(encoding="utf-8")
    assert old in text
    (folder / name).write_text(text.replace(old, new), encoding="utf-8")
    verdict = sf.verify(folder)
    assert not verdict.satisfied
    assert [name in fault for fault in verdict.faults] == [True]


def test_raw_rows_beside_the_published_ones_are_found(released_folder, tmp_path) -> None:
    folder = shutil.copytree(released_folder, tmp_path / "changed")
    FRAME.write_parquet(folder / "data.parquet")
    assert sf.verify(folder).faults == ("data.parquet is no file of this release.",)


def test_a_folder_holds_after_an_attack_was_added_to_its_reports(released_folder, tmp_path) -> None:
    folder = shutil.copytree(released_folder, tmp_path / "attacked")
    add_to_folder(folder, attack(folder, FRAME, control=FRAME.with_columns(town=pl.lit("t9")), attempts=5))
    assert "attack" in json.loads((folder / "report-external.json").read_text(encoding="utf-8"))
    assert sf.verify(folder).satisfied
