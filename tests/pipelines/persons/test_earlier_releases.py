"""A register that changes, released month by month: by comparing nobody is told apart; without `previous` somebody."""

import json
import shutil
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
import yaml

from refusals import coded, refused
from sfumato import datasets
from sfumato.errors import PlanError, UnattainableError
from sfumato.microdata.plan.read import read_plan
from sfumato.microdata.sequential_releases import attack_histories, with_erased
from sfumato.pipelines.attack import attack, compared_by_persons
from sfumato.pipelines.attack_target import strings_of, target_of
from sfumato.pipelines.persons.earlier_releases import read_release
from sfumato.pipelines.persons.match_persons import verify_together
from sfumato.pipelines.persons.pseudonyms import erase
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.verify import verify
from sizes import size

MONTHS, ROWS, K = size(8, 20), 300, 3
NAMES = ("sex", "born", "region")


def released(folder: Path, month: int, previous: list[Path], rows: int = ROWS) -> Path:
    """The state of a month, released beside some earlier ones."""
    state = datasets.register(rows, 1, month)
    state.write(folder / f"month{month}.csv")
    plan = state.plan(f"month{month}.csv", k=K, method={"name": "optimal", "suppression": 0.05})
    plan["privacy"].append({"model": "l-diversity", "variant": "distinct", "l": 2, "column": "illness"})
    plan |= {"previous": [entry.name for entry in previous]} if previous else {}
    release = anonymize(None, read_plan(plan, folder))
    out = release.save(folder / f"release{month}{'' if previous or not month else 'alone'}")
    release.close()
    return out


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """Months, each released beside all before it."""
    folder = tmp_path_factory.mktemp("house")
    folders: list[Path] = []
    for month in range(MONTHS):
        folders.append(released(folder, month, folders))
    return folders


def separator(path: Path) -> str:
    return ";" if ";" in path.read_text().partition("\n")[0] else ","


def histories(folders: list[Path]) -> Counter:
    """The histories of all keys, by nothing but the files themselves."""
    persons: dict[str, list] = {}
    for place, folder in enumerate(folders):
        rows = pl.read_csv(folder / "data.csv", separator=separator(folder / "data.csv"), infer_schema=False)
        keys = pl.read_parquet(folder / "persons.parquet").to_series().to_list()
        for key, *labels in zip(keys, *(rows[name].to_list() for name in NAMES)):
            persons.setdefault(key, [None] * len(folders))[place] = tuple(labels)
    return Counter(map(tuple, persons.values()))


def test_nobody_is_told_apart_by_comparing_months(house) -> None:
    assert min(histories(house).values()) >= K
    for one in range(0, MONTHS, 5):
        for other in range(one + 1, MONTHS, 4):
            assert min(histories([house[one], house[other]]).values()) >= K
    report = json.loads((house[-1] / "report.json").read_text())["previous"]
    assert report["releases"] == MONTHS - 1 and report["smallest_group"] >= K
    assert report["persons"] > 0.4 * ROWS, "most are still published"


def test_each_month_keeps_its_own_promises_and_all_keep_them_together(house, sfumato) -> None:
    assert verify(house[-1]).satisfied
    verdict = verify_together(house[:4])
    assert verdict.satisfied and verdict.smallest >= K
    answer = sfumato("verify", *map(str, house[:3]), "--json")
    assert answer.code == 0 and json.loads(answer.out)["together"]["persons_below_k"] == 0


def test_the_attack_by_differences_finds_nobody_with_previous_and_somebody_without(house, tmp_path) -> None:
    last = target_of(house[-1])
    with_previous = compared_by_persons(house[:-1], last, strings_of(house[0].parent / f"month{MONTHS - 1}.csv"))
    assert not attack_histories(with_previous, K).judged(1).evidence
    alone = [released(tmp_path, month, []) for month in (0, 3)]
    raw = tmp_path / "month3.csv"
    report = attack(alone[1], raw, control=tmp_path / "month0.csv", earlier=[alone[0]], attempts=10)
    difference = next(one for one in report.attacks if one.name == "differences")
    assert difference.evidence and difference.details["smallest_group"] == 1


def test_no_row_is_invented_and_the_recoding_is_kept(house) -> None:
    levels = [json.loads((folder / "report.json").read_text())["levels"] for folder in house]
    assert all(entry == levels[0] for entry in levels)
    for month in (1, 7):
        raw = pl.read_csv(house[month].parent / f"month{month}.csv", separator=";", infer_schema=False)
        published = pl.read_csv(house[month] / "data.csv", separator=";", infer_schema=False)
        assert 0 < len(published) < len(raw)
        left = Counter(raw["illness"].to_list())
        left.subtract(published["illness"].to_list())
        assert min(left.values()) >= 0


