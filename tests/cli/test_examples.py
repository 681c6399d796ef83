"""Help: every command shows examples that its own options can read; shells can complete."""

import os
import subprocess
import sys

import pytest

from sfumato.cli.commands import COMMANDS


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_shows_examples(sfumato, name):
    ran = sfumato(name, "--help")
    assert ran.code == 0
    assert "Examples:" in ran.out
    for example in COMMANDS[name].examples:
        assert f"  {example}\n" in ran.out
        words = example.partition(" > ")[0].split()
        assert words[:2] == ["sfumato", name]
        for option in [word for word in words if word.startswith("--")]:
            assert f"{option} " in ran.out or f"{option}\n" in ran.out or f"{option}/" in ran.out, option


@pytest.mark.parametrize(
    ("line", "place", "words"),
    [
        ("sfumato ano", 1, {"anonymize"}),
        ("sfumato ", 1, set(COMMANDS)),
        ("sfumato anonymize --mem", 2, {"--memory-limit"}),
        ("sfumato verify --quasi", 2, {"--quasi-identifiers"}),
    ],
)
def test_shells_complete_commands_and_options(line, place, words):
    asked = {"_SFUMATO_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(place)}
    ran = subprocess.run(
        [sys.executable, "-m", "sfumato"], env=os.environ | asked, capture_output=True, text=True, check=True
    )
    assert set(ran.stdout.split()) == words
