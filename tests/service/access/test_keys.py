"""Keys: names, roles, scopes, expiry; revoked while the service runs; jobs of users; and the record of who did what."""

import json
import os
import subprocess
import threading
import time
from datetime import date
from shutil import which
from types import SimpleNamespace

import pytest

from sfumato.cli.main import run
from sfumato.errors import PlanError
from sfumato.service.access import keys as access_keys
from sfumato.service.access.authentication import AuditLog
from sfumato.service.access.keys import KeyFile, add_key, make_key, new_key, read_keys, revoke_key
from sfumato.service.jobs.worker import REHEARSED_PLAN, REHEARSED_ROWS
from sfumato.service.settings import Settings

BODY = {"configuration": {"name": {"anonymisationType": "Masking", "dataType": "String"}}, "data": [{"name": "Ada"}]}


def made(path, name, *options, capsys):
    assert run(["keys", "add", name, "--file", str(path), *options]) == 0
    return {"X-API-Key": capsys.readouterr().out.strip()}


def ask(client, key):
    fields = {"kind": "anonymize", "plan": json.dumps(REHEARSED_PLAN)}
    return client.post("/api/jobs", data=fields, files={"data": ("rows.csv", REHEARSED_ROWS)}, headers=key)


def done(client, answer, key):
    deadline = time.monotonic() + 60
    while client.get(answer.headers["location"], headers=key).json()["state"] != "done":
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_users_roles_scopes_and_the_audit_log(serving, tmp_path, capsys, caplog):
    path, log = tmp_path / "keys", tmp_path / "audit.jsonl"
    one = made(path, "one", "--audit-log", str(log), capsys=capsys)
    two = made(path, "two", "--scope", "jobs", capsys=capsys)
    chief = made(path, "chief", "--role", "admin", capsys=capsys)
    text, expired = make_key("late", expires=date(2020, 1, 1))
    add_key(path, expired)
    late = {"X-API-Key": text}
    settings = Settings(api_keys=path, audit_log=log)
    with serving(tmp_path / "jobs", settings, user_jobs=1, user_bytes=5_000_000) as client:
        assert client.put("/api/anonymise", json=BODY, headers=one).status_code == 202
        scoped = client.put("/api/anonymise", json=BODY, headers=two)
        assert (scoped.status_code, "attributes" in scoped.json()["errorMessage"]) == (403, True)
        assert client.put("/api/anonymise", json=BODY, headers=late).status_code == 401
        job = ask(client, one)
        done(client, job, one)
        place = job.headers["location"]
        assert [entry["id"] for entry in client.get("/api/jobs", headers=one).json()["jobs"]] == [place[10:]]
        assert client.get("/api/jobs", headers=two).json()["jobs"] == []
        assert client.get(place, headers=two).status_code == 404
        assert client.get("/api/jobs?all=true", headers=two).status_code == 403
        (entry,) = client.get("/api/jobs?all=true", headers=chief).json()["jobs"]
        assert entry["owner"] == "key:one"
        assert client.get(place, headers=chief).status_code == 200
        assert client.get(f"{place}/result", headers=chief).status_code == 404  # results are their owner's alone
        assert client.get(f"{place}/files/data.csv", headers=one).status_code == 200
        assert run(["keys", "revoke", "one", "--file", str(path), "--audit-log", str(log)]) == 0
        time.sleep(0.7)
        assert client.get("/api/jobs", headers=one).status_code == 401
        assert client.delete(place, headers=chief).status_code == 204
        path.write_text("damaged")
        time.sleep(0.7)
        assert client.get("/api/jobs", headers=chief).status_code == 503  # it may have been revoked
        ready = client.get("/health/ready")
        assert (ready.status_code, ready.json()["status"]) == (503, "the file of keys cannot be read")
        assert [record.getMessage() for record in caplog.records].count('{"keys": "the file cannot be read"}') == 1
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    told = [(line["who"], line["what"], line.get("status")) for line in lines]
    assert ("key:one", "job_create", 202) in told
    assert ("key:one", "job done", None) in told
    assert ("key:one", "job_file", 200) in told
    assert ("key:chief", "job_delete", 204) in told
    assert ("", "job_list", 401) in told
    assert ("", "job_list", 503) in told
    assert not [what for _, what, _ in told if what == "ready"]
    assert [what for who, what, _ in told if who.startswith("operator:")] == ["key add", "key revoke"]
    assert all(line["job"] == place[10:] for line in lines if line["what"] in ("job_create", "job done", "job_file"))
    assert log.stat().st_mode & 0o777 == 0o600
    text = log.read_text()
    assert not [secret for secret in ("Ada", "12345", *one.values()) if secret in text]