def test_releases_made_by_themselves_are_not_judged_together(house, tmp_path, sfumato) -> None:
    alone = [released(tmp_path, month, []) for month in (0, 1)]
    verdict = verify_together(alone)
    assert not verdict.satisfied and "made by itself" in verdict.fault
    assert sfumato("verify", *map(str, alone)).code == 1
    with pytest.raises(PlanError, check=coded("plan.previous-keys")):
        released(tmp_path, 2, alone)


def test_quasi_identifiers_that_differ_from_those_of_then_are_named(tmp_path) -> None:
    first = released(tmp_path, 0, [])
    with pytest.raises(PlanError, check=refused("error.part.previous_has_other", names="region, zip")):
        read_release(first, ("sex", "born", "zip"), ())


def test_previous_needs_persons_and_their_record(house, tmp_path, sfumato) -> None:
    plan = datasets.census(10).plan("x.csv") | {"previous": ["earlier"]}
    with pytest.raises(PlanError, check=coded("issue.needs_person_column")):
        read_plan(plan)
    first = released(tmp_path, 0, [])
    (first / "persons.parquet").unlink()
    with pytest.raises(PlanError, check=coded("plan.previous-persons")):
        released(tmp_path, 1, [first])
    with pytest.raises(PlanError, check=coded("plan.previous")):
        released(tmp_path, 1, [tmp_path])


def test_frames_are_released_beside_files(tmp_path) -> None:
    first = released(tmp_path, 0, [])
    state = datasets.register(ROWS, 1, 1)
    plan = state.plan("x.csv", k=K, method={"name": "auto"}) | {"previous": [str(first)]}
    plan.pop("data")
    release = anonymize(state.to_polars(), plan)
    folder = release.save(tmp_path / "of-frame")
    assert min(histories([first, folder]).values()) >= K


def test_an_erased_person_has_no_history(tmp_path, sfumato) -> None:
    first = released(tmp_path, 0, [])
    second = released(tmp_path, 1, [first])
    person = pl.read_csv(tmp_path / "month0.csv", separator=";")["person"].to_list()
    kept = next(one for one in person if erase(one, [first]).rows[first.name])
    assert verify(first).satisfied, "the record is sealed anew"
    assert sum(erase(kept, [first]).rows.values()) == 0, "nobody to be found any more"
    answer = sfumato("erase", str(second), "--person", kept)
    assert answer.code == 0 and "published" in answer.out
    third = released(tmp_path, 2, [first, second])
    assert verify(third).satisfied


def test_a_chain_is_judged_with_the_rows_of_erased_persons(house, tmp_path, sfumato) -> None:
    """Groups of k that lose a person from the record are still k to a reader: the rows are published."""
    folders = [tmp_path / folder.name for folder in house[:3]]
    for old, new in zip(house, folders, strict=False):
        shutil.copytree(old, new)
    persons = pl.read_csv(house[0].parent / "month0.csv", separator=";")["person"].to_list()
    everywhere, at_first, at_last = persons[:3], persons[3:6], persons[6:9]
    for person in everywhere:
        erase(person, folders)
    for person in at_first:
        erase(person, folders[:1])
    for person in at_last:
        erase(person, folders[1:])
    answer = sfumato("verify", *map(str, folders), "--json")
    together = json.loads(answer.out)["together"]
    assert answer.code == 0 and together["erased_rows"] > 0 and together["smallest_group"] >= K
    assert "erased persons are published still" in sfumato("verify", *map(str, folders)).out


def test_erasures_hide_no_group_that_is_too_small() -> None:
    group, other = (("c",), ("d",)), (("e",), ("d",))
    assert with_erased({group: 2}, [{"c": 5}, {}], 3) == {group: 2}
    assert with_erased({group: 1, other: 3}, [{}, {"d": 1}], 3) == {group: 1, other: 3}
    assert with_erased({(None, ("d",)): 1, group: 2}, [{"c": 1}, {}], 3) == {group: 3}


def test_rows_of_one_erased_person_are_one_person(tmp_path) -> None:
    """Three rows of the erased one fill up no group of k persons: two were withdrawn, and two are one."""
    first = visits(tmp_path, "first", ["P03;w;Krebs", "P03;w;Grippe", "P03;m;Grippe"], [])
    assert erase("P03", [first]).rows == {"first": 4}
    keys = pl.read_parquet(first / "persons.parquet").to_series().to_list()
    assert sum(key.startswith("erased-") for key in keys) == 4 == len({k for k in keys if k.startswith("erased-")})
    release = read_release(first, ["sex"], ["ill"])
    assert dict(release.erased) == {("w",): 1, ("m",): 1} and release.erased_rows == 4
    assert verify_together([first]).erased_rows == 4
    for number in range(12):
        erase(f"P{number:02}", [first])
    assert verify_together([first]).smallest == 4, "those of 12, 13, 14, and as many of the erased as are needed"


