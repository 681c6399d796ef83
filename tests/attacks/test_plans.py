"""Resolved plans, roles, verdicts in words, and the last row of a file."""

import ast
import csv
import gzip
import io
import json
import os
import random
import re
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

import sfumato as sf
from refusals import refused
from sfumato import anonymize, verify
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.duckdb.sources import Source
from sfumato.engines.engine import MissingRules
from sfumato.engines.files import records_in
from sfumato.engines.record_io import read_records
from sfumato.engines.tabulation import base_of
from sfumato.errors import DataError, PlanError
from sfumato.localization.messages import words_in
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.plan.read import read_plan
from sfumato.microdata.plan.resolve import resolve
from sfumato.pipelines.policy_check import check
from sfumato.report.release.column_evidence import ReportData
from sfumato.report.release.report import html
from sfumato.service.access.authentication import make_door
from sfumato.service.access.keys import add_key, make_key
from sfumato.service.access.sessions import COOKIE, SECRET, User
from sfumato.service.settings import Settings
from sfumato.values import replace

# What a plan leaves open is filled in before it is checked: nothing that counts, publishes or judges sees the rest.

SOURCES = Path(sf.__file__).parent
NOISY = {"model": "differential-privacy", "epsilon": 2, "delta": 0.001, "search": 0}
AGE = {"role": "quasi-identifier", "hierarchy": {"type": "intervals", "start": 0, "end": 99, "widths": [10, 50]}}
SEX = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}


def frame(rows: int = 2000) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "age": [str(row * 7 % 100) for row in range(rows)],
            "name": [f"person {row}" for row in range(rows)],
            "illness": ["flu" if row % 3 else "cold" for row in range(rows)],
        }
    )


def noisy(**changes: Any) -> dict[str, Any]:
    plan = {
        "version": 1,
        "columns": {"age": AGE},
        "privacy": [NOISY],
        "method": {"name": "safepub", "levels": {"age": 2}},
    }
    return plan | changes


@pytest.mark.parametrize("role", ["insensitive", "sensitive"])
def test_columns_left_to_other_are_checked_before_they_are_published(role: str) -> None:
    with pytest.raises(PlanError) as error:
        sf.anonymize(frame(), noisy(other=role))
    assert [fault.path for fault in error.value.issues] == ["columns.name", "columns.illness"]


def test_columns_left_to_other_that_are_withheld_are_published_as_stars() -> None:
    release = sf.anonymize(frame(), noisy(other="identifier"))
    assert set(release.data["name"]) == set(release.data["illness"]) == {"*"}


def test_a_file_is_not_judged_by_a_plan_that_contradicts_itself_once_it_is_resolved() -> None:
    with pytest.raises(PlanError, check=refused("plan.faults", "is_published_its_values")):
        sf.verify(frame(), noisy(other="insensitive"))


@pytest.mark.parametrize("run", [sf.verify, sf.compare], ids=["verify", "compare"])
def test_what_a_policy_has_not_chosen_is_not_judged(run: Any) -> None:
    open_plan = {"version": 1, "policy": "hipaa-safe-harbor", "columns": {"age": AGE}, "other": "insensitive"}
    with pytest.raises(PlanError, check=refused("plan.faults", "no_promise")):
        run(frame(60), open_plan)


def test_columns_left_to_other_count_in_the_clauses_of_a_policy() -> None:
    """A sensitive column that only `other` names is looked at by the clauses on sensitive values."""
    plan = {"version": 1, "columns": {"age": AGE}, "privacy": [{"model": "k-anonymity", "k": 2}], "other": "sensitive"}
    rows = pl.DataFrame({"age": ["20-29"] * 40, "illness": ["flu"] * 40})
    named = check(rows, "gdpr-wp216", plan=plan | {"columns": {"age": AGE, "illness": {"role": "sensitive"}}})
    assert check(rows, "gdpr-wp216", plan=plan).to_dict() == named.to_dict()