def test_what_a_user_may_have_here_is_bounded(serving, tmp_path, capsys):
    one = made(tmp_path / "keys", "one", capsys=capsys)
    two = made(tmp_path / "keys", "two", capsys=capsys)
    settings = Settings(api_keys=tmp_path / "keys")
    with serving(tmp_path / "jobs", settings, user_bytes=600) as client:
        first = ask(client, one)
        assert first.status_code == 202
        refused = ask(client, {**one, "Accept": "application/problem+json"})
        assert (refused.status_code, refused.json()["code"]) == (413, "limit.quota")
        assert ask(client, two).status_code == 202
    with serving(tmp_path / "other", settings, user_jobs=1, slots=1) as client:
        assert ask(client, one).status_code == 202
        again = ask(client, one)
        assert again.status_code in (202, 429)  # the first may have ended already
        assert again.status_code == 202 or "retry-after" in again.headers


def test_the_command_lists_and_refuses(tmp_path, capsys):
    path = tmp_path / "keys"
    made(path, "one", "--expires", "2999-01-01", "--scope", "pages", capsys=capsys)
    assert run(["keys", "add", "one", "--file", str(path)]) == 2
    assert run(["keys", "add", "bad name", "--file", str(path)]) == 2
    assert run(["keys", "add", "x", "--scope", "moon", "--file", str(path)]) == 2
    assert run(["keys", "revoke", "absent", "--file", str(path)]) == 2
    assert run(["keys", "add", "--file", str(path)]) == 2
    capsys.readouterr()
    assert run(["keys", "list", "--file", str(path)]) == 0
    assert capsys.readouterr().out == "one\tuser\tpages\tvalid\t2999-01-01\n"
    assert path.stat().st_mode & 0o777 == 0o600


def test_keys_are_changed_where_a_link_leads(tmp_path, capsys):
    path, link = tmp_path / "keys", tmp_path / "link"
    made(path, "one", capsys=capsys)
    link.symlink_to(path)
    assert run(["keys", "revoke", "one", "--file", str(link)]) == 0
    assert link.is_symlink()
    assert [bool(key.revoked) for key in read_keys(path)] == [True]


def test_a_pipe_is_no_file_of_keys(tmp_path):
    os.mkfifo(tmp_path / "keys")
    with pytest.raises(PlanError, match="cannot be read"):
        read_keys(tmp_path / "keys")


def test_nothing_is_done_that_cannot_be_logged(tmp_path, capsys):
    path = tmp_path / "keys"
    assert run(["keys", "add", "one", "--file", str(path), "--audit-log", str(tmp_path / "absent" / "log")]) == 2
    assert not path.exists()


def test_a_refusal_shows_no_key_and_no_day_gone_by_is_taken(tmp_path, capsys):
    path = tmp_path / "keys"
    assert run(["keys", "add", "bad name", "--file", str(path)]) == 2
    assert "shown once" not in capsys.readouterr().err
    assert run(["keys", "add", "late", "--expires", "2020-01-01", "--file", str(path)]) == 2
    assert "expired already" in capsys.readouterr().err
    assert not path.exists()


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
def test_an_audit_log_that_an_operator_begins_is_the_services(tmp_path, capsys):
    folder = tmp_path / "log"
    folder.mkdir()
    os.chown(folder, 10001, 10001)
    made(tmp_path / "keys", "one", "--audit-log", str(folder / "audit.jsonl"), capsys=capsys)
    assert (folder / "audit.jsonl").stat().st_uid == 10001


def test_a_key_holds_through_its_last_day():
    _, key = make_key("one", expires=date(2027, 1, 31))
    assert key.holds(date(2027, 1, 31))
    assert not key.holds(date(2027, 2, 1))