def visits(folder: Path, name: str, further: list[str], previous: list[str], k: int = 4) -> Path:
    """Thirty persons of two classes, some with further rows, released beside some earlier ones."""
    rows = [f"P{number:02};{'w' if number < 15 else 'm'};{('Grippe', 'Asthma')[number % 2]}" for number in range(30)]
    (folder / f"{name}.csv").write_text("\n".join(["person;sex;ill", *rows, *further]) + "\n")
    plan = {
        "version": 1,
        "data": {"source": f"{name}.csv", "separator": ";"},
        "columns": {
            "person": {"role": "person"},
            "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
            "ill": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": k}],
    }
    plan |= {"previous": previous} if previous else {}
    release = anonymize(None, read_plan(plan, folder))
    out = release.save(folder / name)
    release.close()
    return out


@pytest.mark.parametrize("row", ["P03;w;Krebs", "P03;m;Krebs"], ids=["one class", "two classes"])
def test_who_has_several_rows_is_not_told_apart_by_being_withheld(row, tmp_path) -> None:
    first = visits(tmp_path, "first", [row], [])
    same = visits(tmp_path, "same", [row], ["first"])
    assert sorted((first / "data.csv").read_text().split()) == sorted((same / "data.csv").read_text().split())
    changed = visits(tmp_path, "changed", [row, "P03;w;Grippe"], ["first", "same"])
    verdict = verify_together([first, same, changed])
    report = json.loads((changed / "report.json").read_text())["previous"]
    assert verdict.satisfied and report["smallest_group"] == verdict.smallest >= 4 <= report["suppressed_persons"]
    assert verify_together([first, changed]).satisfied and report["groups"] == verdict.groups


def test_a_greater_k_than_the_earlier_releases_kept_is_refused(tmp_path) -> None:
    visits(tmp_path, "first", [], [])
    with pytest.raises(UnattainableError, check=refused("error.unattainable.previous-earlier", k="16")) as refusal:
        visits(tmp_path, "second", [], ["first"], k=16)
    assert refusal.value.status.exit == 4 and not (tmp_path / "second").exists()


def test_a_hierarchy_with_fewer_levels_is_refused(tmp_path) -> None:
    released(tmp_path, 0, [])
    plan = yaml.safe_load((tmp_path / "release0" / "plan.yaml").read_text())
    level = json.loads((tmp_path / "release0" / "report.json").read_text())["levels"]["born"]
    assert level > 1, "else this shows nothing"
    plan["columns"]["born"]["hierarchy"] = {"type": "any"}
    plan |= {"previous": ["release0"], "data": plan["data"] | {"source": str(tmp_path / "month0.csv")}}
    with pytest.raises(PlanError, match=f"has born at level {level}, which its hierarchy does not have"):
        anonymize(None, read_plan(plan, tmp_path))


def test_all_releases_of_a_chain_are_named(tmp_path) -> None:
    visits(tmp_path, "first", [], [])
    visits(tmp_path, "second", [], ["first"])
    with pytest.raises(PlanError, check=refused("error.plan.previous-chain", name="second", other="first")):
        visits(tmp_path, "third", [], ["second"])
    assert visits(tmp_path, "third", [], ["second", "first"]).exists(), "in whatever order"
    (tmp_path / "archive").mkdir()
    for name in ("first", "second", "third"):
        (tmp_path / name).rename(tmp_path / "archive" / name)
    moved = [f"archive/{name}" for name in ("first", "second", "third")]
    assert visits(tmp_path, "fourth", [], moved).exists()


@pytest.mark.parametrize("sealed", [True, False], ids=["by their rows", "without seals"])
def test_a_chain_is_known_by_its_rows_wherever_it_lies(sealed, tmp_path) -> None:
    """Copies beside the originals are the same releases; so are folders that have other names now."""
    visits(tmp_path, "first", [], [])
    second = visits(tmp_path, "second", [], ["first"])
    if not sealed:
        report = json.loads((second / "report.json").read_text())
        report["previous"].pop("seals")
        (second / "report.json").write_text(json.dumps(report))
    for name in ("first", "second"):
        shutil.copytree(tmp_path / name, tmp_path / "copies" / name)
    assert visits(tmp_path, "third", [], ["copies/first", "copies/second"]).exists()
    (tmp_path / "first").rename(tmp_path / "eins")
    if sealed:
        assert visits(tmp_path, "fourth", [], ["eins", "second", "third"]).exists()
        with pytest.raises(PlanError, check=refused("error.plan.previous-chain", name="second", other="first")):
            visits(tmp_path, "fifth", [], ["second", "third"])
    else:
        with pytest.raises(PlanError, check=coded("plan.previous-chain")):
            visits(tmp_path, "fourth", [], ["eins", "second"])