def test_a_resolved_plan_leaves_nothing_open_and_keeps_its_kind() -> None:
    columns = frame(1).columns
    plan = resolve(read_plan(noisy(other="identifier")), columns)
    assert set(plan.columns) == set(columns)
    assert plan.other is None
    assert plan.secret


def test_the_plan_of_a_release_can_be_gone_on_from() -> None:
    plan = sf.Plan(sf.KAnonymity(5), other="identifier").quasi(age=sf.intervals(10, 50, start=0, end=99))
    release = sf.anonymize(frame(), plan)
    again = sf.anonymize(frame(), release.plan.require(sf.KAnonymity(50)))
    assert again.report.classes.smallest >= 50
    assert "illness" in release.plan.to_yaml()


def test_the_method_is_not_replaced_behind_the_back_of_a_plan() -> None:
    means = sf.PublishPlan(microaggregate=5)
    plan = sf.Plan(sf.KAnonymity(5), other="identifier", method=sf.Local()).column(
        "age", "quasi-identifier", type="integer", publish=means
    )
    with pytest.raises(PlanError, check=refused("plan.faults", "the_microaggregation_of_all")):
        sf.anonymize(frame(), plan)


def test_only_one_module_makes_resolved_plans() -> None:
    """mypy proves that nothing else is handed down; here, that nobody else makes one."""
    makers = {path.relative_to(SOURCES).as_posix() for path in SOURCES.rglob("*.py") if _makes(path)}
    assert makers == {"microdata/plan/resolve.py"}


def _makes(path: Path) -> bool:
    text = path.read_text(encoding="utf-8")
    if "microdata.plan.model import" not in text or "Plan(" not in text:
        return False
    tree = ast.parse(text)
    names = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "sfumato.microdata.plan.model"
        for alias in node.names
        if alias.name == "Plan"
    }
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names
        for node in ast.walk(tree)
    )


# A cookie says who signed in; what they may do is what the configuration says at each request.

OPENID = Settings(openid="https://one.example", openid_client="sfumato", admins=frozenset({"7"}))


def cookie_of(door, user) -> str:
    request, answer = Request({"type": "http", "scheme": "http", "headers": [], "path": "/"}), Response()
    door.sessions.begin(request, answer, door.signed_in(user))
    return answer.headers["set-cookie"].split("=", 1)[1].split(";")[0]


def asked(door, cookie) -> User | None:
    headers = [(b"cookie", f"{COOKIE}={cookie}".encode())]
    return door.user(HTTPConnection({"type": "http", "headers": headers, "path": "/"}))


CHANGED = {
    "no change": ({}, "admin"),
    "no admin any more": ({"admins": frozenset()}, "user"),
    "another admin": ({"admins": frozenset({"8"})}, "user"),
    "another provider": ({"openid": "https://two.example"}, None),
    "another client": ({"openid_client": "other"}, None),
    "another claim": ({"openid_claim": "email"}, None),
    "no provider": ({"openid": None, "proxy_header": "X-User", "trusted_proxies": frozenset({"10.0.0.1"})}, None),
}


@pytest.mark.parametrize(("change", "role"), CHANGED.values(), ids=CHANGED)
def test_what_a_cookie_opens_is_what_the_configuration_says_now(tmp_path, change, role) -> None:
    # A cookie that claims a role, too, is believed nothing but its name.
    cookie = cookie_of(make_door(OPENID, tmp_path), User("7", "openid", "admin", label="Ada"))
    user = asked(make_door(replace(OPENID, **change), tmp_path), cookie)
    assert (user.role if user else None) == role


def test_somebody_becomes_an_admin_without_signing_in_again(tmp_path) -> None:
    cookie = cookie_of(make_door(replace(OPENID, admins=frozenset()), tmp_path), User("7", "openid"))
    assert asked(make_door(OPENID, tmp_path), cookie).role == "admin"


