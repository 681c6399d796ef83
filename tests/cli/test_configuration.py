"""Options of `serve` from command line, environment and file, in this order; and what lies in deploy/ fits them."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from sfumato.cli import serve
from sfumato.cli.main import run
from sfumato.service.settings import from_environment

DEPLOY = Path(__file__).parents[2] / "deploy"


@pytest.fixture
def settings_for(monkeypatch):
    """The settings that a call of `serve` would start with."""
    started = {}
    monkeypatch.setattr(serve, "_run", lambda environment, *more: started.update(environment, more=more))

    def settled(*arguments):
        started.clear()
        code = run(["serve", *map(str, arguments)])
        return code, *(from_environment(started) if started else (None, None)), started.get("more")

    return settled


def test_the_command_line_goes_before_variables_and_these_before_the_file(settings_for, tmp_path, monkeypatch):
    (tmp_path / "c.toml").write_text(
        'max-jobs = 5\nmax-records = 6\nport = 7\nkeep-hours = 2\nallow-host = ["a", "b"]\njobs = "x"\npages = false\n'
    )
    config = ("--config", tmp_path / "c.toml")
    code, settings, jobs, more = settings_for(*config)
    assert (code, jobs.waiting, settings.limits.records, jobs.keep_seconds) == (0, 5, 6, 7200.0)
    assert (more[1], settings.server_names, jobs.pages, jobs.folder.name) == (7, {"a", "b"}, False, "x")
    monkeypatch.setenv("SFUMATO_MAX_JOBS", "8")
    monkeypatch.setenv("SFUMATO_ALLOW_HOST", "c d")
    monkeypatch.setenv("SFUMATO_PORT", "9")
    _, settings, jobs, more = settings_for(*config)
    assert (jobs.waiting, settings.server_names, settings.limits.records, more[1]) == (8, {"c", "d"}, 6, 9)
    _, settings, jobs, _ = settings_for(*config, "--max-jobs", 10, "--allow-host", "e")
    assert (jobs.waiting, settings.server_names) == (10, {"e"})
    monkeypatch.setenv("SFUMATO_CONFIG", str(tmp_path / "c.toml"))
    assert settings_for()[2].keep_seconds == 7200.0


@pytest.mark.parametrize(
    ("text", "word"),
    [("max-jbos = 5", "max_jobs"), ("max-jobs = ", "TOML"), ('max-jobs = "many"', "max-jobs"), ("help = 1", "help")],
)
def test_a_wrong_file_is_refused(settings_for, tmp_path, capsys, text, word):
    (tmp_path / "c.toml").write_text(text)
    assert settings_for("--config", tmp_path / "c.toml")[0] == 2
    assert word in capsys.readouterr().err
    assert settings_for("--config", tmp_path / "absent.toml")[0] == 2


def test_the_example_names_options_that_there_are(settings_for, tmp_path, monkeypatch):
    text = re.sub(r"^# (?=[a-z-]+ =)", "", (DEPLOY / "sfumato.toml").read_text(), flags=re.M)
    assert len(tomllib.loads(text)) > 12
    (tmp_path / "c.toml").write_text(text.replace("/etc/sfumato", str(tmp_path)).replace("/var/lib", str(tmp_path)))
    code, settings, jobs, _ = settings_for("--config", tmp_path / "c.toml")
    assert (code, settings.openid_client, jobs.store[:13]) == (0, "sfumato", "postgresql://")


def test_the_variables_of_container_and_compose_are_options():
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]["sfumato"]
    image = (DEPLOY / "Containerfile").read_text()
    names = set(compose["environment"]) | set(re.findall(r"SFUMATO_\w+", image))
    options = {option.flag for kind in (serve.Settings, serve.Limits, serve.JobSettings) for option in kinds(kind)}
    known = {f"SFUMATO_{flag.partition('/')[0][2:].replace('-', '_').upper()}" for flag in options}
    assert names <= known | {"SFUMATO_HOST", "SFUMATO_PORT"}
    assert compose["read_only"] is True
    assert compose["cap_drop"] == ["ALL"]
    lines = image.splitlines()
    assert lines.index("USER 10001:10001") < lines.index('ENTRYPOINT ["sfumato", "serve"]')
    assert any(line.startswith("HEALTHCHECK") for line in lines)
    assert json.loads(next(line for line in lines if line.startswith("ENTRYPOINT"))[11:]) == ["sfumato", "serve"]


def kinds(kind):
    return serve.options(kind).values()


def test_the_unit_is_one(tmp_path):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    unit = (DEPLOY / "sfumato.service").read_text().replace("/opt/sfumato/bin/sfumato", sys.executable)
    (tmp_path / "sfumato.service").write_text(unit)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", tmp_path / "sfumato.service"],
        capture_output=True,
        text=True,
        check=False,
    )
    told = [line for line in done.stderr.splitlines() if "sfumato.service" in line]
    assert (done.returncode, told) == (0, []), done.stderr