def test_owner_group_and_mode_of_the_file_stay(tmp_path, capsys):
    """Each change gave it back to who made the change, and the service could not read it any more."""
    path, group = tmp_path / "keys", 10001 if os.getuid() == 0 else os.getgid()
    made(path, "one", "--group", str(group), capsys=capsys)
    assert (path.stat().st_gid, path.stat().st_mode & 0o777) == (group, 0o640)
    path.chmod(0o444)
    other = 10001 if os.getuid() == 0 else os.getuid()
    os.chown(path, other, group)
    made(path, "two", capsys=capsys)
    revoke_key(path, "one")
    status = path.stat()
    assert (status.st_uid, status.st_gid, status.st_mode & 0o777) == (other, group, 0o444)
    assert run(["keys", "add", "three", "--group", "no-such-group", "--file", str(path)]) == 2
    assert [entry.name for entry in tmp_path.iterdir()] == ["keys"]


@pytest.mark.skipif(os.getuid() != 0 or not which("setpriv"), reason="only root becomes another user")
def test_a_service_of_another_user_reads_keys_by_its_group(tmp_path, capsys):
    path = tmp_path / "keys"
    made(path, "one", "--group", "10001", capsys=capsys)
    program = ["setpriv", "--reuid=10001", "--regid=10001", "--clear-groups", "cat"]
    with path.open("rb") as stream:  # the way to the folder is not what is asked about
        assert subprocess.run([*program, "/dev/stdin"], stdin=stream, check=False, capture_output=True).returncode == 0
    path.chmod(0o600)
    with path.open("rb") as stream:
        assert subprocess.run([*program, "/dev/stdin"], stdin=stream, check=False, capture_output=True).returncode == 1


def test_lines_that_people_wrote_stay(tmp_path):
    path = tmp_path / "keys"
    (_, one), (_, two) = make_key("one"), make_key("two")
    path.write_text(f"# ours\n\n  # indented\n{one.line()}\n{two.line()}  \n")
    revoke_key(path, "two")
    lines = path.read_text().splitlines()
    assert lines[:4] == ["# ours", "", "  # indented", one.line()]
    assert lines[4].startswith(f"{two.line()} revoked=")
    with pytest.raises(PlanError):
        add_key(path, one)
    assert KeyFile(path).named("one").name == "one"
    assert KeyFile(path).named("two") is None


def test_a_key_that_another_request_has_just_read_is_found(tmp_path, monkeypatch):
    """It was refused: the file counted as read, although this request had looked at the keys from before."""
    path = tmp_path / "keys"
    path.write_text(new_key("one")[1] + "\n")
    file = KeyFile(path)
    key, line = new_key("two")
    path.write_text(line + "\n")
    others = iter(["another request"])

    def compare_digest(sent, known):
        for other in others:
            assert file.find(other) is None
        return sent == known

    monkeypatch.setattr(access_keys, "hmac", SimpleNamespace(compare_digest=compare_digest))
    assert file.find(key).name == "two"


@pytest.mark.parametrize("rest", ["role=king", "scopes=moon", "expires=soon", "colour=red"])
def test_a_line_with_an_unknown_note_is_refused(tmp_path, rest):
    (tmp_path / "keys").write_text(f"{make_key('one')[1].line()} {rest}\n")
    with pytest.raises(PlanError):
        read_keys(tmp_path / "keys")


def test_an_audit_log_may_be_moved_away_and_is_never_torn(tmp_path):
    path = tmp_path / "audit.jsonl"
    logs = [AuditLog(path) for _ in range(4)]

    def write(log):
        for number in range(25):
            log.note("key:one", "job_create", number=number)

    threads = [threading.Thread(target=write, args=(log,)) for log in logs]
    for thread in threads:
        thread.start()
    while not path.exists():
        time.sleep(0.001)
    path.rename(tmp_path / "audit.1")
    for thread in threads:
        thread.join()
    lines = "".join(one.read_text() for one in tmp_path.iterdir()).splitlines()
    assert len([json.loads(line) for line in lines]) == 100
    missing = AuditLog(tmp_path / "no" / "folder")
    missing.note("key:one", "job_create")
    assert missing.fault is not None


def test_a_new_key_opens_at_once(tmp_path):
    """It was refused for half a second, in which the file was not looked at."""
    path = tmp_path / "keys"
    path.write_text(new_key("first")[1] + "\n")
    keys = KeyFile(path)
    key, line = new_key("second")
    with path.open("a") as file:
        file.write(line + "\n")
    assert keys.find(key).name == "second"
    assert keys.find("unknown") is None