def test_a_cookie_of_a_key_has_the_role_and_scopes_of_the_key_as_it_is(tmp_path) -> None:
    file, folder = tmp_path / "keys", tmp_path / "jobs"
    text, key = make_key("ada", "admin")
    add_key(file, key)
    add_key(file, make_key("other")[1])
    first = make_door(Settings(api_keys=file), folder)
    cookie = cookie_of(first, first.keys.find(text))
    assert asked(first, cookie).role == "admin"
    other = file.read_text().splitlines()[1]
    for line, expected in (
        (replace(key, role="user", scopes=("jobs",)).line(), ("user", {"jobs"})),
        (make_key("ada", "admin")[1].line(), None),  # the same name with another key is another user
    ):
        file.write_text(f"{line}\n{other}\n")
        user = asked(make_door(Settings(api_keys=file), folder), cookie)
        assert (None if user is None else (user.role, set(user.scopes))) == expected


def test_a_cookie_of_before_opens_nothing(tmp_path) -> None:
    door = make_door(OPENID, tmp_path)
    user = {"name": "7", "way": "openid", "role": "admin", "scopes": ["jobs"], "label": ""}
    assert asked(door, door.sessions.seal({"session": "x", "user": user})) is None


def test_the_secret_of_sign_ins_is_its_owners_from_the_first_moment(tmp_path, monkeypatch) -> None:
    modes = []
    before = os.open
    monkeypatch.setattr(
        os, "open", lambda path, flags, mode=0o777, **more: modes.append(mode) or before(path, flags, mode, **more)
    )
    make_door(Settings(), tmp_path)
    monkeypatch.undo()
    assert modes == [0o600]
    assert stat.S_IMODE((tmp_path / SECRET).stat().st_mode) == 0o600


# Texts say what was tested: no sentence allows to publish, and none speaks for every attacker there may be.

# What no sentence of a page or report says as a verdict of its own; what a plan or a policy says is quoted as theirs.
VERDICTS = {
    "en": r"[Yy]ou may publish|[Nn]obody can (compute|find|be (singled|found))|\b(is|are|made) safe\b|anonymous",
    "de": r"[Ss]ie dürfen\b.*veröffentlichen|[Nn]iemand kann|\bist sicher\b|\bsind .*sicher$|konform|\banonym\b",
}
# They deny a verdict, quote the plan, or say what a term means.
DENIALS = ("your decision", "entscheiden Sie", "the plan says", "dem Plan nach", "unless", "legal assessment")


@pytest.mark.parametrize("language", VERDICTS)
def test_no_sentence_is_a_legal_or_absolute_verdict(language: str) -> None:
    found = {
        key: text
        for key, text in words_in(language).items()
        if not key.startswith(("said.fault_", "rule.")) and re.search(VERDICTS[language], text)
        if not any(denial in text for denial in DENIALS)
    }
    assert found == {}


def test_removed_columns_are_not_said_to_name_persons() -> None:
    rows = pl.DataFrame({"zip": ["1", "1"], "shoe": ["40", "41"]})
    columns = {"zip": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}, "shoe": {"role": "identifier"}}
    plan = {"version": 1, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 2}]}
    release = anonymize(rows, plan)
    report = html(ReportData(release.report, release.plan))
    assert "They name a person" not in report
    assert "whether or not they identify a person" in report


# Rows of text files are counted apart from their readers: none is lost, and a lost one is an error.

PLAN = {
    "version": 1,
    "columns": {"zip": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}, "note": {"role": "insensitive"}},
    "privacy": [{"model": "k-anonymity", "k": 2}],
    "output": {"order": "keep"},
}


def rows_of(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))[1:]


@pytest.mark.parametrize(("length", "quote", "end"), [(33, "", "\n"), (33, '"', ""), (3, '"', "\n")])
def test_a_long_last_row_is_published_and_verified(tmp_path: Path, length: int, quote: str, end: str) -> None:
    rows, note = [f"{place % 2},x" for place in range(5)], "y" * length * 1_000_000
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["zip,note", *rows, f"1,{quote}{note}{quote}"]) + end, encoding="utf-8")
    release = anonymize(path, PLAN)
    release.save(tmp_path / "release")
    published = rows_of(tmp_path / "release" / "data.csv")
    assert [len(row[1]) for row in published] == [1, 1, 1, 1, 1, len(note)]
    assert verify(tmp_path / "release").satisfied


