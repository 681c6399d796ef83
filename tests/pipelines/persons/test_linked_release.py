"""Several files joined by keys: every join that a reader can make keeps the promises, on every engine."""

import csv
import itertools
import json
import random
import stat
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

import sfumato as sf
from refusals import coded, refused
from sfumato.cli.main import run
from sfumato.errors import DataError, PlanError, UnattainableError
from sfumato.localization.messages import words_in
from sfumato.pipelines.persons.pseudonyms import new_key
from sfumato.pipelines.release_stages import checksums

AGES = {"type": "intervals", "start": 0, "end": 99, "widths": [25, 50]}
ANY = {"type": "any"}


def plan_of(**changes: Any) -> dict[str, Any]:
    plan = {
        "version": 1,
        "files": {
            "patients": {"source": "patients.csv", "key": "pid"},
            "visits": {"source": "visits.csv", "key": "vid", "parent": "patients"},
            "lab": {"source": "lab.csv", "parent": "visits"},
        },
        "columns": {
            "name": {"role": "identifier"},
            "age": {"role": "quasi-identifier", "type": "integer", "hierarchy": AGES},
            "sex": {"role": "quasi-identifier", "hierarchy": ANY},
            "ward": {"role": "quasi-identifier", "hierarchy": ANY},
            "day": {"role": "insensitive", "publish": {"shift_days": 40}},
            "illness": {"role": "sensitive"},
            "test": {"role": "quasi-identifier", "hierarchy": ANY},
            "result": {"role": "insensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 3}],
        "method": {"name": "optimal", "suppression": 1.0},
    }
    return plan | changes


def tables(seed: int, persons: int = 60) -> dict[str, list[dict[str, str]]]:
    draw = random.Random(seed)
    patients, visits, lab = [], [], []
    for number in range(persons):
        pid = f"P{number:03d}"
        patients.append(
            {"pid": pid, "name": f"Name {number}", "age": str(draw.randrange(100)), "sex": draw.choice("fm")}
        )
        for _ in range(draw.choice([0, 1, 1, 1, 2])):
            vid = f"V{len(visits):04d}"
            day = f"2024-{draw.randrange(1, 13):02d}-{draw.randrange(1, 29):02d}"
            visits.append(
                {"vid": vid, "pid": pid, "ward": draw.choice("AB"), "day": day, "illness": draw.choice("xyz")}
            )
            lab += [{"vid": vid, "test": draw.choice("st"), "result": "1"} for _ in range(draw.choice([0, 0, 1]))]
    return {"patients": patients, "visits": visits, "lab": lab}


def write(folder: Path, rows: dict[str, list[dict[str, str]]]) -> None:
    for name, entries in rows.items():
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(entries[0]))
            writer.writeheader()
            writer.writerows(entries)


def read(folder: Path) -> dict[str, list[dict[str, str]]]:
    texts = {name: (folder / f"{name}.csv").read_text(encoding="utf-8") for name in plan_of()["files"]}
    return {name: list(csv.DictReader(text.splitlines())) for name, text in texts.items()}


def smallest_join(rows: dict[str, list[dict[str, str]]], files: tuple[str, ...]) -> int:
    """The fewest persons who have just the same in some files, joined by keys: written apart from the product."""
    labs, visits = {}, {}
    for row in rows["lab"]:
        labs.setdefault(row["vid"], []).append(row["test"])
    for row in rows["visits"]:
        own = (row["ward"],) if "visits" in files else ()
        below = tuple(sorted(labs.get(row["vid"], []))) if "lab" in files else ()
        if {"visits", "lab"} & set(files):
            visits.setdefault(row["pid"], []).append((own, below))
    whole = Counter(
        ((row["age"], row["sex"]) if "patients" in files else (), tuple(sorted(visits.get(row["pid"], []))))
        for row in rows["patients"]
    )
    return min(whole.values())


@pytest.mark.parametrize("seed", range(6))
def test_every_join_keeps_k(tmp_path: Path, seed: int) -> None:
    write(tmp_path, tables(seed))
    (tmp_path / "plan.json").write_text(json.dumps(plan_of()))
    assert run(["anonymize", str(tmp_path / "plan.json"), "--out", str(tmp_path / "out"), "--quiet"]) == 0
    published = read(tmp_path / "out")
    names = tuple(plan_of()["files"])
    for number in range(1, 4):
        for files in itertools.combinations(names, number):
            assert smallest_join(published, files) >= 3
    raw = {
        text for rows in tables(seed).values() for row in rows for name, text in row.items() if name in ("pid", "vid")
    }
    assert not raw & {text for rows in published.values() for row in rows for text in row.values()}
    assert {row["name"] for row in published["patients"]} == {"*"}


def test_time_between_visits_stays_and_keys_join_all_files(tmp_path: Path) -> None:
    raw = tables(1)
    write(tmp_path, raw)
    release = sf.anonymize_files(None, sf.read_plan(plan_of(), tmp_path))
    folder = release.save(tmp_path / "out")
    keys = json.loads((folder / "keys.json").read_text())
    assert stat.S_IMODE((folder / "keys.json").stat().st_mode) == 0o600
    published = read(folder)
    back = {random_key: raw_key for raw_key, random_key in keys["visits"].items()}
    days = {row["vid"]: row["day"] for row in raw["visits"]}
    owners = {row["vid"]: row["pid"] for row in raw["visits"]}
    from datetime import date

    shifts: dict[str, set[int]] = {}
    for row in published["visits"]:
        vid = back[row["vid"]]
        moved = (date.fromisoformat(row["day"]) - date.fromisoformat(days[vid])).days
        shifts.setdefault(owners[vid], set()).add(moved)
    assert all(len(moved) == 1 for moved in shifts.values())
    assert len({next(iter(moved)) for moved in shifts.values()}) > 5
    assert {row["vid"] for row in published["lab"]} <= {row["vid"] for row in published["visits"]}
    assert {row["pid"] for row in published["visits"]} <= {row["pid"] for row in published["patients"]}


def test_frames_and_files_publish_the_same(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    raw = tables(2)
    write(tmp_path, raw)
    plan = plan_of(seed=7)
    by_file = sf.anonymize_files(None, sf.read_plan(plan, tmp_path)).save(tmp_path / "one")
    frames = {name: pandas.DataFrame(rows) for name, rows in raw.items()}
    by_frame = sf.anonymize(frames, plan)
    assert isinstance(by_frame, sf.FilesRelease)
    by_frame.save(tmp_path / "two")
    for name in plan["files"]:
        one, two = ((folder / f"{name}.csv").read_text() for folder in (by_file, tmp_path / "two"))
        assert sorted(one.splitlines()) == sorted(two.splitlines())


def test_diversity_counts_persons(tmp_path: Path) -> None:
    write(tmp_path, tables(3, 120))
    promises = [{"model": "k-anonymity", "k": 2}, {"model": "l-diversity", "l": 2, "column": "illness"}]
    folder = sf.anonymize_files(None, sf.read_plan(plan_of(privacy=promises), tmp_path)).save(tmp_path / "out")
    report = json.loads((folder / "report.json").read_text())
    assert all(entry["achieved"] >= entry["requested"] for entry in report["models"])
    assert sf.verify(folder).satisfied


def test_spellings_are_no_diversity(tmp_path: Path) -> None:
    rows = tables(3, 120)
    for place, row in enumerate(rows["visits"]):
        row["illness"] = ("HIV", "hiv ", "H.I.V.")[place % 3]
    write(tmp_path, rows)
    promises = [{"model": "k-anonymity", "k": 2}, {"model": "l-diversity", "l": 2, "column": "illness"}]
    with pytest.raises(UnattainableError):
        sf.anonymize_files(None, sf.read_plan(plan_of(privacy=promises), tmp_path))


def test_columns_that_tell_everybody_apart_are_said(tmp_path: Path) -> None:
    rows = tables(3)
    for place, row in enumerate(rows["patients"]):
        row["income"] = str(20_000 + 7 * place)
    write(tmp_path, rows)
    columns = plan_of()["columns"] | {"income": {"role": "insensitive"}}
    release = sf.anonymize_files(None, sf.read_plan(plan_of(columns=columns, output={"order": "keep"}), tmp_path))
    assert any("patients.income" in remark for remark in release.figures["remarks"])
    assert any("order: keep" in remark for remark in release.figures["remarks"])
    assert "patients.income" in (release.save(tmp_path / "out") / "report.html").read_text()


def test_values_that_one_person_has_in_several_rows_single_it_out(tmp_path: Path) -> None:
    rows = tables(3)
    person_of = {row["vid"]: row["pid"] for row in rows["visits"]}
    for row in rows["visits"]:
        row["doctor"] = f"Dr {row['pid']}"
    rows["lab"] = [{"vid": vid, "test": "s", "result": f"R{pid}"} for vid, pid in person_of.items() for _ in "ab"]
    write(tmp_path, rows)
    columns = plan_of()["columns"] | {"doctor": {"role": "insensitive"}}
    release = sf.anonymize_files(None, sf.read_plan(plan_of(columns=columns), tmp_path))
    published = release.figures["files"]
    assert release.figures["unique_rows"]["visits.doctor"] == published["visits"]["published_rows"] > 0
    assert release.figures["unique_rows"]["lab.result"] == published["lab"]["published_rows"] > 0
    assert release.figures["unique_rows"]["visits.illness"] == 0


def test_verify_sees_what_was_changed(tmp_path: Path) -> None:
    write(tmp_path, tables(4))
    folder = sf.anonymize_files(None, sf.read_plan(plan_of(), tmp_path)).save(tmp_path / "out")
    assert sf.verify(folder).satisfied
    assert run(["verify", str(folder)]) == 0
    lines = (folder / "visits.csv").read_text().splitlines()
    (folder / "visits.csv").write_text("\n".join(lines[:-1]) + "\n")
    assert not sf.verify(folder).satisfied
    assert run(["verify", str(folder)]) == 1


def test_what_is_promised_of_one_file_is_not_enough(tmp_path: Path) -> None:
    """Without budget, patients alone could be published; with their visits they cannot."""
    write(tmp_path, tables(5))
    plan = plan_of(method={"name": "optimal"})
    with pytest.raises(UnattainableError, check=coded("unattainable.relations")):
        sf.anonymize_files(None, sf.read_plan(plan, tmp_path))


def test_keys_that_lead_nowhere_are_refused(tmp_path: Path) -> None:
    rows = tables(6)
    rows["visits"][0]["pid"] = "nobody"
    write(tmp_path, rows)
    with pytest.raises(DataError, check=refused("error.data.orphans", count="1")):
        sf.anonymize_files(None, sf.read_plan(plan_of(), tmp_path))
    rows = tables(6)
    rows["patients"].append(rows["patients"][0])
    write(tmp_path, rows)
    with pytest.raises(DataError, check=refused("error.data.key.missing_or_repeated")):
        sf.anonymize_files(None, sf.read_plan(plan_of(), tmp_path))


FILES = plan_of()["files"]
WRONG = {
    "two roots": {"files": FILES | {"other": {"source": "x.csv", "key": "o"}}},
    "no such parent": {"files": FILES | {"lab": {"source": "lab.csv", "parent": "visit"}}},
    "a circle": {"files": {"a": {"key": "x", "parent": "b"}, "b": {"key": "y", "parent": "a"}}},
    "a parent without a key": {"files": FILES | {"visits": {"source": "visits.csv", "parent": "patients"}}},
    "another method": {"method": {"name": "mondrian"}},
    "another promise": {"privacy": [{"model": "t-closeness", "t": 0.2, "column": "illness"}]},
    "star rows": {"output": {"suppressed": "star"}},
    "a person": {"columns": plan_of()["columns"] | {"name": {"role": "person"}}},
    "a rounded column": {
        "columns": plan_of()["columns"] | {"result": {"role": "insensitive", "publish": {"round": 5}}}
    },
}


@pytest.mark.parametrize("changes", WRONG.values(), ids=WRONG)
def test_wrong_plans_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(PlanError):
        sf.read_plan(plan_of(**changes))


def test_columns_that_no_file_has_are_refused(tmp_path: Path) -> None:
    write(tmp_path, tables(7))
    for columns in (
        plan_of()["columns"] | {"height": {"role": "insensitive"}},
        {name: column for name, column in plan_of()["columns"].items() if name != "ward"},
    ):
        with pytest.raises(PlanError):
            sf.anonymize_files(None, sf.read_plan(plan_of(columns=columns), tmp_path))


def test_dates_of_persons_are_shifted_in_one_file_too(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    rows = [
        {"who": f"P{place // 3}", "sex": "fm"[place // 3 % 2], "day": f"2024-05-{place % 28 + 1:02d}"}
        for place in range(60)
    ]
    columns = {
        "who": {"role": "person"},
        "sex": {"role": "quasi-identifier", "hierarchy": ANY},
        "day": {"role": "insensitive", "publish": {"shift_days": 20}},
    }
    plan = {
        "version": 1,
        "columns": columns,
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "output": {"order": "keep"},
    }
    data = sf.anonymize(pandas.DataFrame(rows), plan).data
    from datetime import date

    moved = [
        (date.fromisoformat(new) - date.fromisoformat(old["day"])).days
        for new, old in zip(data["day"], rows, strict=True)
    ]
    assert all(len(set(moved[start : start + 3])) == 1 for start in range(0, 60, 3))
    assert len(set(moved)) > 5
    with pytest.raises(PlanError):
        sf.anonymize(pandas.DataFrame(rows), plan | {"columns": columns | {"who": {"role": "identifier"}}})


TABLES = ("patients", "visits", "lab")


def as_written(folder: Path, separators: dict[str, str]) -> Path:
    """The files with separators of their own, and a plan that names none."""
    write(folder, tables(3))
    for name, separator in separators.items():
        path = folder / f"{name}.csv"
        path.write_text(path.read_text(encoding="utf-8").replace(",", separator), encoding="utf-8")
    (folder / "plan.yaml").write_text(json.dumps(plan_of()))
    return folder / "plan.yaml"


@pytest.mark.parametrize("separators", [dict.fromkeys(("patients", "visits", "lab"), ";"), {"visits": ";"}])
def test_separators_that_were_found_out_are_known_to_verify(separators, tmp_path) -> None:
    plan = as_written(tmp_path, separators)
    folder = sf.anonymize_files(None, plan).save(tmp_path / "released")
    assert sf.verify(folder).satisfied
    frames = sf.anonymize_files(None, plan, engine="frames").save(tmp_path / "frames")
    heads = [[(one / f"{name}.csv").read_text().partition("\n")[0] for name in TABLES] for one in (folder, frames)]
    assert heads[0] == heads[1] and sf.verify(frames).satisfied
    written = json.dumps(yaml.safe_load((folder / "plan.yaml").read_text())["data"])
    assert ('"separator": ";"' in written) == (len(separators) == 3)


def test_reports_of_several_files_are_the_house_s_own(tmp_path) -> None:
    folder = sf.anonymize_files(None, as_written(tmp_path, {})).save(tmp_path / "released")
    private = {path.name for path in folder.iterdir() if not stat.S_IMODE(path.stat().st_mode) & 0o077}
    assert private == {"plan.yaml", "report.json", "report.html", "recoding.json", "keys.json"}


@pytest.mark.parametrize(
    "arguments", [("attack",), ("attack", "--raw", "patients.csv"), ("check", "--policy", "ema-0070")]
)
def test_commands_for_one_file_say_what_to_name(arguments, tmp_path, sfumato, monkeypatch) -> None:
    folder = sf.anonymize_files(None, as_written(tmp_path, {})).save(tmp_path / "released")
    monkeypatch.chdir(tmp_path)
    answer = sfumato(arguments[0], str(folder), *arguments[1:])
    assert answer.code == 2 and "released/patients.csv" in answer.err, answer.err


def test_one_of_several_files_is_not_judged_for_all(tmp_path, sfumato) -> None:
    folder = sf.anonymize_files(None, as_written(tmp_path, {})).save(tmp_path / "released")
    verdict = sf.check(folder / "patients.csv", "gdpr-wp216", quasi_identifiers=["sex"])
    assert not verdict.count("satisfied") and "visits.csv, lab.csv" in verdict.notes[-1]
    assert sfumato("report", str(folder)).out.startswith(f"{len(read(folder)['patients']):,} of 60 persons published")
    assert "Persons are the rows of patients." in sfumato("report", str(folder)).out
    assert "Persons are the rows of patients." in (folder / "report.html").read_text(encoding="utf-8")
    assert sfumato("report", str(folder), "--annex", str(tmp_path / "annex.md")).code == 2
    answer = sfumato("erase", str(folder), "--person", "1")
    assert answer.code == 2 and "keys.json" in answer.err and "persons.parquet" not in answer.err
    (tmp_path / "linked.csv").symlink_to(folder / "patients.csv")
    assert "visits.csv, lab.csv" in checksums.remark_on_siblings(tmp_path / "linked.csv"), "through a link, too"
    (folder / "visits.csv").rename(tmp_path / "elsewhere.csv")
    assert not checksums.remark_on_siblings(tmp_path / "elsewhere.csv")


def test_keys_of_the_house_are_the_same_in_every_release(tmp_path) -> None:
    write(tmp_path, tables(4))
    key = new_key(tmp_path / "house.key", "study")
    files = plan_of()["files"]
    stable = plan_of(files=files | {"patients": files["patients"] | {"key_file": "house.key"}})
    (tmp_path / "plan.yaml").write_text(json.dumps(stable))
    releases = [sf.anonymize_files(None, tmp_path / "plan.yaml") for _ in range(2)]
    first, second = (release.keys for release in releases)
    assert first["patients"] == second["patients"] and first["visits"] != second["visits"]
    remarks = releases[0].figures["remarks"]
    assert "no guarantee covers this" in " ".join(remarks)
    assert not {*map(words_in("de").text, remarks)} & {*remarks}
    folder = releases[0].save(tmp_path / "released")
    assert sf.verify(folder).satisfied
    texts = "".join(path.read_text(encoding="utf-8") for path in folder.iterdir())
    assert key.secret.hex() not in texts
    (tmp_path / "house.key").unlink()
    new_key(tmp_path / "house.key", "study")
    assert sf.anonymize_files(None, tmp_path / "plan.yaml").keys["patients"] != first["patients"]
    (tmp_path / "house.key").unlink()
    with pytest.raises(PlanError, check=refused("error.plan.key.not_a_key_file")):
        sf.anonymize_files(None, tmp_path / "plan.yaml")


def test_a_key_file_needs_a_key(tmp_path) -> None:
    files = plan_of()["files"]
    with pytest.raises(PlanError, check=refused("plan.faults", "is_of_no_use")):
        sf.anonymize_files({}, plan_of(files=files | {"lab": files["lab"] | {"key_file": "house.key"}}))


def test_codes_that_were_not_made_blanks_are_found_in_files(tmp_path: Path) -> None:
    """Nothing looked at what stands in columns that are published as they are."""
    raw = tables(2)
    for number, row in enumerate(raw["lab"]):
        row["result"] = "999" if number % 3 == 0 else "1"
    write(tmp_path, raw)
    plan = plan_of()
    plan["columns"]["result"] = {"role": "insensitive", "missing": [999]}
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    release = sf.anonymize_files(None, sf.read_plan(plan, tmp_path))
    folder = release.save(tmp_path / "out")
    assert sf.verify(folder).satisfied
    lab = folder / "lab.csv"
    lines = list(csv.DictReader(lab.read_text(encoding="utf-8").splitlines()))
    assert {line["result"] for line in lines} <= {"1", ""}
    lines[0]["result"] = "999.0"
    write(folder, {"lab": lines})
    broken = [(one.model, one.column) for one in sf.verify(folder).promises if not one.satisfied]
    assert broken == [("codes published as blanks", "lab.result")]