def test_a_reader_that_leaves_out_a_row_is_refused_with_the_longest_line(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "rows.csv"
    path.write_text('zip,note\n1,"a\nb"\n1,x\n2,a longer note\n2,y\n', encoding="utf-8")
    source = DuckDBEngine(path).source
    shorter = Source(f"(SELECT * FROM {source.table} LIMIT 3)", source.columns, records=source.records)
    monkeypatch.setattr("sfumato.engines.duckdb.engine.open_source", lambda *_: shorter)
    for count in (
        lambda: anonymize(path, PLAN),
        lambda: base_of(path, ["zip"], None, None, None, 1),
    ):
        with pytest.raises(DataError, check=refused("data.lost-rows", count="4", line="5", name="rows.csv")) as caught:
            count()
        assert "longer note" not in str(caught.value)


def random_text(random_: random.Random, width: int) -> tuple[str, int]:
    """A delimited text, and the number of its records by Python's reader; of one column, empty lines are rows."""
    ending = random_.choice(["\n", "\r\n", "\r"])
    cells = [
        "a",
        "",
        "x y",
        '"q"',
        '"a""b"',
        f'"two{ending}lines"',
        '""',
        'in"side',
        '"se,p"',
        "#c",
        "é€",
        "\x00",
        "1" * 40,
    ]
    lines = [",".join(random_.choice(cells) for _ in range(width)) for _ in range(random_.randrange(1, 12))]
    for _ in range(random_.randrange(3)):
        lines.insert(random_.randrange(len(lines) + 1), "")
    text = ending.join(["h" if width == 1 else ",".join(f"h{place}" for place in range(width)), *lines])
    text += random_.choice(["", ending, 2 * ending])
    read = [fields for fields in csv.reader(io.StringIO(text, newline=""), strict=True) if fields or width == 1]
    return text, len(read) - 1


@pytest.mark.parametrize("width", [1, 2, 3])
def test_records_are_those_of_other_readers(tmp_path: Path, width: int, monkeypatch) -> None:
    random_ = random.Random(width)
    monkeypatch.setattr("sfumato.engines.files._PIECE", 16)  # pieces end anywhere
    for number in range(60):
        text, expected = random_text(random_, width)
        for name, content in (("rows.csv", text.encode()), ("rows.csv.gz", gzip.compress(text.encode()))):
            path = tmp_path / name
            path.write_bytes(content)
            assert records_in([path], ",", width).rows == expected, (number, text)
        if number % 6:
            continue
        with closing(DuckDBEngine(tmp_path / "rows.csv", DataPlan(separator=",", header=True))) as engine:
            assert engine.count(engine.columns, MissingRules()).rows == expected, (number, text)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1", "cp1252"])
def test_records_of_other_encodings_and_separators_are_counted(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes('a§b\n1§"ü\nü"\nß§"x§y"\n'.encode(encoding))
    plain = DataPlan(encoding="utf-8" if encoding == "utf-8-sig" else encoding, separator="§", header=True)
    with closing(DuckDBEngine(path, plain)) as engine:
        assert engine.count(("a",), MissingRules()).rows == 2


def test_several_files_and_damaged_ones(tmp_path: Path) -> None:
    for name, rows in (("a.csv", 3), ("b.csv", 4)):
        (tmp_path / name).write_text("zip,note\n" + "1,x\n" * rows, encoding="utf-8")
    with closing(DuckDBEngine(tmp_path)) as engine:
        assert engine.count(("zip",), MissingRules()).rows == 7
    (tmp_path / "b.csv").write_text('zip,note\n1,x\n1,"x\n1,x\n', encoding="utf-8")
    with pytest.raises(DataError, check=refused("data.quotes", line="3", name="b.csv")):
        DuckDBEngine(tmp_path)


def test_json_lines_end_where_json_says(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    records = [{"note": "two\u2028lines\x85"}, {"note": "x"}]
    texts = (json.dumps(record, ensure_ascii=False) for record in records)
    path.write_text("\n".join(texts), encoding="utf-8")
    assert read_records(path) == records
